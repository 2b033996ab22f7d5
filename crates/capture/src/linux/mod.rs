//! Linux: pixels from the X server, through Composite and MIT-SHM where it has them.

mod repaint;
mod segment;
mod session;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use desktop::{Desktop, DesktopError, Point, Rect, Window};
use x11rb::connection::Connection;
use x11rb::errors::ReplyOrIdError;
use x11rb::protocol::composite::ConnectionExt as _;
use x11rb::protocol::xproto::{ConnectionExt as _, Pixmap};

use crate::picture::{Darkroom, Pixels};
use crate::zoom::padded;
use crate::{CaptureError, Picture, Zoomed};
use repaint::hidden_parts;
use session::{Session, Trouble};

/// Takes pictures on one display; calls wait for each other.
pub struct Capturer {
    desktop: Arc<Desktop>,
    studio: Mutex<Option<Studio>>,
}

/// The pixels of a window that outlive its being minimised.
struct Kept {
    pixmap: Pixmap,
    /// The client window's part of the pixmap.
    part: Rect,
}

struct Studio {
    session: Session,
    darkroom: Darkroom,
    kept: HashMap<u32, Kept>,
    /// Frames that were there when the server began to keep pixels, so that what was covered of them is missing.
    unsure: HashSet<u32>,
}

/// What was read of a window.
struct Shot<'p> {
    pixels: Pixels<'p>,
    /// Which part of the window that is, in its own pixels.
    area: Rect,
    stale: bool,
}

/// How often a window may change between being found and being read before that is a failure.
const ATTEMPTS: usize = 5;

impl Capturer {
    /// Opens a connection of its own to the desktop's display.
    ///
    /// From here on the server keeps the pixels of covered windows, so it is best opened before they matter.
    pub fn open(desktop: Arc<Desktop>) -> Result<Self, CaptureError> {
        let display = desktop.display_name();
        let session = Session::open(display).map_err(|error| DesktopError::DisplayUnavailable {
            display: display.to_owned(),
            reason: error.to_string(),
        })?;
        let unsure = if session.has_redirected {
            desktop.stacking()?.iter().map(|frame| frame.id).collect()
        } else {
            HashSet::new()
        };
        let studio = Studio { session, darkroom: Darkroom::default(), kept: HashMap::new(), unsure };
        Ok(Self { desktop, studio: Mutex::new(Some(studio)) })
    }

    /// The picture of a window's client area, covered parts included; `max_dimension` 0 means no limit.
    ///
    /// A minimised window that was captured before gives its last pixels, marked `stale`.
    pub fn window(&self, window_id: u32, max_dimension: u32) -> Result<Picture, CaptureError> {
        self.with(window_id, None, |darkroom, shot| {
            let picture = darkroom.develop(shot.pixels, max_dimension)?;
            Ok(Picture { stale: shot.stale, ..picture })
        })
    }

    /// The same picture with a red crosshair around a point of the window (window-local pixels, inside it).
    pub fn marked(&self, window_id: u32, point: Point, max_dimension: u32) -> Result<Picture, CaptureError> {
        let at = (clamped(point.x), clamped(point.y));
        self.with(window_id, None, |darkroom, shot| {
            let picture = darkroom.mark(shot.pixels, at, max_dimension)?;
            Ok(Picture { stale: shot.stale, ..picture })
        })
    }

    /// A JPEG of a part of a window (window-local) with a fifth of its size around it, at most 500 pixels wide.
    ///
    /// A region of which no pixel lies in the window is `capture_failed`.
    pub fn zoom(&self, window_id: u32, region: Rect) -> Result<Zoomed, CaptureError> {
        self.with(window_id, Some(padded(region)), |darkroom, shot| {
            let zoomed = darkroom.zoom(shot.pixels, shot.area)?;
            Ok(Zoomed { stale: shot.stale, ..zoomed })
        })
    }

    /// A hash of a window's pixels, or of a part of them (window-local); it changes when what is seen changes.
    pub fn digest(&self, window_id: u32, region: Option<Rect>) -> Result<String, CaptureError> {
        self.with(window_id, region, |darkroom, shot| Ok(darkroom.digest(shot.pixels)))
    }

    /// The picture of the whole screen, all monitors.
    pub fn screen(&self, max_dimension: u32) -> Result<Picture, CaptureError> {
        let mut guard = self.lock();
        let studio = guard.as_mut().ok_or_else(|| self.closed())?;
        let pixels = studio.session.read_screen().map_err(|error| self.failed("screen", error))?;
        studio.darkroom.develop(pixels, max_dimension).map_err(|reason| broken("screen", reason))
    }

