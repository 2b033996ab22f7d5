//! A closer look at a part of a window: the part with some of what is around it, as a small JPEG.

use desktop::Rect;

/// Longest width of the picture in pixels.
pub(crate) const MAX_WIDTH: u32 = 500;

/// Share of its width and height that a region gains on each side.
const PADDING: f64 = 0.2;

/// High enough that the edges of small letters stay clean.
pub(crate) const QUALITY: u8 = 85;

/// A finished closer look.
#[derive(Clone, Debug, PartialEq)]
pub struct Zoomed {
    /// A baseline JPEG without chroma subsampling.
    pub jpeg: Vec<u8>,
    /// Width of the picture in pixels, at most 500.
    pub width: u32,
    /// Height of the picture in pixels.
    pub height: u32,
    /// What the picture shows, in window pixels: the region asked for, padded, as far as the window goes.
    pub region: Rect,
    /// Picture pixels per window pixel, at most 1.
    pub scale: f64,
    /// True when these are not the pixels of now.
    pub stale: bool,
}

/// The region with a fifth of its size added on each side.
pub(crate) fn padded(region: Rect) -> Rect {
    let pad = |length: u32| (f64::from(length) * PADDING).ceil() as u32;
    let (x, y) = (pad(region.width), pad(region.height));
    Rect {
        x: region.x.saturating_sub_unsigned(x),
        y: region.y.saturating_sub_unsigned(y),
        width: region.width.saturating_add(x.saturating_mul(2)),
        height: region.height.saturating_add(y.saturating_mul(2)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_gains_a_fifth_on_each_side() {
        let rect = |x, y, width, height| Rect { x, y, width, height };
        assert_eq!(padded(rect(100, 50, 200, 100)), rect(60, 30, 280, 140));
        assert_eq!(padded(rect(0, 0, 1, 3)), rect(-1, -1, 3, 5));
        assert_eq!(padded(rect(i32::MIN, 0, u32::MAX, 5)).width, u32::MAX);
    }
}
