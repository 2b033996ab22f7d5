//! New windows of applications that an agent works in, kept from the person's focus.

pub mod arrivals;
pub mod pretended_focus;
pub mod watcher;