    /// Gives the connection back; later calls fail with `display_lost`. Closing twice is fine.
    pub fn close(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Studio>> {
        self.studio.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn closed(&self) -> CaptureError {
        let display = self.desktop.display_name().to_owned();
        DesktopError::DisplayLost { display, reason: "the capturer was closed".to_owned() }.into()
    }

    fn with<T>(
        &self,
        window_id: u32,
        region: Option<Rect>,
        make: impl Fn(&mut Darkroom, Shot<'_>) -> Result<T, String>,
    ) -> Result<T, CaptureError> {
        let name = format!("window {window_id}");
        let mut guard = self.lock();
        let studio = guard.as_mut().ok_or_else(|| self.closed())?;
        let mut last = Trouble::Gone;
        for _ in 0..ATTEMPTS {
            let windows = self.desktop.windows()?;
            studio.forget_vanished(&windows);
            let Some(window) = windows.into_iter().find(|window| window.window_id == window_id) else {
                return Err(CaptureError::WindowNotFound { window_id });
            };
            let taken = match self.name(studio, &window) {
                Err(Stop::Again(_)) if !window.is_on_screen && studio.kept.contains_key(&window_id) => {
                    Ok(true)
                }
                Err(Stop::Again(_)) if !window.is_on_screen => {
                    return Err(CaptureError::WindowNotVisible { window_id });
                }
                taken => taken,
            };
            let stale = match taken {
                Ok(stale) => stale,
                Err(Stop::Final(error)) => return Err(error),
                Err(Stop::Trouble(trouble)) => return Err(self.failed(&name, trouble)),
                Err(Stop::Again(trouble)) => {
                    last = trouble;
                    continue;
                }
            };
            let Studio { session, darkroom, kept, .. } = studio;
            let source = kept.get(&window_id).map(|kept| (kept.pixmap, kept.part));
            let (drawable, part) = source.unwrap_or((session.root, window.bounds));
            let area = match region {
                None => part,
                Some(region) => {
                    let region = Rect { x: region.x + part.x, y: region.y + part.y, ..region };
                    part.intersection(&region)
                        .ok_or_else(|| broken(&name, "the region lies outside the window".to_owned()))?
                }
            };
            match session.read(drawable, area) {
                Ok(pixels) => {
                    let area = Rect { x: area.x - part.x, y: area.y - part.y, ..area };
                    return make(darkroom, Shot { pixels, area, stale })
                        .map_err(|reason| broken(&name, reason));
                }
                Err(error @ Trouble::Gone) => last = error,
                Err(error) => return Err(self.failed(&name, error)),
            }
        }
        Err(self.failed(&name, last))
    }

    fn failed(&self, what: &str, trouble: Trouble) -> CaptureError {
        match trouble {
            Trouble::Refused(ReplyOrIdError::ConnectionError(error)) => {
                let display = self.desktop.display_name().to_owned();
                DesktopError::DisplayLost { display, reason: error.to_string() }.into()
            }
            other => broken(what, other.to_string()),
        }
    }

    /// Takes hold of the pixels of a window that is shown; answers whether a part of them is missing.
    fn name(&self, studio: &mut Studio, window: &Window) -> Result<bool, Stop> {
        let is_unsure = studio.unsure.contains(&window.frame_id);
        let hidden = if is_unsure || !studio.session.has_composite {
            let stacking = self.desktop.stacking().map_err(|error| Stop::Final(error.into()))?;
            let screen = studio.session.screen()?;
            hidden_parts(window, &stacking, screen)
        } else {
            Vec::new()
        };
        if !studio.session.has_composite {
            studio.forget(window.window_id);
            let window_id = window.window_id;
            return if hidden.is_empty() {
                Ok(false)
            } else {
                Err(Stop::Final(CaptureError::WindowCovered { window_id }))
            };
        }
        let mut is_missing = false;
        if is_unsure {
            is_missing = !studio.session.repaint(window, &hidden)?;
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

impl Studio {
    /// Names the window's pixels now: after a resize or a mapping they are others than before.
    fn keep(&mut self, window: &Window) -> Result<(), Trouble> {
        let conn = &self.session.conn;
        let pixmap = conn.generate_id()?;
        conn.composite_name_window_pixmap(window.frame_id, pixmap)?.check()?;
        let size = conn.get_geometry(pixmap)?.reply();
        let whole = size.map(|size| Rect {
            x: window.frame.x,
            y: window.frame.y,
            width: size.width.into(),
            height: size.height.into(),
        });
        let part = whole.map(|whole| window.bounds.intersection(&whole) == Some(window.bounds));
        if !matches!(part, Ok(true)) {
            conn.free_pixmap(pixmap)?;
            return Err(Trouble::Gone);
        }
        let part = Rect {
            x: window.bounds.x - window.frame.x,
            y: window.bounds.y - window.frame.y,
            ..window.bounds
        };
        self.forget(window.window_id);
        self.kept.insert(window.window_id, Kept { pixmap, part });
        Ok(())
    }

    fn forget_vanished(&mut self, windows: &[Window]) {
        let alive: HashSet<u32> = windows.iter().map(|window| window.window_id).collect();
        let gone: Vec<u32> = self.kept.keys().copied().filter(|id| !alive.contains(id)).collect();
        for window_id in gone {
            self.forget(window_id);
        }
    }

    fn forget(&mut self, window_id: u32) {
        if let Some(old) = self.kept.remove(&window_id) {
            // On a lost connection the pixmap is gone as well.
            let _ = self.session.conn.free_pixmap(old.pixmap);
        }
    }
}

fn clamped(value: i32) -> u32 {
    u32::try_from(value).unwrap_or(0)
}

fn broken(what: &str, reason: String) -> CaptureError {
    CaptureError::Failed { what: what.to_owned(), reason }
}
