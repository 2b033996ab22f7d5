//! Pictures of a screen to H.264, Constrained Baseline (ITU-T H.264): what did not change costs nothing.

use desktop::Rect;

use crate::VideoError;
use crate::bits::Bits;
use crate::cells::{Cells, Vector};
use crate::colour::Pixels;
use crate::headers::{Format, Slice};
use crate::macroblock::{Desk, Quality};
use crate::planes::Planes;
use crate::scroll::Search;

/// The largest side of a picture.
pub const MOST_SIDE: u32 = 8192;

/// Rows of macroblocks in a slice of a picture that needs no other.
const SLICE_ROWS: usize = 4;

/// Seconds after which a picture that needs no other is due when something changed since the last one, and in any case.
const REFRESH_SECONDS: (u32, u32) = (10, 30);

/// What a film looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Width of what is filmed, in pixels, from 1 to [`MOST_SIDE`]; an odd one is filmed with its last column twice.
    pub width: u32,
    /// Height of what is filmed, in pixels, from 1 to [`MOST_SIDE`]; an odd one is filmed with its last row twice.
    pub height: u32,
    /// Pictures a second, from 1 to 60.
    pub fps: u32,
    /// The quantiser, from 12 (large and fine) to 40 (small and coarse).
    pub qp: u8,
}

/// One encoded picture.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    /// NAL units, each after its length in four bytes.
    pub data: &'a [u8],
    /// True when it needs no other picture.
    pub is_sync: bool,
}

/// A picture's samples as a decoder shows them, in rows without gaps; chroma has half the size both ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Width in samples, even.
    pub width: usize,
    /// Height in samples, even.
    pub height: usize,
    /// Luma, then Cb, then Cr.
    pub samples: Vec<u8>,
}

/// Encodes the pictures of one film, in the order in which they are shown.
pub struct Encoder {
    settings: Settings,
    format: Format,
    level: u8,
    quality: Quality,
    /// What the screen shows, and what it showed in the picture before.
    source: Planes,
    former: Planes,
    /// The same, as a decoder shows it.
    shown: Planes,
    reference: Planes,
    cells: Cells,
    search: Search,
    /// Macroblocks that were painted since the last picture.
    painted: Vec<usize>,
    is_painted: Vec<bool>,
    changed: Vec<usize>,
    /// Slices of pictures that need no other, as long as nothing changed in them.
    kept: Vec<Vec<u8>>,
    /// Pictures since the last one that needs no other.
    since: u32,
    has_begun: bool,
    bits: Bits,
    unit: Vec<u8>,
    data: Vec<u8>,
}

impl Encoder {
    /// A film that begins black. Fails with `invalid_argument` for settings out of their ranges.
    pub fn new(settings: Settings) -> Result<Self, VideoError> {
        let Settings { width, height, fps, qp } = settings;
        let even = |side: u32| side.next_multiple_of(2);
        let is_sane = |value: u32, most: u32| (1..=most).contains(&value);
        let sane = is_sane(width, MOST_SIDE) && is_sane(height, MOST_SIDE) && is_sane(fps, 60);
        if !sane || !(12..=40).contains(&qp) {
            return Err(VideoError::Settings { settings });
        }
        let format = Format { width: even(width), height: even(height), fps, qp };
        let level = format.level().ok_or(VideoError::Settings { settings })?;
        // At most 512 each.
        let (columns, rows) = (format.columns() as usize, format.rows() as usize);
        let planes = || Planes::new(columns, rows);
        let number = columns * rows;
        Ok(Self {
            settings,
            format,
            level,
            quality: Quality::new(qp),
            source: planes(),
            former: planes(),
            shown: planes(),
            reference: planes(),
            cells: Cells::new(columns, rows),
            search: Search::default(),
            painted: Vec::new(),
            is_painted: vec![false; number],
            changed: Vec::new(),
            kept: vec![Vec::new(); rows.div_ceil(SLICE_ROWS)],
            since: 0,
            has_begun: false,
            bits: Bits::default(),
            unit: Vec::new(),
            data: Vec::new(),
        })
    }

