//! Pictures of windows, covered or not, and of the whole screen.

mod banded_image;
mod error;
mod mark;
mod picture;
mod png;
mod pointer;
mod shot;
mod window_digest;
mod zoom;

#[cfg_attr(all(target_os = "linux", not(unsupported)), path = "linux/mod.rs")]
#[cfg_attr(any(not(target_os = "linux"), unsupported), path = "unsupported.rs")]
mod platform;

pub use error::CaptureError;
pub use picture::{Encoded, Picture};
pub use platform::{Capturer, ScreenConnection, ScreenSource};
pub use shot::Shot;
pub use window_digest::WindowDigest;
pub use zoom::Zoomed;
