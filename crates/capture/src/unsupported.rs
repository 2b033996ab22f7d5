//! Platforms without an implementation: the same public items, each refusing with `unsupported_platform`.

use std::sync::Arc;

use desktop::{Desktop, DesktopError, Point, Rect, Session, WindowId};

use crate::{CaptureError, Encoded, Picture, Shot, WindowDigest, Zoomed};

/// A capturer that cannot be opened here.
pub struct Capturer {
    never: std::convert::Infallible,
}

impl Capturer {
    /// Always fails with `unsupported_platform`.
    pub fn open(_desktop: Arc<Desktop>) -> Result<Self, CaptureError> {
        Err(DesktopError::UnsupportedPlatform { what: "capture" }.into())
    }

    /// The picture of one window.
    pub fn window(&self, _window_id: WindowId, _max_dimension: u32) -> Result<Picture, CaptureError> {
        match self.never {}
    }

    /// The picture of one window with a crosshair.
    pub fn marked(
        &self,
        _window_id: WindowId,
        _point: Point,
        _max_dimension: u32,
    ) -> Result<Picture, CaptureError> {
        match self.never {}
    }

    /// The pixels of one window.
    pub fn shot(&self, _window_id: WindowId) -> Result<Shot, CaptureError> {
        match self.never {}
    }

    /// A closer look at a part of one window.
    pub fn zoom(&self, _window_id: WindowId, _region: Rect) -> Result<Zoomed, CaptureError> {
        match self.never {}
    }

    /// The picture of the screen.
    pub fn screen(&self, _max_dimension: u32, _hidden: &[WindowId]) -> Result<Picture, CaptureError> {
        match self.never {}
    }

    /// The picture of the screen, as a JPEG.
    pub fn screen_jpeg(&self, _quality: u8) -> Result<Encoded, CaptureError> {
        match self.never {}
    }

    /// A hash of a window's pixels.
    pub fn digest(&self, _window_id: WindowId, _region: Option<Rect>) -> Result<String, CaptureError> {
        match self.never {}
    }

    /// A hash of a window's pixels and how long they were left alone.
    pub fn window_digest(&self, _window_id: WindowId) -> Result<WindowDigest, CaptureError> {
        match self.never {}
    }

    /// Gives the connection back.
    pub fn close(&self) {
        match self.never {}
    }
}

/// The connection of a screen that cannot be watched here.
pub struct ScreenConnection {
    never: std::convert::Infallible,
}

impl ScreenConnection {
    /// Ends it.
    pub fn end(&self) {
        match self.never {}
    }
}

/// A screen that cannot be watched here.
pub struct ScreenSource {
    never: std::convert::Infallible,
}

impl ScreenSource {
    /// Always fails with `unsupported_platform`.
    pub fn open(_session: &Session) -> Result<Self, CaptureError> {
        Err(DesktopError::UnsupportedPlatform { what: "image" }.into())
    }

    /// What ends the waits of this source.
    pub fn connection(&self) -> ScreenConnection {
        match self.never {}
    }

    /// The whole screen.
    pub fn screen(&self) -> Rect {
        match self.never {}
    }

    /// What may have changed.
    pub fn changes(&mut self) -> Result<Vec<Rect>, CaptureError> {
        match self.never {}
    }

    /// The pixels of a rectangle.
    pub fn read(&mut self, _area: Rect) -> Result<&[u8], CaptureError> {
        match self.never {}
    }
}
