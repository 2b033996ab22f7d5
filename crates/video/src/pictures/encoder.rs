//! Pictures of a screen to H.264, Constrained Baseline (ITU-T H.264): what did not change costs nothing.

use std::time::Duration;

use desktop::Rect;

use crate::VideoError;
use crate::h264::bits::Bits;
use crate::h264::cells::Cells;
use crate::h264::headers::{Format, Slice};
use crate::h264::macroblock::SliceEncoder;
use crate::h264::planes::Planes;
use crate::h264::quality::Qualities;
use crate::pictures::colour::Pixels;
use crate::pictures::drafts::Drafts;
use crate::pictures::next::{Task, Work};
use crate::pictures::rate_control::{Budget, RateControl};
use crate::pictures::scroll::Search;
use crate::pictures::settings::{MOST_SIDE, Settings};

/// Rows of macroblocks in a slice of a picture that needs no other.
const SLICE_ROWS: usize = 4;

/// Seconds after which a picture that needs no other is due when something changed since the last one, and in any case.
const REFRESH_SECONDS: (u32, u32) = (10, 30);

/// Bytes after which a picture that needs no other is due where there is a budget; those who look on are given one when they come.
const REFRESH_BYTES: usize = 8 << 20;

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
    qualities: Qualities,
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
    drafts: Drafts,
    rate_control: RateControl,
    /// Slices of pictures that need no other, as long as nothing changed in them.
    kept: Vec<Vec<u8>>,
    /// Pictures since the last one that needs no other.
    since: u32,
    bytes_since: usize,
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
            qualities: Qualities::from(qp),
            source: planes(),
            former: planes(),
            shown: planes(),
            reference: planes(),
            cells: Cells::new(columns, rows),
            search: Search::default(),
            painted: Vec::new(),
            is_painted: vec![false; number],
            changed: Vec::new(),
            drafts: Drafts::new(columns, rows),
            rate_control: RateControl::new(qp),
            kept: vec![Vec::new(); rows.div_ceil(SLICE_ROWS)],
            since: 0,
            bytes_since: 0,
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

    /// Whether the next picture differs from the last one.
    pub fn has_changed(&self) -> bool {
        self.painted.iter().any(|index| !self.source.same(*index, &self.former))
    }

    /// Has the next picture be one that needs no other. The one before it must not be one.
    pub fn refresh_next(&mut self) {
        self.has_begun = false;
    }

    /// The next picture: what was painted since the last one, over it, all as fine as the film.
    pub fn picture(&mut self) -> Picture<'_> {
        self.make(None)
    }

    /// The next picture of a film that somebody waits for. What would have more bytes than the budget allows is drafted: it is
    /// coarser at first, and made fine in a later picture, when it has rested. Pictures that need no other come only when
    /// they are asked for, or after many bytes.
    pub fn picture_within(&mut self, budget: &Budget) -> Picture<'_> {
        self.make(Some(budget))
    }

    /// Whether there are drafts that did not change after a moment, nor since the last picture.
    pub fn has_rested(&self, moment: Duration) -> bool {
        let is_same = |index: usize| !self.is_painted[index] || self.source.same(index, &self.former);
        self.drafts.rested(moment).any(is_same)
    }

    /// A picture like the last one, which no other goes by: it may be left out. Another one follows it.
    pub fn filler(&mut self) -> Picture<'_> {
        let slice = Slice::Filler(self.since + 1);
        slice.begin(&mut self.bits, 0);
        self.bits.ue((self.source.columns * self.source.rows) as u32);
        self.unit.clear();
        self.bits.finish(slice.header(), &mut self.unit);
        self.data.clear();
        append(&mut self.data, &self.unit);
        Picture { data: &self.data, is_sync: false }
    }

    fn make(&mut self, budget: Option<&Budget>) -> Picture<'_> {
        self.changed.clear();
        for index in self.painted.drain(..) {
            self.is_painted[index] = false;
            if !self.source.same(index, &self.former) {
                self.changed.push(index);
            }
        }
        self.changed.sort_unstable();
        for index in &self.changed {
            self.kept[index / self.source.columns / SLICE_ROWS].clear();
        }
        let is_sync = !self.has_begun || self.is_due(budget.is_some());
        self.data.clear();
        if is_sync {
            self.has_begun = true;
            (self.since, self.bytes_since) = (0, 0);
            self.refresh(budget);
        } else {
            self.since += 1;
            self.go_on(budget);
            self.bytes_since += self.data.len();
        }
        for &index in &self.changed {
            self.former.copy(index, &self.source);
        }
        Picture { data: &self.data, is_sync }
    }

    /// Whether a picture that needs no other is due.
    fn is_due(&self, is_on_terms: bool) -> bool {
        let after = |seconds: u32| self.since >= seconds * self.settings.fps;
        if is_on_terms {
            return after(REFRESH_SECONDS.0) && self.bytes_since >= REFRESH_BYTES;
        }
        after(REFRESH_SECONDS.1) || after(REFRESH_SECONDS.0) && self.kept.iter().any(Vec::is_empty)
    }

    /// The last picture as a decoder shows it.
    pub fn shown(&self) -> Shown {
        let (width, height) = (self.format.width as usize, self.format.height as usize);
        let cut = |plane: &crate::h264::planes::Plane, width: usize, height: usize| {
            (0..height).map(|y| &plane.row(0, y)[..width]).collect::<Vec<_>>().concat()
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
    fn refresh(&mut self, budget: Option<&Budget>) {
        self.cells.begin();
        let columns = self.source.columns;
        let number = self.source.columns * self.source.rows;
        let range =
            |slice: usize| slice * SLICE_ROWS * columns..((slice + 1) * SLICE_ROWS * columns).min(number);
        let lacking = (0..self.kept.len()).filter(|slice| self.kept[*slice].is_empty());
        self.rate_control.begin(lacking.map(|slice| range(slice).len()).sum(), budget);
        for number in 0..self.kept.len() {
            if self.kept[number].is_empty() {
                let macroblocks = range(number);
                self.cells.begin_slice(macroblocks.start);
                Slice::Idr.begin(&mut self.bits, macroblocks.start);
                let mut slice_encoder = SliceEncoder {
                    source: &self.source,
                    reference: &self.reference,
                    shown: &mut self.shown,
                    cells: &mut self.cells,
                    qualities: &self.qualities,
                    qp: self.settings.qp,
                    named_qp: self.settings.qp,
                    bits: &mut self.bits,
                    run: None,
                };
                for index in macroblocks.clone() {
                    let start = slice_encoder.bits.len();
                    slice_encoder.qp = self.rate_control.qp();
                    slice_encoder.intra(index);
                    self.rate_control.spent(slice_encoder.bits.len() - start);
                    self.drafts.set(index, draft(slice_encoder.qp, &self.settings, budget));
                }
                self.unit.clear();
                self.bits.finish(Slice::Idr.header(), &mut self.unit);
                self.kept[number].extend_from_slice(&self.unit);
                macroblocks.for_each(|index| self.reference.copy(index, &self.shown));
            }
            append(&mut self.data, &self.kept[number]);
        }
    }

    /// A picture that goes on from the one before.
    fn go_on(&mut self, budget: Option<&Budget>) {
        let slice = Slice::Next(self.since);
        slice.begin(&mut self.bits, 0);
        let found = self.search.vectors(&self.source, &self.former, &self.changed);
        let mut work = Work::of([&self.source, &self.former], &self.changed, found);
        if let Some(budget) = budget {
            work.add_rested(self.drafts.rested(budget.rested));
        }
        self.rate_control.begin(work.new_ones(), budget);
        let number = self.source.columns * self.source.rows;
        let slice_encoder = SliceEncoder {
            source: &self.source,
            reference: &self.reference,
            shown: &mut self.shown,
            cells: &mut self.cells,
            qualities: &self.qualities,
            qp: self.settings.qp,
            named_qp: self.settings.qp,
            bits: &mut self.bits,
            run: Some(0),
        };
        let run = if work.tasks.is_empty() {
            number as u32
        } else {
            work.make(slice_encoder, &self.former, &self.drafts, &mut self.rate_control)
        };
        if run > 0 {
            self.bits.ue(run);
        }
        self.unit.clear();
        self.bits.finish(slice.header(), &mut self.unit);
        append(&mut self.data, &self.unit);
        for Task { index, qp, .. } in work.tasks {
            self.reference.copy(index, &self.shown);
            self.drafts.set(index, draft(qp, &self.settings, budget));
            self.kept[index / self.source.columns / SLICE_ROWS].clear();
        }
    }
}

/// What is noted of a macroblock that was made with a quantiser.
fn draft(qp: u8, settings: &Settings, budget: Option<&Budget>) -> Option<(u8, Duration)> {
    (qp > settings.qp).then(|| (qp, budget.map_or(Duration::ZERO, |budget| budget.now)))
}

/// Appends a NAL unit after its length.
fn append(data: &mut Vec<u8>, unit: &[u8]) {
    // A unit has at most some megabytes.
    data.extend_from_slice(&(unit.len() as u32).to_be_bytes());
    data.extend_from_slice(unit);
}
