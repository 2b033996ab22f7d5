//! What is kept of a picture between two times that it is taken: its bands, of which only the changed ones are made anew.

use std::num::NonZero;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread;

use twox_hash::XxHash3_64;

use crate::png::{BAND_ROWS, Band, Compressor, assemble};

/// Threads that compress at a time, at most.
const MOST_THREADS: usize = 4;

/// Bands for which a second thread is worth its start.
const WORTH_A_THREAD: usize = 4;

/// What compresses, one for each thread.
pub(crate) struct Compressors(Vec<Compressor>);

impl Default for Compressors {
    fn default() -> Self {
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
        Self((0..threads).map(|_| Compressor::default()).collect())
    }
}

/// What an image is brought up to date for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Only to know whether something changed.
    Digest,
    /// For the picture itself.
    Picture,
}

/// One picture's bands.
pub(crate) struct BandedImage {
    pub(crate) width: u32,
    pub(crate) height: u32,
    bands: Vec<Slot>,
}

struct Slot {
    is_dirty: bool,
    digest: u64,
    band: Option<Band>,
}

impl BandedImage {
    /// An image of which nothing is known.
    pub(crate) fn new(width: u32, height: u32) -> Self {
        let blank = || Slot { is_dirty: true, digest: 0, band: None };
        Self { width, height, bands: (0..height.div_ceil(BAND_ROWS)).map(|_| blank()).collect() }
    }

    /// These rows may have changed.
    pub(crate) fn invalidate(&mut self, rows: Range<u32>) {
        let bands = rows.start / BAND_ROWS..rows.end.min(self.height).div_ceil(BAND_ROWS);
        for slot in self.bands.iter_mut().take(bands.end as usize).skip(bands.start as usize) {
            slot.is_dirty = true;
        }
    }

    /// The rows whose pixels are needed to bring the image up to date, in order.
    pub(crate) fn wanted(&self, purpose: Purpose) -> Vec<Range<u32>> {
        let mut wanted: Vec<Range<u32>> = Vec::new();
        for (index, _) in (0..).zip(&self.bands).filter(|(_, slot)| slot.lacks(purpose)) {
            let rows = index * BAND_ROWS..((index + 1) * BAND_ROWS).min(self.height);
            match wanted.last_mut() {
                Some(last) if last.end == rows.start => last.end = rows.end,
                _ => wanted.push(rows),
            }
        }
        wanted
    }

    /// Brings the image up to date; of `bgrx`, the whole picture's pixels, only the wanted rows are looked at.
    pub(crate) fn update(&mut self, compressors: &mut Compressors, bgrx: &[u8], purpose: Purpose) {
        let width = self.width;
        let rows = bgrx.chunks(width as usize * 4 * BAND_ROWS as usize);
        let todo: Vec<(&[u8], &mut Slot)> =
            rows.zip(&mut self.bands).filter(|(_, slot)| slot.lacks(purpose)).collect();
        let threads = if todo.len() < WORTH_A_THREAD { 1 } else { compressors.0.len() };
        let todo = Mutex::new(todo.into_iter());
        let next = || todo.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = |compressor: &mut Compressor| {
            while let Some((rows, slot)) = next() {
                slot.update(compressor, rows, width, purpose);
            }
        };
        let Some((own, others)) = compressors.0[..threads].split_last_mut() else { return };
        thread::scope(|scope| {
            for compressor in others {
                scope.spawn(|| work(compressor));
            }
            work(own);
        });
    }

    /// A hash of what the picture shows, as it was when the image was last brought up to date.
    pub(crate) fn digest(&self) -> String {
        let all: Vec<u8> = [self.width, self.height]
            .iter()
            .flat_map(|side| side.to_le_bytes())
            .chain(self.bands.iter().flat_map(|slot| slot.digest.to_le_bytes()))
            .collect();
        format!("{:016x}", XxHash3_64::oneshot(&all))
    }

    /// The PNG of an image that was brought up to date for it.
    pub(crate) fn png(&self) -> Vec<u8> {
        assemble(self.width, self.height, self.bands.iter().filter_map(|slot| slot.band.as_ref()))
    }

    /// Bytes that its bands take.
    pub(crate) fn len(&self) -> usize {
        self.bands.iter().filter_map(|slot| slot.band.as_ref()).map(Band::len).sum()
    }
}

impl Slot {
    fn lacks(&self, purpose: Purpose) -> bool {
        self.is_dirty || purpose == Purpose::Picture && self.band.is_none()
    }

    fn update(&mut self, compressor: &mut Compressor, rows: &[u8], width: u32, purpose: Purpose) {
        let digest = compressor.load(rows, width);
        // Programs draw again what was there already.
        if digest != self.digest {
            self.band = None;
        }
        self.digest = digest;
        if purpose == Purpose::Picture && self.band.is_none() {
            self.band = Some(compressor.band(width));
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
        let mut compressors = Compressors::default();
        let mut image = BandedImage::new(width, height);
        assert_eq!(image.wanted(Purpose::Digest), from_ref(&(0..300)));
        image.update(&mut compressors, &bgrx, Purpose::Picture);
        assert_eq!(image.wanted(Purpose::Picture), []);
        assert!(decoded(&image.png()) == rgb(&bgrx));
        let before = image.digest();

        image.invalidate(40..41);
        image.invalidate(64..65);
        image.invalidate(290..400);
        assert_eq!(image.wanted(Purpose::Digest), [32..96, 288..300]);
        bgrx[(40 * 90 + 5) * 4] ^= 1;
        // What is not wanted is not looked at.
        bgrx[..4 * 90].fill(0);
        image.update(&mut compressors, &bgrx, Purpose::Digest);
        assert_ne!(image.digest(), before);
        assert_eq!(image.wanted(Purpose::Digest), []);
        assert_eq!(image.wanted(Purpose::Picture), from_ref(&(32..64)));
        image.update(&mut compressors, &bgrx, Purpose::Picture);
        let shown = decoded(&image.png());
        assert!(shown[90 * 3..] == rgb(&bgrx)[90 * 3..]);
        assert_ne!(shown[..90 * 3], rgb(&bgrx)[..90 * 3]);

        bgrx[(40 * 90 + 5) * 4] ^= 1;
        image.invalidate(40..41);
        image.update(&mut compressors, &bgrx, Purpose::Digest);
        assert_eq!(image.digest(), before);
        assert!(image.len() > 0);
    }
}
