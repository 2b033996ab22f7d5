//! The display connection, its windows and the applications on it.
mod types;

pub use types::{App, Point, Rect, Window, WindowKind};
