//! Pixels from the X server, through Composite and MIT-SHM where it has them.

mod backdrop;
mod below;
pub mod capturer;
pub mod footage;
mod link;
mod repaint;
mod segment;
mod studio;
mod watch;
