//! What a compositor shows where no window is: the picture that a program announced as the desktop's background
//! (`_XROOTPMAP_ID`), else the colour that is seen beside the windows.

use desktop::{Point, Rect};
use x11rb::protocol::composite::ConnectionExt as _;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, Pixmap, Window as Xid};

use super::link::{Link, ReadError};

/// Pixels between the points that are looked at for one that no window covers.
const STEP: u32 = 8;

impl Link {
    /// The pixels of a part of the background; none where it cannot be known, as every place is covered.
    ///
    /// `screen` has the pixels of the whole of it, and `covered` is where windows are.
    pub(crate) fn backdrop(
        &mut self,
        place: Rect,
        (screen, whole): (&[u8], Rect),
        covered: &[Rect],
    ) -> Result<Option<Vec<u8>>, ReadError> {
        if let Some(picture) = self.announced()? {
            match self.tiled(picture, place) {
                Ok(pixels) => return Ok(Some(pixels)),
                // Whoever announced it has ended, and its picture with it.
                Err(ReadError::Gone | ReadError::Depth(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let colour = bare(place, whole, covered).and_then(|Point { x, y }| {
            let at = (y as usize * whole.width as usize + x as usize) * 4;
            screen.get(at..at + 4)
        });
        Ok(colour.map(|colour| colour.repeat(place.width as usize * place.height as usize)))
    }

    /// The window that a compositor draws into, which covers everything and is none of the windows below it.
    pub(crate) fn overlay_window(&self) -> Result<Xid, ReadError> {
        let overlay = self.conn.composite_get_overlay_window(self.root)?.reply()?.overlay_win;
        self.conn.composite_release_overlay_window(self.root)?;
        Ok(overlay)
    }

    fn announced(&self) -> Result<Option<Pixmap>, ReadError> {
        let name = self.conn.intern_atom(true, b"_XROOTPMAP_ID")?.reply()?.atom;
        if name == x11rb::NONE {
            return Ok(None);
        }
        let property = self.conn.get_property(false, self.root, name, AtomEnum::PIXMAP, 0, 1)?.reply()?;
        Ok(property.value32().and_then(|mut values| values.next()))
    }

    /// A part of the screen that is covered by copies of a picture.
    fn tiled(&mut self, picture: Pixmap, place: Rect) -> Result<Vec<u8>, ReadError> {
        let size = self.conn.get_geometry(picture)?.reply()?;
        let (width, height) = (u32::from(size.width), u32::from(size.height));
        let tile = self.read(picture, Rect { x: 0, y: 0, width, height })?;
        // The place is on the screen, so nothing is negative.
        let column = |x: u32| (place.x as u32 + x) % width;
        let row = |y: u32| (place.y as u32 + y) % height;
        let at = |x: u32, y: u32| (row(y) * width + column(x)) as usize * 4;
        let pixels = (0..place.height)
            .flat_map(|y| (0..place.width).map(move |x| (x, y)))
            .flat_map(|(x, y)| tile.bytes.get(at(x, y)..at(x, y) + 4).unwrap_or(&[0; 4]))
            .copied()
            .collect();
        Ok(pixels)
    }
}

/// The point next to a place that no window covers.
fn bare(place: Rect, whole: Rect, covered: &[Rect]) -> Option<Point> {
    let along = |length: u32| (0..length).step_by(STEP as usize).map(u32::cast_signed);
    let centre = (place.x + place.width.cast_signed() / 2, place.y + place.height.cast_signed() / 2);
    along(whole.height)
        .flat_map(|y| along(whole.width).map(move |x| Point { x, y }))
        .filter(|point| covered.iter().all(|window| !window.contains(*point)))
        .min_by_key(|point| point.x.abs_diff(centre.0).pow(2) + point.y.abs_diff(centre.1).pow(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(x: i32, y: i32, width: u32, height: u32) -> Rect {
        Rect { x, y, width, height }
    }

    #[test]
    fn the_bare_point_is_the_one_nearest_to_the_place() {
        let whole = rect(0, 0, 100, 80);
        let place = rect(40, 40, 16, 16);
        assert_eq!(bare(place, whole, &[]), Some(Point { x: 48, y: 48 }));
        assert_eq!(bare(place, whole, &[rect(40, 0, 16, 80)]), Some(Point { x: 56, y: 48 }));
        assert_eq!(bare(place, whole, &[rect(0, 0, 100, 72)]), Some(Point { x: 48, y: 72 }));
        assert_eq!(bare(place, whole, &[rect(-5, -5, 200, 200)]), None);
    }
}
