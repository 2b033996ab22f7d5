//! What can go wrong with input.

use desktop::WindowId;

use crate::keysyms::character_of;

/// The extension by which a server takes synthetic input: without it there is none at all.
pub(crate) const XTEST: &str = "XTEST";

/// A failure of this crate; [`InputError::code`] is stable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// No key has that name.
    #[error("No key is named \"{name}\".{} Use a letter, a digit, a name such as \"return\" or an X keysym name.", suggest(.near))]
    UnknownKey {
        /// The name as given.
        name: String,
        /// Known names that are spelled alike, the nearest first.
        near: Vec<&'static str>,
    },
    /// The key exists on other platforms only.
    #[error("The key \"{name}\" works inside the keyboard of a Mac and sends nothing here. Leave it out.")]
    UnsupportedKey {
        /// The name as given.
        name: String,
    },
    /// No modifier has that name.
    #[error("No modifier is named \"{name}\". Use cmd, shift, alt (option) or ctrl.")]
    UnknownModifier {
        /// The name as given.
        name: String,
    },
    /// The names of a combination do not stand as they must.
    #[error(
        "The combination \"{given}\" {problem}. Give the modifiers first and exactly one other key last, such as [\"ctrl\", \"a\"]."
    )]
    InvalidCombination {
        /// The names as given, with a plus between them.
        given: String,
        /// What is wrong with them.
        problem: &'static str,
    },
    /// There is no such window.
    #[error("No window has the id \"{window_id}\". Call list_windows for those that exist.")]
    WindowNotFound {
        /// The id as given.
        window_id: WindowId,
    },
    /// The point is not in the window.
    #[error(
        "The point \"{x}, {y}\" lies outside window \"{window_id}\", which is {width}x{height} pixels. Give a point inside it."
    )]
    PointOutsideWindow {
        /// The window.
        window_id: WindowId,
        /// Pixels right of the window's left edge.
        x: i32,
        /// Pixels below the window's top edge.
        y: i32,
        /// The window's width in pixels.
        width: u32,
        /// The window's height in pixels.
        height: u32,
    },
    /// Nothing of the window is on the screen.
    #[error(
        "The window \"{window_id}\" is {reason}, so a pointer cannot reach it. Use element_index, or bring the window back first."
    )]
    WindowNotVisible {
        /// The window.
        window_id: WindowId,
        /// Why: minimised, on another workspace, unmapped, off the screen.
        reason: &'static str,
    },
    /// Another window lies over the point inside the same frame: what covers a whole frame lets the pointer through.
    #[error(
        "The window \"{window_id}\" is covered by \"{covering}\"{}. Use element_index, or move the other window.",
        at(.point)
    )]
    WindowCovered {
        /// The window that was aimed at.
        window_id: WindowId,
        /// Title of the window above it, or its id when it has none.
        covering: String,
        /// The point, window-local; none when the whole window is covered.
        point: Option<(i32, i32)>,
    },
    /// The person works in another window of an application that reads all its keys in one.
    #[error(
        "The application of window \"{window_id}\" sends every key to the window that has the person's focus, and that is another one of it. Use an element_index to operate or fill, or wait until the person works elsewhere."
    )]
    ApplicationInUse {
        /// The window that the keys were meant for.
        window_id: WindowId,
    },
    /// Characters that keys cannot bring to this window unchanged.
    #[error(
        "The characters \"{characters}\" cannot be typed into window \"{window_id}\" with keys. Use element_index so that the text is inserted, or leave them out."
    )]
    TextNotTypable {
        /// The window.
        window_id: WindowId,
        /// The characters, each once.
        characters: String,
    },
    /// The display lacks what input is made of.
    #[error(
        "The display \"{display}\" offers no \"{missing}\", which pointers and keys are sent by. Use element_index, or an X server with that extension."
    )]
    InputUnavailable {
        /// The display's name.
        display: String,
        /// The extension that is missing.
        missing: &'static str,
    },
    /// The display takes synthetic input, but lacks what a second pointer and keyboard are made of.
    #[error(
        "The display \"{display}\" takes input only for the window in the foreground, through the person's own pointer and keyboard: it offers no \"{missing}\", which a second pair needs. Use element_index, or an X server with that extension."
    )]
    ForegroundOnly {
        /// The display's name.
        display: String,
        /// What is missing.
        missing: &'static str,
    },
    /// The server has no room for the devices of another agent.
    #[error(
        "The display \"{display}\" has no room for another agent's pointer and keyboard: {agents} agents have theirs there. End the clients that no longer act (`backlot-driver status` counts them), let several share one connection, or start a display of your own with `backlot desktop`."
    )]
    TooManyAgents {
        /// The display's name.
        display: String,
        /// Agents that have their devices.
        agents: usize,
    },
    /// The agent's pointer is closed.
    #[error("The agent \"{name}\" is closed. Open another one.")]
    AgentClosed {
        /// The agent's name.
        name: String,
    },
    /// The caller cancelled the call, or closed the agent under it.
    #[error(
        "Typing into window \"{window_id}\" was cancelled after {typed} of {count} characters. Look at what it shows before the rest is typed."
    )]
    Cancelled {
        /// The window.
        window_id: WindowId,
        /// Characters that were typed.
        typed: usize,
        /// Characters of the whole text, a line break being one.
        count: usize,
    },
    /// What keeps the rest of a text from its window.
    #[error(
        "{cause} {typed} of {count} characters were typed before. Look at what the window shows before the rest is typed."
    )]
    Interrupted {
        /// Why, as where it is known before anything is typed.
        cause: Box<InputError>,
        /// Characters that were typed.
        typed: usize,
        /// Characters of the whole text, a line break being one.
        count: usize,
    },
    /// The caller cancelled a gesture, or closed the agent under it.
    #[error(
        "The {gesture} in window \"{window_id}\" was cancelled; its buttons and keys are up. Look at what the window shows before you go on."
    )]
    Halted {
        /// The window.
        window_id: WindowId,
        /// What it was: click, drag, wheel, pointer or key.
        gesture: &'static str,
    },
    /// The point is not on the screen.
    #[error(
        "The point \"{x}, {y}\" lies outside the screen, which is {width}x{height} pixels. Give a point inside it."
    )]
    PointOutsideScreen {
        /// Pixels right of the screen's left edge.
        x: i32,
        /// Pixels below the screen's top edge.
        y: i32,
        /// The screen's width in pixels.
        width: u32,
        /// The screen's height in pixels.
        height: u32,
    },
    /// Others act with the display's devices without an end.
    #[error(
        "The pointer and keyboard of the display \"{display}\" have been in use by other programs for {seconds} s. Try again when they are done."
    )]
    DevicesBusy {
        /// The display's name.
        display: String,
        /// How long was waited.
        seconds: u64,
    },
    /// The application that has the keyboard does not read what it is sent.
    #[error(
        "The application of window \"{window_id}\" does not read its keys, so what it got of them is not known. Look at what it shows, and try again when it answers."
    )]
    KeysNotRead {
        /// The window.
        window_id: WindowId,
    },
    /// The display's devices are no longer used by this caller.
    #[error("The pointer and keyboard of the display \"{display}\" are closed here. Open them again.")]
    DevicesClosed {
        /// The display's name.
        display: String,
    },
    /// The caller cancelled what was done with the display's devices, or closed them.
    #[error(
        "The {act} was cancelled; what it pressed is up again. Look at what the screen shows before you go on."
    )]
    ActHalted {
        /// What it was: move, press, release, click, drag, wheel, key or text.
        act: &'static str,
    },
    /// The display failed.
    #[error(transparent)]
    Desktop(#[from] desktop::DesktopError),
}

