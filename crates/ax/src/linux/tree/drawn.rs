//! What LibreOffice draws by itself below a menu bar of GTK 3: it places its objects as if there were no such bar, and
//! lists the menus once more.

use desktop::Rect;

use super::objects::{Raw, Source};
use super::walk::Walk;
use crate::platform::bus::application::App;
use crate::platform::bus::ask::{self, Ask, Reply};
use crate::platform::bus::attributes::attributes;
use crate::platform::bus::toolkit::Toolkit;
use crate::state::State;
use crate::tree::{Node, Tree};

/// True for the menus of a drawn window that GTK shows beside it.
pub fn is_doubled(app: &App, parent: &Raw, child: &Raw) -> bool {
    app.toolkit == Toolkit::Gtk3 && is_drawn(parent.role.name()) && child.role.name() == "menu bar"
}

/// True for a window whose content the application draws.
pub fn is_drawn(role: &str) -> bool {
    role == "root pane"
}

/// True for a cell of a sheet: selecting it leaves the cursor, and so what is typed, in another one.
pub fn is_cell(tree: &Tree, position: usize) -> bool {
    let parent = |at: &usize| tree.nodes[*at].parent;
    let mut line = std::iter::successors(Some(position), parent).map(|at| tree.nodes[at].role.name());
    line.next() == Some("table cell") && line.any(is_drawn)
}

/// Finds how far the nodes of drawn windows are from where they say, by where GTK says that such a window begins.
/// Widgets of GTK inside know their place.
pub fn find_shifts(walk: &mut Walk<'_>, tree: &Tree, places: &mut [Source]) {
    if walk.app.toolkit != Toolkit::Gtk3 {
        return;
    }
    let drawn = |node: &Node| node.parent.filter(|_| is_drawn(node.role.name()));
    let roots: Vec<(usize, usize)> =
        tree.nodes.iter().enumerate().filter_map(|(at, node)| Some((at, drawn(node)?))).collect();
    if roots.is_empty() {
        return;
    }
    let asks: Vec<Ask> = roots
        .iter()
        .flat_map(|(root, parent)| [*parent, *root])
        .map(|at| Ask::extents(&places[at].object, ask::COORD_SCREEN))
        .collect();
    let replies = walk.ask_all(&asks);
    for ((root, _), replies) in roots.iter().zip(replies.chunks(2)) {
        if let Some(shift) = shift(replies) {
            places[*root].shift = shift;
        }
    }
    let mut inside = vec![false; tree.nodes.len()];
    for (at, node) in tree.nodes.iter().enumerate() {
        let below =
            |parent: usize| inside[parent] && !tree.nodes[parent].states.has(State::ManagesDescendants);
        inside[at] = is_drawn(node.role.name()) || node.parent.is_some_and(below);
    }
    let may_be_widget = |at: &usize| inside[*at] && matches!(tree.nodes[*at].role.name(), "panel" | "filler");
    let candidates: Vec<usize> = (0..inside.len()).filter(may_be_widget).collect();
    let asks: Vec<Ask> = candidates
        .iter()
        .map(|at| Ask::plain(&places[*at].object, ask::ACCESSIBLE, "GetAttributes"))
        .collect();
    let mut is_widget = vec![false; tree.nodes.len()];
    for (at, reply) in candidates.iter().zip(walk.ask_all(&asks)) {
        is_widget[*at] = attributes(&reply).iter().any(|(name, _)| name == "toolkit");
    }
    for (at, node) in tree.nodes.iter().enumerate() {
        if let Some(parent) = node.parent.filter(|_| !is_widget[at] && !is_drawn(node.role.name())) {
            places[at].shift = places[parent].shift;
        }
    }
}

/// The drawn content that a cell of a sheet lies in, and how far that is now from where it says: LibreOffice learns where its
/// window is from the pointer's events, which may have come after the tree was read.
pub fn shift_now(
    walk: &mut Walk<'_>,
    tree: &Tree,
    places: &[Source],
    position: usize,
) -> Option<(usize, (i32, i32))> {
    if !is_cell(tree, position) {
        return None;
    }
    let parent = |at: &usize| tree.nodes[*at].parent;
    let root =
        std::iter::successors(Some(position), parent).find(|at| is_drawn(tree.nodes[*at].role.name()))?;
    let asks = [parent(&root)?, root].map(|at| Ask::extents(&places[at].object, ask::COORD_SCREEN));
    Some((root, shift(&walk.ask_all(&asks))?))
}

/// How far the second of two places is from the first.
fn shift(replies: &[Reply]) -> Option<(i32, i32)> {
    let (outer, inner) = (ask::rect(&replies[0])?, ask::rect(&replies[1])?);
    Some((outer.x.saturating_sub(inner.x), outer.y.saturating_sub(inner.y)))
}

/// A place moved by that much; what has no size has no place.
pub fn shifted(place: Rect, (x, y): (i32, i32)) -> Rect {
    if place.width == 0 && place.height == 0 {
        return place;
    }
    Rect { x: place.x.saturating_add(x), y: place.y.saturating_add(y), ..place }
}
