//! The windows of a display as they were when last read, brought up to date in pipelined batches.

use std::collections::{HashMap, HashSet};

use x11rb::errors::{ConnectionError, ReplyError};
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ConnectionExt as _, EventMask, MapState, Window, WindowClass,
};

use super::events::Changes;
use super::link::{Link, optional};
use super::properties::{self, Properties, numbers, property_of};
use crate::Rect;

/// The window manager that runs on a display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowManager {
    /// Its `_NET_SUPPORTING_WM_CHECK` window.
    pub check_window: u32,
    /// The name it gives itself; empty when it gives none.
    pub name: String,
}

/// A root child, or a client window inside one.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Inside of the border, in screen pixels.
    pub(crate) rect: Rect,
    pub(crate) border: u32,
    pub(crate) is_viewable: bool,
    pub(crate) is_override: bool,
    pub(crate) is_input_only: bool,
    /// The root's child that holds it; itself for a root child.
    pub(crate) frame: Window,
    pub(crate) properties: Option<Properties>,
}

impl Node {
    /// The rectangle with its border.
    pub(crate) fn outer(&self) -> Rect {
        let border = i32::try_from(self.border).unwrap_or(0);
        Rect {
            x: self.rect.x - border,
            y: self.rect.y - border,
            width: self.rect.width + 2 * self.border,
            height: self.rect.height + 2 * self.border,
        }
    }
}

/// Everything that was read.
#[derive(Default)]
pub(crate) struct WindowCache {
    pub(crate) nodes: HashMap<Window, Node>,
    /// Children of the root, bottom to top.
    pub(crate) stacking: Vec<Window>,
    /// Windows that the window manager manages; without one, those that look like an application's.
    pub(crate) clients: Vec<Window>,
    pub(crate) active: Option<Window>,
    pub(crate) desktop: Option<u32>,
    pub(crate) manager: Option<WindowManager>,
    pub(crate) screen: Rect,
    /// The events that were asked for.
    listened: HashMap<Window, EventMask>,
    was_read: bool,
}

impl WindowCache {
    /// Reads again what the notes say has changed.
    pub(crate) fn refresh(&mut self, link: &Link, changes: &Changes) -> Result<(), ReplyError> {
        if changes.root || !self.was_read {
            self.read_root(link, &changes.overlooked)?;
        }
        let tracked: HashSet<Window> = self.stacking.iter().chain(&self.clients).copied().collect();
        let gone = |window: &Window| changes.windows.get(window).is_some_and(|changed| changed.gone);
        self.nodes.retain(|window, _| tracked.contains(window) && !gone(window));
        self.listened.retain(|window, _| tracked.contains(window) && !gone(window));

        let moved = |window: Window| changes.windows.get(&window).is_some_and(|changed| changed.shape);
        let stale: Vec<Window> = tracked
            .iter()
            .copied()
            .filter(|window| self.nodes.get(window).is_none_or(|node| moved(*window) || moved(node.frame)))
            .collect();
        self.read_shapes(link, &stale)?;
        if self.manager.is_none() {
            self.clients.clear();
        }
        // Those of a window that is hidden are read once it is shown again.
        for (window, changed) in &changes.windows {
            if changed.properties
                && let Some(node) = self.nodes.get_mut(window)
            {
                node.properties = None;
            }
        }
        let is_unread =
            |window: &Window| self.nodes.get(window).is_some_and(|node| node.properties.is_none());
        let wanted: Vec<Window> = self.candidates().into_iter().filter(is_unread).collect();
        self.read_properties(link, &wanted)?;
        if self.manager.is_none() {
            self.clients = self.unmanaged_clients();
        }
        self.was_read = true;
        Ok(())
    }

    fn read_root(&mut self, link: &Link, overlooked: &HashSet<Window>) -> Result<(), ReplyError> {
        let atoms = &link.atoms;
        let tree = link.conn.query_tree(link.root)?;
        let size = link.conn.get_geometry(link.root)?;
        let clients = property_of(link, link.root, atoms._NET_CLIENT_LIST)?;
        let active = property_of(link, link.root, atoms._NET_ACTIVE_WINDOW)?;
        let desktop = property_of(link, link.root, atoms._NET_CURRENT_DESKTOP)?;
        let check = property_of(link, link.root, atoms._NET_SUPPORTING_WM_CHECK)?;
        self.stacking = tree.reply()?.children;
        self.stacking.retain(|window| !overlooked.contains(window));
        let size = size.reply()?;
        self.screen = Rect { x: 0, y: 0, width: size.width.into(), height: size.height.into() };
        let clients = numbers(clients.reply())?;
        let active = numbers(active.reply())?.first().copied().filter(|window| *window != 0);
        self.desktop = numbers(desktop.reply())?.first().copied();
        let check = numbers(check.reply())?.first().copied();
        self.manager = match check {
            Some(check) => manager_at(link, check)?,
            None => None,
        };
        // A window manager that was killed leaves its properties behind.
        let (clients, active) = if self.manager.is_some() { (clients, active) } else { (Vec::new(), None) };
        self.clients = clients;
        self.active = active;
        Ok(())
    }

