//! Prediction from the neighbours in the same picture (ITU-T H.264, 8.3).

use crate::h264::planes::Plane;

/// Which neighbouring macroblocks there are in the slice.
#[derive(Clone, Copy)]
pub(crate) struct Availability {
    pub(crate) left: bool,
    pub(crate) above: bool,
    pub(crate) above_right: bool,
}

/// The modes of `Intra_4x4` and of `Intra_16x16`, which begin with the same three.
pub(crate) const VERTICAL: u8 = 0;
pub(crate) const HORIZONTAL: u8 = 1;
pub(crate) const MEAN: u8 = 2;

fn mean(values: impl Iterator<Item = u8>, shift: u32) -> u8 {
    let sum: u32 = values.map(u32::from).sum();
    ((sum + (1 << (shift - 1))) >> shift) as u8
}

/// What stands to the left of and above a square of `N` by `N`.
pub(crate) struct Edges<const N: usize> {
    left: Option<[u8; N]>,
    above: Option<[u8; N]>,
}

impl<const N: usize> Edges<N> {
    #[inline(always)]
    pub(crate) fn of(plane: &Plane, x: usize, y: usize, available: Availability) -> Self {
        let left = || std::array::from_fn(|line| plane.row(x - 1, y + line)[0]);
        let above = || std::array::from_fn(|column| plane.row(x, y - 1)[column]);
        Self { left: available.left.then(left), above: available.above.then(above) }
    }

    /// The square that the sample above each column, or to the left of each row, goes on in.
    fn straight(&self, mode: u8) -> Option<[[u8; N]; N]> {
        match mode {
            VERTICAL => self.above.map(|above| [above; N]),
            _ => self.left.map(|left| left.map(|value| [value; N])),
        }
    }
}

impl Edges<16> {
    /// The prediction of a luma macroblock (8.3.3); none for a mode that lacks its neighbours.
    #[inline(always)]
    pub(crate) fn luma(&self, mode: u8) -> Option<[[u8; 16]; 16]> {
        if mode != MEAN {
            return self.straight(mode);
        }
        let value = match (self.left, self.above) {
            (Some(left), Some(above)) => mean(left.into_iter().chain(above), 5),
            (Some(side), None) | (None, Some(side)) => mean(side.into_iter(), 4),
            (None, None) => 128,
        };
        Some([[value; 16]; 16])
    }
}

impl Edges<8> {
    /// The prediction of a chroma macroblock (8.3.4), whose modes count from the mean: mean, horizontal, vertical.
    #[inline(always)]
    pub(crate) fn chroma(&self, mode: u8) -> Option<[[u8; 8]; 8]> {
        if mode != 0 {
            return self.straight(if mode == 1 { HORIZONTAL } else { VERTICAL });
        }
        let mut square = [[0; 8]; 8];
        for (x, y) in [(0, 0), (4, 0), (0, 4), (4, 4)] {
            let left = self.left.map(|left| [left[y], left[y + 1], left[y + 2], left[y + 3]]);
            let above = self.above.map(|above| [above[x], above[x + 1], above[x + 2], above[x + 3]]);
            // A block on one edge only goes by that edge, if it is there.
            let (first, second) = match (x, y) {
                (4, 0) => (above, above.or(left)),
                (0, 4) => (left, left.or(above)),
                _ => (left.or(above), above.or(left)),
            };
            let value = match (first.or(second), second) {
                (Some(one), Some(other)) => mean(one.into_iter().chain(other), 3),
                _ => 128,
            };
            for row in &mut square[y..y + 4] {
                row[x..x + 4].fill(value);
            }
        }
        Some(square)
    }
}

/// A block of samples by their column and row.
#[inline(always)]
fn each(sample: impl Fn(usize, usize) -> u8) -> [u8; 16] {
    std::array::from_fn(|at| sample(at % 4, at / 4))
}

/// The samples around a block of 4x4: the left side from below, the corner, then above and above to the right.
pub(crate) struct BlockNeighbours {
    samples: [u8; 13],
    left: bool,
    above: bool,
    corner: bool,
}

impl BlockNeighbours {
    /// The neighbours of the block whose corner is at (x, y) of these rows.
    #[inline(always)]
    pub(crate) fn of<const N: usize>(rows: &[[u8; N]], x: usize, y: usize, available: Availability) -> Self {
        let mut samples = [0; 13];
        if available.left {
            for line in 0..4 {
                samples[3 - line] = rows[y + line][x - 1];
            }
        }
        if available.above {
            samples[5..].copy_from_slice(&rows[y - 1][x..x + 8]);
            if !available.above_right {
                let last = samples[8];
                samples[9..].fill(last);
            }
        }
        let corner = available.left && available.above;
        if corner {
            samples[4] = rows[y - 1][x - 1];
        }
        Self { samples, left: available.left, above: available.above, corner }
    }

    /// The prediction of a mode (8.3.1.2), in raster order; none for a mode that lacks its neighbours.
    #[inline(always)]
    pub(crate) fn predict(&self, mode: u8) -> Option<[u8; 16]> {
        let there = match mode {
            VERTICAL | 3 | 7 => self.above,
            HORIZONTAL | 8 => self.left,
            MEAN => true,
            _ => self.corner,
        };
        if !there {
            return None;
        }
        let neighbours = |at: usize| u32::from(self.samples[at]);
        let pair = |at: usize| ((neighbours(at) + neighbours(at + 1) + 1) >> 1) as u8;
        let three = |middle: usize| {
            let last = (middle + 1).min(12);
            ((neighbours(middle - 1) + 2 * neighbours(middle) + neighbours(last) + 2) >> 2) as u8
        };
        Some(match mode {
            VERTICAL => each(|x, _| self.samples[5 + x]),
            HORIZONTAL => each(|_, y| self.samples[3 - y]),
            MEAN => [self.mean(); 16],
            3 => each(|x, y| three(6 + x + y)),
            4 => each(|x, y| three(4 + x - y)),
            5 => each(|x, y| match (2 * x + 4 - y, x + 4 - (y >> 1)) {
                (turn, at) if turn >= 4 && turn % 2 == 0 => pair(at),
                (turn, at) if turn >= 3 => three(at),
                _ => three(5 - y),
            }),
            6 => each(|x, y| match (2 * y + 4 - x, y + 4 - (x >> 1)) {
                (turn, at) if turn >= 4 && turn % 2 == 0 => pair(7 - at),
                (turn, at) if turn >= 3 => three(8 - at),
                _ => three(3 + x),
            }),
            7 => each(|x, y| {
                let at = 5 + x + (y >> 1);
                if y % 2 == 0 { pair(at) } else { three(at + 1) }
            }),
            _ => each(|x, y| match x + 2 * y {
                turn @ (0 | 2 | 4) => pair(2 - turn / 2),
                turn @ (1 | 3) => three(2 - turn / 2),
                5 => ((neighbours(1) + 3 * neighbours(0) + 2) >> 2) as u8,
                _ => self.samples[0],
            }),
        })
    }

    fn mean(&self) -> u8 {
        let (left, above) = (&self.samples[..4], &self.samples[5..9]);
        match (self.left, self.above) {
            (true, true) => mean(left.iter().chain(above).copied(), 3),
            (true, false) => mean(left.iter().copied(), 2),
            (false, true) => mean(above.iter().copied(), 2),
            (false, false) => 128,
        }
    }
}
