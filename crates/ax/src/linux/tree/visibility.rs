//! Where each object of a window is to be seen, and how much lies beyond the view.

use std::collections::{HashMap, HashSet};

use desktop::Rect;

use super::drawn;
use super::objects::{Objects, Raw};
use super::view::{View, Visibility, scrolls};
use super::walk::Walk;
use crate::offscreen::Offscreen;
use crate::platform::bus::ask;
use crate::platform::bus::toolkit::Toolkit;
use crate::role::Role;
use crate::tree::{Abilities, Node};

/// Where each object of a window is to be seen.
pub struct Visibilities {
    /// By its position; what is not below the window's root is hidden.
    pub all: Vec<Visibility>,
    /// Objects whose children stand from the bottom to the top.
    reversed: HashSet<usize>,
}

/// Where each object below `root` is to be seen.
pub fn visibilities(walk: &mut Walk<'_>, objects: &Objects, root: usize, view: View) -> Visibilities {
    let mut visibilities = vec![Visibility::Hidden; objects.all.len()];
    visibilities[root] = Visibility::InView;
    let order = preorder(objects, root);
    let mut choosing = vec![false; objects.all.len()];
    let mut drawn = vec![false; objects.all.len()];
    for at in &order {
        let parent = &objects.all[*at];
        drawn[*at] |= drawn::is_drawn(parent.role.name());
        for child in parent.children.iter().filter(|child| **child != root) {
            drawn[*child] = drawn[*at];
            choosing[*child] = choosing[*at] || parent.role.name() == "combo box";
            let visibility = view.visibility((parent, visibilities[*at]), &objects.all[*child]);
            visibilities[*child] = if choosing[*child] && visibility == Visibility::Offscreen {
                Visibility::Hidden
            } else {
                visibility
            };
        }
    }
    let mut reversed = HashSet::new();
    if walk.app.toolkit == Toolkit::Gtk3 {
        order_cells(walk, objects, &mut visibilities, |at| !drawn[at]);
        reversed = hide_unmapped(walk, objects, &order, &mut visibilities);
    }
    Visibilities { all: visibilities, reversed }
}

/// In GTK 3 the cells of a table say that they are shown wherever they are; those in view have a place.
fn order_cells(
    walk: &mut Walk<'_>,
    objects: &Objects,
    visibilities: &mut [Visibility],
    is_own: impl Fn(usize) -> bool,
) {
    let is_cell = |at: &usize| {
        let inside =
            || objects.above(*at).is_some_and(|above| objects.all[above].abilities.has(Abilities::TABLE));
        visibilities[*at] == Visibility::InView
            && is_own(*at)
            && objects.all[*at].role.name() == "table cell"
            && inside()
    };
    let cells: Vec<usize> = (0..objects.all.len()).filter(is_cell).collect();
    walk.ask_extents(cells.iter().map(|at| &objects.all[*at].object));
    for at in cells {
        if place(walk, objects, at).is_none() {
            visibilities[at] = Visibility::Offscreen;
        }
    }
}

/// GTK 3 gives no place to what is scrolled away, nor to what is on another page of a stack. The second has no size, or
/// lies in what is wholly in view. Gives the parents that list their children from the bottom to the top.
fn hide_unmapped(
    walk: &mut Walk<'_>,
    objects: &Objects,
    order: &[usize],
    visibilities: &mut [Visibility],
) -> HashSet<usize> {
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for at in order.iter().filter(|at| visibilities[**at] == Visibility::Offscreen) {
        let above = objects.above(*at).filter(|above| visibilities[*above] == Visibility::InView);
        edges.extend(above.filter(|above| !scrolls(&objects.all[*above])).map(|above| (*at, above)));
    }
    let mut parents: Vec<usize> = edges.iter().map(|(_, above)| *above).collect();
    parents.sort_unstable();
    parents.dedup();
    let scrollers: Vec<usize> = parents.iter().map(|at| scroller(objects, *at).unwrap_or(*at)).collect();
    let ends: Vec<usize> = parents
        .iter()
        .flat_map(|at| {
            let children = || {
                objects.all[*at].children.iter().filter(|child| visibilities[**child] == Visibility::InView)
            };
            [children().next(), children().next_back()].map(|end| end.copied().unwrap_or(*at))
        })
        .collect();
    let asked = parents.iter().chain(&scrollers).chain(&ends).chain(edges.iter().map(|(at, _)| at));
    walk.ask_extents(asked.map(|at| &objects.all[*at].object));
    let place = |at: usize| place(walk, objects, at);
    for (at, above) in &edges {
        let parent = parents.binary_search(above).unwrap_or(0);
        let size = walk.extents(&objects.all[*at].object).and_then(ask::size);
        let has_size = size.is_some_and(|(width, height)| width > 1 && height > 1);
        let both = place(parents[parent]).zip(place(scrollers[parent]));
        let overflows = both.is_some_and(|(own, around)| {
            own.width > around.width || own.height > around.height || own.x < around.x || own.y < around.y
        });
        if !has_size || !overflows {
            visibilities[*at] = Visibility::Hidden;
        }
    }
    hide_inside_hidden(objects, order, visibilities);
    let upwards =
        |ends: &[usize]| place(ends[0]).zip(place(ends[1])).is_some_and(|(first, last)| first.y > last.y);
    parents.iter().zip(ends.chunks(2)).filter(|(_, ends)| upwards(ends)).map(|(at, _)| *at).collect()
}

