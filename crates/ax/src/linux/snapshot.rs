//! Reads the tree of one window, and keeps what its elements were made of.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::application::{App, Toolkit};
use super::ask::{self, Ask, ObjectRef};
use super::collect::{self, Objects, Raw};
use super::dbus::CallError;
use super::detail::{self, Target};
use super::drawn;
use super::place;
use super::plugs;
use super::view::{self, Sight, View};
use super::walk::Walk;
use super::window::{self, Found};
use crate::state::{State, States};
use crate::token::Token;
use crate::tree::{Node, Tree};
use crate::{AxError, Beyond, Element, How, SnapshotRequest, changes, elements, markdown, token};

/// The tree of one window as it was read, with what is needed to act on its elements.
#[derive(Clone)]
pub struct Snapshot {
    pub(super) app: Arc<App>,
    pub(super) tree: Arc<Tree>,
    /// Objects of the tree's nodes.
    pub(super) objects: Arc<Vec<Place>>,
    /// The window's own object, when it is a top-level one.
    pub(super) window: Option<ObjectRef>,
    pub(super) partial: Option<String>,
    pub(super) beyond: Beyond,
}

/// Where a node of the tree comes from.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its object.
    pub object: ObjectRef,
    /// Its parent's object, and its position there.
    pub parent: Option<(ObjectRef, i32)>,
    /// True when it has children, shown or not.
    pub has_children: bool,
    /// From where the application says that it is to where it is.
    pub shift: (i32, i32),
}

impl Snapshot {
    /// Number of elements.
    pub fn element_count(&self) -> u32 {
        self.tree.element_count()
    }

    /// Why the tree is incomplete; none when it is complete.
    pub fn partial(&self) -> Option<&str> {
        self.partial.as_deref()
    }

    /// What lies beyond the view.
    pub fn beyond(&self) -> Beyond {
        self.beyond
    }

    /// The tree as Markdown; with `query` only matching lines and their ancestors.
    pub fn markdown(&self, query: Option<&str>, short_tags: bool) -> String {
        markdown::markdown(&self.tree, query, short_tags)
    }

    /// The elements as the text of a JSON array; with `query` those of the lines that it keeps.
    pub fn elements(&self, query: Option<&str>) -> String {
        elements::json(&self.tree, query)
    }

    /// All that is printed, operated or not, as the text of a JSON array; `depth` says what lies in what.
    pub fn printed(&self) -> String {
        elements::printed(&self.tree)
    }

    /// One element as it was read.
    pub fn element(&self, index: u32) -> Option<Element> {
        self.position(index).ok().map(|at| Element::of(&self.tree.nodes[at], index))
    }

    /// Index of the element that had the keyboard focus.
    pub fn focused(&self) -> Option<u32> {
        let focused = self.tree.nodes.iter().rev().find(|node| node.states.has(State::Focused))?;
        focused.index
    }

    /// Index of the element that the application last said to have got the focus, where it is one of this window. It need not
    /// have it now: an element of a window that is not active has none in most toolkits.
    pub fn last_focused(&self) -> Option<u32> {
        let path = self.app.events.last_focus(&self.app.name)?;
        let is_it = |place: &Place| place.object.bus == self.app.name && place.object.path == path;
        self.tree.nodes[self.objects.iter().position(is_it)?].index
    }

    /// The same tree with the indices of `previous` for the elements that were there; new ones get higher ones.
    #[must_use]
    pub fn keeping_indices(&self, previous: &Self) -> Self {
        let mut tree = Tree::clone(&self.tree);
        tree.keep_indices(&previous.tree);
        Self { tree: Arc::new(tree), ..self.clone() }
    }

    /// What changed since `previous`, as the text of a JSON object.
    pub fn changes_since(&self, previous: &Self) -> String {
        changes::json(&self.tree, &previous.tree)
    }

    /// What changed since `previous`, as lines with `+`, `~` and `-`.
    pub fn changes_markdown(&self, previous: &Self, short_tags: bool) -> String {
        changes::markdown(&self.tree, &previous.tree, short_tags)
    }

    /// The token of an element; empty when the snapshot has none of this index.
    pub fn token(&self, index: u32) -> String {
        let token = self.tree.element_tokens().find(|(own, _)| *own == index);
        token.map(|(_, token)| token.text()).unwrap_or_default()
    }

    /// The element that a token stands for, and how it was found; none when it is not here.
    pub fn find(&self, token: &str) -> Option<(u32, How)> {
        self.tree.find(Token::parse(token)?)
    }

    /// The elements most like that of a token, as the text of a JSON array: element_token, role and label.
    pub fn nearest(&self, token: &str) -> String {
        Token::parse(token).map_or_else(|| "[]".to_owned(), |token| elements::candidates(&self.tree, token))
    }

