//! The display connection, its windows and the applications on it.

mod clip;
mod error;
mod types;
mod window_id;

#[cfg_attr(all(target_os = "linux", not(unsupported)), path = "linux/mod.rs")]
#[cfg_attr(any(not(target_os = "linux"), unsupported), path = "unsupported.rs")]
mod platform;

pub use clip::Clip;
pub use error::DesktopError;
pub use platform::processes::stat;
pub use platform::x11;
pub use platform::{Desktop, Session};
pub use types::{
    App, FrameExtents, LaunchOptions, Launched, Placement, Point, Probe, Rect, Screen, Size, Window,
    WindowKind, WindowState,
};
pub use window_id::WindowId;
