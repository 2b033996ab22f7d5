//! BGRX pixels to luma and chroma: BT.709, limited range, chroma in the middle of its four pixels.

use crate::h264::planes::Planes;
use crate::platform::widest;

/// Parts of 2^16 that blue, green and red have in luma; together they span 16 to 235.
const LUMA: [i32; 3] = [4064, 40254, 11966];
/// The same for Cb and Cr, of a sum of four pixels; a grey gives 128.
const CHROMA: [[i32; 3]; 2] = [[28785, -22189, -6596], [-2639, -26145, 28784]];

/// Pixels that are converted at a time.
const RUN: usize = 16;

/// Pixels of a rectangle, row by row; four bytes each: blue, green, red, and one that means nothing.
#[derive(Clone, Copy)]
pub(crate) struct Pixels<'a> {
    pub(crate) bytes: &'a [u8],
    /// Bytes from a row to the next.
    pub(crate) stride: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Pixels<'_> {
    /// Converts them to where (x, y), whole macroblocks, is their corner; a part of a macroblock at their right or lower
    /// edge is filled with their last column and row.
    pub(crate) fn convert(&self, to: &mut Planes, x: usize, y: usize) {
        let (whole, rest) = (self.width / RUN * RUN, self.width % RUN);
        for line in (0..self.height.next_multiple_of(16)).step_by(2) {
            let row = |line: usize| {
                let start = line.min(self.height - 1) * self.stride;
                &self.bytes[start..start + self.width * 4]
            };
            let pair = [row(line), row(line + 1)];
            widest(|| rows(pair.map(|row| &row[..whole * 4]), to, x, y + line));
            if rest > 0 {
                let filled = pair.map(|row| {
                    let mut filled = [0; RUN * 4];
                    for (index, pixel) in filled.chunks_exact_mut(4).enumerate() {
                        let from = (whole + index.min(rest - 1)) * 4;
                        pixel.copy_from_slice(&row[from..from + 4]);
                    }
                    filled
                });
                rows([&filled[0], &filled[1]], to, x + whole, y + line);
            }
        }
    }
}

#[inline(always)]
fn rows(pair: [&[u8]; 2], to: &mut Planes, x: usize, y: usize) {
    let width = pair[0].len() / 4;
    let (upper, lower) = to.luma.bytes[y * to.luma.stride..].split_at_mut(to.luma.stride);
    let upper = upper[x..x + width].as_chunks_mut::<RUN>().0;
    let lower = lower[x..x + width].as_chunks_mut::<RUN>().0;
    let [blue, red] = &mut to.chroma;
    let start = y / 2 * blue.stride + x / 2;
    let blue = blue.bytes[start..start + width / 2].as_chunks_mut::<{ RUN / 2 }>().0;
    let red = red.bytes[start..start + width / 2].as_chunks_mut::<{ RUN / 2 }>().0;
    let [first, second] = pair.map(|row| row.as_chunks::<{ RUN * 4 }>().0);
    let luma = upper.iter_mut().zip(lower);
    let chroma = blue.iter_mut().zip(red);
    for (((one, two), (upper, lower)), (blue, red)) in first.iter().zip(second).zip(luma).zip(chroma) {
        let (one, two) = (parts(one), parts(two));
        luma_run(&one, upper);
        luma_run(&two, lower);
        let mut sums = [[0i32; RUN / 2]; 3];
        for part in 0..3 {
            for index in 0..RUN / 2 {
                sums[part][index] = one[part][2 * index]
                    + one[part][2 * index + 1]
                    + two[part][2 * index]
                    + two[part][2 * index + 1];
            }
        }
        for (out, [b, g, r]) in [(blue, CHROMA[0]), (red, CHROMA[1])] {
            for index in 0..RUN / 2 {
                let sum = sums[0][index] * b + sums[1][index] * g + sums[2][index] * r;
                out[index] = ((sum + (1 << 17) + (128 << 18)) >> 18) as u8;
            }
        }
    }
}

/// Blue, green and red of a run.
#[inline(always)]
fn parts(run: &[u8; RUN * 4]) -> [[i32; RUN]; 3] {
    let mut parts = [[0; RUN]; 3];
    for (index, pixel) in run.as_chunks::<4>().0.iter().enumerate() {
        let pixel = i32::from_le_bytes(*pixel);
        parts[0][index] = pixel & 0xff;
        parts[1][index] = pixel >> 8 & 0xff;
        parts[2][index] = pixel >> 16 & 0xff;
    }
    parts
}

#[inline(always)]
fn luma_run(parts: &[[i32; RUN]; 3], out: &mut [u8; RUN]) {
    let [blue, green, red] = parts;
    for index in 0..RUN {
        let sum = blue[index] * LUMA[0] + green[index] * LUMA[1] + red[index] * LUMA[2];
        out[index] = ((sum + (1 << 15) + (16 << 16)) >> 16) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(width: usize, height: usize, pixel: impl Fn(usize, usize) -> [u8; 3]) -> Planes {
        let bytes: Vec<u8> = (0..height)
            .flat_map(|y| (0..width).map(move |x| (x, y)))
            .flat_map(|(x, y)| {
                let [blue, green, red] = pixel(x, y);
                [blue, green, red, 0xa5]
            })
            .collect();
        let mut planes = Planes::new(width.div_ceil(16), height.div_ceil(16));
        Pixels { bytes: &bytes, stride: width * 4, width, height }.convert(&mut planes, 0, 0);
        planes
    }

    #[test]
    fn colours_are_those_of_the_standard() {
        for (bgr, expected) in [
            ([0, 0, 0], [16, 128, 128]),
            ([255, 255, 255], [235, 128, 128]),
            ([0, 0, 255], [63, 102, 240]),
            ([0, 255, 0], [173, 42, 26]),
            ([255, 0, 0], [32, 240, 118]),
        ] {
            let planes = converted(32, 16, |_, _| bgr);
            for (plane, value) in
                [&planes.luma, &planes.chroma[0], &planes.chroma[1]].into_iter().zip(expected)
            {
                assert!(
                    plane.bytes.iter().all(|byte| *byte == value),
                    "{bgr:?} {value} {:?}",
                    plane.bytes[0]
                );
            }
        }
    }

    #[test]
    fn edges_are_repeated_to_whole_macroblocks() {
        let planes = converted(19, 3, |x, y| [(x * 10) as u8; 3].map(|value| value + 50 * u8::from(y == 2)));
        assert_eq!((planes.columns, planes.rows), (2, 1));
        let row = |y: usize| planes.luma.row(0, y)[..32].to_vec();
        assert_eq!(row(0)[18..], [row(0)[18]; 14]);
        assert_ne!(row(0)[17], row(0)[18]);
        assert!((3..16).all(|y| row(y) == row(2)));
        assert_ne!(row(1), row(2));
        let red = &planes.chroma[1];
        assert!(red.bytes.iter().all(|byte| *byte == 128));
    }
}
