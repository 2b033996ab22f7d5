//! Pictures of windows, covered or not, and of the whole screen.

mod error;
mod film;
mod glance;
mod mark;
mod picture;
mod png;
mod pointer;
mod shot;
mod zoom;

#[cfg_attr(all(target_os = "linux", not(unsupported)), path = "linux/mod.rs")]
#[cfg_attr(any(not(target_os = "linux"), unsupported), path = "unsupported.rs")]
mod platform;

pub use error::CaptureError;
pub use glance::Glance;
pub use picture::{Encoded, Picture};
pub use platform::{Capturer, Footage};
pub use shot::Shot;
pub use zoom::Zoomed;