impl InputError {
    /// No key gives the keysym to the window.
    pub(crate) fn untypable(window_id: WindowId, keysym: u32) -> Self {
        let characters = character_of(keysym).map_or_else(|| format!("keysym {keysym:#x}"), String::from);
        Self::TextNotTypable { window_id, characters }
    }

    /// The failure after which a text of `count` characters ends with the one numbered `typed`.
    pub(crate) fn after(self, typed: usize, count: usize) -> Self {
        if typed == 0 { self } else { Self::Interrupted { cause: Box::new(self), typed, count } }
    }

    /// What a failure to make an agent's own devices means on a server that does take synthetic input.
    pub(crate) fn in_background(self) -> Self {
        match self {
            Self::InputUnavailable { display, missing } if missing != XTEST => {
                Self::ForegroundOnly { display, missing }
            }
            other => other,
        }
    }

    /// The stable snake_case code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownKey { .. } => "unknown_key",
            Self::UnsupportedKey { .. } => "unsupported_key",
            Self::UnknownModifier { .. } => "unknown_modifier",
            Self::InvalidCombination { .. } => "invalid_argument",
            Self::WindowNotFound { .. } => "window_not_found",
            Self::PointOutsideWindow { .. } => "point_outside_window",
            Self::WindowNotVisible { .. } => "window_not_visible",
            Self::WindowCovered { .. } => "window_covered",
            Self::ApplicationInUse { .. } => "application_in_use",
            Self::TextNotTypable { .. } => "text_not_typable",
            Self::InputUnavailable { .. } => "input_unavailable",
            Self::ForegroundOnly { .. } => "foreground_only",
            Self::TooManyAgents { .. } => "too_many_agents",
            Self::AgentClosed { .. } | Self::DevicesClosed { .. } => "agent_closed",
            Self::Cancelled { .. } | Self::Halted { .. } | Self::ActHalted { .. } => "cancelled",
            Self::Interrupted { cause, .. } => cause.code(),
            Self::PointOutsideScreen { .. } => "invalid_argument",
            Self::DevicesBusy { .. } | Self::KeysNotRead { .. } => "condition_not_met",
            Self::Desktop(error) => error.code(),
        }
    }
}

fn suggest(near: &[&str]) -> String {
    if near.is_empty() {
        return String::new();
    }
    format!(" Near names: \"{}\".", near.join("\", \""))
}

fn at(point: &Option<(i32, i32)>) -> String {
    point.map(|(x, y)| format!(" at the point \"{x}, {y}\"")).unwrap_or_default()
}
