//! What can go wrong with a picture.

use desktop::{DesktopError, WindowId};

/// A failure of this crate; [`CaptureError::code`] is stable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// The display failed.
    #[error(transparent)]
    Desktop(#[from] DesktopError),
    /// No listed window has that id.
    #[error("No window has the id \"{window_id}\". Call list_windows for the windows there are now.")]
    WindowNotFound {
        /// The id that was asked for.
        window_id: WindowId,
    },
    /// The window has no pixels now, and none were kept from before.
    #[error(
        "Window \"{window_id}\" is minimised or on another workspace and was never captured before, so it has no picture. \
         Use capture_mode \"ax\", or bring it back first."
    )]
    WindowNotVisible {
        /// The window.
        window_id: WindowId,
    },
    /// The server has no Composite extension, and another window lies on top.
    #[error(
        "Window \"{window_id}\" is covered and the X server has no Composite extension. \
         Start the server with Composite, or use capture_mode \"ax\"."
    )]
    WindowCovered {
        /// The window.
        window_id: WindowId,
    },
    /// The pixels could not be read, or not be written as a picture.
    #[error("The picture of \"{what}\" failed: {reason}. Try again; if it stays so, run `backlot doctor`.")]
    Failed {
        /// What was captured.
        what: String,
        /// What went wrong.
        reason: String,
    },
}

impl CaptureError {
    /// The stable snake_case code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Desktop(error) => error.code(),
            Self::WindowNotFound { .. } => "window_not_found",
            Self::WindowNotVisible { .. } | Self::WindowCovered { .. } => "window_not_visible",
            Self::Failed { .. } => "capture_failed",
        }
    }
}
