//! A small live picture of a window, which the server itself scales (RENDER 0.11) when something was drawn there.

use std::time::{Duration, Instant};

use desktop::x11::frame_of;
use x11rb::connection::Connection;
use x11rb::errors::ReplyOrIdError;
use x11rb::protocol::composite::{ConnectionExt as _, Redirect};
use x11rb::protocol::damage::{ConnectionExt as _, Damage, ReportLevel};
use x11rb::protocol::render::{self, ConnectionExt as _, PictOp, Picture, Transform};
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ConfigureWindowAux, ConnectionExt as _, Rectangle, StackMode, Window,
};

use super::link::Link;
use crate::PreviewPlace;

/// Between two pictures, at the least: five in a second.
const REST: Duration = Duration::from_millis(200);

/// Pixels between the preview and the edge of the screen, where no place is named.
const MARGIN: i32 = 16;

/// What is shown of which window.
struct PreviewedWindow {
    /// The window that was asked for.
    client: Window,
    /// The child of the root that it is in.
    frame: Window,
    damage: Damage,
}

/// The window of the preview.
pub(crate) struct Preview {
    pub(crate) window: Window,
    /// Of the pixmap that is the window's background: the server repaints it from there.
    picture: Picture,
    size: (u16, u16),
    previewed: Option<PreviewedWindow>,
    is_dirty: bool,
    drawn: Option<Instant>,
    pub(crate) is_mapped: bool,
}

impl Preview {
    pub(crate) fn open(link: &Link, place: &PreviewPlace) -> Result<Self, ReplyOrIdError> {
        let screen = link.size()?;
        let size = (place.width.clamp(1, screen.0), place.height.clamp(1, screen.1));
        // What is shown has pixels of its own, whatever becomes of a compositor.
        link.conn.composite_redirect_subwindows(link.root, Redirect::AUTOMATIC)?;
        let window = link.create_overlay("Backlot preview", size)?;
        let (x, y) = place.position.unwrap_or((
            i32::from(screen.0) - i32::from(size.0) - MARGIN,
            i32::from(screen.1) - i32::from(size.1) - MARGIN,
        ));
        link.conn.configure_window(window, &ConfigureWindowAux::new().x(x).y(y))?;
        let canvas = link.conn.generate_id()?;
        link.conn.create_pixmap(link.depth, canvas, window, size.0, size.1)?;
        let format = link.format_of(link.visual);
        let picture = link.conn.generate_id()?;
        link.conn.render_create_picture(picture, canvas, format, &render::CreatePictureAux::new())?;
        link.conn
            .change_window_attributes(window, &ChangeWindowAttributesAux::new().background_pixmap(canvas))?;
        Ok(Self { window, picture, size, previewed: None, is_dirty: false, drawn: None, is_mapped: false })
    }

    /// Shows this window from now on.
    pub(crate) fn show(&mut self, link: &Link, client: Window) -> Result<(), ReplyOrIdError> {
        if self.previewed.as_ref().is_some_and(|previewed| previewed.client == client) {
            return Ok(());
        }
        self.forget(link)?;
        let Some(frame) = frame_of(&link.conn, link.root, client)? else { return Ok(()) };
        let damage = link.conn.generate_id()?;
        if link.conn.damage_create(damage, frame, ReportLevel::NON_EMPTY)?.check().is_err() {
            return Ok(());
        }
        self.previewed = Some(PreviewedWindow { client, frame, damage });
        self.is_dirty = true;
        self.drawn = None;
        Ok(())
    }

    /// Something was drawn.
    pub(crate) fn note_damage(&mut self, damage: Damage) {
        self.is_dirty |= self.previewed.as_ref().is_some_and(|previewed| previewed.damage == damage);
    }

    /// A window has gone, or is not shown any more.
    pub(crate) fn note_gone(&mut self, link: &Link, window: Window) -> Result<(), ReplyOrIdError> {
        if self
            .previewed
            .as_ref()
            .is_some_and(|previewed| previewed.frame == window || previewed.client == window)
        {
            // That of a destroyed window went with it; the error that says so is passed over like other events.
            self.forget(link)?;
            self.hide(link)?;
        }
        Ok(())
    }

