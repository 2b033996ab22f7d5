//! Pictures of windows and of the screen.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use desktop::x11::Placed;
use desktop::{Desktop, Point, Rect, Session, WindowId};

use x11rb::protocol::xproto::Window as Xid;

use super::link::{Link, Trouble};
use super::repaint::hidden_parts;
use super::studio::{Snag, Source, Studio};
use crate::zoom::padded;
use crate::{CaptureError, Encoded, Glance, Picture, Shot, Zoomed};

/// Takes pictures on one display; calls wait for each other.
pub struct Capturer {
    desktop: Arc<Desktop>,
    studio: Mutex<Option<Studio>>,
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
        Ok(Self { desktop, studio: Mutex::new(Some(Studio::new(link, unsure))) })
    }

    /// The picture of a window's client area, covered parts included; `max_dimension` 0 means no limit.
    ///
    /// A minimised window that was captured before gives its last pixels, marked `stale`.
    pub fn window(&self, window_id: WindowId, max_dimension: u32) -> Result<Picture, CaptureError> {
        self.with(window_id, |studio, source| studio.picture(source, max_dimension))
    }

    /// The same picture with a red crosshair around a point of the window (window-local pixels, inside it).
    pub fn marked(
        &self,
        window_id: WindowId,
        point: Point,
        max_dimension: u32,
    ) -> Result<Picture, CaptureError> {
        let at = (clamped(point.x), clamped(point.y));
        self.with(window_id, |studio, source| {
            let Studio { link, darkroom, .. } = studio;
            let pixels = link.read(source.drawable, source.part)?;
            let picture = darkroom.mark(pixels, at, max_dimension)?;
            Ok(Picture { stale: source.stale, ..picture })
        })
    }

    /// The pixels of a window's client area now, to make pictures of later.
    pub fn shot(&self, window_id: WindowId) -> Result<Shot, CaptureError> {
        self.with(window_id, |studio, source| {
            let pixels = studio.link.read(source.drawable, source.part)?;
            let (width, height) = (pixels.width, pixels.height);
            Ok(Shot { bgrx: pixels.bytes.to_vec(), width, height, stale: source.stale })
        })
    }

    /// A JPEG of a part of a window (window-local) with a fifth of its size around it, at most 500 pixels wide.
    ///
    /// A region of which no pixel lies in the window is `capture_failed`.
    pub fn zoom(&self, window_id: WindowId, region: Rect) -> Result<Zoomed, CaptureError> {
        self.with(window_id, |studio, source| {
            let Studio { link, darkroom, .. } = studio;
            let (area, region) = source.clip(padded(region))?;
            let zoomed = darkroom.zoom(link.read(source.drawable, area)?, region)?;
            Ok(Zoomed { stale: source.stale, ..zoomed })
        })
    }

    /// A hash of a window's pixels, or of a part of them (window-local); it changes when what is seen changes.
    ///
    /// Of a whole window only what was drawn since the last time is read.
    pub fn digest(&self, window_id: WindowId, region: Option<Rect>) -> Result<String, CaptureError> {
        self.with(window_id, |studio, source| match region {
            None => studio.glance(source).map(|glance| glance.digest),
            Some(region) => {
                let Studio { link, darkroom, .. } = studio;
                let (area, _) = source.clip(region)?;
                Ok(darkroom.digest(link.read(source.drawable, area)?))
            }
        })
    }

    /// The hash of a window's pixels, and for how long they were left alone before.
    pub fn glance(&self, window_id: WindowId) -> Result<Glance, CaptureError> {
        self.with(window_id, Studio::glance)
    }

    /// The picture of the whole screen, all monitors; of `hidden` windows it has what lies below them.
    pub fn screen(&self, max_dimension: u32, hidden: &[WindowId]) -> Result<Picture, CaptureError> {
        let mut guard = self.lock();
        let studio = guard.as_mut().ok_or_else(|| self.closed())?;
        let hidden: Vec<Xid> = hidden.iter().map(|window| window.xid()).collect();
        let overlook = |ground| self.desktop.overlook(WindowId::of_xid(ground));
        studio.screen(max_dimension, &hidden, overlook).map_err(|snag| match snag {
            Snag::Trouble(trouble) => self.failed("screen", trouble),
            Snag::Reason(reason) => broken("screen", reason),
        })
    }

    /// The picture of the whole screen, all monitors, as a JPEG; `quality` is 1 to 100.
    pub fn screen_jpeg(&self, quality: u8) -> Result<Encoded, CaptureError> {
        let mut guard = self.lock();
        let studio = guard.as_mut().ok_or_else(|| self.closed())?;
        studio.screen_jpeg(quality).map_err(|snag| match snag {
            Snag::Trouble(trouble) => self.failed("screen", trouble),
            Snag::Reason(reason) => broken("screen", reason),
        })
    }

    /// Gives the connection back; later calls fail with `display_lost`. Closing twice is fine.
    pub fn close(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Studio>> {
        self.studio.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closed(&self) -> CaptureError {
        let Session::X11(session) = self.desktop.session();
        session.lost("the capturer was closed").into()
    }

    /// Finds the window's pixels and runs `work` on them, again if the window changes meanwhile.
    fn with<T>(
        &self,
        window_id: WindowId,
        work: impl Fn(&mut Studio, Source) -> Result<T, Snag>,
    ) -> Result<T, CaptureError> {
        let name = format!("window {window_id}");
        let mut guard = self.lock();
        let studio = guard.as_mut().ok_or_else(|| self.closed())?;
        let mut last = Trouble::Gone;
        for _ in 0..ATTEMPTS {
            let windows = self.desktop.x11_windows()?;
            studio.forget_vanished(&windows);
            let Some(window) = windows.into_iter().find(|window| window.window_id == window_id) else {
                return Err(CaptureError::WindowNotFound { window_id });
            };
            let stale = match self.name(studio, &window) {
                Ok(stale) => stale,
                Err(Stop::Again(_)) if !window.is_on_screen && studio.has_kept(&window) => true,
                Err(Stop::Again(_)) if !window.is_on_screen => {
                    return Err(CaptureError::WindowNotVisible { window_id });
                }
                Err(Stop::Final(error)) => return Err(error),
                Err(Stop::Trouble(trouble)) => return Err(self.failed(&name, trouble)),
                Err(Stop::Again(trouble)) => {
                    last = trouble;
                    continue;
                }
            };
            match studio.source(&window, stale).and_then(|source| work(studio, source)) {
                Ok(done) => return Ok(done),
                Err(Snag::Trouble(error @ Trouble::Gone)) => last = error,
                Err(Snag::Trouble(error)) => return Err(self.failed(&name, error)),
                Err(Snag::Reason(reason)) => return Err(broken(&name, reason)),
            }
        }
        Err(self.failed(&name, last))
    }

    fn failed(&self, what: &str, trouble: Trouble) -> CaptureError {
        let Session::X11(session) = self.desktop.session();
        trouble.failed(session, what)
    }

    /// Takes hold of the pixels of a window that is shown; answers whether a part of them is missing.
    fn name(&self, studio: &mut Studio, window: &Placed) -> Result<bool, Stop> {
        let is_unsure = studio.unsure.contains(&window.frame_id);
        let hidden = if is_unsure || !studio.link.has_composite {
            let stacking = self.desktop.x11_stacking().map_err(|error| Stop::Final(error.into()))?;
            let screen = studio.link.screen()?;
            hidden_parts(window, &stacking, screen)
        } else {
            Vec::new()
        };
        if !studio.link.has_composite {
            studio.release(window.window_id);
            let window_id = window.window_id;
            return if hidden.is_empty() {
                Ok(false)
            } else {
                Err(Stop::Final(CaptureError::WindowCovered { window_id }))
            };
        }
        let mut is_missing = false;
        if is_unsure {
            is_missing = !studio.link.repaint(window, &hidden)?;
            // It took the events of all watches from the connection.
            studio.look_again();
            if !is_missing {
                studio.unsure.remove(&window.frame_id);
            }
        }
        studio.keep(window)?;
        Ok(is_missing)
    }
}

/// Why an attempt ended.
enum Stop {
    /// The window changed meanwhile: look again.
    Again(Trouble),
    Trouble(Trouble),
    Final(CaptureError),
}

impl From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Gone => Self::Again(trouble),
            other => Self::Trouble(other),
        }
    }
}

fn clamped(value: i32) -> u32 {
    u32::try_from(value).unwrap_or(0)
}

fn broken(what: &str, reason: String) -> CaptureError {
    CaptureError::Failed { what: what.to_owned(), reason }
}
