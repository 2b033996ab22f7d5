//! Where pictures are made: the connection, the pixels of windows that were named, and the images of what they show.

use std::collections::{HashMap, HashSet};

use desktop::x11::Placed;
use desktop::{Rect, WindowId};
use x11rb::connection::Connection;
use x11rb::protocol::composite::ConnectionExt as _;
use x11rb::protocol::xproto::{ConnectionExt as _, Drawable, Pixmap};

use super::link::{Link, ReadError};
use super::watch::{Changes, Watches};
use crate::banded_image::{BandedImage, Purpose};
use crate::picture::{PictureEncoder, Pixels, fitted};
use crate::{Encoded, Picture, WindowDigest};

/// Bytes of compressed bands that are kept; the images that were used longest ago go first.
const MOST_BYTES: usize = 64 << 20;

/// Images that are kept.
const MOST_IMAGES: usize = 256;

/// The pixels of a window that outlive its being minimised.
struct NamedPixmap {
    pixmap: Pixmap,
    /// The root's child that has them.
    frame: u32,
    /// The client window's part of the pixmap.
    part: Rect,
    /// Size of the pixmap.
    size: (u16, u16),
}

/// Where a window's pixels are.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    /// None for the screen.
    window_id: Option<WindowId>,
    pub(crate) drawable: Drawable,
    /// The client window's part of the drawable.
    pub(crate) part: Rect,
    pub(crate) stale: bool,
}

/// Why there is no picture.
pub(crate) enum NoPicture {
    ReadError(ReadError),
    Reason(String),
}

impl From<ReadError> for NoPicture {
    fn from(error: ReadError) -> Self {
        Self::ReadError(error)
    }
}

impl From<String> for NoPicture {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}

impl Source {
    /// The part of a window-local region that lies in the window, in the drawable and in the window.
    pub(crate) fn clip(&self, region: Rect) -> Result<(Rect, Rect), NoPicture> {
        let window = Rect { x: 0, y: 0, ..self.part };
        let inside = window.intersection(&region);
        let inside =
            inside.ok_or_else(|| NoPicture::Reason("the region lies outside the window".to_owned()))?;
        Ok((Rect { x: inside.x + self.part.x, y: inside.y + self.part.y, ..inside }, inside))
    }
}

struct CachedImage {
    image: BandedImage,
    /// When it was used last, in pictures taken.
    used: u64,
}

pub(crate) struct PictureCache {
    pub(crate) link: Link,
    pub(crate) encoder: PictureEncoder,
    kept: HashMap<WindowId, NamedPixmap>,
    watches: Watches,
    /// By window, none for the screen, and limit of the picture's sides.
    images: HashMap<(Option<WindowId>, u32), CachedImage>,
    pictures: u64,
    /// Frames that were there when the server began to keep pixels, so that what was covered of them is missing.
    pub(crate) unsure: HashSet<u32>,
}

impl PictureCache {
    pub(crate) fn new(link: Link, unsure: HashSet<u32>) -> Self {
        Self {
            link,
            encoder: PictureEncoder::default(),
            kept: HashMap::new(),
            watches: Watches::default(),
            images: HashMap::new(),
            pictures: 0,
            unsure,
        }
    }

    /// Names the window's pixmap now: after a resize or a mapping they are others than before.
    pub(crate) fn keep(&mut self, window: &Placed) -> Result<(), ReadError> {
        let pixmap = self.link.conn.generate_id()?;
        let named = self.link.conn.composite_name_window_pixmap(window.frame_id, pixmap)?;
        let size = self.link.conn.get_geometry(pixmap)?.reply();
        let named = named.check();
        // Whatever was destroyed before that answer has been told before it.
        for window_id in self.watches.ended(&self.link)? {
            self.forget(window_id);
        }
        named?;
        let whole = size.map(|size| Rect {
            x: window.frame.x,
            y: window.frame.y,
            width: size.width.into(),
            height: size.height.into(),
        });
        let size = match whole {
            Ok(whole) if window.bounds.intersection(&whole) == Some(window.bounds) => whole,
            _ => {
                self.link.conn.free_pixmap(pixmap)?;
                return Err(ReadError::Gone);
            }
        };
        let part = Rect {
            x: window.bounds.x - window.frame.x,
            y: window.bounds.y - window.frame.y,
            ..window.bounds
        };
        self.release(window.window_id);
        // Both sides came as 16 bits.
        let size = (size.width as u16, size.height as u16);
        self.kept.insert(window.window_id, NamedPixmap { pixmap, frame: window.frame_id, part, size });
        Ok(())
    }

    /// True when the window has pixels that outlive its being minimised.
    pub(crate) fn has_kept(&self, window: &Placed) -> bool {
        self.kept.get(&window.window_id).is_some_and(|kept| kept.frame == window.frame_id)
    }

    /// Where the window's pixels are; what was drawn since the last time is noted on its images.
    pub(crate) fn source(&mut self, window: &Placed, stale: bool) -> Result<Source, NoPicture> {
        let window_id = window.window_id;
        let Some(kept) = self.kept.get(&window_id) else {
            self.invalidate(Some(window_id), &Changes::Everything);
            return Ok(Source {
                window_id: Some(window_id),
                drawable: self.link.root,
                part: window.bounds,
                stale,
            });
        };
        let source = Source { window_id: Some(window_id), drawable: kept.pixmap, part: kept.part, stale };
        let changes = self.watches.changes(&self.link, window, (kept.part, kept.size))?;
        self.invalidate(Some(window_id), &changes);
        Ok(source)
    }

    /// The picture of a window.
    pub(crate) fn picture(&mut self, source: Source, max_dimension: u32) -> Result<Picture, NoPicture> {
        let (image, scale) = self.image(source, max_dimension, Purpose::Picture)?;
        let picture = Picture {
            png: image.png(),
            width: image.width,
            height: image.height,
            scale,
            stale: source.stale,
        };
        self.make_room();
        Ok(picture)
    }

