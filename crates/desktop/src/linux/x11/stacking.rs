//! The root's children as the pointer meets them, and the one that holds the focus.

use x11rb::connection::Connection;
use x11rb::errors::ReplyError;
use x11rb::protocol::shape::{ConnectionExt as _, SK};
use x11rb::protocol::xproto::{ConnectionExt as _, Rectangle, Window};

use super::link::{Link, optional};
use super::window_cache::WindowCache;
use crate::Rect;

/// A mapped child of the root window, as the pointer meets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The XID of the root's child.
    pub id: u32,
    /// Its outer rectangle in screen pixels, border included.
    pub rect: Rect,
    /// Where it takes the pointer, in screen pixels: its input region within its bounding region.
    pub input: Vec<Rect>,
    /// True when it has no pixels of its own.
    pub is_input_only: bool,
}

/// Mapped root children, bottom to top, their shapes not yet asked for.
pub(crate) fn mapped(cache: &WindowCache) -> Vec<Frame> {
    cache
        .stacking
        .iter()
        .filter_map(|id| {
            let node = cache.nodes.get(id).filter(|node| node.is_viewable)?;
            Some(Frame { id: *id, rect: node.outer(), input: Vec::new(), is_input_only: node.is_input_only })
        })
        .collect()
}

/// The same frames with their input regions, asked for in one batch; frames that vanished are left out.
pub(crate) fn with_shapes(link: &Link, frames: Vec<Frame>) -> Result<Vec<Frame>, ReplyError> {
    let mut sent = Vec::with_capacity(frames.len());
    for frame in frames {
        let bounding = link.conn.shape_get_rectangles(frame.id, SK::BOUNDING)?;
        let input = link.conn.shape_get_rectangles(frame.id, SK::INPUT)?;
        let inside = link.conn.translate_coordinates(frame.id, link.root, 0, 0)?;
        sent.push((frame, bounding, input, inside));
    }
    let mut shaped = Vec::with_capacity(sent.len());
    for (mut frame, bounding, input, inside) in sent {
        let (bounding, input) = (optional(bounding.reply())?, optional(input.reply())?);
        let (Some(bounding), Some(input), Some(inside)) = (bounding, input, optional(inside.reply())?) else {
            continue;
        };
        let on_screen = |part: &Rectangle| Rect {
            x: i32::from(inside.dst_x) + i32::from(part.x),
            y: i32::from(inside.dst_y) + i32::from(part.y),
            width: part.width.into(),
            height: part.height.into(),
        };
        let bounding: Vec<Rect> = bounding.rectangles.iter().map(on_screen).collect();
        let parts = input.rectangles.iter().map(on_screen);
        frame.input = parts
            .flat_map(|part| bounding.iter().filter_map(move |bound| part.intersection(bound)))
            .collect();
        shaped.push(frame);
    }
    Ok(shaped)
}

/// The root's child that holds the input focus.
pub(crate) fn focused_top_level(link: &Link) -> Result<Option<u32>, ReplyError> {
    let focus = link.conn.get_input_focus()?.reply()?.focus;
    frame_of(&link.conn, link.root, focus)
}

/// The child of the root that a window is or lies in; none when it is gone, or is no window below the root.
pub fn frame_of(conn: &impl Connection, root: Window, window: Window) -> Result<Option<Window>, ReplyError> {
    let mut at = window;
    // 0 is no focus and 1 is the pointer's window (core protocol, SetInputFocus).
    while at > 1 && at != root {
        let Some(tree) = optional(conn.query_tree(at)?.reply())? else { return Ok(None) };
        if tree.parent == root {
            return Ok(Some(at));
        }
        at = tree.parent;
    }
    Ok(None)
}
