//! What lies over a window and takes the pointer there.

use desktop::{Point, Rect};
use x11rb::protocol::shape::{self, SK};
use x11rb::protocol::xproto::{ConnectionExt as _, GetGeometryReply, MapState, Rectangle, Window};

use crate::InputError;
use crate::platform::x11::connection::link::Link;

/// A window with what of it takes the pointer, in its own pixels.
pub struct InputRegion {
    /// The window.
    pub window: Window,
    /// Where its inside begins on the screen.
    pub origin: (i32, i32),
    /// All of it, with its border.
    pub whole: Rect,
    /// Its bounding shape.
    pub bounding: Vec<Rect>,
    /// Its input shape.
    pub input: Vec<Rect>,
}

/// The parts of the windows above `frame` that take the pointer over `bounds`, the lowest window first, in
/// pixels of the screen: what both their bounding and their input shape hold.
pub fn covers(link: &Link, frame: Window, bounds: Rect) -> Result<Vec<Rect>, InputError> {
    let mut covers = Vec::new();
    for InputRegion { origin: (x, y), bounding, input, .. } in input_regions(link, frame, bounds)? {
        for outer in &bounding {
            for inner in &input {
                let part = shifted(*outer, x, y).intersection(&shifted(*inner, x, y));
                covers.extend(part.and_then(|part| part.intersection(&bounds)));
            }
        }
    }
    Ok(covers)
}

/// The shown windows above `frame` that touch `bounds`, the lowest first.
pub fn input_regions(link: &Link, frame: Window, bounds: Rect) -> Result<Vec<InputRegion>, InputError> {
    let conn = &link.conn;
    let stack = conn.query_tree(link.root)?.reply()?.children;
    let above = stack.into_iter().skip_while(|window| *window != frame).skip(1);
    let mut asked = Vec::new();
    for window in above {
        asked.push((window, conn.get_window_attributes(window)?, conn.get_geometry(window)?));
    }
    let mut shaped = Vec::new();
    for (window, attributes, geometry) in asked {
        // A window that went away in between covers nothing.
        let (Ok(attributes), Ok(geometry)) = (attributes.reply(), geometry.reply()) else { continue };
        let border = i32::from(geometry.border_width);
        let outer = Rect {
            x: geometry.x.into(),
            y: geometry.y.into(),
            width: u32::from(geometry.width) + 2 * u32::from(geometry.border_width),
            height: u32::from(geometry.height) + 2 * u32::from(geometry.border_width),
        };
        if attributes.map_state == MapState::VIEWABLE && outer.intersection(&bounds).is_some() {
            let bounding = shape::get_rectangles(conn, window, SK::BOUNDING)?;
            let input = shape::get_rectangles(conn, window, SK::INPUT)?;
            shaped.push((window, (outer.x + border, outer.y + border), whole_of(&geometry), bounding, input));
        }
    }
    let mut regions = Vec::new();
    for (window, origin, whole, bounding, input) in shaped {
        let (Ok(bounding), Ok(input)) = (bounding.reply(), input.reply()) else { continue };
        let input = input_of(&input.rectangles, whole, -whole.x);
        let bounding = parts(&bounding.rectangles);
        regions.push(InputRegion { window, origin, whole, bounding, input });
    }
    Ok(regions)
}

/// The input shape, as it takes effect: of a window without one the server leaves out the border at the right and at
/// the bottom, which takes input as well.
fn input_of(rectangles: &[Rectangle], whole: Rect, border: i32) -> Vec<Rect> {
    let input = parts(rectangles);
    let told = Rect {
        width: whole.width.saturating_add_signed(-border),
        height: whole.height.saturating_add_signed(-border),
        ..whole
    };
    if input == [told] { vec![whole] } else { input }
}

/// A window with its border, in its own pixels.
pub fn whole_of(geometry: &GetGeometryReply) -> Rect {
    let border = geometry.border_width;
    let (x, y) = (-i32::from(border), -i32::from(border));
    let size = |size: u16| u32::from(size) + 2 * u32::from(border);
    Rect { x, y, width: size(geometry.width), height: size(geometry.height) }
}

/// True when one of the parts has the point.
pub fn holds(parts: &[Rect], x: i16, y: i16) -> bool {
    parts.iter().any(|part| part.contains(Point { x: x.into(), y: y.into() }))
}

/// Rectangles of the server as ours.
pub fn parts(rectangles: &[Rectangle]) -> Vec<Rect> {
    let part = |part: &Rectangle| Rect {
        x: part.x.into(),
        y: part.y.into(),
        width: part.width.into(),
        height: part.height.into(),
    };
    rectangles.iter().map(part).collect()
}

fn shifted(rect: Rect, x: i32, y: i32) -> Rect {
    Rect { x: rect.x + x, y: rect.y + y, ..rect }
}
