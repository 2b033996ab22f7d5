//! One macroblock: how it is predicted, and its bits (ITU-T H.264, 7.3.5).

use crate::h264::bits::Bits;
use crate::h264::cells::{Cell, Cells, Kind, Vector};
use crate::h264::inter::{differ, predict};
use crate::h264::intra::{Availability, BlockNeighbours, Edges, HORIZONTAL, MEAN, VERTICAL};
use crate::h264::planes::{Planes, Samples};
use crate::h264::quality::{Qualities, Quality, step};
use crate::h264::residue::{Chroma, Luma, ORDER, block};

/// `coded_block_pattern` by code number for intra and for inter prediction (table 9-4).
const PATTERNS: [[u8; 2]; 48] = [
    [47, 0],
    [31, 16],
    [15, 1],
    [0, 2],
    [23, 4],
    [27, 8],
    [29, 32],
    [30, 3],
    [7, 5],
    [11, 10],
    [13, 12],
    [14, 15],
    [39, 47],
    [43, 7],
    [45, 11],
    [46, 13],
    [16, 14],
    [3, 6],
    [5, 9],
    [10, 31],
    [12, 35],
    [19, 37],
    [21, 42],
    [26, 44],
    [28, 33],
    [35, 34],
    [37, 36],
    [42, 40],
    [44, 39],
    [1, 43],
    [2, 45],
    [4, 46],
    [8, 17],
    [17, 18],
    [18, 20],
    [20, 24],
    [24, 19],
    [6, 21],
    [9, 26],
    [22, 28],
    [25, 23],
    [32, 27],
    [33, 29],
    [34, 30],
    [36, 22],
    [40, 25],
    [38, 38],
    [41, 41],
];

/// The code number of each pattern.
static PATTERN_CODES: [[u8; 48]; 2] = {
    let mut codes = [[0; 48]; 2];
    let mut code = 0;
    while code < 48 {
        let [intra, inter] = PATTERNS[code];
        codes[0][intra as usize] = code as u8;
        codes[1][inter as usize] = code as u8;
        code += 1;
    }
    codes
};

/// The most bits that a macroblock may have (A.3.1); what has more is sent as samples.
const MOST_BITS: usize = 3200;

/// What a macroblock costs in bits without looking for something better.
const CHEAP: u32 = 24;

/// A macroblock as it will be sent.
struct Choice {
    kind: Kind,
    /// The luma mode of one that is predicted as a whole.
    mode: u8,
    luma: Luma,
    shown: [[u8; 16]; 16],
    cost: u32,
}

/// A macroblock's luma as its neighbours let expect it, and the sum of its absolute differences from what it is.
struct LumaPrediction {
    difference: u32,
    mode: u8,
    shown: [[u8; 16]; 16],
}

/// What a slice is made with.
pub(crate) struct SliceEncoder<'a> {
    pub(crate) source: &'a Planes,
    /// The picture before, as a decoder shows it.
    pub(crate) reference: &'a Planes,
    /// This picture, as a decoder shows it; it begins as the one before.
    pub(crate) shown: &'a mut Planes,
    pub(crate) cells: &'a mut Cells,
    pub(crate) qualities: &'a Qualities,
    /// The quantiser of what is made next, and that of the last macroblock that named one.
    pub(crate) qp: u8,
    pub(crate) named_qp: u8,
    pub(crate) bits: &'a mut Bits,
    /// In a P slice, the macroblocks that were skipped since the last one that was not.
    pub(crate) run: Option<u32>,
}

