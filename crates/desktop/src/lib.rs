//! The display connection, its windows and the applications on it.
mod error;
mod types;

pub use error::DesktopError;
pub use types::{App, Point, Rect, Window, WindowKind};
