//! A connection to the server, and what is known through it of windows and their applications.

pub mod link;
pub mod settle;
pub mod toolkit;
pub mod window_tree;