impl<'a> SliceEncoder<'a> {
    fn quality(&self) -> &'a Quality {
        self.qualities.of(self.qp)
    }

    /// The same as before: skipped, or where a skipped one would move, copied.
    pub(crate) fn still(&mut self, index: usize) {
        self.copy(index, (0, 0), Chroma::NONE);
    }

    /// Predicted from the picture before without luma levels; its samples are not put.
    fn copy(&mut self, index: usize, vector: Vector, chroma: Chroma) {
        if chroma.pattern == 0 && self.cells.skipped_vector(index) == vector {
            self.run = self.run.map(|run| run + 1);
            if vector != (0, 0) {
                self.cells.set(index, Cell { kind: Kind::Inter(vector), ..Cell::SAME });
            }
            return;
        }
        self.write_inter(index, vector, &Luma::NONE, &chroma);
    }

    /// A macroblock whose source moved as a whole: its luma is exactly that of the picture before, at the vector.
    pub(crate) fn moved(&mut self, index: usize, vector: Vector, is_exact: bool) {
        let mut shown = predict(self.reference, index, vector);
        let chroma = if is_exact {
            Chroma::NONE
        } else {
            Chroma::of(&self.source.samples(index), &mut shown.chroma, &self.quality().chroma)
        };
        self.shown.put(index, &shown);
        self.copy(index, vector, chroma);
    }

    /// A macroblock that changed; it may look like one of the picture before, at one of the vectors.
    pub(crate) fn changed(&mut self, index: usize, vectors: &[Vector]) {
        let source = self.source.samples(index);
        let best = vectors
            .iter()
            .map(|vector| {
                let predicted = predict(self.reference, index, *vector);
                (differ(&source.luma, &predicted.luma), *vector, predicted)
            })
            .min_by_key(|(difference, ..)| *difference);
        let Some((difference, vector, mut shown)) = best else { return self.intra(index) };
        // What is plain now is hardly looked for in the picture before.
        let whole = self.intra_whole(index, &source);
        if whole.difference < difference / 8
            && let whole = self.with_levels(&source, whole)
            && whole.cost <= CHEAP
        {
            return self.put_intra(index, &source, &whole);
        }
        let luma = Luma::of_blocks(&source.luma, &mut shown.luma, &self.quality().luma);
        let chroma = Chroma::of(&source, &mut shown.chroma, &self.quality().chroma);
        if luma.cost > CHEAP
            && let choice = self.intra_luma(index, &source, luma.cost)
            && choice.cost < luma.cost
        {
            return self.put_intra(index, &source, &choice);
        }
        self.shown.put(index, &shown);
        if luma.pattern == 0 {
            return self.copy(index, vector, chroma);
        }
        let place = self.bits.place();
        let start = self.bits.len();
        let (run, named_qp) = (self.run, self.named_qp);
        self.write_inter(index, vector, &luma, &chroma);
        if self.bits.len() - start > MOST_BITS {
            self.bits.go_back(place);
            (self.run, self.named_qp) = (run, named_qp);
            self.put_samples(index, &source);
        }
    }

    /// A macroblock that only goes by its own picture.
    pub(crate) fn intra(&mut self, index: usize) {
        let source = self.source.samples(index);
        let choice = self.intra_luma(index, &source, u32::MAX);
        self.put_intra(index, &source, &choice);
    }

    fn intra_luma(&self, index: usize, source: &Samples, limit: u32) -> Choice {
        let whole = self.with_levels(source, self.intra_whole(index, source));
        if whole.cost <= CHEAP {
            return whole;
        }
        let available = self.cells.available(index);
        match self.intra_blocks(index, source, available, whole.cost.min(limit)) {
            Some(blocks) => blocks,
            None => whole,
        }
    }

    /// Predicted as a whole, without what the prediction lacks.
    fn intra_whole(&self, index: usize, source: &Samples) -> LumaPrediction {
        let (column, row) = self.shown.place(index);
        let available = self.cells.available(index);
        let edges = Edges::<16>::of(&self.shown.luma, column * 16, row * 16, available);
        let mut whole = LumaPrediction { difference: u32::MAX, mode: MEAN, shown: [[0; 16]; 16] };
        for mode in [VERTICAL, HORIZONTAL, MEAN] {
            let Some(shown) = edges.luma(mode) else { continue };
            let difference = differ(&source.luma, &shown);
            if difference < whole.difference {
                whole = LumaPrediction { difference, mode, shown };
            }
        }
        whole
    }

    fn with_levels(
        &self,
        source: &Samples,
        LumaPrediction { mode, mut shown, .. }: LumaPrediction,
    ) -> Choice {
        let luma = Luma::of_whole(&source.luma, &mut shown, &self.quality().luma);
        let cost = luma.cost + 4;
        Choice { kind: Kind::Intra, mode, luma, shown, cost }
    }

    /// Each block of 4x4 with a mode of its own; none when that costs more than the limit.
    fn intra_blocks(
        &self,
        index: usize,
        source: &Samples,
        available: Availability,
        limit: u32,
    ) -> Option<Choice> {
        let (column, row) = self.shown.place(index);
        // With the samples around it: one column to the left, one row above, and four columns to the right of that.
        let mut reconstructed = MacroblockSamples::of(self.shown, column * 16, row * 16, available);
        let mut luma = Luma::NONE;
        let mut modes = [MEAN; 16];
        let mut cost = 8;
        let quality = self.quality();
        for place in ORDER {
            let (x, y) = (place % 4, place / 4);
            let neighbours = reconstructed.neighbours(x, y, available);
            let expected = self.cells.expected_mode(index, &modes, place);
            let wanted: [u8; 16] = std::array::from_fn(|at| source.luma[y * 4 + at / 4][x * 4 + at % 4]);
            let (mode, mut shown) = best_mode(&neighbours, &wanted, expected, 3 * quality.bit);
            modes[place] = mode;
            cost += if mode == expected { 1 } else { 4 };
            let lacking = std::array::from_fn(|at| i32::from(wanted[at]) - i32::from(shown[at]));
            let before = luma.cost;
            if let Some((levels, added)) = block(&lacking, &quality.luma) {
                luma.set(place, levels);
                for (sample, value) in shown.iter_mut().zip(added) {
                    *sample = (i32::from(*sample) + value).clamp(0, 255) as u8;
                }
            }
            cost += luma.cost - before;
            if cost >= limit {
                return None;
            }
            reconstructed.put(x, y, &shown);
        }
        Some(Choice { kind: Kind::Blocks(modes), mode: 0, luma, shown: reconstructed.square(), cost })
    }

    fn put_intra(&mut self, index: usize, source: &Samples, choice: &Choice) {
        let (column, row) = self.shown.place(index);
        let available = self.cells.available(index);
        let edges =
            [0, 1].map(|plane| Edges::<8>::of(&self.shown.chroma[plane], column * 8, row * 8, available));
        let (chroma_mode, mut chroma) = predict_chroma(source, &edges);
        let levels = Chroma::of(source, &mut chroma, &self.quality().chroma);
        self.shown.put(index, &Samples { luma: choice.shown, chroma });

        let (place, start) = (self.bits.place(), self.bits.len());
        let (run, named_qp) = (self.run, self.named_qp);
        let pattern = choice.luma.pattern | levels.pattern << 4;
        let mut cell = Cell { kind: choice.kind, ..Cell::SAME };
        match &choice.kind {
            Kind::Blocks(modes) => {
                self.begin(0, true);
                for place in ORDER {
                    let expected = self.cells.expected_mode(index, modes, place);
                    let mode = modes[place];
                    self.bits.flag(mode == expected);
                    if mode != expected {
                        self.bits.put(u32::from(mode - u8::from(mode > expected)), 3);
                    }
                }
                self.bits.ue(chroma_mode.into());
                self.bits.ue(PATTERN_CODES[0][pattern as usize].into());
                if pattern > 0 {
                    self.put_qp();
                }
            }
            _ => {
                let whole = u32::from(choice.luma.pattern != 0);
                self.begin(1 + u32::from(choice.mode) + 4 * levels.pattern + 12 * whole, true);
                self.bits.ue(chroma_mode.into());
                self.put_qp();
            }
        }
        choice.luma.write(self.bits, self.cells, index, &mut cell);
        levels.write(self.bits, self.cells, index, &mut cell);
        if self.bits.len() - start > MOST_BITS {
            self.bits.go_back(place);
            (self.run, self.named_qp) = (run, named_qp);
            return self.put_samples(index, source);
        }
        self.cells.set(index, cell);
    }

    /// `I_PCM`: the samples themselves.
    fn put_samples(&mut self, index: usize, source: &Samples) {
        self.begin(25, true);
        let chroma = source.chroma.iter().flat_map(|plane| plane.as_flattened());
        self.bits.aligned(source.luma.as_flattened().iter().chain(chroma).copied());
        self.shown.put(index, source);
        self.cells.set(index, Cell { kind: Kind::Intra, luma: [16; 16], chroma: [[16; 4]; 2] });
    }

    fn write_inter(&mut self, index: usize, vector: Vector, luma: &Luma, chroma: &Chroma) {
        let expected = self.cells.expected_vector(index);
        self.begin(0, false);
        // In quarters of a sample.
        self.bits.se((vector.0 - expected.0) * 4);
        self.bits.se((vector.1 - expected.1) * 4);
        let pattern = luma.pattern | chroma.pattern << 4;
        self.bits.ue(PATTERN_CODES[1][pattern as usize].into());
        let mut cell = Cell { kind: Kind::Inter(vector), ..Cell::SAME };
        if pattern > 0 {
            self.put_qp();
            luma.write(self.bits, self.cells, index, &mut cell);
            chroma.write(self.bits, self.cells, index, &mut cell);
        }
        self.cells.set(index, cell);
    }

    /// `mb_qp_delta`.
    fn put_qp(&mut self) {
        self.bits.se(step(self.named_qp, self.qp));
        self.named_qp = self.qp;
    }

    /// The skipped macroblocks before this one, and its type; in P slices those of intra prediction come after five others.
    fn begin(&mut self, kind: u32, is_intra: bool) {
        if let Some(run) = &mut self.run {
            self.bits.ue(std::mem::take(run));
            self.bits.ue(if is_intra { kind + 5 } else { kind });
        } else {
            self.bits.ue(kind);
        }
    }
}

