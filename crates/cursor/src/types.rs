//! What a cursor is told, and what it tells.

use std::time::{Duration, SystemTime};

use desktop::Point;

use crate::Motion;

/// How a cursor moves, how long it stays after a click, and when it hides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// How it travels.
    pub motion: Motion,
    /// How long it stays at least where it clicked.
    pub dwell: Duration,
    /// It hides when nothing happened for so long; zero: never.
    pub idle_hide: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            motion: Motion::default(),
            dwell: Duration::from_millis(80),
            idle_hide: Duration::from_secs(20),
        }
    }
}

/// A cursor as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Where it is on the screen, on its way too; none before it was anywhere.
    pub position: Option<Point>,
    /// True when it is on the screen.
    pub is_visible: bool,
    /// True when a compositor blends it with what is below.
    pub is_composited: bool,
    /// False when it has no label, or no font has the letters.
    pub has_label: bool,
}

/// A cursor that hid by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// Its name.
    pub id: String,
    /// When it did.
    pub at: SystemTime,
}

/// Where a live picture of a window is on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreviewPlace {
    /// Width in pixels, at most the screen's.
    pub width: u16,
    /// Height in pixels, at most the screen's.
    pub height: u16,
    /// Its top left corner on the screen; none: in the bottom right corner.
    pub position: Option<(i32, i32)>,
}
