//! Reads the tree of one window.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::coordinates::{self, relative_to};
use super::detail::{self, Target};
use super::objects::{self, Objects, Raw, Source};
use super::view::{View, Visibility};
use super::visibility::{self, preorder};
use super::walk::Walk;
use super::window::{self, Found};
use super::{drawn, plugs};
use crate::platform::bus::application::App;
use crate::platform::bus::ask::{self, Ask, ObjectRef};
use crate::platform::bus::toolkit::Toolkit;
use crate::platform::snapshot::Snapshot;
use crate::tree::{Node, Tree};
use crate::{Offscreen, SnapshotRequest, token};

/// What a tree was made of, from which the next one is made.
pub struct Reading {
    /// The objects of the application.
    pub objects: Objects,
    /// The window's own.
    pub found: Option<Found>,
    /// The details of each node that no bulk read tells: place, actions, value, text, label.
    pub known: Known,
    /// What of it lies beyond the view and was not read.
    pub unread: Offscreen,
    /// True when the application, and every program embedded in the window, answered everything in time.
    pub in_time: bool,
    /// True when a part of the window belongs to another program.
    pub has_embedded: bool,
}

/// What nodes said, by their object.
pub type Known = HashMap<ObjectRef, Node>;

/// Reads the tree of the window that `request` names.
pub fn take(app: &Arc<App>, request: &SnapshotRequest, deadline: Instant) -> (Snapshot, Reading) {
    let mut walk = Walk::of(app, request, deadline);
    let mut objects = Objects::default();
    let tops = read_tops(&mut walk, &mut objects);
    let found = if walk.timed_out { None } else { window::find(&mut walk, &objects, &tops, request) };
    if let Some(Found { root, .. }) = found {
        let view = View::of(app, &objects, root);
        let is_shown = |states| view.is_shown(states) || view.may_lie_beyond(states);
        walk.view = Some(view);
        walk.complete(&mut objects, &[root], &is_shown);
        plugs::fill(&mut walk, &mut objects, (root, request.window_id), &is_shown);
    }
    assemble(walk, objects, found, request, &Known::new())
}

/// Makes the tree of the objects below `found`; of nodes that are `known` only the place is asked.
pub fn assemble(
    mut walk: Walk<'_>,
    objects: Objects,
    found: Option<Found>,
    request: &SnapshotRequest,
    known: &Known,
) -> (Snapshot, Reading) {
    let app = walk.app;
    let mut tree =
        Tree { origin: request.place.map_or((0, 0), |place| (place.x, place.y)), ..Tree::default() };
    let mut places = Vec::new();
    let mut complete = true;
    let mut offscreen = Offscreen { listed: request.offscreen, ..walk.unread };
    let mut said = Known::new();
    match found {
        Some(Found { root, origin }) => {
            let more = build_in_sight(&mut walk, &objects, root, request, (&mut tree, &mut places));
            offscreen.add(more.above, more.below);
            offscreen.texts += more.texts;
            if let Some(window) = tree.nodes.first_mut().filter(|window| window.label.is_empty()) {
                window.label.clone_from(&request.title);
            }
            complete = tree.choose(request.max_elements);
            places.truncate(tree.nodes.len());
            drawn::find_shifts(&mut walk, &tree, &mut places);
            let origin = origin.unwrap_or(tree.origin);
            fill(&mut walk, &objects, &places, (&mut tree, origin), (known, request.all_places));
            if app.toolkit.is_read_in_part() {
                let nodes = places.iter().zip(&tree.nodes);
                said = nodes.map(|(place, node)| (place.object.clone(), node.clone())).collect();
            }
            tree.name_by_content();
            tree.fold();
        }
        None => say_absent(&mut walk, request),
    }
    if !complete {
        walk.left_out.push(format!("max_elements {} was reached", request.max_elements));
    }
    let partial = left_out(&mut walk, (tree.nodes.len(), objects.all.len()), request);
    let window =
        found.filter(|found| found.origin.is_some()).map(|found| objects.all[found.root].object.clone());
    let in_time = !walk.timed_out && walk.silent.is_empty();
    let (unread, has_embedded) = (walk.unread, !walk.embedded.is_empty());
    let reading = Reading { objects, found, known: said, unread, in_time, has_embedded };
    app.events.embeds(app.pid, &walk.embedded);
    let app = Arc::clone(app);
    (Snapshot { app, tree: Arc::new(tree), objects: Arc::new(places), window, partial, offscreen }, reading)
}

