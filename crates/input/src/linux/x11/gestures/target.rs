//! Where a window is, what lies above it, and which of its points a pointer can reach.

use desktop::{Point, Rect, WindowId};
use x11rb::protocol::xinput;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, MapState, Window};

use super::covers::covers;
use super::region::{farthest_corner, middle_of_largest, uncovered};
use crate::InputError;
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::connection::window_tree::same_client;
use crate::platform::x11::devices::pair::Pair;

/// `WM_STATE` of an iconified window, ICCCM 4.1.3.1.
const ICONIC: u32 = 3;
/// `_NET_WM_DESKTOP` of a window on all workspaces.
const EVERY_DESKTOP: u32 = u32::MAX;

/// A window as it is on the screen at one moment.
pub struct Target {
    /// The client window, as callers know it.
    pub window_id: WindowId,
    /// Its XID.
    pub window: Window,
    /// From the root window down to the client window.
    pub chain: Vec<Window>,
    /// The client window in screen pixels.
    pub bounds: Rect,
    screen: Rect,
}

impl Target {
    /// Reads the window.
    ///
    /// Fails with `window_not_found`, and with `window_not_visible` and the reason.
    pub fn read(link: &Link, window_id: WindowId) -> Result<Self, InputError> {
        let window = window_id.xid();
        let gone = |_| InputError::WindowNotFound { window_id };
        let hidden = |reason| InputError::WindowNotVisible { window_id, reason };
        let conn = &link.conn;
        let geometry = conn.get_geometry(window)?;
        let attributes = conn.get_window_attributes(window)?;
        let origin = conn.translate_coordinates(window, link.root, 0, 0)?;
        let state = conn.get_property(false, window, link.atoms.WM_STATE, AtomEnum::ANY, 0, 1)?;
        let screen = conn.get_geometry(link.root)?;
        let geometry = geometry.reply().map_err(gone)?;
        let attributes = attributes.reply().map_err(gone)?;
        let origin = origin.reply().map_err(gone)?;
        let iconic =
            state.reply().map_err(gone)?.value32().and_then(|mut items| items.next()) == Some(ICONIC);
        let screen = screen.reply()?;
        if attributes.map_state != MapState::VIEWABLE {
            return Err(hidden(why_unmapped(link, window, iconic)?));
        }
        let bounds = Rect {
            x: origin.dst_x.into(),
            y: origin.dst_y.into(),
            width: geometry.width.into(),
            height: geometry.height.into(),
        };
        let screen = Rect { x: 0, y: 0, width: screen.width.into(), height: screen.height.into() };
        if bounds.intersection(&screen).is_none() {
            return Err(hidden("off the screen"));
        }
        let chain = chain(link, window)?;
        Ok(Self { window_id, window, chain, bounds, screen })
    }

    /// The child of the root window that holds it.
    pub fn frame(&self) -> Window {
        self.chain.get(1).copied().unwrap_or(self.window)
    }

    /// The window-local point in screen pixels, or the nearest one that the screen has.
    pub fn place(&self, local: Point) -> Point {
        let inside = |at: i32, size: u32| at.clamp(0, i32::try_from(size).unwrap_or(i32::MAX).max(1) - 1);
        Point {
            x: inside(self.bounds.x.saturating_add(local.x), self.screen.width),
            y: inside(self.bounds.y.saturating_add(local.y), self.screen.height),
        }
    }

    /// The point of the screen from the window's upper left corner.
    pub fn local(&self, at: Point) -> Point {
        Point { x: at.x - self.bounds.x, y: at.y - self.bounds.y }
    }

    /// The window-local point in screen pixels.
    ///
    /// Fails with `point_outside_window`, and with `window_not_visible` for a point beyond the screen's edge.
    pub fn point(&self, local: Point) -> Result<Point, InputError> {
        let whole = Rect { x: 0, y: 0, ..self.bounds };
        if !whole.contains(local) {
            return Err(InputError::PointOutsideWindow {
                window_id: self.window_id,
                x: local.x,
                y: local.y,
                width: whole.width,
                height: whole.height,
            });
        }
        let on_screen = Point { x: self.bounds.x + local.x, y: self.bounds.y + local.y };
        if !self.screen.contains(on_screen) {
            let reason = "beyond the edge of the screen at that point";
            return Err(InputError::WindowNotVisible { window_id: self.window_id, reason });
        }
        Ok(on_screen)
    }