    /// What it was made with.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The sequence and the picture parameter set, as NAL units.
    pub fn parameter_sets(&self) -> [Vec<u8>; 2] {
        [self.format.sequence(self.level), self.format.picture()]
    }

    /// The smallest rectangle around another, cut to the picture, that can be painted; none when nothing of it is inside.
    pub fn paintable(&self, area: Rect) -> Option<Rect> {
        let Settings { width, height, .. } = self.settings;
        let area = area.intersection(&Rect { x: 0, y: 0, width, height })?;
        let (left, top) = (area.x & !15, area.y & !15);
        // Inside the picture, so nothing is negative.
        let right = ((area.x as u32 + area.width).next_multiple_of(16)).min(width);
        let bottom = ((area.y as u32 + area.height).next_multiple_of(16)).min(height);
        Some(Rect { x: left, y: top, width: right - left as u32, height: bottom - top as u32 })
    }

    /// Takes new pixels of a rectangle that [`Encoder::paintable`] gave: rows of four bytes a pixel, blue, green, red, any.
    ///
    /// Fails with `invalid_argument` for another rectangle, and when there are fewer bytes than it has pixels.
    pub fn paint(&mut self, area: Rect, pixels: &[u8]) -> Result<(), VideoError> {
        let (width, height) = (area.width as usize, area.height as usize);
        if self.paintable(area) != Some(area) || pixels.len() < width * height * 4 {
            return Err(VideoError::Area { area, bytes: pixels.len() });
        }
        let (x, y) = (area.x as usize, area.y as usize);
        Pixels { bytes: pixels, stride: width * 4, width, height }.convert(&mut self.source, x, y);
        for row in y / 16..(y + height).div_ceil(16) {
            for index in
                row * self.source.columns + x / 16..row * self.source.columns + (x + width).div_ceil(16)
            {
                if !std::mem::replace(&mut self.is_painted[index], true) {
                    self.painted.push(index);
                }
            }
        }
        Ok(())
    }

