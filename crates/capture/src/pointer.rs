//! The picture of the pointer, which a server keeps apart from the screen.

use desktop::Rect;

/// The pointer's picture, and where it is.
#[derive(Default)]
pub(crate) struct Pointer {
    size: (u32, u32),
    /// The point of the picture that points.
    hot: (i32, i32),
    at: (i32, i32),
    /// Alpha, red, green, blue from the highest byte down; colours are multiplied with alpha.
    pixels: Vec<u32>,
    has_changed: bool,
}

impl Pointer {
    /// Gives it another picture.
    pub(crate) fn dress(&mut self, size: (u32, u32), hot: (i32, i32), pixels: Vec<u32>) {
        (self.size, self.hot, self.pixels, self.has_changed) = (size, hot, pixels, true);
    }

    /// Puts its point there, in screen pixels.
    pub(crate) fn put(&mut self, x: i32, y: i32) {
        self.has_changed |= self.at != (x, y);
        self.at = (x, y);
    }

    /// True when it moved or looks otherwise since this was asked last.
    pub(crate) fn has_changed(&mut self) -> bool {
        std::mem::replace(&mut self.has_changed, false)
    }

    /// What it covers, in screen pixels.
    pub(crate) fn area(&self) -> Rect {
        let (width, height) = self.size;
        Rect { x: self.at.0 - self.hot.0, y: self.at.1 - self.hot.1, width, height }
    }

    /// Draws it over the pixels of a rectangle, which are blue, green, red, any, in rows without gaps.
    pub(crate) fn draw(&self, area: Rect, bgrx: &mut [u8]) {
        let own = self.area();
        let Some(both) = area.intersection(&own) else { return };
        for y in both.y..both.y + both.height as i32 {
            // Inside of both rectangles, so nothing is negative.
            let from = (y - own.y) as usize * own.width as usize + (both.x - own.x) as usize;
            let to = ((y - area.y) as usize * area.width as usize + (both.x - area.x) as usize) * 4;
            let row = bgrx[to..].as_chunks_mut::<4>().0.iter_mut();
            for (pixel, over) in row.zip(&self.pixels[from..from + both.width as usize]) {
                let [blue, green, red, alpha] = over.to_le_bytes();
                for (part, over) in pixel.iter_mut().zip([blue, green, red]) {
                    let under = u32::from(*part) * (255 - u32::from(alpha));
                    *part = (u32::from(over) + (under + 127) / 255).min(255) as u8;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_drawn_where_it_points_and_lets_through_what_is_under_it() {
        let mut pointer = Pointer::default();
        pointer.dress((2, 2), (1, 0), vec![0xff00_00ff, 0, 0x8040_0000, 0xff00_ff00]);
        pointer.put(11, 20);
        assert!(pointer.has_changed());
        assert!(!pointer.has_changed());
        let area = Rect { x: 9, y: 20, width: 3, height: 2 };
        let mut pixels = vec![100; 24];
        pointer.draw(area, &mut pixels);
        let pixel = |at: usize| &pixels[at * 4..at * 4 + 3];
        assert_eq!(pixel(0), [100, 100, 100]);
        assert_eq!(pixel(1), [255, 0, 0]);
        assert_eq!(pixel(2), [100, 100, 100]);
        assert_eq!(pixel(4), [50, 50, 114]);
        assert_eq!(pixel(5), [0, 255, 0]);
        // Half outside of the rectangle, and wholly.
        pointer.draw(Rect { x: 11, y: 21, width: 1, height: 1 }, &mut pixels[..4]);
        pointer.draw(Rect { x: 50, y: 50, width: 1, height: 1 }, &mut pixels[..4]);
        assert_eq!(pixels[..3], [0, 255, 0]);
    }
}
