//! Platforms without an implementation: the same public items, each refusing with `unsupported_platform`.

use std::sync::Arc;
use std::time::Duration;

use desktop::{Desktop, DesktopError, Point, WindowId};

use crate::look::Style;
use crate::{CursorError, Hidden, Pace, PreviewPlace, State};

/// Cursors that cannot be opened here.
pub struct Cursors {
    never: std::convert::Infallible,
}

impl Cursors {
    /// Always fails with `unsupported_platform`.
    pub fn open(_desktop: Arc<Desktop>) -> Result<Self, CursorError> {
        Err(DesktopError::UnsupportedPlatform { what: "cursor" }.into())
    }

    /// Gives a cursor its looks.
    pub fn set_style(&self, _id: &str, _style: &Style) -> Result<(), CursorError> {
        match self.never {}
    }

    /// Says how a cursor moves and when it hides.
    pub fn set_pace(&self, _id: &str, _pace: Pace) -> Result<(), CursorError> {
        match self.never {}
    }

    /// Moves a cursor to a point of the screen.
    pub fn glide(&self, _id: &str, _to: Point) -> Result<bool, CursorError> {
        match self.never {}
    }

    /// Sends a cursor straight to a point of the screen.
    pub fn travel(&self, _id: &str, _to: Point, _duration: Duration) -> Result<(), CursorError> {
        match self.never {}
    }

    /// Shows a cursor at a point of the screen at once.
    pub fn place(&self, _id: &str, _at: Point) -> Result<(), CursorError> {
        match self.never {}
    }

    /// Shows a click where the cursor is.
    pub fn pulse(&self, _id: &str) -> Result<(), CursorError> {
        match self.never {}
    }

    /// Switches a cursor on or off.
    pub fn enable(&self, _id: &str, _is_enabled: bool) -> Result<(), CursorError> {
        match self.never {}
    }

    /// Where a cursor is and whether it is seen.
    pub fn state(&self, _id: &str) -> Result<Option<State>, CursorError> {
        match self.never {}
    }

    /// Waits until cursors have hidden by themselves.
    pub fn hidden(&self, _timeout: Duration) -> Result<Vec<Hidden>, CursorError> {
        match self.never {}
    }

    /// Shows a small live picture of a window.
    pub fn preview(&self, _window: WindowId, _place: PreviewPlace) -> Result<(), CursorError> {
        match self.never {}
    }

    /// The windows of the cursors that are seen now.
    pub fn windows(&self) -> Result<Vec<WindowId>, CursorError> {
        match self.never {}
    }

    /// Takes a cursor away.
    pub fn remove(&self, _id: &str) -> Result<(), CursorError> {
        match self.never {}
    }

    /// Takes all cursors away.
    pub fn close(&self) {
        match self.never {}
    }
}
