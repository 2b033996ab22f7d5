//! The pixels of a window at one instant, of which pictures are made later.

use crate::banded_image::{BandedImage, Compressors, Purpose};
use crate::mark::dot;

/// Pixels that are already taken: making pictures of them needs no display and keeps nobody waiting.
#[derive(Clone, Debug)]
pub struct Shot {
    pub(crate) bgrx: Vec<u8>,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// True when these were not the pixels of that instant: the window was minimised, or had not drawn what was covered.
    pub stale: bool,
}

impl Shot {
    /// A PNG of 8-bit RGB, with a red dot on a point where one is given in pixels from the top-left corner.
    #[must_use]
    pub fn png(&self, point: Option<(u32, u32)>) -> Vec<u8> {
        let mut image = BandedImage::new(self.width, self.height);
        let mut compressors = Compressors::default();
        match point {
            None => image.update(&mut compressors, &self.bgrx, Purpose::Picture),
            Some((x, y)) => {
                let mut marked = self.bgrx.clone();
                dot(&mut marked, self.width, x, y);
                image.update(&mut compressors, &marked, Purpose::Picture);
            }
        }
        image.png()
    }
}
