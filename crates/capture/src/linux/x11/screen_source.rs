//! The screen as it changes, with the person's pointer on it, as a film needs it.

use std::sync::{Arc, Weak};

use desktop::x11::XConnection;
use desktop::{Rect, Session, x11};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::damage::{ConnectionExt as _, Damage, ReportLevel};
use x11rb::protocol::xfixes::{ConnectionExt as _, CursorNotifyMask, Region};
use x11rb::protocol::xproto::{ChangeWindowAttributesAux, ConnectionExt as _, EventMask};

use super::link::{Link, ReadError};
use crate::CaptureError;
use crate::pointer::Pointer;

/// Tells what changes on the whole screen, and reads it; all monitors, and the person's pointer, which other pictures leave out.
pub struct ScreenSource {
    session: x11::Session,
    link: Link,
    screen: Rect,
    watch: Option<(Damage, Region)>,
    pointer: Pointer,
    is_pointer_new: bool,
    is_everything_new: bool,
    pixels: Vec<u8>,
}

/// The connection of a [`ScreenSource`], to end it while another thread waits for an answer of the server.
pub struct ScreenConnection(Weak<XConnection>);

impl ScreenConnection {
    /// Ends it: whoever reads from it, now or later, fails with `display_lost`.
    pub fn end(&self) {
        if let Some(conn) = self.0.upgrade() {
            conn.stream().end();
        }
    }
}

impl ScreenSource {
    /// Opens a connection of its own to a display. Fails with `display_unavailable`.
    pub fn open(session: &Session) -> Result<Self, CaptureError> {
        let Session::X11(session) = session;
        let link = Link::connect(session)?;
        let begin = || -> Result<_, ReadError> {
            let screen = link.screen()?;
            let watch = if link.has_damage { Some(watch(&link)?) } else { None };
            Ok((screen, watch))
        };
        let (screen, watch) = begin().map_err(|error| session.unavailable(error))?;
        // What a server does after it stood still belongs to the film too.
        link.conn.stream().wait_for_events();
        Ok(Self {
            session: session.clone(),
            link,
            screen,
            watch,
            pointer: Pointer::default(),
            is_pointer_new: true,
            is_everything_new: true,
            pixels: Vec::new(),
        })
    }

    /// What ends the waits of this source, which have no limit of their own.
    pub fn connection(&self) -> ScreenConnection {
        ScreenConnection(Arc::downgrade(&self.link.conn))
    }

    /// The whole screen.
    pub fn screen(&self) -> Rect {
        self.screen
    }

    /// What may have changed since the last call, in screen pixels; everything at first. Fails with `display_lost`.
    pub fn changes(&mut self) -> Result<Vec<Rect>, CaptureError> {
        self.look().map_err(|error| error.failed(&self.session, "screen"))
    }

    /// The pixels of a rectangle as they are now, in rows of four bytes a pixel: blue, green, red, any.
    ///
    /// What lies outside of the screen is black. Fails with `display_lost` and `capture_failed`.
    pub fn read(&mut self, area: Rect) -> Result<&[u8], CaptureError> {
        let len = area.width as usize * area.height as usize * 4;
        let inside = self.screen.intersection(&area);
        if inside == Some(area) && self.pointer.area().intersection(&area).is_none() {
            // Nothing is drawn into them: they are given as the server left them.
            return match self.link.read(self.link.root, area) {
                Ok(read) => Ok(read.bytes),
                Err(ReadError::Gone) => {
                    self.is_everything_new = true;
                    self.pixels.clear();
                    self.pixels.resize(len, 0);
                    Ok(&self.pixels)
                }
                Err(error) => Err(error.failed(&self.session, "screen")),
            };
        }
        self.pixels.clear();
        self.pixels.resize(len, 0);
        if let Some(inside) = inside {
            match self.link.read(self.link.root, inside) {
                Ok(read) => {
                    let (width, stride) = (inside.width as usize * 4, area.width as usize * 4);
                    // Inside of the area, so neither is negative.
                    let start = (inside.y - area.y) as usize * stride + (inside.x - area.x) as usize * 4;
                    let rows = self.pixels[start..].chunks_mut(stride);
                    for (to, from) in rows.zip(read.bytes.chunks_exact(width)) {
                        to[..width].copy_from_slice(from);
                    }
                }
                // The screen became smaller; the next look sees all of it.
                Err(ReadError::Gone) => self.is_everything_new = true,
                Err(error) => return Err(error.failed(&self.session, "screen")),
            }
        }
        self.pointer.draw(area, &mut self.pixels);
        Ok(&self.pixels)
    }

    fn look(&mut self) -> Result<Vec<Rect>, ReadError> {
        let conn = &self.link.conn;
        // Its answer also brings all events that were sent before.
        let at = conn.query_pointer(self.link.root)?.reply()?;
        let mut is_damaged = self.watch.is_none();
        while let Some(event) = conn.poll_for_event()? {
            match event {
                Event::DamageNotify(_) => is_damaged = true,
                Event::XfixesCursorNotify(_) => self.is_pointer_new = true,
                Event::ConfigureNotify(event) if event.window == self.link.root => {
                    self.is_everything_new = true;
                }
                _ => {}
            }
        }
        let before = self.pointer.area();
        if std::mem::replace(&mut self.is_pointer_new, false) && self.watch.is_some() {
            let image = conn.xfixes_get_cursor_image()?.reply()?;
            let hot = (image.xhot.into(), image.yhot.into());
            self.pointer.dress((image.width.into(), image.height.into()), hot, image.cursor_image);
        }
        self.pointer.put(at.root_x.into(), at.root_y.into());
        let mut changes = Vec::new();
        if is_damaged && let Some((damage, region)) = self.watch {
            conn.damage_subtract(damage, x11rb::NONE, region)?;
            let drawn = conn.xfixes_fetch_region(region)?.reply()?;
            changes.extend(drawn.rectangles.iter().map(|part| Rect {
                x: part.x.into(),
                y: part.y.into(),
                width: part.width.into(),
                height: part.height.into(),
            }));
        }
        if self.pointer.has_changed() {
            changes.extend([before, self.pointer.area()]);
        }
        if std::mem::replace(&mut self.is_everything_new, false) || self.watch.is_none() {
            self.screen = self.link.screen()?;
            // What is outside of a smaller screen turned black.
            let all = Rect { x: 0, y: 0, width: u16::MAX.into(), height: u16::MAX.into() };
            changes = vec![all];
        }
        Ok(changes)
    }
}

/// Has the server note what is drawn anywhere, what the pointer looks like, and the screen's size.
fn watch(link: &Link) -> Result<(Damage, Region), ReadError> {
    let conn = &link.conn;
    let (damage, region) = (conn.generate_id()?, conn.generate_id()?);
    conn.xfixes_create_region(region, &[])?.check()?;
    conn.damage_create(damage, link.root, ReportLevel::NON_EMPTY)?.check()?;
    conn.xfixes_select_cursor_input(link.root, CursorNotifyMask::DISPLAY_CURSOR)?.check()?;
    let events = ChangeWindowAttributesAux::new().event_mask(EventMask::STRUCTURE_NOTIFY);
    conn.change_window_attributes(link.root, &events)?.check()?;
    Ok((damage, region))
}
