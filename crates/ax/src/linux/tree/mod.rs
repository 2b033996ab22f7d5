//! Reads the trees of windows, as a whole or in part, and keeps what was read.

pub mod cells;
pub mod coordinates;
pub mod detail;
pub mod drawn;
pub mod kept;
pub mod objects;
pub mod part;
pub mod plugs;
pub mod reading;
pub mod rereading;
pub mod view;
pub mod visibility;
pub mod walk;
pub mod window;
