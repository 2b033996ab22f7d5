//! Installed applications, and which of them a window or a process belongs to.

pub mod apps;
pub mod catalog;
pub mod entry;
pub mod exec;
pub mod family;
pub mod identity;
pub mod invocation;
