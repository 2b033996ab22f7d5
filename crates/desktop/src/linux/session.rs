//! The display server that a desktop is on.

use super::x11;
use crate::DesktopError;

/// The display server of a desktop: whatever differs between them is an arm of this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Session {
    /// An X server.
    X11(x11::Session),
}

impl Session {
    /// The session of a display, by default of that of the environment; connects to nothing yet.
    ///
    /// Fails with `display_unavailable` where no display is named.
    pub fn of(display: Option<&str>) -> Result<Self, DesktopError> {
        x11::Session::of(display).map(Self::X11)
    }

    /// The name of the display.
    pub fn display(&self) -> &str {
        match self {
            Self::X11(x11) => x11.display(),
        }
    }
}
