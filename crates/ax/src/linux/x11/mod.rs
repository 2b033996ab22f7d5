//! What an X server tells of accessible objects.

pub mod bus_address;
pub mod plugs;
