//! What lies below some windows, for pictures of the screen without them.
//!
//! It is put together from the pixels that the server keeps of every window. What only a compositor adds, such as
//! shadows, is missing in it; so is its background where nothing tells what that is.

use desktop::Rect;
use x11rb::connection::Connection;
use x11rb::protocol::composite::ConnectionExt as _;
use x11rb::protocol::shape::{ConnectionExt as _, SK};
use x11rb::protocol::xproto::{
    ConfigureWindowAux, ConnectionExt as _, CreateWindowAux, MapState, StackMode, Window as Xid, WindowClass,
};

use super::link::{Link, ReadError};

/// The background of the parent, as a window's background (core protocol, CreateWindow).
const PARENT_RELATIVE: u32 = 1;

/// Pixels of a part of the screen.
struct Patch {
    place: Rect,
    bytes: Vec<u8>,
}

impl Link {
    /// Replaces in `screen`, which has the pixels of the whole of it, what these windows show by what lies below them.
    ///
    /// `overlook` is told of each window that is made for it, before it is.
    pub(crate) fn uncover(
        &mut self,
        screen: &mut [u8],
        whole: Rect,
        hidden: &[Xid],
        overlook: impl Fn(Xid),
    ) -> Result<(), ReadError> {
        let mut children = self.conn.query_tree(self.root)?.reply()?.children;
        let is_composited = self.has_compositor()?;
        let mut covered = Vec::new();
        if is_composited {
            let overlay = self.overlay_window()?;
            children.retain(|child| *child != overlay);
            for child in &children {
                covered.extend(self.shown(*child)?.map(|(place, _, _)| place));
            }
        }
        for window in children.iter().filter(|child| hidden.contains(child)) {
            let Some((place, _, _)) = self.shown(*window)? else { continue };
            let Some(place) = place.intersection(&whole) else { continue };
            let backdrop =
                if is_composited { self.backdrop(place, (screen, whole), &covered)? } else { None };
            let mut patch = match backdrop {
                Some(bytes) => Patch { place, bytes },
                None => {
                    let ground = self.conn.generate_id()?;
                    overlook(ground);
                    self.ground(ground, place)?
                }
            };
            for below in children.iter().filter(|child| !hidden.contains(child)) {
                self.draw(*below, is_composited, &mut patch)?;
            }
            patch.copy_to(screen, whole);
        }
        Ok(())
    }

    /// The outer rectangle, border and depth of a window that has pixels.
    fn shown(&self, window: Xid) -> Result<Option<(Rect, i32, u8)>, ReadError> {
        let attributes = self.conn.get_window_attributes(window)?;
        let geometry = self.conn.get_geometry(window)?;
        // A window that went meanwhile shows nothing.
        let (Ok(attributes), Ok(geometry)) = (attributes.reply(), geometry.reply()) else { return Ok(None) };
        if attributes.map_state != MapState::VIEWABLE || attributes.class != WindowClass::INPUT_OUTPUT {
            return Ok(None);
        }
        let border = u32::from(geometry.border_width);
        let outer = Rect {
            x: geometry.x.into(),
            y: geometry.y.into(),
            width: u32::from(geometry.width) + 2 * border,
            height: u32::from(geometry.height) + 2 * border,
        };
        Ok(Some((outer, geometry.border_width.into(), geometry.depth)))
    }

    /// The background of the screen, had from a window that has the same and lies below all others.
    fn ground(&mut self, window: Xid, place: Rect) -> Result<Patch, ReadError> {
        let Self { conn, root, .. } = &*self;
        let aux = CreateWindowAux::new().override_redirect(1).background_pixmap(PARENT_RELATIVE);
        // The place lies on the screen, so everything fits 16 bits.
        let (x, y, width, height) = (place.x as i16, place.y as i16, place.width as u16, place.height as u16);
        conn.create_window(0, window, *root, x, y, width, height, 0, WindowClass::INPUT_OUTPUT, 0, &aux)?;
        conn.configure_window(window, &ConfigureWindowAux::new().stack_mode(StackMode::BELOW))?;
        conn.map_window(window)?;
        let read = self.read_window(window, Rect { x: 0, y: 0, ..place });
        self.conn.destroy_window(window)?;
        self.conn.flush()?;
        Ok(Patch { place, bytes: read? })
    }

