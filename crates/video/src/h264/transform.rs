//! Transform and quantisation of residuals (ITU-T H.264, 8.5).

use crate::h264::cavlc::MOST_LEVEL;

/// Sixteen values in raster order.
pub(crate) type Block = [i32; 16];

/// Raster places in the order of the frame scan (figure 8-8).
pub(crate) const SCAN: [usize; 16] = [0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15];

/// `normAdjust4x4` (8-315), for the three kinds of places.
const SCALES: [[i32; 3]; 6] =
    [[10, 16, 13], [11, 18, 14], [13, 20, 16], [14, 23, 18], [16, 25, 20], [18, 29, 23]];

/// QPc by qPI from 30 on (table 8-15).
const CHROMA_QP: [u8; 22] =
    [29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36, 36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39];

/// The chroma quantiser of a luma quantiser.
pub(crate) fn chroma_qp(qp: u8) -> u8 {
    if qp < 30 { qp } else { CHROMA_QP[usize::from(qp) - 30] }
}

/// One quantiser's numbers.
pub(crate) struct Quantiser {
    /// What coefficients are multiplied with before `shift`.
    multiply: Block,
    /// What levels are multiplied with.
    scale: Block,
    shift: u32,
    round: i32,
    sixth: u32,
    /// A block whose absolute differences sum up to no more than this has no level.
    pub(crate) negligible: u32,
}

impl Quantiser {
    pub(crate) fn new(qp: u8) -> Self {
        let (sixth, row) = (u32::from(qp) / 6, SCALES[usize::from(qp) % 6]);
        let scale: Block = std::array::from_fn(|place| row[kind(place)]);
        // The forward transform lets a coefficient grow by 4, 6.25 or 5 at its place; the inverse takes 64 away.
        let growth = [16.0, 25.0, 20.0];
        let multiply: Block = std::array::from_fn(|place| {
            let kind = kind(place);
            (f64::from(1 << 21) / (growth[kind] * f64::from(row[kind]))).round() as i32
        });
        let shift = 15 + sixth;
        let round = (1 << shift) / 3;
        // Coefficients are at most 1, 4 and 2 times the sum of the absolute differences.
        let least =
            |kind: usize, times: i32| ((1 << shift) - round - 1) / (multiply[[0, 5, 1][kind]] * times);
        let negligible = least(0, 1).min(least(1, 4)).min(least(2, 2)).unsigned_abs();
        Self { multiply, scale, shift, round, sixth, negligible }
    }

    /// One for drafts: levels are rather nothing than one, and there are only the first `kept` of the scan.
    pub(crate) fn draft(qp: u8, kept: usize) -> Self {
        let mut quantiser = Self::new(qp);
        quantiser.round /= 2;
        SCAN[kept..].iter().for_each(|place| quantiser.multiply[*place] = 0);
        quantiser
    }

    fn level(&self, value: i32, place: usize, round: i32, shift: u32) -> i32 {
        let level = ((value.abs() * self.multiply[place] + round) >> shift).min(MOST_LEVEL);
        if value < 0 { -level } else { level }
    }

    /// The levels of a block's coefficients.
    #[inline(always)]
    pub(crate) fn levels(&self, coefficients: &Block) -> Block {
        std::array::from_fn(|place| self.level(coefficients[place], place, self.round, self.shift))
    }

    /// The coefficients of a block's levels (8-336).
    #[inline(always)]
    pub(crate) fn coefficients(&self, levels: &Block) -> Block {
        std::array::from_fn(|place| (levels[place] * self.scale[place]) << self.sixth)
    }

    /// Levels of the sixteen luma DC coefficients, and what a decoder makes of them (8.5.10).
    pub(crate) fn luma_dc(&self, dc: &Block) -> (Block, Block) {
        let spectrum = hadamard(dc);
        let levels = std::array::from_fn(|place| {
            self.level((spectrum[place] + 1) >> 1, 0, 2 * self.round, self.shift + 1)
        });
        let scale = self.scale[0] * 16;
        let scaled = hadamard(&levels).map(|value| {
            if self.sixth >= 6 {
                (value * scale) << (self.sixth - 6)
            } else {
                (value * scale + (1 << (5 - self.sixth))) >> (6 - self.sixth)
            }
        });
        (levels, scaled)
    }