/// Builds the tree of what is to be seen below `root`; answers what lies beyond the view.
fn build_in_sight(
    walk: &mut Walk<'_>,
    objects: &Objects,
    root: usize,
    request: &SnapshotRequest,
    made: (&mut Tree, &mut Vec<Source>),
) -> Offscreen {
    let view = View::of(walk.app, objects, root);
    let visibilities = visibility::visibilities(walk, objects, root, view);
    let more = visibility::count(objects, root, &visibilities);
    let below = Below { objects, root, max_depth: request.max_depth };
    if build(walk.app, &below, &kept(objects, root, &visibilities.all, request.offscreen), made) {
        walk.left_out.push(format!("max_depth {} was reached", request.max_depth));
    }
    more
}

/// Says that the window is not there, unless there was no time to see it.
fn say_absent(walk: &mut Walk<'_>, request: &SnapshotRequest) {
    if !walk.timed_out {
        walk.left_out.push(format!(
            "the application has no accessible window \"{}\" of {}x{}",
            request.title, request.size.width, request.size.height
        ));
    }
}

/// What the tree lacks, and why; none when it is whole. `nodes` of so many objects were read.
fn left_out(
    walk: &mut Walk<'_>,
    (nodes, objects): (usize, usize),
    request: &SnapshotRequest,
) -> Option<String> {
    if walk.timed_out {
        walk.left_out.push(format!(
            "the application did not answer within {} ms; {nodes} of {} nodes were read",
            request.timeout.as_millis(),
            objects.max(nodes)
        ));
    }
    (!walk.left_out.is_empty()).then(|| walk.left_out.join("; "))
}

/// Reads in bulk what the application offers, and its top-level objects.
fn read_tops(walk: &mut Walk<'_>, objects: &mut Objects) -> Vec<usize> {
    let app = walk.app;
    let replies = walk.ask_all(&[
        Ask::plain(&app.root(), ask::ACCESSIBLE, "GetChildren"),
        Ask::plain(&app.object("", objects::CACHE_PATH), ask::CACHE, "GetItems"),
    ]);
    if let Ok(items) = &replies[1]
        && !objects.read_items(app, items)
    {
        walk.left_out.push("the bulk reply of the application is malformed".to_owned());
    }
    let tops: Vec<ObjectRef> = replies[0]
        .as_ref()
        .map(objects::references)
        .unwrap_or_default()
        .into_iter()
        .map(|(bus, path)| app.object(&bus, &path))
        .collect();
    let unknown: Vec<ObjectRef> =
        tops.iter().filter(|top| objects.position(top).is_none()).cloned().collect();
    for raw in walk.describe(&unknown, &|_| true) {
        objects.insert(raw);
    }
    tops.iter().filter_map(|top| objects.position(top)).collect()
}

/// The part of a window that becomes a tree.
struct Below<'a> {
    objects: &'a Objects,
    root: usize,
    max_depth: u32,
}

/// What becomes of each object: left out, in the tree, or in the tree and beyond the view.
fn kept(objects: &Objects, root: usize, visibilities: &[Visibility], offscreen: bool) -> Vec<Option<bool>> {
    let mut kept: Vec<Option<bool>> = visibilities
        .iter()
        .map(|visibility| match visibility {
            Visibility::InView => Some(false),
            Visibility::Offscreen => offscreen.then_some(true),
            Visibility::Hidden => None,
        })
        .collect();
    for at in preorder(objects, root).into_iter().rev() {
        let children = &objects.all[at].children;
        if kept[at].is_none() && children.iter().any(|child| kept[*child].is_some()) {
            kept[at] = Some(false);
        }
    }
    kept[root] = Some(false);
    kept
}

