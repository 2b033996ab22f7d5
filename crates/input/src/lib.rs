//! Input: key names, plans, and their delivery to one window without taking the person's devices, or through those.
mod core_actions;
mod error;
mod glide;
mod keys;
mod keysyms;
mod path;
mod plan;

#[cfg(all(target_os = "linux", not(unsupported)))]
#[path = "linux/mod.rs"]
mod platform;
#[cfg(any(not(target_os = "linux"), unsupported))]
#[path = "unsupported.rs"]
mod platform;

pub use core_actions::CoreAction;
pub use error::InputError;
pub use keys::{Combination, Modifier, check_combination, check_key, check_modifiers, key_names};
pub use path::Direction;
pub use plan::Button;
pub use platform::{Agent, AppQueues, CallOrder, CoreDevices, StopKey, sweep_agents, sweep_core_devices};

use desktop::{Point, WindowId};

/// A click to be made.
#[derive(Clone, Debug)]
pub struct Click {
    /// The client window.
    pub window_id: WindowId,
    /// Window-local pixels.
    pub at: Point,
    /// Which button.
    pub button: Button,
    /// 1 to 3 presses.
    pub count: u32,
    /// Held around the presses.
    pub modifiers: Vec<Modifier>,
}

/// A button to be held from one point to another.
#[derive(Clone, Debug)]
pub struct Drag {
    /// The client window.
    pub window_id: WindowId,
    /// Where the button goes down, in window-local pixels.
    pub from: Point,
    /// Where it comes up, in window-local pixels; may lie outside the window.
    pub to: Point,
    /// Which button.
    pub button: Button,
    /// From the press to the release.
    pub duration: std::time::Duration,
    /// Motions in between, evenly spaced; at least one is made.
    pub steps: u32,
    /// Held around the whole.
    pub modifiers: Vec<Modifier>,
}

/// Detents of the wheel.
#[derive(Clone, Debug)]
pub struct Wheel {
    /// The client window.
    pub window_id: WindowId,
    /// Window-local pixels.
    pub at: Point,
    /// Which way.
    pub direction: Direction,
    /// Detents.
    pub amount: u32,
    /// Held around all.
    pub modifiers: Vec<Modifier>,
}

/// A place for the agent's pointer to be at, with no button pressed.
#[derive(Clone, Debug)]
pub struct Hover {
    /// The client window.
    pub window_id: WindowId,
    /// Window-local pixels.
    pub at: Point,
}

/// A key to be pressed and released.
#[derive(Clone, Debug)]
pub struct KeyPress {
    /// The client window.
    pub window_id: WindowId,
    /// The key's keysym, from [`check_key`].
    pub keysym: u32,
    /// Held around the key.
    pub modifiers: Vec<Modifier>,
    /// Presses, one after the other.
    pub count: u32,
    /// Window-local point over which the agent's pointer rests; any visible one when none.
    pub at: Option<Point>,
}

/// A text to be typed.
#[derive(Clone, Debug)]
pub struct Text {
    /// The client window.
    pub window_id: WindowId,
    /// The characters; line breaks are Return.
    pub text: String,
    /// Pause after each character.
    pub delay: std::time::Duration,
    /// Window-local point over which the agent's pointer rests; any visible one when none.
    pub at: Option<Point>,
}

/// One thing that an agent's hands do.
#[derive(Clone, Debug)]
pub enum Gesture {
    /// Clicks.
    Click(Click),
    /// A drag.
    Drag(Drag),
    /// Turns of the wheel.
    Wheel(Wheel),
    /// A pointer that rests.
    Hover(Hover),
    /// Presses of a key.
    Key(KeyPress),
    /// A text.
    Text(Text),
}

impl Gesture {
    /// The client window that it is made in.
    pub fn window_id(&self) -> WindowId {
        match self {
            Self::Click(click) => click.window_id,
            Self::Drag(drag) => drag.window_id,
            Self::Wheel(wheel) => wheel.window_id,
            Self::Hover(hover) => hover.window_id,
            Self::Key(press) => press.window_id,
            Self::Text(text) => text.window_id,
        }
    }
}

/// When a call was made, for an agent that is told to cancel what was under way: see [`Agent::now`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallStart(pub(crate) u64);

/// What was sent, and whether the person's things ended as they were, measured after the gesture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Device events sent.
    pub events: u32,
    /// The person's pointer is where it was.
    pub pointer_kept: bool,
    /// The person's keyboard focus is where it was.
    pub focus_kept: bool,
    /// The active window is the one that it was.
    pub active_window_kept: bool,
    /// The windows that were there lie in the order in which they lay.
    pub stacking_kept: bool,
    /// The application was told that its window has the focus, which it may show.
    pub focus_pretended: bool,
}
