//! What a prediction lacks: its levels, what a decoder makes of them, and their bits (ITU-T H.264, 7.3.5.3).

use crate::h264::bits::Bits;
use crate::h264::cavlc::{Context, residual};
use crate::h264::cells::{Cell, Cells};
use crate::h264::inter::differ;
use crate::h264::planes::Samples;
use crate::h264::transform::{Block, Quantiser, SCAN, forward, inverse};

/// Raster places of the luma blocks in the order in which they are coded (figure 6-10).
pub(crate) const ORDER: [usize; 16] = [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15];

/// Levels in the order of the scan.
type Levels = [i16; 16];

/// Luma levels of a macroblock; blocks are in raster order.
#[derive(Clone)]
pub(crate) struct Luma {
    /// The DC levels of a macroblock that is predicted as a whole.
    pub(crate) dc: Option<Levels>,
    pub(crate) blocks: [Levels; 16],
    /// One bit for each 8x8 that has levels.
    pub(crate) pattern: u32,
    /// About how many bits they take.
    pub(crate) cost: u32,
}

/// Chroma levels of a macroblock.
pub(crate) struct Chroma {
    dc: [[i16; 4]; 2],
    blocks: [[Levels; 4]; 2],
    /// 0 for no levels, 1 for those of DC only, 2 for others too.
    pub(crate) pattern: u32,
    pub(crate) cost: u32,
}

fn scanned(levels: &Block) -> Levels {
    // Levels are at most MOST_LEVEL.
    SCAN.map(|place| levels[place] as i16)
}

/// About how many bits a block's levels take.
#[inline(always)]
fn cost(levels: &Levels) -> u32 {
    let mut cost = 0;
    for level in levels {
        let size = u32::from(level.unsigned_abs());
        cost += if size == 0 { 0 } else { 3 + 2 * size.ilog2() };
    }
    if cost == 0 { 0 } else { cost + 3 }
}

#[inline(always)]
pub(crate) fn difference<const N: usize>(
    source: &[[u8; N]; N],
    predicted: &[[u8; N]; N],
    x: usize,
    y: usize,
) -> Block {
    std::array::from_fn(|at| {
        let (x, y) = (x + at % 4, y + at / 4);
        i32::from(source[y][x]) - i32::from(predicted[y][x])
    })
}

#[inline(always)]
fn add<const N: usize>(square: &mut [[u8; N]; N], x: usize, y: usize, block: &Block) {
    for (row, line) in square[y..y + 4].iter_mut().zip(block.as_chunks::<4>().0) {
        for (sample, value) in row[x..x + 4].iter_mut().zip(line) {
            *sample = (i32::from(*sample) + value).clamp(0, 255) as u8;
        }
    }
}

#[inline(always)]
fn is_negligible(difference: &Block, quantiser: &Quantiser) -> bool {
    difference.iter().map(|value| value.unsigned_abs()).sum::<u32>() <= quantiser.negligible
}

/// One block of 4x4: its levels, in the order of the scan, and what is added to the prediction; none when there are none.
#[inline(always)]
pub(crate) fn block(difference: &Block, quantiser: &Quantiser) -> Option<(Levels, Block)> {
    if is_negligible(difference, quantiser) {
        return None;
    }
    let levels = quantiser.levels(&forward(difference));
    if levels == [0; 16] {
        return None;
    }
    Some((scanned(&levels), inverse(&quantiser.coefficients(&levels))))
}

impl Luma {
    pub(crate) const NONE: Self = Self { dc: None, blocks: [[0; 16]; 16], pattern: 0, cost: 0 };

    /// Notes the levels of one block.
    pub(crate) fn set(&mut self, place: usize, levels: Levels) {
        self.cost += cost(&levels);
        self.blocks[place] = levels;
        self.pattern |= 1 << (place / 8 * 2 + place % 4 / 2);
    }

    /// Of blocks that are coded one by one; turns the prediction into what a decoder shows.
    pub(crate) fn of_blocks(
        source: &[[u8; 16]; 16],
        shown: &mut [[u8; 16]; 16],
        quantiser: &Quantiser,
    ) -> Self {
        let mut luma = Self::NONE;
        for place in 0..16 {
            let (x, y) = (place % 4 * 4, place / 4 * 4);
            if let Some((levels, added)) = block(&difference(source, shown, x, y), quantiser) {
                luma.set(place, levels);
                add(shown, x, y, &added);
            }
        }
        luma
    }

