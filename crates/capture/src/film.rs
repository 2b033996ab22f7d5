//! What is kept of a picture between two times that it is taken: its bands, of which only the changed ones are made anew.

use std::num::NonZero;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread;

use twox_hash::XxHash3_64;

use crate::png::{BAND_ROWS, Band, Press, assemble};

/// Threads that compress at a time, at most.
const MOST_THREADS: usize = 4;

/// Bands for which a second thread is worth its start.
const WORTH_A_THREAD: usize = 4;

/// What compresses, one for each thread.
pub(crate) struct Presses(Vec<Press>);

impl Default for Presses {
    fn default() -> Self {
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
        Self((0..threads).map(|_| Press::default()).collect())
    }
}

/// What a film is brought up to date for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    /// Only to know whether something changed.
    Digest,
    /// For the picture itself.
    Picture,
}

/// One picture's bands.
pub(crate) struct Film {
    pub(crate) width: u32,
    pub(crate) height: u32,
    bands: Vec<Slot>,
}

struct Slot {
    is_dirty: bool,
    digest: u64,
    band: Option<Band>,
}

impl Film {
    /// A film of which nothing is known.
    pub(crate) fn new(width: u32, height: u32) -> Self {
        let blank = || Slot { is_dirty: true, digest: 0, band: None };
        Self { width, height, bands: (0..height.div_ceil(BAND_ROWS)).map(|_| blank()).collect() }
    }

    /// These rows may have changed.
    pub(crate) fn soil(&mut self, rows: Range<u32>) {
        let bands = rows.start / BAND_ROWS..rows.end.min(self.height).div_ceil(BAND_ROWS);
        for slot in self.bands.iter_mut().take(bands.end as usize).skip(bands.start as usize) {
            slot.is_dirty = true;
        }
    }

    /// The rows whose pixels are needed to bring the film up to date, in order.
    pub(crate) fn wanted(&self, want: Want) -> Vec<Range<u32>> {
        let mut wanted: Vec<Range<u32>> = Vec::new();
        for (index, _) in (0..).zip(&self.bands).filter(|(_, slot)| slot.lacks(want)) {
            let rows = index * BAND_ROWS..((index + 1) * BAND_ROWS).min(self.height);
            match wanted.last_mut() {
                Some(last) if last.end == rows.start => last.end = rows.end,
                _ => wanted.push(rows),
            }
        }
        wanted
    }

    /// Brings the film up to date; of `bgrx`, the whole picture's pixels, only the wanted rows are looked at.
    pub(crate) fn expose(&mut self, presses: &mut Presses, bgrx: &[u8], want: Want) {
        let width = self.width;
        let rows = bgrx.chunks(width as usize * 4 * BAND_ROWS as usize);
        let todo: Vec<(&[u8], &mut Slot)> =
            rows.zip(&mut self.bands).filter(|(_, slot)| slot.lacks(want)).collect();
        let threads = if todo.len() < WORTH_A_THREAD { 1 } else { presses.0.len() };
        let todo = Mutex::new(todo.into_iter());
        let next = || todo.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = |press: &mut Press| {
            while let Some((rows, slot)) = next() {
                slot.expose(press, rows, width, want);
            }
        };
        let Some((own, others)) = presses.0[..threads].split_last_mut() else { return };
        thread::scope(|scope| {
            for press in others {
                scope.spawn(|| work(press));
            }
            work(own);
        });
    }

    /// A hash of what the picture shows, as it was when the film was last brought up to date.
    pub(crate) fn digest(&self) -> String {
        let all: Vec<u8> = [self.width, self.height]
            .iter()
            .flat_map(|side| side.to_le_bytes())
            .chain(self.bands.iter().flat_map(|slot| slot.digest.to_le_bytes()))
            .collect();
        format!("{:016x}", XxHash3_64::oneshot(&all))
    }

    /// The PNG of a film that was brought up to date for it.
    pub(crate) fn png(&self) -> Vec<u8> {
        assemble(self.width, self.height, self.bands.iter().filter_map(|slot| slot.band.as_ref()))
    }

    /// Bytes that its bands take.
    pub(crate) fn len(&self) -> usize {
        self.bands.iter().filter_map(|slot| slot.band.as_ref()).map(Band::len).sum()
    }
}

impl Slot {
    fn lacks(&self, want: Want) -> bool {
        self.is_dirty || want == Want::Picture && self.band.is_none()
    }

    fn expose(&mut self, press: &mut Press, rows: &[u8], width: u32, want: Want) {
        let digest = press.load(rows, width);
        // Programs draw again what was there already.
        if digest != self.digest {
            self.band = None;
        }
        self.digest = digest;
        if want == Want::Picture && self.band.is_none() {
            self.band = Some(press.band(width));
        }
        self.is_dirty = false;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::slice::from_ref;

    use super::*;

    fn decoded(png: &[u8]) -> Vec<u8> {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut rgb).unwrap();
        rgb
    }

    fn rgb(bgrx: &[u8]) -> Vec<u8> {
        bgrx.chunks_exact(4).flat_map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect()
    }

    #[test]
    fn only_what_changed_is_wanted_and_made_anew() {
        let (width, height) = (90u32, 300u32);
        let mut bgrx: Vec<u8> = (0..width * height).flat_map(|at| (at * 77).to_le_bytes()).collect();
        let mut presses = Presses::default();
        let mut film = Film::new(width, height);
        assert_eq!(film.wanted(Want::Digest), from_ref(&(0..300)));
        film.expose(&mut presses, &bgrx, Want::Picture);
        assert_eq!(film.wanted(Want::Picture), []);
        assert!(decoded(&film.png()) == rgb(&bgrx));
        let before = film.digest();

        film.soil(40..41);
        film.soil(64..65);
        film.soil(290..400);
        assert_eq!(film.wanted(Want::Digest), [32..96, 288..300]);
        bgrx[(40 * 90 + 5) * 4] ^= 1;
        // What is not wanted is not looked at.
        bgrx[..4 * 90].fill(0);
        film.expose(&mut presses, &bgrx, Want::Digest);
        assert_ne!(film.digest(), before);
        assert_eq!(film.wanted(Want::Digest), []);
        assert_eq!(film.wanted(Want::Picture), from_ref(&(32..64)));
        film.expose(&mut presses, &bgrx, Want::Picture);
        let shown = decoded(&film.png());
        assert!(shown[90 * 3..] == rgb(&bgrx)[90 * 3..]);
        assert_ne!(shown[..90 * 3], rgb(&bgrx)[..90 * 3]);

        bgrx[(40 * 90 + 5) * 4] ^= 1;
        film.soil(40..41);
        film.expose(&mut presses, &bgrx, Want::Digest);
        assert_eq!(film.digest(), before);
        assert!(film.len() > 0);
    }
}
