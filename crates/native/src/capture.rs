//! Pictures of windows and of the screen, for JavaScript.

use std::convert::Infallible;
use std::sync::Arc;

use desktop::WindowId;
use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use crate::desktop::{Desktop, Point, Rect};
use crate::failure::{Promise, promise, promise_with};

/// A finished picture.
#[napi(object, object_from_js = false)]
pub struct Picture {
    /// A PNG of 8-bit RGB.
    pub png: Buffer,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Picture pixels per window pixel, at most 1.
    pub scale: f64,
    /// True when these are not the pixels of now: the window is minimised, or did not draw a part that was covered.
    pub stale: bool,
}

impl From<capture::Picture> for Picture {
    fn from(picture: capture::Picture) -> Self {
        Self {
            png: picture.png.into(),
            width: picture.width,
            height: picture.height,
            scale: picture.scale,
            stale: picture.stale,
        }
    }
}

/// A finished picture as a JPEG.
#[napi(object, object_from_js = false)]
pub struct Jpeg {
    /// A JPEG.
    pub jpeg: Buffer,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

/// A hash of a window's pixels, and for how long they were left alone.
#[napi(object, object_from_js = false)]
pub struct WindowDigest {
    /// Changes when what is seen changes.
    pub digest: String,
    /// Milliseconds in which nothing was drawn in the window before, as far as it was looked at; zero at the first look,
    /// none where nobody tells.
    #[napi(js_name = "since_drawn_ms")]
    pub since_drawn_ms: Option<f64>,
}

/// A closer look at a part of a window.
#[napi(object, object_from_js = false)]
pub struct Zoomed {
    /// A JPEG.
    pub jpeg: Buffer,
    /// Width in pixels, at most 500.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// What it shows, in window pixels: the region asked for and a fifth of its size around it, within the window.
    pub region: Rect,
    /// Picture pixels per window pixel, at most 1.
    pub scale: f64,
    /// True when these are not the pixels of now.
    pub stale: bool,
}

/// Takes pictures on one display.
#[napi]
pub struct Capturer {
    capturer: Arc<capture::Capturer>,
}

#[napi]
impl Capturer {
    /// Opens a connection of its own; from here on the server keeps the pixels of covered windows.
    #[napi(catch_unwind)]
    pub fn open(desktop: &Desktop) -> Promise<Capturer> {
        let desktop = Arc::clone(&desktop.desktop);
        promise(move || {
            capture::Capturer::open(desktop).map(|capturer| Capturer { capturer: Arc::new(capturer) })
        })
    }

    /// The picture of a window's client area, covered parts included; `maxDimension` 0 means no limit.
    #[napi(catch_unwind)]
    pub fn window(&self, window_id: u32, max_dimension: u32) -> Promise<Picture> {
        promise_with(&self.capturer, move |capturer| {
            capturer.window(WindowId::from_wire(window_id), max_dimension).map(Picture::from)
        })
    }

    /// The same picture with a red crosshair around a point of the window, which is given in window pixels.
    #[napi(catch_unwind)]
    pub fn marked(&self, window_id: u32, point: Point, max_dimension: u32) -> Promise<Picture> {
        promise_with(&self.capturer, move |capturer| {
            capturer.marked(WindowId::from_wire(window_id), point.into(), max_dimension).map(Picture::from)
        })
    }

    /// The pixels of a window's client area now, to make pictures of later.
    #[napi(catch_unwind)]
    pub fn shot(&self, window_id: u32) -> Promise<Shot> {
        promise_with(&self.capturer, move |capturer| {
            capturer.shot(WindowId::from_wire(window_id)).map(|shot| Shot { shot: Arc::new(shot) })
        })
    }

    /// A JPEG of a region in window pixels and of a fifth of its size around it, as far as the window goes.
    #[napi(catch_unwind)]
    pub fn zoom(&self, window_id: u32, region: Rect) -> Promise<Zoomed> {
        promise_with(&self.capturer, move |capturer| {
            capturer.zoom(WindowId::from_wire(window_id), region.into()).map(|zoomed| Zoomed {
                jpeg: zoomed.jpeg.into(),
                width: zoomed.width,
                height: zoomed.height,
                region: zoomed.region.into(),
                scale: zoomed.scale,
                stale: zoomed.stale,
            })
        })
    }

    /// The picture of the whole screen, all monitors; of `hidden` windows it has what lies below them.
    #[napi(catch_unwind)]
    pub fn screen(&self, max_dimension: u32, hidden: Vec<u32>) -> Promise<Picture> {
        let hidden: Vec<WindowId> = hidden.into_iter().map(WindowId::from_wire).collect();
        promise_with(&self.capturer, move |capturer| {
            capturer.screen(max_dimension, &hidden).map(Picture::from)
        })
    }

    /// The picture of the whole screen, all monitors, as a JPEG; `quality` is 1 to 100.
    #[napi(catch_unwind)]
    pub fn screen_jpeg(&self, quality: u32) -> Promise<Jpeg> {
        let quality = u8::try_from(quality.clamp(1, 100)).unwrap_or(100);
        promise_with(&self.capturer, move |capturer| {
            capturer.screen_jpeg(quality).map(|encoded| Jpeg {
                jpeg: encoded.bytes.into(),
                width: encoded.width,
                height: encoded.height,
            })
        })
    }

    /// A hash of a window's pixels, or of a window-local part of them; it changes when what is seen changes.
    #[napi(catch_unwind)]
    pub fn digest(&self, window_id: u32, region: Option<Rect>) -> Promise<String> {
        promise_with(&self.capturer, move |capturer| {
            capturer.digest(WindowId::from_wire(window_id), region.map(Into::into))
        })
    }

    /// The hash of a window's pixels, and for how long they were left alone before.
    #[napi(catch_unwind)]
    pub fn window_digest(&self, window_id: u32) -> Promise<WindowDigest> {
        promise_with(&self.capturer, move |capturer| {
            capturer.window_digest(WindowId::from_wire(window_id)).map(|window_digest| WindowDigest {
                digest: window_digest.digest,
                since_drawn_ms: window_digest
                    .since_drawn
                    .map(|since_drawn| since_drawn.as_secs_f64() * 1_000.0),
            })
        })
    }

    /// Gives the connection back when the picture that is being taken has ended; closing twice is fine.
    #[napi(catch_unwind)]
    pub fn close(&self) -> Promise<()> {
        promise_with(&self.capturer, move |capturer| {
            capturer.close();
            Ok::<_, Infallible>(())
        })
    }
}

/// The pixels of a window at one instant.
#[napi]
pub struct Shot {
    shot: Arc<capture::Shot>,
}

#[napi]
impl Shot {
    /// Width in pixels.
    #[napi(getter, catch_unwind)]
    pub fn width(&self) -> u32 {
        self.shot.width
    }

    /// Height in pixels.
    #[napi(getter, catch_unwind)]
    pub fn height(&self) -> u32 {
        self.shot.height
    }

    /// True when these were not the pixels of that instant.
    #[napi(getter, catch_unwind)]
    pub fn stale(&self) -> bool {
        self.shot.stale
    }

    /// A PNG of 8-bit RGB, with a red dot on `point` (pixels from the top-left corner) where one is given.
    #[napi(catch_unwind)]
    pub fn png(&self, point: Option<Point>) -> Promise<Buffer> {
        promise_with(&self.shot, move |shot| {
            let at =
                point.map(|Point { x, y }| (u32::try_from(x).unwrap_or(0), u32::try_from(y).unwrap_or(0)));
            Ok::<Buffer, capture::CaptureError>(shot.png(at).into())
        })
    }
}
