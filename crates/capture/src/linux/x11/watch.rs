//! What was drawn in a window since one last looked (DAMAGE 1.1), so that only that is read again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use desktop::x11::Placed;
use desktop::{Rect, WindowId};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::damage::{ConnectionExt as _, Damage, ReportLevel};
use x11rb::protocol::xfixes::{ConnectionExt as _, Region};
use x11rb::protocol::xproto::{ChangeWindowAttributesAux, ConnectionExt as _, EventMask, Window as Xid};

use super::link::{Link, ReadError};

/// What may have changed in a window.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Changes {
    Nothing,
    /// These rectangles, in the pixels of its client area; they may reach beyond it.
    Parts(Vec<Rect>),
    Everything,
}

struct Watch {
    frame: Xid,
    damage: Damage,
    /// Client area within the pixmap, and the pixmap's size, when last looked at.
    layout: (Rect, (u16, u16)),
    border: i32,
    /// Something was drawn that was not asked about yet.
    is_drawn: bool,
    /// The window was shown anew, or is watched for the first time.
    is_new: bool,
    /// When one last looked, and when it was last found to have been drawn in.
    looked: Instant,
    drawn: Instant,
}

/// The windows that are watched.
#[derive(Default)]
pub(crate) struct Watches {
    by_window: HashMap<WindowId, Watch>,
    ended: Vec<WindowId>,
    region: Option<Region>,
}

impl Watches {
    /// What may have changed since the last call for this window; `layout` is its client area within the pixmap and the
    /// pixmap's size.
    pub(crate) fn changes(
        &mut self,
        link: &Link,
        window: &Placed,
        layout: (Rect, (u16, u16)),
    ) -> Result<Changes, ReadError> {
        if !link.has_damage || !link.has_composite {
            return Ok(Changes::Everything);
        }
        self.drain(link)?;
        if self.by_window.get(&window.window_id).is_none_or(|watch| watch.frame != window.frame_id) {
            self.forget(link, window.window_id);
            let watch = begin(link, window.frame_id, layout)?;
            self.by_window.insert(window.window_id, watch);
        }
        let region = self.region(link)?;
        let Some(watch) = self.by_window.get_mut(&window.window_id) else { return Ok(Changes::Everything) };
        let is_everything = std::mem::replace(&mut watch.is_new, false) || watch.layout != layout;
        watch.layout = layout;
        watch.looked = Instant::now();
        if is_everything || watch.is_drawn {
            watch.drawn = watch.looked;
        }
        if !std::mem::replace(&mut watch.is_drawn, false) {
            return Ok(if is_everything { Changes::Everything } else { Changes::Nothing });
        }
        link.conn.damage_subtract(watch.damage, x11rb::NONE, region)?;
        let drawn = link.conn.xfixes_fetch_region(region)?.reply()?;
        if is_everything {
            return Ok(Changes::Everything);
        }
        let (left, top) = (watch.border - layout.0.x, watch.border - layout.0.y);
        let parts = drawn.rectangles.iter().map(|part| Rect {
            x: i32::from(part.x) + left,
            y: i32::from(part.y) + top,
            width: part.width.into(),
            height: part.height.into(),
        });
        Ok(Changes::Parts(parts.collect()))
    }

    /// For how long until the last call of [`Watches::changes`] nothing is known to have been drawn in a window; none
    /// for one that is not watched.
    pub(crate) fn since_drawn(&self, window_id: WindowId) -> Option<Duration> {
        self.by_window.get(&window_id).map(|watch| watch.looked.duration_since(watch.drawn))
    }

    /// Stops watching a window, which may be gone.
    pub(crate) fn forget(&mut self, link: &Link, window_id: WindowId) {
        if let Some(watch) = self.by_window.remove(&window_id) {
            // It ends with the window as well; the error that says so is passed over like other events.
            let _ = link.conn.damage_destroy(watch.damage);
        }
    }

    /// The windows whose frames were destroyed: what has one of their ids from now on is another window.
    pub(crate) fn ended(&mut self, link: &Link) -> Result<Vec<WindowId>, ReadError> {
        self.drain(link)?;
        Ok(std::mem::take(&mut self.ended))
    }

    /// Notes what the events say that came so far.
    fn drain(&mut self, link: &Link) -> Result<(), ReadError> {
        while let Some(event) = link.conn.poll_for_event()? {
            match event {
                Event::DamageNotify(event) => {
                    for watch in self.by_window.values_mut().filter(|watch| watch.damage == event.damage) {
                        watch.is_drawn = true;
                    }
                }
                // The first sign of a window that was mapped, and so got new pixels.
                Event::VisibilityNotify(event) => {
                    for watch in self.by_window.values_mut().filter(|watch| watch.frame == event.window) {
                        watch.is_new = true;
                    }
                }
                Event::DestroyNotify(event) => {
                    let is_of = |watch: &Watch| watch.frame == event.window;
                    self.ended.extend(self.by_window.extract_if(|_, watch| is_of(watch)).map(|(id, _)| id));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Watches every window anew, because somebody else took events from the connection.
    pub(crate) fn begin_again(&mut self, link: &Link) {
        for window_id in self.by_window.keys().copied().collect::<Vec<_>>() {
            self.forget(link, window_id);
        }
    }

    fn region(&mut self, link: &Link) -> Result<Region, ReadError> {
        if let Some(region) = self.region {
            return Ok(region);
        }
        let region = link.conn.generate_id()?;
        link.conn.xfixes_create_region(region, &[])?.check()?;
        self.region = Some(region);
        Ok(region)
    }
}

fn begin(link: &Link, frame: Xid, layout: (Rect, (u16, u16))) -> Result<Watch, ReadError> {
    let conn = &link.conn;
    let damage = conn.generate_id()?;
    let events = ChangeWindowAttributesAux::new()
        .event_mask(EventMask::VISIBILITY_CHANGE | EventMask::STRUCTURE_NOTIFY);
    let asked = conn.change_window_attributes(frame, &events)?;
    let created = conn.damage_create(damage, frame, ReportLevel::NON_EMPTY)?;
    let border = conn.get_geometry(frame)?.reply()?.border_width.into();
    asked.check()?;
    created.check()?;
    let now = Instant::now();
    Ok(Watch { frame, damage, layout, border, is_drawn: true, is_new: true, looked: now, drawn: now })
}
