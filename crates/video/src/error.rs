//! What can go wrong with a film.

use capture::CaptureError;
use desktop::Rect;

use crate::pictures::settings::{MOST_SIDE, Settings};

/// A failure of this crate; [`VideoError::code`] is stable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VideoError {
    /// The display failed, or its pixels could not be read.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The settings are out of their ranges.
    #[error(
        "A film of {}x{} at {} pictures a second and quantiser {} cannot be made. \
         Use sides up to {MOST_SIDE}, 1 to 60 pictures a second and a quantiser from 12 to 40.",
        settings.width, settings.height, settings.fps, settings.qp
    )]
    Settings {
        /// What was asked for.
        settings: Settings,
    },
    /// The rectangle does not fit the macroblocks of the film, or its pixels are too few.
    #[error(
        "The rectangle {}x{}+{}+{} with {bytes} bytes cannot be painted. Use one that `paintable` gives.",
        area.width, area.height, area.x, area.y
    )]
    Area {
        /// The rectangle.
        area: Rect,
        /// How many bytes came with it.
        bytes: usize,
    },
    /// The size of another encoder's pictures is not told, or not a usual one.
    #[error(
        "The H.264 of the other encoder has a damaged sequence parameter set, so it is not shown. Begin it anew."
    )]
    SequenceSet,
    /// The file could not be made or written.
    #[error(
        "The film \"{path}\" cannot be written: {reason}. \
         What was written before can be played; make room or choose another folder, and start again."
    )]
    Write {
        /// The file.
        path: String,
        /// What went wrong.
        reason: String,
    },
}

impl VideoError {
    /// The stable snake_case code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Capture(error) => error.code(),
            Self::Settings { .. } | Self::Area { .. } => "invalid_argument",
            Self::SequenceSet => "capture_failed",
            Self::Write { .. } => "film_not_written",
        }
    }
}
