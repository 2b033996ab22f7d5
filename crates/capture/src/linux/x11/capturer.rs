//! Pictures of windows and of the screen.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use desktop::x11::Placed;
use desktop::{Desktop, Point, Rect, Session, WindowId};

use x11rb::protocol::xproto::Window as Xid;

use super::link::{Link, ReadError};
use super::picture_cache::{NoPicture, PictureCache, Source};
use super::repaint::hidden_parts;
use crate::zoom::padded;
use crate::{CaptureError, Encoded, Picture, Shot, WindowDigest, Zoomed};

/// Takes pictures on one display; calls wait for each other.
pub struct Capturer {
    desktop: Arc<Desktop>,
    picture_cache: Mutex<Option<PictureCache>>,
}

/// How often a window may change between being found and being read before that is a failure.
const ATTEMPTS: usize = 5;

impl Capturer {
    /// Opens a connection of its own to the desktop's display.
    ///
    /// From here on the server keeps the pixels of covered windows, so it is best opened before they matter.
    pub fn open(desktop: Arc<Desktop>) -> Result<Self, CaptureError> {
        let Session::X11(session) = desktop.session();
        let (link, complete) = Link::open(session)?;
        let unsure = if link.has_composite {
            let shown = desktop.x11_stacking()?.into_iter().map(|frame| frame.id);
            shown.filter(|frame| !complete.contains(frame)).collect()
        } else {
            HashSet::new()
        };
        Ok(Self { desktop, picture_cache: Mutex::new(Some(PictureCache::new(link, unsure))) })
    }

    /// The picture of a window's client area, covered parts included; `max_dimension` 0 means no limit.
    ///
    /// A minimised window that was captured before gives its last pixels, marked `stale`.
    pub fn window(&self, window_id: WindowId, max_dimension: u32) -> Result<Picture, CaptureError> {
        self.with(window_id, |picture_cache, source| picture_cache.picture(source, max_dimension))
    }

    /// The same picture with a red crosshair around a point of the window (window-local pixels, inside it).
    pub fn marked(
        &self,
        window_id: WindowId,
        point: Point,
        max_dimension: u32,
    ) -> Result<Picture, CaptureError> {
        let at = (clamped(point.x), clamped(point.y));
        self.with(window_id, |picture_cache, source| {
            let PictureCache { link, encoder, .. } = picture_cache;
            let pixels = link.read(source.drawable, source.part)?;
            let picture = encoder.mark(pixels, at, max_dimension)?;
            Ok(Picture { stale: source.stale, ..picture })
        })
    }

    /// The pixels of a window's client area now, to make pictures of later.
    pub fn shot(&self, window_id: WindowId) -> Result<Shot, CaptureError> {
        self.with(window_id, |picture_cache, source| {
            let pixels = picture_cache.link.read(source.drawable, source.part)?;
            let (width, height) = (pixels.width, pixels.height);
            Ok(Shot { bgrx: pixels.bytes.to_vec(), width, height, stale: source.stale })
        })
    }

    /// A JPEG of a part of a window (window-local) with a fifth of its size around it, at most 500 pixels wide.
    ///
    /// A region of which no pixel lies in the window is `capture_failed`.
    pub fn zoom(&self, window_id: WindowId, region: Rect) -> Result<Zoomed, CaptureError> {
        self.with(window_id, |picture_cache, source| {
            let PictureCache { link, encoder, .. } = picture_cache;
            let (area, region) = source.clip(padded(region))?;
            let zoomed = encoder.zoom(link.read(source.drawable, area)?, region)?;
            Ok(Zoomed { stale: source.stale, ..zoomed })
        })
    }

    /// A hash of a window's pixels, or of a part of them (window-local); it changes when what is seen changes.
    ///
    /// Of a whole window only what was drawn since the last time is read.
    pub fn digest(&self, window_id: WindowId, region: Option<Rect>) -> Result<String, CaptureError> {
        self.with(window_id, |picture_cache, source| match region {
            None => picture_cache.window_digest(source).map(|window_digest| window_digest.digest),
            Some(region) => {
                let PictureCache { link, encoder, .. } = picture_cache;
                let (area, _) = source.clip(region)?;
                Ok(encoder.digest(link.read(source.drawable, area)?))
            }
        })
    }

    /// The hash of a window's pixels, and for how long they were left alone before.
    pub fn window_digest(&self, window_id: WindowId) -> Result<WindowDigest, CaptureError> {
        self.with(window_id, PictureCache::window_digest)
    }

    /// The picture of the whole screen, all monitors; of `hidden` windows it has what lies below them.
    pub fn screen(&self, max_dimension: u32, hidden: &[WindowId]) -> Result<Picture, CaptureError> {
        let mut guard = self.lock();
        let picture_cache = guard.as_mut().ok_or_else(|| self.closed())?;
        let hidden: Vec<Xid> = hidden.iter().map(|window| window.xid()).collect();
        let overlook = |ground| self.desktop.overlook(WindowId::of_xid(ground));
        picture_cache.screen(max_dimension, &hidden, overlook).map_err(|no_picture| match no_picture {
            NoPicture::ReadError(error) => self.failed("screen", error),
            NoPicture::Reason(reason) => broken("screen", reason),
        })
    }

