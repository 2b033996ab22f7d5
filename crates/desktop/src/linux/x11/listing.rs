//! Which windows are listed, in what order, and whose they are.

use std::collections::HashMap;

use x11rb::protocol::xproto::Window as Xid;

use super::link::Link;
use super::properties::Properties;
use super::window_cache::{Node, WindowCache};
use crate::platform::applications::identity::Identity;
use crate::{Rect, Window, WindowId, WindowKind};

/// `_NET_WM_DESKTOP` of a window that is on every workspace (EWMH).
const ALL_DESKTOPS: u32 = u32::MAX;

/// A listed window with what only an X server tells of it.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The window.
    pub window_id: WindowId,
    /// True when the window is mapped and a part of it lies on the screen.
    pub is_on_screen: bool,
    /// The client window without decorations, in screen pixels.
    pub bounds: Rect,
    /// The child of the root window that contains it: its decoration frame, or the window itself.
    pub frame_id: Xid,
    /// The frame in screen pixels, decorations included.
    pub frame: Rect,
}

/// The windows of applications, in no order.
pub(crate) fn places(cache: &WindowCache, link: &Link) -> Vec<Placed> {
    listed(cache, link).map(|(xid, node, _)| placed(cache, xid, node)).collect()
}

fn placed(cache: &WindowCache, xid: Xid, node: &Node) -> Placed {
    Placed {
        window_id: WindowId::of_xid(xid),
        is_on_screen: node.is_viewable && cache.screen.intersection(&node.rect).is_some(),
        bounds: node.rect,
        frame_id: node.frame,
        frame: cache.nodes.get(&node.frame).unwrap_or(node).outer(),
    }
}

/// All windows of applications, the frontmost last, and what they are windows of.
pub(crate) fn identified(
    cache: &WindowCache,
    link: &Link,
    mut identify: impl FnMut(&Properties) -> Identity,
) -> Vec<(Window, Identity)> {
    let place: HashMap<Xid, usize> =
        cache.stacking.iter().enumerate().map(|(index, window)| (*window, index)).collect();
    let mut found: Vec<(usize, Xid, &Node, &Properties)> = listed(cache, link)
        .map(|(window, node, properties)| {
            (place.get(&node.frame).copied().unwrap_or(0), window, node, properties)
        })
        .collect();
    found.sort_by_key(|(place, window, ..)| (*place, *window));
    let mut listed = Vec::with_capacity(found.len());
    let mut identities = Vec::with_capacity(found.len());
    for (z_index, (_, id, node, properties)) in (0u32..).zip(found) {
        let identity = identify(properties);
        let record = record(cache, link, id, node, properties);
        listed.push(Window { z_index, app_name: identity.name.clone(), ..record });
        identities.push(identity);
    }
    give_owners(cache, &mut listed);
    listed.into_iter().zip(identities).collect()
}

fn listed<'m>(
    cache: &'m WindowCache,
    link: &'m Link,
) -> impl Iterator<Item = (Xid, &'m Node, &'m Properties)> {
    managed(cache, link).chain(popups(cache, link))
}

fn managed<'m>(
    cache: &'m WindowCache,
    link: &'m Link,
) -> impl Iterator<Item = (Xid, &'m Node, &'m Properties)> {
    let atoms = &link.atoms;
    read(cache, cache.clients.iter().copied()).filter(|(_, _, properties)| {
        let is = |kind| properties.types.first() == Some(&kind);
        !is(atoms._NET_WM_WINDOW_TYPE_DESKTOP) && !is(atoms._NET_WM_WINDOW_TYPE_DOCK)
    })
}

