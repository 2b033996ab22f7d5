//! What is remembered of the macroblocks of a picture for those that come after them: how they are predicted, and how many
//! coefficients their blocks have.

use crate::h264::cavlc::Context;
use crate::h264::intra::{Availability, MEAN};

/// A motion vector in whole luma samples.
pub(crate) type Vector = (i32, i32);

/// How a macroblock is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// From the picture before, with a vector.
    Inter(Vector),
    /// From its own picture, as a whole or not at all.
    Intra,
    /// From its own picture in blocks of 4x4, with their modes in raster order.
    Blocks([u8; 16]),
}

/// One macroblock.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) kind: Kind,
    /// Coefficients of the luma blocks, in raster order.
    pub(crate) luma: [u8; 16],
    /// Coefficients of the chroma blocks, in raster order.
    pub(crate) chroma: [[u8; 4]; 2],
}

impl Cell {
    /// A macroblock that is the same as before.
    pub(crate) const SAME: Self = Self { kind: Kind::Inter((0, 0)), luma: [0; 16], chroma: [[0; 4]; 2] };
}

/// The macroblocks of a picture; those of one slice see each other.
pub(crate) struct Cells {
    cells: Vec<Cell>,
    pub(crate) columns: usize,
    /// The first macroblock of the slice.
    first: usize,
    /// Those that are not [`Cell::SAME`].
    touched: Vec<usize>,
}

impl Cells {
    pub(crate) fn new(columns: usize, rows: usize) -> Self {
        Self { cells: vec![Cell::SAME; columns * rows], columns, first: 0, touched: Vec::new() }
    }

    /// Begins a picture.
    pub(crate) fn begin(&mut self) {
        for index in self.touched.drain(..) {
            self.cells[index] = Cell::SAME;
        }
    }

    /// Begins a slice at the left edge.
    pub(crate) fn begin_slice(&mut self, first: usize) {
        self.first = first;
    }

    pub(crate) fn set(&mut self, index: usize, cell: Cell) {
        self.cells[index] = cell;
        self.touched.push(index);
    }

    /// True when all macroblocks that were set from a row on are the same as before.
    pub(crate) fn is_still_from(&self, row: usize) -> bool {
        self.touched.last().is_none_or(|last| *last < row * self.columns)
    }

    /// Which neighbours a macroblock has in its slice.
    pub(crate) fn available(&self, index: usize) -> Availability {
        let column = index % self.columns;
        let above = index >= self.first + self.columns;
        Availability { left: column > 0, above, above_right: above && column + 1 < self.columns }
    }

    fn left(&self, index: usize) -> Option<&Cell> {
        (!index.is_multiple_of(self.columns)).then(|| &self.cells[index - 1])
    }

    fn above(&self, index: usize) -> Option<&Cell> {
        (index >= self.first + self.columns).then(|| &self.cells[index - self.columns])
    }

    /// nC of a luma block, whose cell holds the blocks before it (9.2.1).
    #[inline(always)]
    pub(crate) fn luma_context(&self, index: usize, own: &[u8; 16], block: usize) -> Context {
        let (x, y) = (block % 4, block / 4);
        let left =
            if x > 0 { Some(own[block - 1]) } else { self.left(index).map(|cell| cell.luma[block + 3]) };
        let above =
            if y > 0 { Some(own[block - 4]) } else { self.above(index).map(|cell| cell.luma[block + 12]) };
        context(left, above)
    }

    /// nC of a chroma block.
    pub(crate) fn chroma_context(&self, index: usize, plane: usize, own: &[u8; 4], block: usize) -> Context {
        let (x, y) = (block % 2, block / 2);
        let left = if x > 0 {
            Some(own[block - 1])
        } else {
            self.left(index).map(|cell| cell.chroma[plane][block + 1])
        };
        let above = if y > 0 {
            Some(own[block - 2])
        } else {
            self.above(index).map(|cell| cell.chroma[plane][block + 2])
        };
        context(left, above)
    }

    /// The mode that a 4x4 block is expected to have (8.3.1.1).
    pub(crate) fn expected_mode(&self, index: usize, own: &[u8; 16], block: usize) -> u8 {
        let mode = |cell: &Cell, block: usize| match cell.kind {
            Kind::Blocks(modes) => modes[block],
            _ => MEAN,
        };
        let (x, y) = (block % 4, block / 4);
        let left =
            if x > 0 { Some(own[block - 1]) } else { self.left(index).map(|cell| mode(cell, block + 3)) };
        let above =
            if y > 0 { Some(own[block - 4]) } else { self.above(index).map(|cell| mode(cell, block + 12)) };
        match (left, above) {
            (Some(left), Some(above)) => left.min(above),
            _ => MEAN,
        }
    }

    /// The vector that a macroblock is expected to have (8.4.1.3).
    pub(crate) fn expected_vector(&self, index: usize) -> Vector {
        let vector = |cell: Option<&Cell>| match cell?.kind {
            Kind::Inter(vector) => Some(vector),
            _ => None,
        };
        let (left, above) = (self.left(index), self.above(index));
        let column = index % self.columns;
        let corner = match above {
            Some(_) if column + 1 < self.columns => Some(&self.cells[index + 1 - self.columns]),
            Some(_) if column > 0 => Some(&self.cells[index - 1 - self.columns]),
            _ => None,
        };
        if above.is_none() && corner.is_none() && left.is_some() {
            return vector(left).unwrap_or_default();
        }
        match [vector(left), vector(above), vector(corner)] {
            [Some(only), None, None] | [None, Some(only), None] | [None, None, Some(only)] => only,
            three => {
                let [a, b, c] = three.map(Option::unwrap_or_default);
                (median(a.0, b.0, c.0), median(a.1, b.1, c.1))
            }
        }
    }

    /// The vector of a macroblock that is skipped (8.4.1.1).
    pub(crate) fn skipped_vector(&self, index: usize) -> Vector {
        const STILL: Kind = Kind::Inter((0, 0));
        match (self.left(index), self.above(index)) {
            (Some(left), Some(above)) if left.kind != STILL && above.kind != STILL => {
                self.expected_vector(index)
            }
            _ => (0, 0),
        }
    }

    /// The vector of the macroblock to the left or above, when it has one.
    pub(crate) fn near_vectors(&self, index: usize) -> [Option<Vector>; 2] {
        [self.left(index), self.above(index)].map(|cell| match cell?.kind {
            Kind::Inter(vector) => Some(vector),
            _ => None,
        })
    }
}

fn context(left: Option<u8>, above: Option<u8>) -> Context {
    Context::Neighbours(match (left, above) {
        (Some(left), Some(above)) => (left + above).div_ceil(2),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => 0,
    })
}

fn median(a: i32, b: i32, c: i32) -> i32 {
    a.max(b).min(a.min(b).max(c))
}
