//! Prediction from the picture before, moved by whole luma samples (ITU-T H.264, 8.4.2.2).

use crate::h264::cells::Vector;
use crate::h264::planes::{Plane, Planes, Samples};

/// A macroblock of the picture before, moved; it lies inside that picture.
pub(crate) fn predict(reference: &Planes, index: usize, vector: Vector) -> Samples {
    let (x, y) = reference.place(index);
    let luma =
        reference.luma.square((x as i32 * 16 + vector.0) as usize, (y as i32 * 16 + vector.1) as usize);
    let chroma = [0, 1].map(|plane: usize| chroma(&reference.chroma[plane], (x * 8, y * 8), vector));
    Samples { luma, chroma }
}

/// Chroma has half the resolution: an odd vector lies between two samples.
fn chroma(plane: &Plane, (x, y): (usize, usize), vector: Vector) -> [[u8; 8]; 8] {
    let (left, top) = ((x as i32 + (vector.0 >> 1)) as usize, (y as i32 + (vector.1 >> 1)) as usize);
    let (half_x, half_y) = (vector.0 & 1 == 1, vector.1 & 1 == 1);
    if !half_x && !half_y {
        return plane.square(left, top);
    }
    let rows = plane.bytes.len() / plane.stride;
    let line = |y: usize| &plane.bytes[y.min(rows - 1) * plane.stride..][..plane.stride];
    std::array::from_fn(|row| {
        let upper = line(top + row);
        let lower = if half_y { line(top + row + 1) } else { upper };
        std::array::from_fn(|column| {
            let at = left + column;
            let next = if half_x { (at + 1).min(plane.stride - 1) } else { at };
            let sum: u16 = [upper[at], upper[next], lower[at], lower[next]].into_iter().map(u16::from).sum();
            ((sum + 2) >> 2) as u8
        })
    })
}

/// The sum of the absolute differences of two squares.
#[inline(always)]
pub(crate) fn differ<const N: usize>(one: &[[u8; N]; N], other: &[[u8; N]; N]) -> u32 {
    let (one, other) = (one.as_flattened(), other.as_flattened());
    one.iter().zip(other).map(|(a, b)| u32::from(a.abs_diff(*b))).sum()
}
