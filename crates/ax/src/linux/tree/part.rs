//! Reads again the part of a window that its application says has changed.

use std::collections::HashSet;

use super::detail;
use super::objects::{self, Objects, Raw};
use super::reading::{self, Reading};
use super::view::View;
use super::walk::Walk;
use crate::SnapshotRequest;
use crate::platform::bus::application::App;
use crate::platform::bus::ask::{self, Ask, ObjectRef, Reply};
use crate::platform::bus::events::Change;
use crate::platform::snapshot::Snapshot;
use crate::state::{State, States};
use crate::tree::Abilities;

/// With more changed objects than this, bulk reading is cheaper.
const MANY: usize = 200;
/// How many things are asked of an object that has changed.
const ASKS: usize = 3;

/// The part of a window that changes are about: positions of the objects whose own facts, and of those whose children,
/// are read again.
pub struct Part {
    nodes: Vec<usize>,
    parents: Vec<usize>,
}

impl Part {
    /// What these changes are about; none when they cannot be told apart.
    pub fn of(app: &App, objects: &Objects, changes: Vec<Change>) -> Option<Self> {
        let Dirty { mut nodes, parents } = dirty(app, objects, changes)?;
        // What stands in an object is part of the names and texts of those around it.
        let around = with_ancestors(objects, nodes.iter().chain(&parents));
        nodes.extend(around);
        nodes.sort_unstable();
        nodes.dedup();
        Some(Self { nodes, parents })
    }

    /// What is asked of it.
    pub fn asks(&self, objects: &Objects) -> Vec<Ask> {
        let children = |at: &usize| Ask::plain(&objects.all[*at].object, ask::ACCESSIBLE, "GetChildren");
        let facts = self.nodes.iter().flat_map(|at| facts_of(&objects.all[*at].object));
        facts.chain(self.parents.iter().map(children)).collect()
    }
}

/// The window after what was asked of a part of it; none when it must be read as a whole: the layout has moved, so that
/// other nodes may have come into view, or something is not where it was.
pub fn read_again(
    mut walk: Walk<'_>,
    reading: Reading,
    request: &SnapshotRequest,
    (part, replies): (&Part, &[Reply]),
) -> Option<(Snapshot, Reading)> {
    let Reading { mut objects, found, mut known, unread, .. } = reading;
    walk.unread = unread;
    let Part { nodes, parents } = part;
    let before = known.clone();
    let view = View::of(walk.app, &objects, found?.root);
    let (of_nodes, of_parents) = replies.split_at(nodes.len() * ASKS);
    for (at, replies) in nodes.iter().zip(of_nodes.chunks(ASKS)) {
        let raw = &mut objects.all[*at];
        update(raw, replies, view)?;
        known.remove(&raw.object);
    }
    for (at, reply) in parents.iter().zip(of_parents) {
        let children = children(&mut walk, &mut objects, *at, reply)?;
        known.remove(&objects.all[*at].object);
        objects.all[*at].child_count = i32::try_from(children.len()).unwrap_or(i32::MAX);
        objects.all[*at].children = children;
    }
    // What others label may have another label now, and a combo box another chosen option.
    known.retain(|object, node| {
        let unnamed = objects.position(object).is_none_or(|at| objects.all[at].name.is_empty());
        let chooses = node.role.name() == "combo box";
        !(chooses || unnamed && node.is_operated() && detail::wants_label(node))
    });
    let (snapshot, reading) = reading::assemble(walk, objects, found, request, &known);
    let moved = known.keys().any(|object| {
        let frame = |nodes: &reading::Known| nodes.get(object).map(|node| node.frame);
        frame(&reading.known).is_some_and(|now| frame(&before) != Some(now))
    });
    (reading.in_time && !moved).then_some((snapshot, reading))
}

/// What is asked of an object that has changed.
fn facts_of(object: &ObjectRef) -> [Ask; ASKS] {
    [
        Ask::plain(object, ask::ACCESSIBLE, "GetState"),
        Ask::property(object, ask::ACCESSIBLE, "Name"),
        Ask::property(object, ask::ACCESSIBLE, "Description"),
    ]
}