/// Hides what is out of view inside of something hidden.
fn hide_inside_hidden(objects: &Objects, order: &[usize], visibilities: &mut [Visibility]) {
    for at in order {
        if visibilities[*at] == Visibility::Hidden {
            for child in &objects.all[*at].children {
                if visibilities[*child] == Visibility::Offscreen {
                    visibilities[*child] = Visibility::Hidden;
                }
            }
        }
    }
}

/// The scroll pane around an object: the viewport inside is at a loss about itself where it is scrolled.
fn scroller(objects: &Objects, at: usize) -> Option<usize> {
    let mut around = Some(at);
    while let Some(inner) = around.filter(|at| objects.all[*at].role.name() != "scroll pane") {
        around = objects.above(inner).filter(|next| *next != inner);
    }
    around
}

/// Where an object that was asked is on the screen; none for what has no place.
fn place(walk: &Walk<'_>, objects: &Objects, at: usize) -> Option<Rect> {
    walk.extents(&objects.all[at].object).and_then(ask::rect)
}

/// The objects below `root` in the order of the document, parents first.
pub fn preorder(objects: &Objects, root: usize) -> Vec<usize> {
    let mut seen = vec![false; objects.all.len()];
    let mut order = Vec::new();
    let mut stack = vec![root];
    while let Some(at) = stack.pop() {
        if !std::mem::replace(&mut seen[at], true) {
            order.push(at);
            stack.extend(objects.all[at].children.iter().rev());
        }
    }
    order
}

/// How much lies beyond the view: above what is in view around it, or below.
pub fn count(objects: &Objects, root: usize, visibilities: &Visibilities) -> Offscreen {
    let Visibilities { all: visibilities, reversed } = visibilities;
    let order = preorder(objects, root);
    let mut place = vec![usize::MAX; objects.all.len()];
    for (number, at) in order.iter().enumerate() {
        place[*at] = number;
    }
    // The last object in view below each, itself not counted; what lies in something out of view says nothing.
    let mut last = vec![0; objects.all.len()];
    for at in order.iter().rev().filter(|at| visibilities[**at] == Visibility::InView) {
        for child in
            objects.all[*at].children.iter().filter(|child| visibilities[**child] == Visibility::InView)
        {
            let raw = &objects.all[*child];
            // Line breaks of a page say that they are shown wherever they are.
            let own = if is_operated(raw) || is_text(raw) { place[*child] } else { 0 };
            last[*at] = last[*at].max(last[*child]).max(own);
        }
    }
    let first_cells = first_cells(objects, &order, visibilities);
    let mut offscreen = Offscreen::default();
    for at in order.iter().filter(|at| visibilities[**at] == Visibility::Offscreen) {
        let raw = &objects.all[*at];
        if is_operated(raw) {
            let mut around = objects.above(*at);
            while let Some(above) = around.filter(|above| visibilities[*above] != Visibility::InView) {
                around = objects.above(above).filter(|next| *next != above);
            }
            let above = around.is_some_and(|around| match first_cells.get(&around) {
                Some(first) => place[*at] < place[*first],
                None => (last[around] > place[*at]) != reversed.contains(&around),
            });
            offscreen.add(u32::from(above), u32::from(!above));
        } else if is_text(raw) {
            offscreen.texts += 1;
        }
    }
    offscreen
}

/// The first cell in view of each table of cells. Only what stands before it is above: a cell beside the view stands
/// between the rows in view.
fn first_cells(objects: &Objects, order: &[usize], visibilities: &[Visibility]) -> HashMap<usize, usize> {
    let is_cell = |at: &&usize| {
        visibilities[**at] == Visibility::InView && objects.all[**at].role.name() == "table cell"
    };
    let tables = order.iter().filter(|at| objects.all[**at].abilities.has(Abilities::TABLE));
    tables.filter_map(|table| Some((*table, *objects.all[*table].children.iter().find(is_cell)?))).collect()
}

fn is_operated(raw: &Raw) -> bool {
    let (role, states, abilities) = (raw.role, raw.states, raw.abilities);
    Node { role, states, abilities, ..Node::default() }.is_operated()
}

fn is_text(raw: &Raw) -> bool {
    let leaf = |role: Role| matches!(role.name(), "static" | "label" | "text" | "image" | "table cell");
    raw.children.is_empty() && leaf(raw.role) && !raw.name.trim().is_empty()
}