    /// Index of the innermost element at a point in window pixels: the smallest there, of equal ones the last.
    pub fn at(&self, x: i32, y: i32) -> Option<u32> {
        let point = desktop::Point { x, y };
        let there = self.tree.elements.iter().rev().flatten().map(|at| &self.tree.nodes[*at]);
        let there = there.filter(|node| node.frame.contains(point));
        there.min_by_key(|node| u64::from(node.frame.width) * u64::from(node.frame.height))?.index
    }

    pub(super) fn position(&self, index: u32) -> Result<usize, AxError> {
        self.tree.position(index).ok_or(AxError::UnknownElement { index, count: self.element_count() })
    }

    /// The failure of a call on an element: one that the application no longer knows is stale.
    pub(super) fn failure(&self, index: u32, error: &CallError, waited: Duration) -> AxError {
        match error {
            CallError::Remote { name, .. } if is_gone(name) => self.stale(index),
            other => self.app.failure(other, waited),
        }
    }

    pub(super) fn stale(&self, index: u32) -> AxError {
        let (role, label) = self.named(index);
        AxError::StaleElement { index, role, label }
    }

    /// Role and label of an element, for messages.
    pub(super) fn named(&self, index: u32) -> (String, String) {
        let node = self.position(index).ok().map(|at| &self.tree.nodes[at]);
        node.map_or_else(Default::default, |node| (node.role.name().to_owned(), node.label.clone()))
    }
}

/// True for the errors by which a bus or an application says that an object is no more.
fn is_gone(error: &str) -> bool {
    let short = error.rsplit('.').next().unwrap_or_default();
    matches!(
        short,
        "UnknownObject" | "UnknownMethod" | "UnknownInterface" | "ServiceUnknown" | "NameHasNoOwner"
    )
}