    /// The picture of the whole screen, all monitors, as a JPEG; `quality` is 1 to 100.
    pub fn screen_jpeg(&self, quality: u8) -> Result<Encoded, CaptureError> {
        let mut guard = self.lock();
        let picture_cache = guard.as_mut().ok_or_else(|| self.closed())?;
        picture_cache.screen_jpeg(quality).map_err(|no_picture| match no_picture {
            NoPicture::ReadError(error) => self.failed("screen", error),
            NoPicture::Reason(reason) => broken("screen", reason),
        })
    }

    /// Gives the connection back; later calls fail with `display_lost`. Closing twice is fine.
    pub fn close(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<PictureCache>> {
        self.picture_cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closed(&self) -> CaptureError {
        let Session::X11(session) = self.desktop.session();
        session.lost("the capturer was closed").into()
    }

    /// Finds the window's pixels and runs `work` on them, again if the window changes meanwhile.
    fn with<T>(
        &self,
        window_id: WindowId,
        work: impl Fn(&mut PictureCache, Source) -> Result<T, NoPicture>,
    ) -> Result<T, CaptureError> {
        let name = format!("window {window_id}");
        let mut guard = self.lock();
        let picture_cache = guard.as_mut().ok_or_else(|| self.closed())?;
        let mut last = ReadError::Gone;
        for _ in 0..ATTEMPTS {
            let windows = self.desktop.x11_windows()?;
            picture_cache.forget_vanished(&windows);
            let Some(window) = windows.into_iter().find(|window| window.window_id == window_id) else {
                return Err(CaptureError::WindowNotFound { window_id });
            };
            let stale = match self.name(picture_cache, &window) {
                Ok(stale) => stale,
                Err(AttemptError::Again(_)) if !window.is_on_screen && picture_cache.has_kept(&window) => {
                    true
                }
                Err(AttemptError::Again(_)) if !window.is_on_screen => {
                    return Err(CaptureError::WindowNotVisible { window_id });
                }
                Err(AttemptError::Final(error)) => return Err(error),
                Err(AttemptError::ReadError(error)) => return Err(self.failed(&name, error)),
                Err(AttemptError::Again(error)) => {
                    last = error;
                    continue;
                }
            };
            match picture_cache.source(&window, stale).and_then(|source| work(picture_cache, source)) {
                Ok(done) => return Ok(done),
                Err(NoPicture::ReadError(error @ ReadError::Gone)) => last = error,
                Err(NoPicture::ReadError(error)) => return Err(self.failed(&name, error)),
                Err(NoPicture::Reason(reason)) => return Err(broken(&name, reason)),
            }
        }
        Err(self.failed(&name, last))
    }

    fn failed(&self, what: &str, error: ReadError) -> CaptureError {
        let Session::X11(session) = self.desktop.session();
        error.failed(session, what)
    }

    /// Takes hold of the pixels of a window that is shown; answers whether a part of them is missing.
    fn name(&self, picture_cache: &mut PictureCache, window: &Placed) -> Result<bool, AttemptError> {
        let is_unsure = picture_cache.unsure.contains(&window.frame_id);
        let hidden = if is_unsure || !picture_cache.link.has_composite {
            let stacking = self.desktop.x11_stacking().map_err(|error| AttemptError::Final(error.into()))?;
            let screen = picture_cache.link.screen()?;
            hidden_parts(window, &stacking, screen)
        } else {
            Vec::new()
        };
        if !picture_cache.link.has_composite {
            picture_cache.release(window.window_id);
            let window_id = window.window_id;
            return if hidden.is_empty() {
                Ok(false)
            } else {
                Err(AttemptError::Final(CaptureError::WindowCovered { window_id }))
            };
        }
        let mut is_missing = false;
        if is_unsure {
            is_missing = !picture_cache.link.repaint(window, &hidden)?;
            // It took the events of all watches from the connection.
            picture_cache.invalidate_all();
            if !is_missing {
                picture_cache.unsure.remove(&window.frame_id);
            }
        }
        picture_cache.keep(window)?;
        Ok(is_missing)
    }
}

/// Why an attempt ended.
enum AttemptError {
    /// The window changed meanwhile: look again.
    Again(ReadError),
    ReadError(ReadError),
    Final(CaptureError),
}

impl From<ReadError> for AttemptError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Gone => Self::Again(error),
            other => Self::ReadError(other),
        }
    }
}

fn clamped(value: i32) -> u32 {
    u32::try_from(value).unwrap_or(0)
}

fn broken(what: &str, reason: String) -> CaptureError {
    CaptureError::Failed { what: what.to_owned(), reason }
}
