//! The ids of windows.

use std::fmt;

/// A window, by an id that `desktop` gives out and that says nothing to anybody outside the display server's own folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WindowId(u32);

impl WindowId {
    /// The window that has this number on the wire; there need not be one.
    pub fn from_wire(number: u32) -> Self {
        Self(number)
    }

    /// Its number on the wire.
    pub fn wire(self) -> u32 {
        self.0
    }
}

impl fmt::Display for WindowId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
