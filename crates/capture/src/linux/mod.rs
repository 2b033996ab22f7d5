//! Linux: pixels from the display server of the desktop.

mod x11;

pub use x11::capturer::Capturer;
pub use x11::screen_source::{ScreenConnection, ScreenSource};