    fn read_shapes(&mut self, link: &Link, stale: &[Window]) -> Result<(), ReplyError> {
        let clients: HashSet<Window> = self.clients.iter().copied().collect();
        let children: HashSet<Window> = self.stacking.iter().copied().collect();
        let mut sent = Vec::with_capacity(stale.len());
        for &window in stale {
            self.listen(link, window, children.contains(&window) && !clients.contains(&window))?;
            sent.push((
                window,
                link.conn.get_window_attributes(window)?,
                link.conn.get_geometry(window)?,
                link.conn.translate_coordinates(window, link.root, 0, 0)?,
                if children.contains(&window) { None } else { Some(link.conn.query_tree(window)?) },
            ));
        }
        let mut climbing = Vec::new();
        for (window, attributes, geometry, place, tree) in sent {
            let attributes = optional(attributes.reply())?;
            let geometry = optional(geometry.reply())?;
            let place = optional(place.reply())?;
            let parent = match tree {
                Some(tree) => optional(tree.reply())?.map(|tree| tree.parent),
                None => Some(link.root),
            };
            let (Some(attributes), Some(geometry), Some(place), Some(parent)) =
                (attributes, geometry, place, parent)
            else {
                // It is gone, and nothing was asked of another that gets its id.
                self.nodes.remove(&window);
                self.listened.remove(&window);
                continue;
            };
            let (width, height) = (geometry.width.into(), geometry.height.into());
            let node = Node {
                rect: Rect { x: place.dst_x.into(), y: place.dst_y.into(), width, height },
                border: geometry.border_width.into(),
                is_viewable: attributes.map_state == MapState::VIEWABLE,
                is_override: attributes.override_redirect,
                is_input_only: attributes.class == WindowClass::INPUT_ONLY,
                frame: window,
                properties: self.nodes.remove(&window).and_then(|node| node.properties),
            };
            self.nodes.insert(window, node);
            if parent != link.root {
                climbing.push((window, parent));
            }
        }
        self.climb(link, climbing)
    }

    /// Subscribes to what happens to a window, if that was not done.
    ///
    /// The root's own subscription tells of the shape of its children, and asking for it twice would send every event
    /// twice.
    fn listen(&mut self, link: &Link, window: Window, is_told_by_root: bool) -> Result<(), ReplyError> {
        let mask = if is_told_by_root {
            EventMask::PROPERTY_CHANGE
        } else {
            EventMask::PROPERTY_CHANGE | EventMask::STRUCTURE_NOTIFY
        };
        if self.listened.insert(window, mask) != Some(mask) {
            let attributes = ChangeWindowAttributesAux::new().event_mask(mask);
            link.conn.change_window_attributes(window, &attributes)?;
        }
        Ok(())
    }

    /// Finds the root's child above each window, all windows one level at a time.
    fn climb(&mut self, link: &Link, mut climbing: Vec<(Window, Window)>) -> Result<(), ReplyError> {
        while !climbing.is_empty() {
            let mut sent = Vec::with_capacity(climbing.len());
            for (window, above) in climbing {
                sent.push((window, above, link.conn.query_tree(above)?));
            }
            climbing = Vec::new();
            for (window, above, tree) in sent {
                match optional(tree.reply())?.map(|tree| tree.parent) {
                    Some(parent) if parent == link.root => {
                        if let Some(node) = self.nodes.get_mut(&window) {
                            node.frame = above;
                        }
                    }
                    Some(parent) if parent != 0 => climbing.push((window, parent)),
                    _ => drop(self.nodes.remove(&window)),
                }
            }
        }
        Ok(())
    }

    fn read_properties(&mut self, link: &Link, windows: &[Window]) -> Result<(), ConnectionError> {
        let mut sent = Vec::with_capacity(windows.len());
        for &window in windows {
            sent.push((window, properties::request(link, window)?));
        }
        for (window, request) in sent {
            let properties = request.answer(&link.atoms)?;
            if let Some(node) = self.nodes.get_mut(&window) {
                node.properties = Some(properties);
            }
        }
        Ok(())
    }

    /// The windows whose properties matter: clients, and root children with pixels that hold no client.
    fn candidates(&self) -> Vec<Window> {
        let frames = self.frames();
        let bare = self.stacking.iter().copied().filter(|window| {
            !frames.contains(window)
                && self.nodes.get(window).is_some_and(|node| node.is_viewable && !node.is_input_only)
        });
        let mut candidates: Vec<Window> = self.clients.clone();
        candidates.extend(bare.filter(|window| !self.clients.contains(window)));
        candidates
    }

    /// The root children that are the frame, or the whole, of a managed window.
    pub(crate) fn frames(&self) -> HashSet<Window> {
        self.clients.iter().filter_map(|client| self.nodes.get(client)).map(|node| node.frame).collect()
    }

    fn unmanaged_clients(&self) -> Vec<Window> {
        let is_client = |window: &Window| {
            self.nodes.get(window).is_some_and(|node| {
                node.is_viewable
                    && !node.is_override
                    && !node.is_input_only
                    && node.properties.as_ref().is_some_and(|properties| properties.is_named)
            })
        };
        self.stacking.iter().copied().filter(is_client).collect()
    }
}

/// The window manager that owns the check window, if that is not a dead one's leftover (EWMH).
fn manager_at(link: &Link, check: Window) -> Result<Option<WindowManager>, ConnectionError> {
    let own = property_of(link, check, link.atoms._NET_SUPPORTING_WM_CHECK)?;
    let name = property_of(link, check, link.atoms._NET_WM_NAME)?;
    let is_alive = numbers(own.reply())?.first() == Some(&check);
    let name = properties::string(&link.atoms, name.reply())?.unwrap_or_default();
    Ok(is_alive.then_some(WindowManager { check_window: check, name }))
}
