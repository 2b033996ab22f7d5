//! Windows by their place in the tree of windows, and by whose they are.

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{ConnectionExt as _, MapState, Window};

use super::link::Link;
use crate::InputError;

/// True when one connection made both windows: ids of one client share the bits outside the server's mask.
pub fn same_client(link: &Link, one: Window, other: Window) -> bool {
    let mask = link.conn.setup().resource_id_mask;
    one & !mask == other & !mask
}

/// True when one window is, or lies inside, the other.
pub fn is_inside(link: &Link, inner: Window, outer: Window) -> Result<bool, InputError> {
    let mut window = inner;
    while window > 1 && window != link.root {
        if window == outer {
            return Ok(true);
        }
        let Ok(tree) = link.conn.query_tree(window)?.reply() else { return Ok(false) };
        window = tree.parent;
    }
    Ok(false)
}

/// The menus and lists that the application of a window shows: what no window manager manages.
pub fn menus(link: &Link, window: Window) -> Result<Vec<Window>, InputError> {
    let mut asked = Vec::new();
    for child in link.conn.query_tree(link.root)?.reply()?.children {
        if same_client(link, child, window) {
            asked.push((child, link.conn.get_window_attributes(child)?));
        }
    }
    let shown = asked.into_iter().filter_map(|(child, attributes)| {
        let known = attributes.reply().ok()?;
        (known.override_redirect && known.map_state == MapState::VIEWABLE).then_some(child)
    });
    Ok(shown.collect())
}