    /// The digest of a whole window, and for how long nothing was drawn in it before.
    pub(crate) fn window_digest(&mut self, source: Source) -> Result<WindowDigest, NoPicture> {
        let since_drawn = source.window_id.and_then(|window| self.watches.since_drawn(window));
        let (image, _) = self.image(source, 0, Purpose::Digest)?;
        let digest = image.digest();
        self.make_room();
        Ok(WindowDigest { digest, since_drawn })
    }

    /// The picture of the screen without some windows; `overlook` is told of a window that is made for it.
    pub(crate) fn screen(
        &mut self,
        max_dimension: u32,
        hidden: &[u32],
        overlook: impl Fn(u32),
    ) -> Result<Picture, NoPicture> {
        let part = self.link.screen()?;
        self.invalidate(None, &Changes::Everything);
        if !hidden.is_empty() && self.link.has_composite {
            let mut bytes = self.link.read(self.link.root, part)?.bytes.to_vec();
            self.link.uncover(&mut bytes, part, hidden, overlook)?;
            let (width, height, scale) = fitted(part.width, part.height, max_dimension);
            let mut image = BandedImage::new(width, height);
            let pixels = Pixels { bytes: &bytes, width: part.width, height: part.height };
            self.encoder.update(&mut image, pixels, Purpose::Picture)?;
            return Ok(Picture { png: image.png(), width, height, scale, stale: false });
        }
        let source = Source { window_id: None, drawable: self.link.root, part, stale: false };
        self.picture(source, max_dimension)
    }

    /// The picture of the screen as a JPEG of that quality.
    pub(crate) fn screen_jpeg(&mut self, quality: u8) -> Result<Encoded, NoPicture> {
        let part = self.link.screen()?;
        let read = self.link.read(self.link.root, part)?;
        let bytes = imaging::jpeg(read.bytes, (part.width, part.height), quality)
            .map_err(|error| NoPicture::Reason(error.to_string()))?;
        Ok(Encoded { bytes, width: part.width, height: part.height })
    }

    /// Somebody else took events from the connection: what is known of windows is out of date.
    pub(crate) fn invalidate_all(&mut self) {
        self.watches.begin_again(&self.link);
    }

    /// Lets go of the windows that are no longer there.
    pub(crate) fn forget_vanished(&mut self, windows: &[Placed]) {
        let is_alive = |id: WindowId| windows.iter().any(|window| window.window_id == id);
        let known = self.kept.keys().copied().chain(self.images.keys().filter_map(|(id, _)| *id));
        for window_id in known.filter(|id| !is_alive(*id)).collect::<Vec<_>>() {
            self.forget(window_id);
        }
    }

    fn forget(&mut self, window_id: WindowId) {
        self.release(window_id);
        self.watches.forget(&self.link, window_id);
        self.images.retain(|(id, _), _| *id != Some(window_id));
    }

    /// Gives back the pixels of a window.
    pub(crate) fn release(&mut self, window_id: WindowId) {
        if let Some(old) = self.kept.remove(&window_id) {
            // On a lost connection the pixmap is gone as well.
            let _ = self.link.conn.free_pixmap(old.pixmap);
        }
    }

    /// The image of a picture, brought up to date, and the picture's scale.
    fn image(
        &mut self,
        source: Source,
        max_dimension: u32,
        purpose: Purpose,
    ) -> Result<(&BandedImage, f64), NoPicture> {
        let Self { link, encoder, images, .. } = self;
        let (width, height, scale) = fitted(source.part.width, source.part.height, max_dimension);
        self.pictures += 1;
        let blank = || CachedImage { image: BandedImage::new(width, height), used: 0 };
        let cached = images.entry((source.window_id, max_dimension)).or_insert_with(blank);
        if (cached.image.width, cached.image.height) != (width, height) {
            *cached = blank();
        }
        cached.used = self.pictures;
        let image = &mut cached.image;
        let wanted = image.wanted(purpose);
        if wanted.is_empty() {
            return Ok((image, scale));
        }
        let pixels = if scale < 1.0 {
            image.invalidate(0..height);
            link.read(source.drawable, source.part)?
        } else {
            link.read_rows(source.drawable, source.part, &wanted)?
        };
        encoder.update(image, pixels, purpose)?;
        Ok((image, scale))
    }

    fn invalidate(&mut self, window_id: Option<WindowId>, changes: &Changes) {
        let of_window = self.images.iter_mut().filter(|((id, _), _)| *id == window_id);
        for ((_, max_dimension), CachedImage { image, .. }) in of_window {
            match changes {
                Changes::Nothing => {}
                Changes::Parts(parts) if *max_dimension == 0 => {
                    let client = Rect { x: 0, y: 0, width: image.width, height: image.height };
                    for part in parts.iter().filter_map(|part| part.intersection(&client)) {
                        // Inside the client area, so neither is negative.
                        image.invalidate(part.y as u32..part.y as u32 + part.height);
                    }
                }
                Changes::Parts(parts) if parts.is_empty() => {}
                Changes::Parts(_) | Changes::Everything => image.invalidate(0..image.height),
            }
        }
    }

    fn make_room(&mut self) {
        let bytes = |images: &HashMap<_, CachedImage>| {
            images.values().map(|cached| cached.image.len()).sum::<usize>()
        };
        while self.images.len() > 1 && (self.images.len() > MOST_IMAGES || bytes(&self.images) > MOST_BYTES) {
            let oldest = self.images.iter().min_by_key(|(_, cached)| cached.used).map(|(key, _)| *key);
            oldest.and_then(|key| self.images.remove(&key));
        }
    }
}