fn popups<'m>(
    cache: &'m WindowCache,
    link: &'m Link,
) -> impl Iterator<Item = (Xid, &'m Node, &'m Properties)> {
    let frames = cache.frames();
    // The window manager's own windows are its decorations and menus, whoever they are drawn for.
    let manager = cache.manager.as_ref().map(|manager| link.client_of(manager.check_window));
    let own = std::process::id();
    let bare = cache.stacking.iter().copied().filter(move |window| !frames.contains(window));
    read(cache, bare).filter(move |(window, node, properties)| {
        let is = |kind| properties.types.first() == Some(&kind);
        node.is_override
            && node.is_viewable
            && !node.is_input_only
            && Some(link.client_of(*window)) != manager
            && properties.pid != own
            && cache.screen.intersection(&node.rect).is_some()
            && !is(link.atoms._NET_WM_WINDOW_TYPE_DESKTOP)
            && !is(link.atoms._NET_WM_WINDOW_TYPE_DOCK)
    })
}

fn read(
    cache: &WindowCache,
    windows: impl Iterator<Item = Xid>,
) -> impl Iterator<Item = (Xid, &Node, &Properties)> {
    windows.filter_map(|window| {
        let node = cache.nodes.get(&window)?;
        Some((window, node, node.properties.as_ref()?))
    })
}

fn record(cache: &WindowCache, link: &Link, xid: Xid, node: &Node, properties: &Properties) -> Window {
    let on_current_space = match (properties.desktop, cache.desktop) {
        (Some(desktop), Some(current)) => desktop == current || desktop == ALL_DESKTOPS,
        _ => true,
    };
    let has = |state| properties.states.contains(&state);
    // A window on another workspace, or a shaded one, is "iconic" to some window managers as well.
    let is_minimized = has(link.atoms._NET_WM_STATE_HIDDEN)
        || (properties.is_iconic && on_current_space && !has(link.atoms._NET_WM_STATE_SHADED));
    let Placed { window_id, is_on_screen, bounds, .. } = placed(cache, xid, node);
    Window {
        window_id,
        pid: properties.pid,
        app_name: String::new(),
        title: properties.title.clone(),
        size: bounds.size(),
        place: Some(bounds.place()),
        z_index: 0,
        is_on_screen,
        on_current_space,
        is_minimized,
        kind: kind(link, node, properties),
        owner_window_id: properties.transient_for.map(WindowId::of_xid),
    }
}

fn kind(link: &Link, node: &Node, properties: &Properties) -> WindowKind {
    let atoms = &link.atoms;
    let first = properties.types.first().copied();
    let menus = [
        atoms._NET_WM_WINDOW_TYPE_COMBO,
        atoms._NET_WM_WINDOW_TYPE_DROPDOWN_MENU,
        atoms._NET_WM_WINDOW_TYPE_POPUP_MENU,
        atoms._NET_WM_WINDOW_TYPE_TOOLTIP,
    ];
    if node.is_override || first.is_some_and(|kind| menus.contains(&kind)) {
        WindowKind::Popup
    } else if first == Some(atoms._NET_WM_WINDOW_TYPE_DIALOG)
        || (first.is_none() && properties.transient_for.is_some())
    {
        WindowKind::Dialog
    } else {
        WindowKind::Normal
    }
}

/// Keeps an owner that is itself listed; gives a popup without one the active, else the topmost window of its process.
fn give_owners(cache: &WindowCache, listed: &mut [Window]) {
    let known: HashMap<WindowId, (u32, WindowKind)> =
        listed.iter().map(|window| (window.window_id, (window.pid, window.kind))).collect();
    let mut topmost: HashMap<u32, WindowId> = HashMap::new();
    for window in listed.iter().filter(|window| window.kind != WindowKind::Popup && window.pid != 0) {
        topmost.insert(window.pid, window.window_id);
    }
    for window in listed {
        let said = window.owner_window_id.filter(|owner| known.contains_key(owner));
        let guessed = || {
            let active = cache.active.map(WindowId::of_xid).filter(|active| {
                known.get(active).is_some_and(|(pid, kind)| *pid == window.pid && *kind != WindowKind::Popup)
            });
            active.or_else(|| topmost.get(&window.pid).copied())
        };
        let guess = if window.kind == WindowKind::Popup && window.pid != 0 { guessed() } else { None };
        window.owner_window_id = said.or(guess).filter(|owner| *owner != window.window_id);
    }
}