/// What a tree was made of, from which the next one is made.
pub struct Reading {
    /// The objects of the application.
    pub objects: Objects,
    /// The window's own.
    pub found: Option<Found>,
    /// What the nodes said beside what stands in the objects.
    pub known: Known,
    /// What of it lies beyond the view and was not read.
    pub unread: Beyond,
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
    let mut tree = Tree { origin: (request.bounds.x, request.bounds.y), ..Tree::default() };
    let mut places = Vec::new();
    let mut complete = true;
    let mut beyond = Beyond { listed: request.offscreen, ..walk.beyond };
    let mut said = Known::new();
    match found {
        Some(Found { root, origin }) => {
            let view = View::of(app, &objects, root);
            let sights = view::sights(&mut walk, &objects, root, view);
            let more = view::count(&objects, root, &sights);
            beyond.add(more.above, more.below);
            beyond.texts += more.texts;
            let below = Below { objects: &objects, root, max_depth: request.max_depth };
            if build(
                app,
                &below,
                &kept(&objects, root, &sights.all, request.offscreen),
                (&mut tree, &mut places),
            ) {
                walk.left_out.push(format!("max_depth {} was reached", request.max_depth));
            }
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
        None if !walk.timed_out => walk.left_out.push(format!(
            "the application has no accessible window \"{}\" of {}x{}",
            request.title, request.bounds.width, request.bounds.height
        )),
        None => {}
    }
    if !complete {
        walk.left_out.push(format!("max_elements {} was reached", request.max_elements));
    }
    if walk.timed_out {
        walk.left_out.push(format!(
            "the application did not answer within {} ms; {} of {} nodes were read",
            request.timeout.as_millis(),
            tree.nodes.len(),
            objects.all.len().max(tree.nodes.len())
        ));
    }
    let partial = (!walk.left_out.is_empty()).then(|| walk.left_out.join("; "));
    let window =
        found.filter(|found| found.origin.is_some()).map(|found| objects.all[found.root].object.clone());
    let in_time = !walk.timed_out && walk.silent.is_empty();
    let (unread, has_embedded) = (walk.beyond, !walk.embedded.is_empty());
    let reading = Reading { objects, found, known: said, unread, in_time, has_embedded };
    app.events.embeds(app.pid, &walk.embedded);
    let app = Arc::clone(app);
    (Snapshot { app, tree: Arc::new(tree), objects: Arc::new(places), window, partial, beyond }, reading)
}

/// Reads in bulk what the application offers, and its top-level objects.
fn read_tops(walk: &mut Walk<'_>, objects: &mut Objects) -> Vec<usize> {
    let app = walk.app;
    let replies = walk.ask_all(&[
        Ask::plain(&app.root(), ask::ACCESSIBLE, "GetChildren"),
        Ask::plain(&app.object("", collect::CACHE_PATH), ask::CACHE, "GetItems"),
    ]);
    if let Ok(items) = &replies[1]
        && !objects.read_items(app, items)
    {
        walk.left_out.push("the bulk reply of the application is malformed".to_owned());
    }
    let tops: Vec<ObjectRef> = replies[0]
        .as_ref()
        .map(collect::references)
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
fn kept(objects: &Objects, root: usize, sights: &[Sight], offscreen: bool) -> Vec<Option<bool>> {
    let mut kept: Vec<Option<bool>> = sights
        .iter()
        .map(|sight| match sight {
            Sight::InView => Some(false),
            Sight::Beyond => offscreen.then_some(true),
            Sight::Hidden => None,
        })
        .collect();
    for at in view::preorder(objects, root).into_iter().rev() {
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
    (tree, places): (&mut Tree, &mut Vec<Place>),
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
        let mut node = Node {
            parent,
            role: raw.role,
            states: raw.states,
            abilities: raw.abilities,
            identity: token::identity(app.pid, &raw.object.bus, &raw.object.path),
            offscreen,
            ..Node::default()
        };
        node.value = node.toggle_value();
        detail::give_name(app, &mut node, &raw.name, &raw.description);
        tree.nodes.push(node);
        if drawn::is_cell(tree, position) {
            // It is another object each time it is asked for.
            let parent = raw.parent.as_ref().map_or("", |parent| &*parent.path);
            let named = format!("{parent}/{}", raw.name);
            tree.nodes[position].identity = token::identity(app.pid, &raw.object.bus, &named);
        }
        let above = objects.above(at).map(|above| &objects.all[above]);
        let among = above.and_then(|above| above.children.iter().position(|child| *child == at));
        let index = i32::try_from(among.unwrap_or(0)).unwrap_or(i32::MAX);
        places.push(Place {
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

fn is_list(raw: &Raw) -> bool {
    matches!(raw.role.name(), "list" | "list box" | "table" | "tree")
}

/// Reads what the printed nodes lack.
fn fill(
    walk: &mut Walk<'_>,
    objects: &Objects,
    places: &[Place],
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
        target.node.frame = drawn::shifted(place::unwrapped(toolkit, target.node.frame), place.shift);
        if target.node.label.is_empty() {
            let names = target.labels.iter().filter_map(|label| objects.position(label));
            target.node.label = names.map(|at| objects.all[at].name.as_str()).collect::<Vec<_>>().join(" ");
        }
        *node = target.node;
    }
}

/// What is subtracted from places as the application gives them.
pub fn relative_to(walk: &Walk<'_>, origin: (i32, i32)) -> (i32, i32) {
    if walk.app.coordinates() == ask::COORD_SCREEN { origin } else { (0, 0) }
}

/// Reads one element again, as `fill` does for all.
pub fn reread(snapshot: &Snapshot, index: u32, timeout: Duration) -> Result<Element, AxError> {
    let position = snapshot.position(index)?;
    let (place, old) = (&snapshot.objects[position], &snapshot.tree.nodes[position]);
    let deadline = Instant::now() + timeout;
    let mut walk = Walk::until(&snapshot.app, deadline);
    let window = snapshot.window.as_ref().unwrap_or(&place.object);
    let mut target = Target {
        object: &place.object,
        has_children: place.has_children,
        placed: false,
        known: false,
        node: old.clone(),
        labels: Vec::new(),
        within: None,
    };
    // An element seldom changes in kind: what its old self would be asked goes along, which saves a wait.
    let (wants, details) = detail::first_asks(&target, &snapshot.app);
    let mut asks = vec![
        Ask::plain(&place.object, ask::ACCESSIBLE, "GetState"),
        Ask::property(&place.object, ask::ACCESSIBLE, "Name"),
    ];
    asks.extend(place::origin_asks(window));
    let own = asks.len();
    asks.extend(details);
    let replies = walk.ask_all(&asks);
    let origin = place::origin(snapshot, &replies[2..4]);
    if let Some(Err(error)) = replies[..2].iter().find(|reply| reply.is_err()) {
        return Err(snapshot.failure(index, error, timeout));
    }
    let states = States(ask::states(&replies[0]).unwrap_or_default());
    if states.has(State::Defunct) {
        return Err(snapshot.stale(index));
    }
    let name = ask::text_property(&replies[1]).unwrap_or_default();
    let node = &mut target.node;
    node.states = states;
    node.value = node.toggle_value();
    if !name.is_empty() {
        detail::give_name(&snapshot.app, node, &name, &old.label);
    }
    let origin = relative_to(&walk, origin);
    if !detail::complete_from(&mut walk, &mut target, origin, &wants, &replies[own..]) {
        return Err(snapshot.failure(index, &CallError::TimedOut, timeout));
    }
    target.node.frame =
        drawn::shifted(place::unwrapped(snapshot.app.toolkit, target.node.frame), place.shift);
    Ok(Element::of(&target.node, index))
}
