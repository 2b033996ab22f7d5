//! What an X server tells of accessible objects.

pub mod plugs;