    /// Levels of the four chroma DC coefficients, and what a decoder makes of them (8.5.11).
    pub(crate) fn chroma_dc(&self, dc: [i32; 4]) -> ([i32; 4], [i32; 4]) {
        let levels = square(dc).map(|value| self.level(value, 0, 2 * self.round, self.shift + 1));
        let scaled = square(levels).map(|value| ((value * self.scale[0] * 16) << self.sixth) >> 5);
        (levels, scaled)
    }
}

/// 0 where both coordinates are even, 1 where both are odd, else 2.
fn kind(place: usize) -> usize {
    match (place % 2, place / 4 % 2) {
        (0, 0) => 0,
        (1, 1) => 1,
        _ => 2,
    }
}

#[inline(always)]
fn turned(block: &Block) -> Block {
    std::array::from_fn(|place| block[place % 4 * 4 + place / 4])
}

/// The forward transform.
#[inline(always)]
pub(crate) fn forward(differences: &Block) -> Block {
    let pass = |block: &Block| {
        let mut out = [0; 16];
        for column in 0..4 {
            let [a, b, c, d] = [0, 4, 8, 12].map(|row| block[row + column]);
            let (outer, inner) = (a + d, b + c);
            let (far, near) = (a - d, b - c);
            out[column] = outer + inner;
            out[column + 4] = 2 * far + near;
            out[column + 8] = outer - inner;
            out[column + 12] = far - 2 * near;
        }
        out
    };
    turned(&pass(&turned(&pass(differences))))
}

/// The inverse transform, rounded (8.5.12.2).
#[inline(always)]
pub(crate) fn inverse(coefficients: &Block) -> Block {
    let pass = |block: &Block| {
        let mut out = [0; 16];
        for column in 0..4 {
            let [a, b, c, d] = [0, 4, 8, 12].map(|row| block[row + column]);
            let (sum, difference) = (a + c, a - c);
            let (near, far) = ((b >> 1) - d, b + (d >> 1));
            out[column] = sum + far;
            out[column + 4] = difference + near;
            out[column + 8] = difference - near;
            out[column + 12] = sum - far;
        }
        out
    };
    // Rows come first in the standard, and rounding makes the order matter.
    pass(&turned(&pass(&turned(coefficients)))).map(|value| (value + 32) >> 6)
}

fn hadamard(block: &Block) -> Block {
    let pass = |block: &Block| {
        let mut out = [0; 16];
        for column in 0..4 {
            let [a, b, c, d] = [0, 4, 8, 12].map(|row| block[row + column]);
            out[column] = a + b + c + d;
            out[column + 4] = a + b - c - d;
            out[column + 8] = a - b - c + d;
            out[column + 12] = a - b + c - d;
        }
        out
    };
    turned(&pass(&turned(&pass(block))))
}

fn square([a, b, c, d]: [i32; 4]) -> [i32; 4] {
    [a + b + c + d, a - b + c - d, a + b - c - d, a - b - c + d]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quantised_comes_back_within_a_step() {
        let mut state = 7u32;
        for qp in 12..=40 {
            let quantiser = Quantiser::new(qp);
            let step = 0.625 * 2f64.powf(f64::from(qp) / 6.0);
            for _ in 0..200 {
                let differences: Block = std::array::from_fn(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 16) as i32 % 256 - 128
                });
                let levels = quantiser.levels(&forward(&differences));
                let back = inverse(&quantiser.coefficients(&levels));
                let error: f64 =
                    (0..16).map(|place| f64::from(back[place] - differences[place]).powi(2)).sum::<f64>()
                        / 16.0;
                assert!(error.sqrt() < step, "qp {qp}: {error}");
            }
        }
    }

    #[test]
    fn negligible_differences_have_no_levels() {
        for qp in 12..=40 {
            let quantiser = Quantiser::new(qp);
            for places in [vec![0], vec![0, 3], vec![5], vec![0, 1, 2, 3], (0..16).collect()] {
                let mut differences = [0; 16];
                for index in 0..quantiser.negligible as usize {
                    let place = places[index % places.len()];
                    differences[place] += if place % 3 == 0 { 1 } else { -1 };
                }
                assert_eq!(quantiser.levels(&forward(&differences)), [0; 16], "qp {qp} {places:?}");
            }
        }
    }
}
