//! Linux: cursors on the display server of the desktop.

mod x11;

pub use x11::cursors::Cursors;
