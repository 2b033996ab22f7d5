//! A small window of the X server for each cursor.

pub mod cursors;
mod hidden_queue;
mod link;
mod overlay;
mod overlay_cursor;
mod pixmaps;
mod preview;