    /// The screen point at which the agent's pointer rests over the window: `now` when it is there already,
    /// else the middle of its largest visible part; of a window that is covered whole, the corner that is
    /// farthest from the person's pointer.
    pub fn any_point(&self, link: &Link, now: Point, person: Point) -> Result<Point, InputError> {
        let visible = self.bounds.intersection(&self.screen).unwrap_or_default();
        let parts = uncovered(visible, &covers(link, self.frame(), self.bounds)?);
        if parts.iter().any(|part| part.contains(now)) {
            return Ok(now);
        }
        Ok(middle_of_largest(&parts).unwrap_or_else(|| farthest_corner(visible, person)))
    }

    /// The point next to this one, to the side on which the window has more room.
    pub fn neighbour(&self, at: Point) -> Point {
        let is_left = at.x - self.bounds.x < (self.bounds.width / 2) as i32;
        Point { x: if is_left { at.x + 1 } else { at.x - 1 }, y: at.y }
    }

    /// Sees that a master pointer, which is at this point of the screen, met the window there.
    ///
    /// Fails with `window_covered`, and with `window_not_visible` where the window's shape leaves the point out.
    pub fn check(&self, link: &Link, own: Pair, at: Point) -> Result<(), InputError> {
        let mut asked = Vec::new();
        for pair in self.chain.windows(2) {
            asked.push((xinput::xi_query_pointer(&link.conn, pair[0], own.pointer)?, pair[1]));
        }
        for (pointer, expected) in asked {
            let met = pointer.reply()?.child;
            if met == x11rb::NONE {
                let reason = "shaped so that nothing of it is at that point";
                return Err(InputError::WindowNotVisible { window_id: self.window_id, reason });
            }
            if met != expected {
                return Err(self.covered(link, met, at));
            }
        }
        Ok(())
    }

    /// True while a master pointer is over the window, or over a menu or list of its application.
    pub fn is_under(&self, link: &Link, own: Pair) -> Result<bool, InputError> {
        let met = xinput::xi_query_pointer(&link.conn, link.root, own.pointer)?.reply()?.child;
        if met == self.frame() {
            return Ok(self.check(link, own, Point::default()).is_ok());
        }
        let is_own = met != x11rb::NONE && same_client(link, met, self.window);
        Ok(is_own && link.conn.get_window_attributes(met)?.reply().is_ok_and(|met| met.override_redirect))
    }

    fn covered(&self, link: &Link, above: Window, at: Point) -> InputError {
        let local = self.local(at);
        InputError::WindowCovered {
            window_id: self.window_id,
            covering: title(link, above).unwrap_or_else(|| above.to_string()),
            point: Some((local.x, local.y)),
        }
    }
}

fn why_unmapped(link: &Link, window: Window, iconic: bool) -> Result<&'static str, InputError> {
    let here = link.number(link.root, link.atoms._NET_CURRENT_DESKTOP)?;
    let there = link.number(window, link.atoms._NET_WM_DESKTOP)?;
    // Window managers give windows of other workspaces the iconic state too.
    let elsewhere = there.is_some() && there != Some(EVERY_DESKTOP) && there != here;
    Ok(match (elsewhere, iconic) {
        (true, _) => "on another workspace",
        (_, true) => "minimised",
        _ => "not mapped",
    })
}

fn chain(link: &Link, window: Window) -> Result<Vec<Window>, InputError> {
    let mut chain = vec![window];
    let mut at = window;
    while at != link.root {
        at = link.conn.query_tree(at)?.reply()?.parent;
        if at == x11rb::NONE {
            break;
        }
        chain.push(at);
    }
    chain.reverse();
    Ok(chain)
}

/// The title of a window or of the client that its frame holds.
fn title(link: &Link, window: Window) -> Option<String> {
    let mut inside = vec![window];
    inside.extend(link.conn.query_tree(window).ok()?.reply().ok()?.children);
    inside.into_iter().find_map(|candidate| {
        let names = [link.atoms._NET_WM_NAME, AtomEnum::WM_NAME.into()];
        names.into_iter().find_map(|name| {
            let reply = link.conn.get_property(false, candidate, name, AtomEnum::ANY, 0, 256).ok()?;
            let text = String::from_utf8_lossy(&reply.reply().ok()?.value).into_owned();
            (!text.is_empty()).then_some(text)
        })
    })
}