/// The mode that predicts a block of 4x4 best, and the block as it predicts it; every mode but the expected one counts
/// as worse by `surcharge`.
#[inline]
fn best_mode(
    neighbours: &BlockNeighbours,
    wanted: &[u8; 16],
    expected: u8,
    surcharge: u32,
) -> (u8, [u8; 16]) {
    let (mut least, mut best) = (u32::MAX, (MEAN, [0; 16]));
    for mode in 0..9 {
        let Some(predicted) = neighbours.predict(mode) else { continue };
        let difference: u32 =
            wanted.iter().zip(&predicted).map(|(one, other)| u32::from(one.abs_diff(*other))).sum();
        let weight = difference + if mode == expected { 0 } else { surcharge };
        if weight < least {
            (least, best) = (weight, (mode, predicted));
        }
        if difference == 0 && mode == expected {
            break;
        }
    }
    best
}

/// A macroblock's luma while its blocks are made, and the samples around it.
struct MacroblockSamples {
    /// Row 0 is above the macroblock, column 3 to its left.
    samples: [[u8; 24]; 17],
}

impl MacroblockSamples {
    fn of(shown: &Planes, x: usize, y: usize, available: Availability) -> Self {
        let mut samples = [[0; 24]; 17];
        if available.left {
            for (line, row) in samples[1..].iter_mut().enumerate() {
                row[3] = shown.luma.row(x - 1, y + line)[0];
            }
        }
        if available.above {
            let width = if available.above_right { 20 } else { 16 };
            samples[0][4..4 + width].copy_from_slice(&shown.luma.row(x, y - 1)[..width]);
            if available.left {
                samples[0][3] = shown.luma.row(x - 1, y - 1)[0];
            }
        }
        Self { samples }
    }

