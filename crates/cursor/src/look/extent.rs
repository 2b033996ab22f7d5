//! Rectangles while a cursor is laid out, from the point that it shows.

use resvg::tiny_skia::Rect;

/// A rectangle that may be of any size, none included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
    pub(crate) left: f32,
    pub(crate) top: f32,
    pub(crate) right: f32,
    pub(crate) bottom: f32,
}

impl Extent {
    pub(crate) fn of(left: f32, top: f32, width: f32, height: f32) -> Self {
        Self { left, top, right: left + width, bottom: top + height }
    }

    /// The square around a point.
    pub(crate) fn around((x, y): (f32, f32), half: f32) -> Self {
        Self { left: x - half, top: y - half, right: x + half, bottom: y + half }
    }

    pub(crate) fn width(&self) -> f32 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f32 {
        self.bottom - self.top
    }

    pub(crate) fn middle(&self) -> (f32, f32) {
        ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0)
    }

    pub(crate) fn grown(&self, by: f32) -> Self {
        Self { left: self.left - by, top: self.top - by, right: self.right + by, bottom: self.bottom + by }
    }

    /// The smallest that holds both.
    pub(crate) fn with(&self, other: &Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

impl From<Rect> for Extent {
    fn from(rect: Rect) -> Self {
        Self { left: rect.left(), top: rect.top(), right: rect.right(), bottom: rect.bottom() }
    }
}
