//! Where pictures are made: the connection, the pixels of windows that were named, and the films of their pictures.

use std::collections::{HashMap, HashSet};

use desktop::x11::Placed;
use desktop::{Rect, WindowId};
use x11rb::connection::Connection;
use x11rb::protocol::composite::ConnectionExt as _;
use x11rb::protocol::xproto::{ConnectionExt as _, Drawable, Pixmap};

use super::link::{Link, Trouble};
use super::watch::{Changes, Watches};
use crate::film::{Film, Want};
use crate::picture::{Darkroom, Pixels, fitted};
use crate::{Encoded, Glance, Picture};

/// Bytes of compressed bands that are kept; the films that were used longest ago go first.
const MOST_BYTES: usize = 64 << 20;

/// Films that are kept.
const MOST_FILMS: usize = 256;

/// The pixels of a window that outlive its being minimised.
struct Kept {
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
pub(crate) enum Snag {
    Trouble(Trouble),
    Reason(String),
}

impl From<Trouble> for Snag {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl From<String> for Snag {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}

impl Source {
    /// The part of a window-local region that lies in the window, in the drawable and in the window.
    pub(crate) fn clip(&self, region: Rect) -> Result<(Rect, Rect), Snag> {
        let window = Rect { x: 0, y: 0, ..self.part };
        let inside = window.intersection(&region);
        let inside = inside.ok_or_else(|| Snag::Reason("the region lies outside the window".to_owned()))?;
        Ok((Rect { x: inside.x + self.part.x, y: inside.y + self.part.y, ..inside }, inside))
    }
}

struct Shelved {
    film: Film,
    /// When it was used last, in pictures taken.
    used: u64,
}

pub(crate) struct Studio {
    pub(crate) link: Link,
    pub(crate) darkroom: Darkroom,
    kept: HashMap<WindowId, Kept>,
    watches: Watches,
    /// By window, none for the screen, and limit of the picture's sides.
    films: HashMap<(Option<WindowId>, u32), Shelved>,
    pictures: u64,
    /// Frames that were there when the server began to keep pixels, so that what was covered of them is missing.
    pub(crate) unsure: HashSet<u32>,
}

impl Studio {
    pub(crate) fn new(link: Link, unsure: HashSet<u32>) -> Self {
        Self {
            link,
            darkroom: Darkroom::default(),
            kept: HashMap::new(),
            watches: Watches::default(),
            films: HashMap::new(),
            pictures: 0,
            unsure,
        }
    }

    /// Names the window's pixels now: after a resize or a mapping they are others than before.
    pub(crate) fn keep(&mut self, window: &Placed) -> Result<(), Trouble> {
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
                return Err(Trouble::Gone);
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
        self.kept.insert(window.window_id, Kept { pixmap, frame: window.frame_id, part, size });
        Ok(())
    }

    /// True when the window has pixels that outlive its being minimised.
    pub(crate) fn has_kept(&self, window: &Placed) -> bool {
        self.kept.get(&window.window_id).is_some_and(|kept| kept.frame == window.frame_id)
    }

    /// Where the window's pixels are; what was drawn since the last time is noted on its films.
    pub(crate) fn source(&mut self, window: &Placed, stale: bool) -> Result<Source, Snag> {
        let window_id = window.window_id;
        let Some(kept) = self.kept.get(&window_id) else {
            self.soil(Some(window_id), &Changes::Everything);
            return Ok(Source {
                window_id: Some(window_id),
                drawable: self.link.root,
                part: window.bounds,
                stale,
            });
        };
        let source = Source { window_id: Some(window_id), drawable: kept.pixmap, part: kept.part, stale };
        let changes = self.watches.changes(&self.link, window, (kept.part, kept.size))?;
        self.soil(Some(window_id), &changes);
        Ok(source)
    }

    /// The picture of a window.
    pub(crate) fn picture(&mut self, source: Source, max_dimension: u32) -> Result<Picture, Snag> {
        let (film, scale) = self.film(source, max_dimension, Want::Picture)?;
        let picture =
            Picture { png: film.png(), width: film.width, height: film.height, scale, stale: source.stale };
        self.make_room();
        Ok(picture)
    }

    /// The digest of a whole window, and how long it was calm before.
    pub(crate) fn glance(&mut self, source: Source) -> Result<Glance, Snag> {
        let calm = source.window_id.and_then(|window| self.watches.calm(window));
        let (film, _) = self.film(source, 0, Want::Digest)?;
        let digest = film.digest();
        self.make_room();
        Ok(Glance { digest, calm })
    }

