//! The cursor of an agent: how it moves, what it looks like, and the window that shows it.

mod error;
mod look;
mod motion;
mod types;

#[cfg_attr(all(target_os = "linux", not(unsupported)), path = "linux/mod.rs")]
#[cfg_attr(any(not(target_os = "linux"), unsupported), path = "unsupported.rs")]
mod platform;

pub use error::CursorError;
pub use look::{Color, Icon, Image, Sprite, Style, Surface, draw};
pub use motion::{Glide, Motion};
pub use platform::Cursors;
pub use types::{Hidden, Pace, PreviewPlace, State};
