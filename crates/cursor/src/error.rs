//! What can go wrong with a cursor.

use desktop::DesktopError;

/// A failure of this crate; [`CursorError::code`] is stable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CursorError {
    /// The display failed.
    #[error(transparent)]
    Desktop(#[from] DesktopError),
    /// The X server lacks what an overlay needs.
    #[error(
        "The display \"{display}\" has no {missing}, so no cursor can be shown on it. \
         Use an X server that has it, or serve with --no-overlay."
    )]
    OverlayUnavailable {
        /// The display.
        display: String,
        /// The missing extension.
        missing: &'static str,
    },
    /// The text is no colour.
    #[error("\"{text}\" is no colour. Pass hex, as \"#ff8800\", or a CSS name, as \"orange\".")]
    NoColor {
        /// What was given.
        text: String,
    },
    /// The image file cannot be used.
    #[error(
        "The image \"{path}\" {reason}. Pass a PNG, JPEG, SVG or ICO of at most 4096x4096 pixels and 8 MB."
    )]
    ImageUnreadable {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl CursorError {
    /// The stable snake_case code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Desktop(error) => error.code(),
            Self::OverlayUnavailable { .. } => "overlay_unavailable",
            Self::NoColor { .. } => "invalid_argument",
            Self::ImageUnreadable { .. } => "cursor_image_unreadable",
        }
    }
}
