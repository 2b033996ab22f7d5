//! What is done with the display's own pointer and keyboard, which a person sitting there would use.

use std::time::Duration;

use desktop::Point;

use crate::{Button, Modifier};

/// One thing that is done with the display's own devices. Points are pixels of the screen; where one is none, the
/// pointer stays where it is.
#[derive(Clone, Debug)]
pub enum CoreAction {
    /// The pointer goes to a point.
    Move {
        /// Where to.
        to: Point,
        /// Time on the way; none is one motion.
        duration: Duration,
    },
    /// A button goes down and stays down.
    Press {
        /// Which button.
        button: Button,
        /// Where.
        at: Option<Point>,
    },
    /// A button goes up.
    Release {
        /// Which button.
        button: Button,
        /// Where.
        at: Option<Point>,
    },
    /// Presses and releases of a button.
    Click {
        /// Which button.
        button: Button,
        /// 1 to 3 presses.
        count: u32,
        /// Where.
        at: Option<Point>,
        /// Held around the presses.
        modifiers: Vec<Modifier>,
    },
    /// One press at the first point, motions, one release at the last.
    Drag {
        /// At least one point; with one alone the drag begins where the pointer is.
        path: Vec<Point>,
        /// Which button.
        button: Button,
        /// From the press to the release.
        duration: Duration,
        /// Held around the whole.
        modifiers: Vec<Modifier>,
    },
    /// Detents of the wheel.
    Wheel {
        /// Detents that bring what is to the right into view; negative for the left.
        right: i32,
        /// Detents that bring what is below into view; negative for above.
        down: i32,
        /// Where.
        at: Option<Point>,
        /// Held around all.
        modifiers: Vec<Modifier>,
    },
    /// A key goes down and stays down.
    KeyDown {
        /// The key's keysym, from [`crate::check_key`].
        keysym: u32,
    },
    /// A key goes up.
    KeyUp {
        /// The key's keysym.
        keysym: u32,
    },
    /// Keys go down in this order and up in the reverse one.
    Keys {
        /// Their keysyms.
        keysyms: Vec<u32>,
    },
    /// A text for what has the keyboard.
    Text {
        /// The characters; line breaks are Return.
        text: String,
        /// Pause after each character.
        delay: Duration,
    },
    /// Everything that is held goes up.
    ReleaseAll,
}

impl CoreAction {
    /// What it is called in messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Move { .. } => "move",
            Self::Press { .. } => "press",
            Self::Release { .. } | Self::ReleaseAll => "release",
            Self::Click { .. } => "click",
            Self::Drag { .. } => "drag",
            Self::Wheel { .. } => "wheel",
            Self::KeyDown { .. } | Self::KeyUp { .. } | Self::Keys { .. } => "key",
            Self::Text { .. } => "text",
        }
    }
}