/// Puts the kept objects into the tree, parents before children; true when some lie deeper than `max_depth`.
fn build(
    app: &App,
    Below { objects, root, max_depth }: &Below<'_>,
    kept: &[Option<bool>],
    (tree, places): (&mut Tree, &mut Vec<Source>),
) -> bool {
    let (root, max_depth) = (*root, *max_depth);
    let mut seen = vec![false; objects.all.len()];
    let mut cut = false;
    let mut stack: Vec<(usize, Option<usize>, u32)> = vec![(root, None, 0)];
    while let Some((at, parent, depth)) = stack.pop() {
        let Some(offscreen) = kept[at] else { continue };
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        if max_depth != 0 && depth > max_depth {
            cut = true;
            continue;
        }
        let raw = &objects.all[at];
        let position = tree.nodes.len();
        tree.nodes.push(Node { parent, offscreen, ..node(app, raw) });
        if drawn::is_cell(tree, position) {
            // It is another object each time it is asked for.
            let parent = raw.parent.as_ref().map_or("", |parent| &*parent.path);
            let named = format!("{parent}/{}", raw.name);
            tree.nodes[position].identity = token::identity(app.pid, &raw.object.bus, &named);
        }
        let above = objects.above(at).map(|above| &objects.all[above]);
        let among = above.and_then(|above| above.children.iter().position(|child| *child == at));
        let index = i32::try_from(among.unwrap_or(0)).unwrap_or(i32::MAX);
        places.push(Source {
            object: raw.object.clone(),
            parent: above.map(|above| (above.object.clone(), if raw.index >= 0 { raw.index } else { index })),
            has_children: !raw.children.is_empty(),
            shift: (0, 0),
        });
        // Qt shows the options of a closed combo box as if they stood in the window.
        let closed = app.toolkit == Toolkit::Qt && raw.role.name() == "combo box";
        let shown = raw.children.iter().rev().filter(|child| {
            let child = &objects.all[**child];
            !(closed && is_list(child) || drawn::is_doubled(app, raw, child))
        });
        stack.extend(shown.map(|child| (*child, Some(position), depth + 1)));
    }
    cut
}

/// The node of an object, of which its place in the tree is not known.
fn node(app: &App, raw: &Raw) -> Node {
    let mut node = Node {
        role: raw.role,
        states: raw.states,
        abilities: raw.abilities,
        identity: token::identity(app.pid, &raw.object.bus, &raw.object.path),
        ..Node::default()
    };
    node.value = node.toggle_value();
    detail::give_name(app, &mut node, &raw.name, &raw.description);
    node
}

fn is_list(raw: &Raw) -> bool {
    matches!(raw.role.name(), "list" | "list box" | "table" | "tree")
}

/// Reads what the printed nodes lack.
fn fill(
    walk: &mut Walk<'_>,
    objects: &Objects,
    places: &[Source],
    (tree, origin): (&mut Tree, (i32, i32)),
    (known, all_places): (&Known, bool),
) {
    let mut targets: Vec<Target<'_>> = places
        .iter()
        .zip(&mut tree.nodes)
        .map(|(place, node)| {
            let mut node = std::mem::take(node);
            let before = known.get(&place.object).filter(|before| before.resembles(&node));
            if let Some(before) = before {
                node.label.clone_from(&before.label);
                node.value.clone_from(&before.value);
                node.actions.clone_from(&before.actions);
            }
            Target {
                object: &place.object,
                has_children: place.has_children,
                placed: all_places,
                known: before.is_some(),
                node,
                labels: Vec::new(),
                within: None,
            }
        })
        .collect();
    let (origin, toolkit) = (relative_to(walk, origin), walk.app.toolkit);
    detail::complete(walk, &mut targets, origin);
    for ((node, mut target), place) in tree.nodes.iter_mut().zip(targets).zip(places) {
        target.node.frame = drawn::shifted(coordinates::unwrapped(toolkit, target.node.frame), place.shift);
        if target.node.label.is_empty() {
            let names = target.labels.iter().filter_map(|label| objects.position(label));
            target.node.label = names.map(|at| objects.all[at].name.as_str()).collect::<Vec<_>>().join(" ");
        }
        *node = target.node;
    }
}