    fn neighbours(&self, x: usize, y: usize, available: Availability) -> BlockNeighbours {
        let place = y * 4 + x;
        let above_right = match (x, y) {
            (3, 0) => available.above_right,
            (_, 0) => available.above,
            (3, _) => false,
            // Those of these places come later.
            _ => !matches!(place, 5 | 13),
        };
        let available =
            Availability { left: x > 0 || available.left, above: y > 0 || available.above, above_right };
        BlockNeighbours::of(&self.samples, x * 4 + 4, y * 4 + 1, available)
    }

    fn put(&mut self, x: usize, y: usize, block: &[u8; 16]) {
        for (row, line) in self.samples[y * 4 + 1..].iter_mut().zip(block.as_chunks::<4>().0) {
            row[x * 4 + 4..x * 4 + 8].copy_from_slice(line);
        }
    }

    fn square(&self) -> [[u8; 16]; 16] {
        std::array::from_fn(|line| std::array::from_fn(|column| self.samples[line + 1][column + 4]))
    }
}

/// The mode whose prediction of both chroma planes is nearest, and the prediction.
fn predict_chroma(source: &Samples, edges: &[Edges<8>; 2]) -> (u8, [[[u8; 8]; 8]; 2]) {
    let (mut least, mut nearest) = (u32::MAX, (0, [[[0; 8]; 8]; 2]));
    for mode in 0..3 {
        let [Some(blue), Some(red)] = [&edges[0], &edges[1]].map(|edges| edges.chroma(mode)) else {
            continue;
        };
        let difference = differ(&source.chroma[0], &blue) + differ(&source.chroma[1], &red);
        if difference < least {
            (least, nearest) = (difference, (mode, [blue, red]));
        }
    }
    nearest
}
