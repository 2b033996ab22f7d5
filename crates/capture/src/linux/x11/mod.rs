//! Pixels from the X server, through Composite and MIT-SHM where it has them.

mod backdrop;
mod below;
pub mod capturer;
mod link;
mod picture_cache;
mod repaint;
pub mod screen_source;
mod segment;
mod watch;
