//! What can go wrong with a display, its windows and its applications.

/// A failure of this crate; [`DesktopError::code`] is stable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DesktopError {
    /// No display can be reached under that name.
    #[error(
        "The display \"{display}\" cannot be opened: {reason}. Set DISPLAY to a running X server, or start one with `backlot desktop`."
    )]
    DisplayUnavailable {
        /// The name that was tried; empty when none was given and DISPLAY is unset.
        display: String,
        /// What the attempt said.
        reason: String,
    },
    /// The connection to a display that was open is gone.
    #[error("The connection to the display \"{display}\" is lost: {reason}. Open the display again.")]
    DisplayLost {
        /// The display's name.
        display: String,
        /// What the connection said.
        reason: String,
    },
    /// The X server refused a request that always succeeds on a healthy one.
    #[error(
        "The display \"{display}\" refused \"{request}\": {reason}. Check the X server with `backlot doctor`."
    )]
    DisplayRefused {
        /// The display's name.
        display: String,
        /// What was asked for.
        request: &'static str,
        /// What the server answered.
        reason: String,
    },
    /// This platform has no implementation.
    #[error("\"{what}\" does not exist on this platform. Use a Linux desktop.")]
    UnsupportedPlatform {
        /// What was asked for.
        what: &'static str,
    },
}

impl DesktopError {
    /// The stable snake_case code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::DisplayUnavailable { .. } => "display_unavailable",
            Self::DisplayLost { .. } => "display_lost",
            Self::DisplayRefused { .. } => "display_refused",
            Self::UnsupportedPlatform { .. } => "unsupported_platform",
        }
    }
}