/// Takes over what an object says of itself now; none when it has come into view or left it.
fn update(raw: &mut Raw, replies: &[Reply], view: View) -> Option<()> {
    let states = States(ask::states(&replies[0])?);
    // What comes into view brings with it what was not read, and what leaves takes with it what announces nothing.
    if view.tells_apart(raw.states, states) || states.has(State::Defunct) {
        return None;
    }
    raw.states = states;
    raw.name = ask::text_property(&replies[1])?;
    raw.description = ask::text_property(&replies[2]).unwrap_or_default();
    Some(())
}

/// Positions of the objects whose own facts, and of those whose children, are read again.
struct Dirty {
    nodes: Vec<usize>,
    parents: Vec<usize>,
}

/// What these changes are about; none when they cannot be told apart.
fn dirty(app: &App, objects: &Objects, changes: Vec<Change>) -> Option<Dirty> {
    let (mut nodes, mut parents, mut unknown) = (HashSet::new(), HashSet::new(), HashSet::new());
    for change in changes {
        match change {
            Change::Whole => return None,
            Change::Place => {}
            Change::Node(path) => match objects.position(&app.object("", &path)) {
                Some(at) => drop(nodes.insert(at)),
                None => drop(unknown.insert(path)),
            },
            Change::Children(path) => match objects.position(&app.object("", &path)) {
                Some(at) => drop(parents.insert(at)),
                None => drop(unknown.insert(path)),
            },
        }
    }
    let own = |at: &usize| {
        let raw = &objects.all[*at];
        !raw.states.has(State::ManagesDescendants) && !raw.abilities.has(Abilities::TABLE)
    };
    // What is not known yet comes with its parent, which must have been announced.
    let told = unknown.is_empty() || !parents.is_empty();
    let few = nodes.len() + parents.len() <= MANY;
    (told && few && parents.iter().all(own))
        .then(|| Dirty { nodes: nodes.into_iter().collect(), parents: parents.into_iter().collect() })
}

/// The children of an object as it tells them now; those that are new are read with what lies below them.
fn children(walk: &mut Walk<'_>, objects: &mut Objects, parent: usize, reply: &Reply) -> Option<Vec<usize>> {
    let references = objects::references(reply.as_ref().ok()?);
    let above = objects.all[parent].object.clone();
    let told: Vec<ObjectRef> = references.iter().map(|(bus, path)| above.named(bus, path)).collect();
    let unknown: Vec<ObjectRef> =
        told.iter().filter(|object| objects.position(object).is_none()).cloned().collect();
    let fresh: Vec<usize> =
        walk.describe(&unknown, &|_| true).into_iter().map(|raw| objects.insert(raw)).collect();
    if fresh.len() != unknown.len() {
        return None;
    }
    walk.complete(objects, &fresh, &|_| true);
    let mut children = Vec::with_capacity(told.len());
    for (index, object) in told.iter().enumerate() {
        let at = objects.position(object)?;
        objects.all[at].parent = Some(above.clone());
        objects.all[at].index = i32::try_from(index).unwrap_or(i32::MAX);
        children.push(at);
    }
    // What has gone must not be taken for what may come back under its path.
    let gone: Vec<usize> =
        objects.all[parent].children.iter().filter(|at| !children.contains(at)).copied().collect();
    forget(objects, gone);
    (!walk.timed_out).then_some(children)
}

/// The objects at these positions and all that they lie in.
fn with_ancestors<'a>(objects: &Objects, positions: impl Iterator<Item = &'a usize>) -> HashSet<usize> {
    let mut all = HashSet::new();
    for position in positions {
        let mut at = Some(*position);
        while let Some(inserted) = at.filter(|at| all.insert(*at)) {
            at = objects.above(inserted);
        }
    }
    all
}

fn forget(objects: &mut Objects, mut gone: Vec<usize>) {
    while let Some(at) = gone.pop() {
        if objects.forget(at) {
            gone.extend(objects.all[at].children.clone());
        }
    }
}
