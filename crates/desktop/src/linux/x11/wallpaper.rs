//! The picture of the root window, where no desktop program covers it.
//!
//! The pixmap outlives its connection, and its number stands in two properties of the root window: `_XROOTPMAP_ID`, by
//! which programs with transparent backgrounds find it, and `ESETROOT_PMAP_ID`, by which whoever sets the next picture
//! knows that this one may be freed.

use std::path::Path;

use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::errors::ReplyOrIdError;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, CloseDown, ConnectionExt as _, CreateGCAux, ImageFormat, ImageOrder,
    Pixmap, PropMode, Window,
};
use x11rb::wrapper::ConnectionExt as _;

use super::connection::XConnection;
use super::link::Link;
use super::properties::{numbers, property_of};
use crate::platform::Desktop;
use crate::{DesktopError, WindowId};

/// Bytes of a pixel of a picture, and of the screens that are served.
const PIXEL: usize = 4;
/// Bytes of a request besides the pixels, with some to spare.
const HEAD: usize = 64;

impl Desktop {
    /// Shows a PNG or JPEG, scaled to cover the screen, as the background of the root window.
    ///
    /// Fails with `invalid_argument` where the file is no such picture, and with `window_manager_refused` where a desktop
    /// program covers the root window: it has a wallpaper of its own.
    pub fn set_wallpaper(&self, path: &Path) -> Result<(), DesktopError> {
        let refuse =
            |reason: String| DesktopError::PictureUnreadable { path: path.display().to_string(), reason };
        let bytes = std::fs::read(path).map_err(|error| refuse(error.to_string()))?;
        let picture = imaging::decode(&bytes).map_err(|error| refuse(error.to_string()))?;
        if let Some(window) = self.covering_desktop()? {
            let reason = "a desktop program covers the background and has a wallpaper of its own";
            return Err(DesktopError::WindowManagerRefused {
                window: WindowId::of_xid(window),
                what: "show the picture behind",
                reason,
            });
        }
        let size = self.ask("screen size", |link| link.conn.get_geometry(link.root)?.reply())?;
        let pixels = imaging::cover(&picture, (size.width.into(), size.height.into()))
            .map_err(|error| refuse(error.to_string()))?;
        let shown = show(&self.link, &pixels, (size.width, size.height, size.depth));
        shown
            .map_err(|error| match error {
                ReplyOrIdError::IdsExhausted => refuse("the display has no number for it".to_owned()),
                error => self.link.session.failed("wallpaper", error),
            })?
            .then_some(())
            .ok_or_else(|| refuse(format!("the screen's depth of {} bits is not served", size.depth)))
    }

    /// A window of a desktop program that is shown and as large as the screen.
    fn covering_desktop(&self) -> Result<Option<Window>, DesktopError> {
        let (windows, screen) = self.look(|cache, _| {
            let shown = cache.nodes.iter().filter(|(_, node)| {
                node.is_viewable
                    && !node.is_input_only
                    && cache.screen.intersection(&node.rect) == Some(cache.screen)
            });
            (shown.map(|(window, _)| *window).collect::<Vec<_>>(), cache.screen)
        })?;
        if screen.width == 0 {
            return Ok(None);
        }
        self.ask("desktop windows", |link| {
            for window in windows {
                let types = numbers(property_of(link, window, link.atoms._NET_WM_WINDOW_TYPE)?.reply())?;
                if types.contains(&link.atoms._NET_WM_WINDOW_TYPE_DESKTOP) {
                    return Ok(Some(window));
                }
            }
            Ok(None)
        })
    }
}

/// Makes the pixels the background; false where the screen's pixels are others than blue, green, red, unused.
fn show(link: &Link, pixels: &[u8], (width, height, depth): (u16, u16, u8)) -> Result<bool, ReplyOrIdError> {
    let setup = link.conn.setup();
    let format = setup.pixmap_formats.iter().find(|format| format.depth == depth);
    let is_served = format.is_some_and(|format| usize::from(format.bits_per_pixel) == PIXEL * 8);
    if !is_served || depth < 24 || setup.image_byte_order != ImageOrder::LSB_FIRST {
        return Ok(false);
    }
    // What this connection makes stays when it ends: the pixmap alone.
    let lost = |_| x11rb::errors::ConnectionError::UnknownError;
    let (conn, _) = link.session.connect().map_err(lost)?;
    let pixmap = conn.generate_id()?;
    conn.create_pixmap(depth, pixmap, link.root, width, height)?;
    let gc = conn.generate_id()?;
    conn.create_gc(gc, pixmap, &CreateGCAux::new())?;
    let row = usize::from(width) * PIXEL;
    let rows = ((conn.maximum_request_bytes() - HEAD) / row).max(1);
    for (part, y) in pixels.chunks(rows * row).zip((0i16..).step_by(rows)) {
        let count = (part.len() / row) as u16;
        conn.put_image(ImageFormat::Z_PIXMAP, pixmap, gc, width, count, 0, y, 0, depth, part)?;
    }
    conn.free_gc(gc)?.check()?;
    // Nobody sees one property without the other.
    conn.grab_server()?;
    let put = put(&conn, link, pixmap);
    conn.ungrab_server()?;
    conn.sync()?;
    put.map(|()| true)
}

fn put(conn: &XConnection, link: &Link, pixmap: Pixmap) -> Result<(), ReplyOrIdError> {
    let (root, names) = (link.root, [link.atoms._XROOTPMAP_ID, link.atoms.ESETROOT_PMAP_ID]);
    let mut known: Vec<Option<Pixmap>> = Vec::new();
    for name in names {
        let reply = conn.get_property(false, root, name, AtomEnum::PIXMAP, 0, 1)?.reply()?;
        known.push(reply.value32().and_then(|mut numbers| numbers.next()));
    }
    conn.set_close_down_mode(CloseDown::RETAIN_PERMANENT)?;
    for name in names {
        conn.change_property32(PropMode::REPLACE, root, name, AtomEnum::PIXMAP, &[pixmap])?;
    }
    conn.change_window_attributes(root, &ChangeWindowAttributesAux::new().background_pixmap(pixmap))?
        .check()?;
    conn.clear_area(false, root, 0, 0, 0, 0)?;
    // Where the two differ, somebody who knows one of them alone has set the picture, and frees it too.
    if let [Some(shown), Some(ours)] = known[..]
        && shown == ours
        && shown != 0
    {
        // A pixmap that is gone already has no client to be ended.
        conn.kill_client(shown)?.ignore_error();
    }
    Ok(())
}