    /// The picture of the screen without some windows; `overlook` is told of a window that is made for it.
    pub(crate) fn screen(
        &mut self,
        max_dimension: u32,
        hidden: &[u32],
        overlook: impl Fn(u32),
    ) -> Result<Picture, Snag> {
        let part = self.link.screen()?;
        self.soil(None, &Changes::Everything);
        if !hidden.is_empty() && self.link.has_composite {
            let mut bytes = self.link.read(self.link.root, part)?.bytes.to_vec();
            self.link.uncover(&mut bytes, part, hidden, overlook)?;
            let (width, height, scale) = fitted(part.width, part.height, max_dimension);
            let mut film = Film::new(width, height);
            let pixels = Pixels { bytes: &bytes, width: part.width, height: part.height };
            self.darkroom.expose(&mut film, pixels, Want::Picture)?;
            return Ok(Picture { png: film.png(), width, height, scale, stale: false });
        }
        let source = Source { window_id: None, drawable: self.link.root, part, stale: false };
        self.picture(source, max_dimension)
    }

    /// The picture of the screen as a JPEG of that quality.
    pub(crate) fn screen_jpeg(&mut self, quality: u8) -> Result<Encoded, Snag> {
        let part = self.link.screen()?;
        let read = self.link.read(self.link.root, part)?;
        let bytes = imaging::jpeg(read.bytes, (part.width, part.height), quality)
            .map_err(|error| Snag::Reason(error.to_string()))?;
        Ok(Encoded { bytes, width: part.width, height: part.height })
    }

    /// Somebody else took events from the connection: what is known of windows is out of date.
    pub(crate) fn look_again(&mut self) {
        self.watches.begin_again(&self.link);
    }

    /// Lets go of the windows that are no longer there.
    pub(crate) fn forget_vanished(&mut self, windows: &[Placed]) {
        let is_alive = |id: WindowId| windows.iter().any(|window| window.window_id == id);
        let known = self.kept.keys().copied().chain(self.films.keys().filter_map(|(id, _)| *id));
        for window_id in known.filter(|id| !is_alive(*id)).collect::<Vec<_>>() {
            self.forget(window_id);
        }
    }

    fn forget(&mut self, window_id: WindowId) {
        self.release(window_id);
        self.watches.forget(&self.link, window_id);
        self.films.retain(|(id, _), _| *id != Some(window_id));
    }

    /// Gives back the pixels of a window.
    pub(crate) fn release(&mut self, window_id: WindowId) {
        if let Some(old) = self.kept.remove(&window_id) {
            // On a lost connection the pixmap is gone as well.
            let _ = self.link.conn.free_pixmap(old.pixmap);
        }
    }

    /// The film of a picture, brought up to date, and the picture's scale.
    fn film(&mut self, source: Source, max_dimension: u32, want: Want) -> Result<(&Film, f64), Snag> {
        let Self { link, darkroom, films, .. } = self;
        let (width, height, scale) = fitted(source.part.width, source.part.height, max_dimension);
        self.pictures += 1;
        let blank = || Shelved { film: Film::new(width, height), used: 0 };
        let shelved = films.entry((source.window_id, max_dimension)).or_insert_with(blank);
        if (shelved.film.width, shelved.film.height) != (width, height) {
            *shelved = blank();
        }
        shelved.used = self.pictures;
        let film = &mut shelved.film;
        let wanted = film.wanted(want);
        if wanted.is_empty() {
            return Ok((film, scale));
        }
        let pixels = if scale < 1.0 {
            film.soil(0..height);
            link.read(source.drawable, source.part)?
        } else {
            link.read_rows(source.drawable, source.part, &wanted)?
        };
        darkroom.expose(film, pixels, want)?;
        Ok((film, scale))
    }

    fn soil(&mut self, window_id: Option<WindowId>, changes: &Changes) {
        let of_window = self.films.iter_mut().filter(|((id, _), _)| *id == window_id);
        for ((_, max_dimension), Shelved { film, .. }) in of_window {
            match changes {
                Changes::Nothing => {}
                Changes::Parts(parts) if *max_dimension == 0 => {
                    let client = Rect { x: 0, y: 0, width: film.width, height: film.height };
                    for part in parts.iter().filter_map(|part| part.intersection(&client)) {
                        // Inside the client area, so neither is negative.
                        film.soil(part.y as u32..part.y as u32 + part.height);
                    }
                }
                Changes::Parts(parts) if parts.is_empty() => {}
                Changes::Parts(_) | Changes::Everything => film.soil(0..film.height),
            }
        }
    }

    fn make_room(&mut self) {
        let bytes =
            |films: &HashMap<_, Shelved>| films.values().map(|shelved| shelved.film.len()).sum::<usize>();
        while self.films.len() > 1 && (self.films.len() > MOST_FILMS || bytes(&self.films) > MOST_BYTES) {
            let oldest = self.films.iter().min_by_key(|(_, shelved)| shelved.used).map(|(key, _)| *key);
            oldest.and_then(|key| self.films.remove(&key));
        }
    }
}
