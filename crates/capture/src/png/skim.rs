//! Bands whose pixels rarely repeat, as those of gradients and photos: told pixel by pixel, but for what a first look finds.

use super::tokens::{Finder, Token, WINDOW};

/// Pixels that are compared at a time: fewer than a copy of is worth.
const STRETCH: usize = 8;

/// How a stretch of pixels is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    PixelByPixel,
    /// As its left neighbour again and again.
    Left,
    /// As what stands above it.
    Above,
}

impl Finder {
    /// The tokens of whole rows of `width` pixels; only stretches that repeat the pixel to the left or the row above are
    /// found.
    pub(crate) fn skim(&mut self, pixels: &[u32], width: usize) -> &[Token] {
        self.clear();
        let stride = 3 * width + 1;
        let mut above: &[[u32; STRETCH]] = &[];
        for (row, start) in pixels.chunks(width).zip((0..).step_by(width)) {
            self.push_filter();
            let (stretches, rest) = row.as_chunks::<STRETCH>();
            let (mut way, mut from) = (Way::PixelByPixel, 0);
            // The first pixel has nothing to its left, and equals what it does not equal.
            let mut left = !row[0];
            let ways = stretches.iter().enumerate().map(|(index, stretch)| {
                let before = std::mem::replace(&mut left, stretch[STRETCH - 1]);
                if above.get(index).is_some_and(|above| is_same(stretch, above)) {
                    Way::Above
                } else if is_same(stretch, &[before; STRETCH]) {
                    Way::Left
                } else {
                    Way::PixelByPixel
                }
            });
            let last = (!rest.is_empty()).then_some(Way::PixelByPixel);
            for (next, at) in ways.chain(last).zip((0..).step_by(STRETCH)) {
                if next != way {
                    self.push(way, start + from, at - from, stride);
                    (way, from) = (next, at);
                }
            }
            self.push(way, start + from, width - from, stride);
            if stride <= WINDOW {
                above = stretches;
            }
        }
        self.tokens()
    }

    fn push(&mut self, way: Way, from: usize, count: usize, stride: usize) {
        match way {
            _ if count == 0 => {}
            Way::PixelByPixel => self.push_pixels(from, count),
            Way::Left => self.push_copy(3 * count, 3),
            Way::Above => self.push_copy(3 * count, stride),
        }
    }
}

#[inline]
fn is_same(one: &[u32; STRETCH], other: &[u32; STRETCH]) -> bool {
    one.iter().zip(other).fold(0, |or, (one, other)| or | one ^ other) == 0
}
