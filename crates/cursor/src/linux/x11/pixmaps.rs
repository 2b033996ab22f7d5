//! A sprite on the X server: a pixmap for each picture, and where it has pixels.

use x11rb::connection::{Connection, RequestConnection};
use x11rb::errors::ReplyOrIdError;
use x11rb::protocol::shape::{self, SK, SO};
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ClipOrdering, ConfigureWindowAux, ConnectionExt as _, ImageFormat, Pixmap,
    Rectangle, Window,
};

use super::link::Link;
use crate::look::{Sprite, Surface};

/// Bytes of a PutImage request besides its pixels.
const HEADER: usize = 32;

/// The pictures of a cursor as pixmaps, which its window gets as its background or its shape.
pub(crate) struct Pixmaps {
    pub(crate) hot: (i32, i32),
    size: (u16, u16),
    surface: Surface,
    pictures: Vec<Picture>,
}

struct Picture {
    pixmap: Pixmap,
    /// The rows of its opaque pixels.
    cut: Vec<Rectangle>,
}

impl Pixmaps {
    /// Sends a sprite to the server; it must fit a window.
    pub(crate) fn make(
        link: &Link,
        window: Window,
        sprite: &Sprite,
        surface: Surface,
    ) -> Result<Self, ReplyOrIdError> {
        let (width, height) = (sprite.width as u16, sprite.height as u16);
        let conn = &link.conn;
        let mut pictures = Vec::with_capacity(sprite.frames.len());
        for frame in &sprite.frames {
            let pixmap = conn.generate_id()?;
            conn.create_pixmap(link.depth, pixmap, window, width, height)?;
            let context = link.context_for(pixmap)?;
            let row = usize::from(width) * 4;
            let rows = ((conn.maximum_request_bytes() - HEADER) / row).clamp(1, usize::from(height));
            for (index, part) in frame.chunks(row * rows).enumerate() {
                let (top, count) = ((index * rows) as i16, (part.len() / row) as u16);
                conn.put_image(
                    ImageFormat::Z_PIXMAP,
                    pixmap,
                    context,
                    width,
                    count,
                    0,
                    top,
                    0,
                    link.depth,
                    part,
                )?;
            }
            conn.free_gc(context)?;
            let cut = if surface == Surface::Cut { rows_of(frame, sprite.width) } else { Vec::new() };
            pictures.push(Picture { pixmap, cut });
        }
        Ok(Self { hot: sprite.hot, size: (width, height), surface, pictures })
    }

    /// Gives a window its size and its shape.
    pub(crate) fn apply(&self, link: &Link, window: Window) -> Result<(), ReplyOrIdError> {
        let size = ConfigureWindowAux::new().width(u32::from(self.size.0)).height(u32::from(self.size.1));
        link.conn.configure_window(window, &size)?;
        if self.surface == Surface::Blended {
            let whole = Rectangle { x: 0, y: 0, width: self.size.0, height: self.size.1 };
            cut(link, window, &[whole])?;
        }
        self.show(link, window, 0)
    }

    /// Shows one of the pictures; past the last the first.
    pub(crate) fn show(&self, link: &Link, window: Window, index: usize) -> Result<(), ReplyOrIdError> {
        let Some(picture) = self.pictures.get(index).or(self.pictures.first()) else { return Ok(()) };
        if self.surface == Surface::Cut {
            cut(link, window, &picture.cut)?;
        }
        // The server draws the background itself whenever that is needed.
        let background = ChangeWindowAttributesAux::new().background_pixmap(picture.pixmap);
        link.conn.change_window_attributes(window, &background)?;
        link.conn.clear_area(false, window, 0, 0, 0, 0)?;
        Ok(())
    }

    /// How many pictures there are.
    pub(crate) fn count(&self) -> usize {
        self.pictures.len()
    }

    /// Gives the pixmaps back.
    pub(crate) fn discard(self, link: &Link) -> Result<(), ReplyOrIdError> {
        for picture in self.pictures {
            link.conn.free_pixmap(picture.pixmap)?;
        }
        Ok(())
    }
}

fn cut(link: &Link, window: Window, rows: &[Rectangle]) -> Result<(), ReplyOrIdError> {
    shape::rectangles(&link.conn, SO::SET, SK::BOUNDING, ClipOrdering::YX_BANDED, window, 0, 0, rows)?;
    Ok(())
}

/// The runs of opaque pixels, row by row.
fn rows_of(frame: &[u8], width: u32) -> Vec<Rectangle> {
    let mut runs = Vec::new();
    for (y, row) in frame.chunks_exact(width as usize * 4).enumerate() {
        let mut start = None;
        let opaque = row.chunks_exact(4).map(|pixel| pixel[3] > 0).chain([false]);
        for (x, is_opaque) in opaque.enumerate() {
            match (start, is_opaque) {
                (None, true) => start = Some(x),
                (Some(from), false) => {
                    // A sprite's sides fit 16 bits.
                    runs.push(Rectangle { x: from as i16, y: y as i16, width: (x - from) as u16, height: 1 });
                    start = None;
                }
                _ => {}
            }
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_opaque_pixels_are_found_row_by_row() {
        let pixels = [1, 1, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1];
        let frame: Vec<u8> = pixels.iter().flat_map(|opaque| [0, 0, 0, opaque * 255]).collect();
        let runs: Vec<_> = rows_of(&frame, 4).iter().map(|run| (run.x, run.y, run.width)).collect();
        assert_eq!(runs, [(0, 0, 2), (3, 0, 1), (1, 2, 3)]);
    }
}
