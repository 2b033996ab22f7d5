//! A small window of the X server for each cursor.

mod actor;
mod costume;
pub mod cursors;
mod link;
mod preview;
mod stage;
mod tidings;