    /// The pixels of a part of a window, from the outer edge of its border.
    fn read_window(&mut self, window: Xid, part: Rect) -> Result<Vec<u8>, ReadError> {
        let pixmap = self.conn.generate_id()?;
        self.conn.composite_name_window_pixmap(window, pixmap)?.check()?;
        let read = self.read(pixmap, part).map(|pixels| pixels.bytes.to_vec());
        self.conn.free_pixmap(pixmap)?;
        read
    }

    /// Draws on a patch what a window shows there.
    fn draw(&mut self, window: Xid, is_composited: bool, patch: &mut Patch) -> Result<(), ReadError> {
        let Some((outer, border, depth)) = self.shown(window)? else { return Ok(()) };
        let Some(common) = outer.intersection(&patch.place) else { return Ok(()) };
        let Ok(shape) = self.conn.shape_get_rectangles(window, SK::BOUNDING)?.reply() else { return Ok(()) };
        let part = Rect { x: common.x - outer.x, y: common.y - outer.y, ..common };
        let bytes = match self.read_window(window, part) {
            Ok(bytes) => bytes,
            Err(ReadError::Gone) => return Ok(()),
            Err(error) => return Err(error),
        };
        for rectangle in shape.rectangles {
            let inside = Rect {
                x: outer.x + border + i32::from(rectangle.x),
                y: outer.y + border + i32::from(rectangle.y),
                width: rectangle.width.into(),
                height: rectangle.height.into(),
            };
            if let Some(visible) = inside.intersection(&common) {
                patch.draw(&bytes, common, visible, is_composited && depth == 32);
            }
        }
        Ok(())
    }
}

impl Patch {
    /// Takes over the `visible` part of pixels that stand at `place`, which lies in the patch.
    fn draw(&mut self, bytes: &[u8], place: Rect, visible: Rect, is_translucent: bool) {
        for y in visible.y..visible.y + visible.height as i32 {
            for x in visible.x..visible.x + visible.width as i32 {
                let from = offset(place, x, y);
                let to = offset(self.place, x, y);
                let (Some(over), Some(below)) = (bytes.get(from..from + 4), self.bytes.get_mut(to..to + 4))
                else {
                    continue;
                };
                let rest = if is_translucent { 255 - u32::from(over[3]) } else { 0 };
                for (below, over) in below.iter_mut().zip(over) {
                    // Premultiplied, so the sum is at most 255 but for a program's own mistakes.
                    *below = (u32::from(*over) + (u32::from(*below) * rest + 127) / 255).min(255) as u8;
                }
            }
        }
    }

    fn copy_to(&self, screen: &mut [u8], whole: Rect) {
        let width = self.place.width as usize * 4;
        for (row, bytes) in (0..).zip(self.bytes.chunks_exact(width)) {
            let to = offset(whole, self.place.x, self.place.y + row);
            if let Some(target) = screen.get_mut(to..to + width) {
                target.copy_from_slice(bytes);
            }
        }
    }
}

/// Where the pixel of a point of the screen stands among those of a part of the screen that holds it.
fn offset(place: Rect, x: i32, y: i32) -> usize {
    ((y - place.y) as usize * place.width as usize + (x - place.x) as usize) * 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_above_hides_or_tints_what_lies_below() {
        let place = Rect { x: 10, y: 10, width: 2, height: 1 };
        let mut patch = Patch { place, bytes: vec![100; 8] };
        patch.draw(
            &[50, 0, 0, 128],
            Rect { x: 11, y: 10, width: 1, height: 1 },
            Rect { x: 11, y: 10, width: 1, height: 1 },
            true,
        );
        assert_eq!(patch.bytes, [100, 100, 100, 100, 100, 50, 50, 178]);
        patch.draw(&[1, 2, 3, 0, 4, 5, 6, 0], place, Rect { width: 1, ..place }, false);
        assert_eq!(patch.bytes[..4], [1, 2, 3, 0]);
        let mut screen = vec![0; 12 * 11 * 4];
        patch.copy_to(&mut screen, Rect { x: 0, y: 0, width: 12, height: 11 });
        assert_eq!(screen[(10 * 12 + 10) * 4..], patch.bytes);
    }
}
