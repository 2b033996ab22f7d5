//! Pixels that are told in a row are mostly small differences: their three codes are put together beforehand.

/// The codes of pixels whose channels are all from -4 to 3, which most differences in gradients are: one look for all three.
pub(super) struct Near {
    /// By the three lowest bits of each channel: the pixel, how many bits its codes have, and these.
    entries: [(u32, u32, u64); 512],
}

impl Near {
    /// Knows nothing where fewer pixels are told in a row than there would be to learn.
    pub(super) fn of(in_rows: usize, told: impl Fn(u32) -> (u64, u32)) -> Self {
        let mut entries = [(u32::MAX, 0, 0); 512];
        if in_rows > entries.len() {
            let channel = |value: u32, shift: u32| (value >> shift & 7 ^ 4).wrapping_sub(4) & 255;
            for value in 0..512 {
                let pixel = channel(value, 6) << 16 | channel(value, 3) << 8 | channel(value, 0);
                let (code, bits) = told(pixel);
                entries[Self::key(pixel)] = (pixel, bits, code);
            }
        }
        Self { entries }
    }

    /// One multiplication moves the bits of red, green and blue side by side, from the sixteenth on.
    fn key(pixel: u32) -> usize {
        ((pixel & 0x0007_0707).wrapping_mul(1 | 1 << 11 | 1 << 22) >> 16 & 511) as usize
    }

    /// The codes of four pixels, if all are near and together have no more bits than are put at once.
    #[inline]
    pub(super) fn find(&self, pixels: &[u32; 4]) -> Option<(u64, u32)> {
        let [a, b, c, d] = pixels.map(|pixel| self.entries[Self::key(pixel)]);
        let (first, last) = (a.1 + b.1, c.1 + d.1);
        if [a.0, b.0, c.0, d.0] != *pixels || first + last > 56 {
            return None;
        }
        Some(((a.2 | b.2 << a.1) | (c.2 | d.2 << c.1) << first, first + last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes that tell their pixel: its bits, as many as its lowest says.
    fn told(pixel: u32) -> (u64, u32) {
        (u64::from(pixel & 0xff), 8 + (pixel >> 16 & 7))
    }

    #[test]
    fn four_near_pixels_are_the_four_codes_one_behind_another() {
        let near = Near::of(1000, told);
        for first in [0xfc_fc_fc, 0x03_03_03, 0x00_ff_01, 0xfe_00_02u32] {
            let pixels = [first, 0, 0xff_ff_ff, 0x03_fc_00];
            let (mut code, mut bits) = (0, 0);
            for (more, count) in pixels.map(told) {
                code |= more << bits;
                bits += count;
            }
            assert_eq!(near.find(&pixels), Some((code, bits)), "{first:06x}");
        }
    }

    #[test]
    fn others_are_told_one_by_one() {
        let near = Near::of(1000, told);
        // A channel that differs by 4 or more, in any place.
        for far in [0x04_00_00, 0x00_fb_00, 0x00_00_80, 0xff_ff_04u32] {
            for place in 0..4 {
                let mut pixels = [0; 4];
                pixels[place] = far;
                assert_eq!(near.find(&pixels), None, "{far:06x}");
            }
        }
        // More bits than are put at once, and too few pixels to learn from.
        assert_eq!(Near::of(1000, |_| (0, 15)).find(&[0; 4]), None);
        assert_eq!(Near::of(100, told).find(&[0; 4]), None);
    }
}