    /// The next picture: what was painted since the last one, over it.
    pub fn picture(&mut self) -> Picture<'_> {
        self.changed.clear();
        for index in self.painted.drain(..) {
            self.is_painted[index] = false;
            if !self.source.same(index, &self.former) {
                self.changed.push(index);
                self.kept[index / self.source.columns / SLICE_ROWS].clear();
            }
        }
        self.changed.sort_unstable();
        let fps = self.settings.fps;
        let has_changed = self.kept.iter().any(Vec::is_empty);
        let is_due =
            self.since >= REFRESH_SECONDS.1 * fps || has_changed && self.since >= REFRESH_SECONDS.0 * fps;
        let is_sync = !self.has_begun || is_due;
        self.data.clear();
        if is_sync {
            self.has_begun = true;
            self.since = 0;
            self.refresh();
        } else {
            self.since += 1;
            self.go_on();
        }
        for &index in &self.changed {
            self.former.copy(index, &self.source);
        }
        Picture { data: &self.data, is_sync }
    }

    /// The last picture as a decoder shows it.
    pub fn shown(&self) -> Shown {
        let (width, height) = (self.format.width as usize, self.format.height as usize);
        let cut = |plane: &crate::planes::Plane, width: usize, height: usize| {
            (0..height).flat_map(|y| plane.row(0, y)[..width].to_vec()).collect::<Vec<u8>>()
        };
        let [blue, red] = &self.shown.chroma;
        let half = |plane| cut(plane, width / 2, height / 2);
        Shown {
            width,
            height,
            samples: [cut(&self.shown.luma, width, height), half(blue), half(red)].concat(),
        }
    }

    /// A picture that needs no other.
    fn refresh(&mut self) {
        self.cells.begin();
        let columns = self.source.columns;
        for number in 0..self.kept.len() {
            if self.kept[number].is_empty() {
                let macroblocks = number * SLICE_ROWS * columns
                    ..((number + 1) * SLICE_ROWS).min(self.source.rows) * columns;
                self.cells.begin_slice(macroblocks.start);
                Slice::Idr.begin(&mut self.bits, macroblocks.start);
                let mut desk = desk(
                    [&self.source, &self.reference],
                    &mut self.shown,
                    &mut self.cells,
                    &self.quality,
                    &mut self.bits,
                    None,
                );
                macroblocks.clone().for_each(|index| desk.intra(index));
                self.unit.clear();
                self.bits.finish(Slice::Idr.header(), &mut self.unit);
                self.kept[number].extend_from_slice(&self.unit);
                macroblocks.for_each(|index| self.reference.copy(index, &self.shown));
            }
            append(&mut self.data, &self.kept[number]);
        }
    }

    /// A picture that goes on from the one before.
    fn go_on(&mut self) {
        let slice = Slice::Next(self.since);
        slice.begin(&mut self.bits, 0);
        let number = self.source.columns * self.source.rows;
        let run = if self.changed.is_empty() { number as u32 } else { self.macroblocks() };
        if run > 0 {
            self.bits.ue(run);
        }
        self.unit.clear();
        self.bits.finish(slice.header(), &mut self.unit);
        append(&mut self.data, &self.unit);
        for &index in &self.changed {
            self.reference.copy(index, &self.shown);
        }
    }

    /// Writes the macroblocks up to the last one that is not skipped; answers how many are skipped after it.
    fn macroblocks(&mut self) -> u32 {
        self.cells.begin();
        self.cells.begin_slice(0);
        let found = self.search.vectors(&self.source, &self.former, &self.changed);
        let columns = self.source.columns;
        let mut tried: Vec<Vector> = Vec::with_capacity(8);
        let mut changed = self.changed.iter().copied().peekable();
        let mut desk = desk(
            [&self.source, &self.reference],
            &mut self.shown,
            &mut self.cells,
            &self.quality,
            &mut self.bits,
            Some(0),
        );
        for row in 0..self.source.rows {
            let end = (row + 1) * columns;
            let is_still = desk.cells.is_still_from(row.saturating_sub(1));
            if is_still && changed.peek().is_none_or(|next| *next >= end) {
                desk.run = desk.run.map(|run| run + columns as u32);
                continue;
            }
            for index in row * columns..end {
                if changed.next_if_eq(&index).is_none() {
                    desk.still(index);
                    continue;
                }
                tried.clear();
                let near = desk.cells.near_vectors(index).into_iter().flatten();
                for vector in near.chain(found.iter().copied()) {
                    if vector != (0, 0) && !tried.contains(&vector) && self.source.holds(index, vector) {
                        tried.push(vector);
                    }
                }
                let moved =
                    tried.iter().copied().find(|vector| self.source.same_luma(index, &self.former, *vector));
                if let Some(vector) = moved {
                    let is_even = vector.0 % 2 == 0 && vector.1 % 2 == 0;
                    let is_exact = is_even && self.source.same_chroma(index, &self.former, vector);
                    desk.moved(index, vector, is_exact);
                } else {
                    tried.push((0, 0));
                    desk.changed(index, &tried);
                }
            }
        }
        desk.run.unwrap_or_default()
    }
}

fn desk<'a>(
    [source, reference]: [&'a Planes; 2],
    shown: &'a mut Planes,
    cells: &'a mut Cells,
    quality: &'a Quality,
    bits: &'a mut Bits,
    run: Option<u32>,
) -> Desk<'a> {
    Desk { source, reference, shown, cells, quality, bits, run }
}

/// Appends a NAL unit after its length.
fn append(data: &mut Vec<u8>, unit: &[u8]) {
    // A unit has at most some megabytes.
    data.extend_from_slice(&(unit.len() as u32).to_be_bytes());
    data.extend_from_slice(unit);
}
