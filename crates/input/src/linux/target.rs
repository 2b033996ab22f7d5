//! Where a window is, what lies above it, and which of its points a pointer can reach.

use desktop::{Point, Rect};
use x11rb::protocol::shape::{self, SK};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, MapState, Window};

use super::link::Link;
use super::region::{middle_of_largest, uncovered};
use crate::InputError;

/// `WM_STATE` of an iconified window, ICCCM 4.1.3.1.
const ICONIC: u32 = 3;
/// `_NET_WM_DESKTOP` of a window on all workspaces.
const EVERY_DESKTOP: u32 = u32::MAX;

/// A window as it is on the screen at one moment.
pub struct Target {
    /// The client window.
    pub window: Window,
    /// From the root window down to the client window.
    pub chain: Vec<Window>,
    /// The client window in screen pixels.
    pub bounds: Rect,
    /// What takes the pointer before it, in screen pixels, with the window that it belongs to.
    pub covers: Vec<(Window, Rect)>,
    screen: Rect,
}

impl Target {
    /// Reads the window and what lies above it.
    ///
    /// Fails with `window_not_found`, and with `window_not_visible` and the reason.
    pub fn read(link: &Link, window: Window) -> Result<Self, InputError> {
        let gone = |_| InputError::WindowNotFound { window_id: window };
        let hidden = |reason| InputError::WindowNotVisible { window_id: window, reason };
        let conn = &link.conn;
        let geometry = conn.get_geometry(window)?;
        let attributes = conn.get_window_attributes(window)?;
        let origin = conn.translate_coordinates(window, link.root, 0, 0)?;
        let state = conn.get_property(false, window, link.atoms.WM_STATE, AtomEnum::ANY, 0, 1)?;
        let tree = conn.query_tree(link.root)?;
        let screen = conn.get_geometry(link.root)?;
        let geometry = geometry.reply().map_err(gone)?;
        let attributes = attributes.reply().map_err(gone)?;
        let origin = origin.reply().map_err(gone)?;
        let iconic =
            state.reply().map_err(gone)?.value32().and_then(|mut items| items.next()) == Some(ICONIC);
        let stack = tree.reply()?.children;
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
        let covers = covers(link, &stack, chain.get(1).copied().unwrap_or(window), bounds)?;
        Ok(Self { window, chain, bounds, covers, screen })
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

    /// The window-local point in screen pixels, where a pointer can reach the window.
    ///
    /// Fails with `point_outside_window`, `window_not_visible` for a point beyond the screen's edge, and
    /// `window_covered`.
    pub fn point(&self, link: &Link, local: Point) -> Result<Point, InputError> {
        let on_screen =
            Point { x: self.bounds.x.saturating_add(local.x), y: self.bounds.y.saturating_add(local.y) };
        let whole = Rect { x: 0, y: 0, ..self.bounds };
        if !whole.contains(local) {
            return Err(InputError::PointOutsideWindow {
                window_id: self.window,
                x: local.x,
                y: local.y,
                width: whole.width,
                height: whole.height,
            });
        }
        if !self.screen.contains(on_screen) {
            let reason = "beyond the edge of the screen at that point";
            return Err(InputError::WindowNotVisible { window_id: self.window, reason });
        }
        match self.covers.iter().rev().find(|(_, rect)| rect.contains(on_screen)) {
            None => Ok(on_screen),
            Some((above, _)) => Err(self.covered(link, *above, Some(local))),
        }
    }

    /// The screen point at which the agent's pointer rests over the window: `now` when it is there already,
    /// else the middle of the largest visible part.
    ///
    /// Fails with `window_covered`.
    pub fn any_point(&self, link: &Link, now: Point) -> Result<Point, InputError> {
        let visible = self.bounds.intersection(&self.screen).unwrap_or_default();
        let covers: Vec<Rect> = self.covers.iter().map(|(_, rect)| *rect).collect();
        let parts = uncovered(visible, &covers);
        if parts.iter().any(|part| part.contains(now)) {
            return Ok(now);
        }
        let topmost = self.covers.last().map_or(self.window, |(above, _)| *above);
        middle_of_largest(&parts).ok_or_else(|| self.covered(link, topmost, None))
    }

    /// The failure that names the window above.
    pub fn covered(&self, link: &Link, above: Window, local: Option<Point>) -> InputError {
        InputError::WindowCovered {
            window_id: self.window,
            covering: title(link, above).unwrap_or_else(|| above.to_string()),
            point: local.map(|point| (point.x, point.y)),
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

/// The parts of higher children of the root window that take the pointer over `bounds`: what both their
/// bounding and their input shape hold.
fn covers(
    link: &Link,
    stack: &[Window],
    frame: Window,
    bounds: Rect,
) -> Result<Vec<(Window, Rect)>, InputError> {
    let conn = &link.conn;
    let above = stack.iter().skip_while(|window| **window != frame).skip(1);
    let mut asked = Vec::new();
    for window in above {
        asked.push((*window, conn.get_window_attributes(*window)?, conn.get_geometry(*window)?));
    }
    let mut shaped = Vec::new();
    for (window, attributes, geometry) in asked {
        // A window that went away in between covers nothing.
        let (Ok(attributes), Ok(geometry)) = (attributes.reply(), geometry.reply()) else { continue };
        let border = 2 * u32::from(geometry.border_width);
        let outer = Rect {
            x: geometry.x.into(),
            y: geometry.y.into(),
            width: u32::from(geometry.width) + border,
            height: u32::from(geometry.height) + border,
        };
        if attributes.map_state == MapState::VIEWABLE && outer.intersection(&bounds).is_some() {
            let inner =
                (outer.x + i32::from(geometry.border_width), outer.y + i32::from(geometry.border_width));
            let bounding = shape::get_rectangles(conn, window, SK::BOUNDING)?;
            let input = shape::get_rectangles(conn, window, SK::INPUT)?;
            shaped.push((window, inner, bounding, input));
        }
    }
    let mut covers = Vec::new();
    for (window, (x, y), bounding, input) in shaped {
        let (Ok(bounding), Ok(input)) = (bounding.reply(), input.reply()) else { continue };
        for outer in &bounding.rectangles {
            for taking in &input.rectangles {
                let part = placed(outer, x, y).intersection(&placed(taking, x, y));
                covers.extend(part.and_then(|part| part.intersection(&bounds)).map(|part| (window, part)));
            }
        }
    }
    Ok(covers)
}

fn placed(rectangle: &x11rb::protocol::xproto::Rectangle, x: i32, y: i32) -> Rect {
    Rect {
        x: x + i32::from(rectangle.x),
        y: y + i32::from(rectangle.y),
        width: rectangle.width.into(),
        height: rectangle.height.into(),
    }
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
