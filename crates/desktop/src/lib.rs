//! The display connection, its windows and the applications on it.

mod clip;
mod error;
mod types;

#[cfg_attr(target_os = "linux", path = "linux/mod.rs")]
#[cfg_attr(not(target_os = "linux"), path = "unsupported.rs")]
mod platform;

pub use clip::Clip;
pub use error::DesktopError;
pub use platform::Desktop;
pub use platform::processes::stat;
pub use platform::x11::connection as x11;
pub use types::{
    App, Frame, FrameExtents, LaunchOptions, Launched, Placement, Point, Probe, Rect, Screen, Window,
    WindowKind, WindowManager, WindowState,
};