    /// Of a macroblock that is predicted as a whole, whose DC coefficients are coded together.
    pub(crate) fn of_whole(
        source: &[[u8; 16]; 16],
        shown: &mut [[u8; 16]; 16],
        quantiser: &Quantiser,
    ) -> Self {
        let mut luma = Self { dc: Some([0; 16]), ..Self::NONE };
        if differ(source, shown) <= quantiser.negligible {
            return luma;
        }
        let mut blocks = [[0; 16]; 16];
        let mut dc = [0; 16];
        for place in 0..16 {
            let coefficients = forward(&difference(source, shown, place % 4 * 4, place / 4 * 4));
            dc[place] = coefficients[0];
            let mut levels = quantiser.levels(&coefficients);
            levels[0] = 0;
            blocks[place] = quantiser.coefficients(&levels);
            if levels != [0; 16] {
                luma.set(place, scanned(&levels));
            }
        }
        let (dc_levels, means) = quantiser.luma_dc(&dc);
        let dc_levels = scanned(&dc_levels);
        luma.cost += cost(&dc_levels);
        luma.dc = Some(dc_levels);
        if luma.pattern != 0 {
            luma.pattern = 15;
        }
        for (place, (mut coefficients, mean)) in blocks.into_iter().zip(means).enumerate() {
            coefficients[0] = mean;
            add(shown, place % 4 * 4, place / 4 * 4, &inverse(&coefficients));
        }
        luma
    }

    /// Writes the levels, and notes in the cell how many there are.
    pub(crate) fn write(&self, bits: &mut Bits, cells: &Cells, index: usize, cell: &mut Cell) {
        if let Some(dc) = &self.dc {
            residual(bits, dc, cells.luma_context(index, &cell.luma, 0));
        }
        // Without the DC level, which is coded with the others.
        let first = usize::from(self.dc.is_some());
        for place in ORDER {
            if self.pattern >> (place / 8 * 2 + place % 4 / 2) & 1 == 1 {
                let context = cells.luma_context(index, &cell.luma, place);
                cell.luma[place] = residual(bits, &self.blocks[place][first..], context);
            }
        }
    }
}

impl Chroma {
    pub(crate) const NONE: Self = Self { dc: [[0; 4]; 2], blocks: [[[0; 16]; 4]; 2], pattern: 0, cost: 0 };

    /// Turns the prediction into what a decoder shows.
    pub(crate) fn of(source: &Samples, shown: &mut [[[u8; 8]; 8]; 2], quantiser: &Quantiser) -> Self {
        let mut chroma = Self::NONE;
        for plane in 0..2 {
            let (source, shown) = (&source.chroma[plane], &mut shown[plane]);
            if differ(source, shown) <= quantiser.negligible {
                continue;
            }
            let mut blocks = [[0; 16]; 4];
            let mut dc = [0; 4];
            for place in 0..4 {
                let difference = difference(source, shown, place % 2 * 4, place / 2 * 4);
                let coefficients = forward(&difference);
                dc[place] = coefficients[0];
                let mut levels = quantiser.levels(&coefficients);
                levels[0] = 0;
                if levels != [0; 16] {
                    blocks[place] = quantiser.coefficients(&levels);
                    chroma.blocks[plane][place] = scanned(&levels);
                    chroma.cost += cost(&chroma.blocks[plane][place]);
                    chroma.pattern = 2;
                }
            }
            let (levels, means) = quantiser.chroma_dc(dc);
            if levels != [0; 4] {
                chroma.dc[plane] = levels.map(|level| level as i16);
                chroma.cost += 8;
                chroma.pattern = chroma.pattern.max(1);
            }
            for (place, (mut coefficients, mean)) in blocks.into_iter().zip(means).enumerate() {
                coefficients[0] = mean;
                if coefficients != [0; 16] {
                    add(shown, place % 2 * 4, place / 2 * 4, &inverse(&coefficients));
                }
            }
        }
        chroma
    }

    /// Writes the levels, and notes in the cell how many there are.
    pub(crate) fn write(&self, bits: &mut Bits, cells: &Cells, index: usize, cell: &mut Cell) {
        if self.pattern > 0 {
            for dc in &self.dc {
                residual(bits, dc, Context::ChromaDc);
            }
        }
        if self.pattern == 2 {
            for plane in 0..2 {
                for place in 0..4 {
                    let context = cells.chroma_context(index, plane, &cell.chroma[plane], place);
                    cell.chroma[plane][place] = residual(bits, &self.blocks[plane][place][1..], context);
                }
            }
        }
    }
}