    /// Draws when that is due; answers when it will be.
    pub(crate) fn step(&mut self, link: &Link, now: Instant) -> Result<Option<Instant>, ReplyOrIdError> {
        let Some(previewed) = self.previewed.as_ref().filter(|_| self.is_dirty) else { return Ok(None) };
        if let Some(due) = self.drawn.map(|drawn| drawn + REST).filter(|due| now < *due) {
            return Ok(Some(due));
        }
        link.conn.damage_subtract(previewed.damage, x11rb::NONE, x11rb::NONE)?;
        self.is_dirty = false;
        self.drawn = Some(now);
        let (client, frame) = (previewed.client, previewed.frame);
        if self.draw(link, client, frame)? {
            link.conn.clear_area(false, self.window, 0, 0, 0, 0)?;
            if !self.is_mapped {
                self.raise(link)?;
                link.conn.map_window(self.window)?;
                self.is_mapped = true;
            }
        }
        Ok(None)
    }

    /// Over all other windows.
    pub(crate) fn raise(&self, link: &Link) -> Result<(), ReplyOrIdError> {
        link.conn.configure_window(self.window, &ConfigureWindowAux::new().stack_mode(StackMode::ABOVE))?;
        Ok(())
    }

    /// Draws the window as large as it fits; false where it has no pixels now, and then the last ones stay.
    fn draw(&self, link: &Link, client: Window, frame: Window) -> Result<bool, ReplyOrIdError> {
        let conn = &link.conn;
        let (geometry, attributes) = (conn.get_geometry(client)?, conn.get_window_attributes(frame)?);
        let place = conn.translate_coordinates(client, frame, 0, 0)?;
        let (Ok(geometry), Ok(attributes), Ok(place)) = (geometry.reply(), attributes.reply(), place.reply())
        else {
            return Ok(false);
        };
        let pixmap = conn.generate_id()?;
        if conn.composite_name_window_pixmap(frame, pixmap)?.check().is_err() {
            return Ok(false);
        }
        let source = conn.generate_id()?;
        let format = link.format_of(attributes.visual);
        conn.render_create_picture(source, pixmap, format, &render::CreatePictureAux::new())?;
        let (width, height) = (f64::from(geometry.width.max(1)), f64::from(geometry.height.max(1)));
        let scale = (f64::from(self.size.0) / width).min(f64::from(self.size.1) / height);
        let (columns, rows) =
            ((width * scale).round().max(1.0) as u16, (height * scale).round().max(1.0) as u16);
        let scales = (width / f64::from(columns), height / f64::from(rows));
        conn.render_set_picture_transform(source, onto_window(scales, (place.dst_x, place.dst_y)))?;
        conn.render_set_picture_filter(source, b"good", &[])?;
        let dark = render::Color { red: 0x2000, green: 0x2000, blue: 0x2000, alpha: 0xffff };
        let whole = Rectangle { x: 0, y: 0, width: self.size.0, height: self.size.1 };
        conn.render_fill_rectangles(PictOp::SRC, self.picture, dark, &[whole])?;
        let (x, y) = (((self.size.0 - columns) / 2) as i16, ((self.size.1 - rows) / 2) as i16);
        conn.render_composite(
            PictOp::OVER,
            source,
            x11rb::NONE,
            self.picture,
            0,
            0,
            0,
            0,
            x,
            y,
            columns,
            rows,
        )?;
        conn.render_free_picture(source)?;
        conn.free_pixmap(pixmap)?;
        Ok(true)
    }

    fn hide(&mut self, link: &Link) -> Result<(), ReplyOrIdError> {
        if std::mem::take(&mut self.is_mapped) {
            link.conn.unmap_window(self.window)?;
        }
        Ok(())
    }

    fn forget(&mut self, link: &Link) -> Result<(), ReplyOrIdError> {
        if let Some(previewed) = self.previewed.take() {
            link.conn.damage_destroy(previewed.damage)?;
        }
        Ok(())
    }
}

/// From the preview's pixels to the window's, in 16.16 fixed point.
fn onto_window((across, down): (f64, f64), (left, top): (i16, i16)) -> Transform {
    let fixed = |value: f64| (value * 65536.0).round() as i32;
    Transform {
        matrix11: fixed(across),
        matrix13: fixed(left.into()),
        matrix22: fixed(down),
        matrix23: fixed(top.into()),
        matrix33: fixed(1.0),
        ..Transform::default()
    }
}
