//! Reads objects one level at a time, many calls in flight: for applications without bulk reading, and for what a bulk
//! read leaves out.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use desktop::Rect;

use super::application::{App, Toolkit};
use super::ask::{self, Ask, ObjectRef, Reply};
use super::collect::{self, Objects, Raw};
use super::dbus::CallError;
use crate::role::Role;
use crate::state::{State, States};
use crate::tree::Abilities;
use crate::{Cancel, SnapshotRequest};

/// Containers with more children are read in part.
const MANY_CHILDREN: i32 = 20_000;
/// Most children that are read of a container which makes them on demand.
const SOME_CHILDREN: i32 = 500;
/// A table with no more columns is read in its whole width.
const FEW_COLUMNS: i32 = 16;
/// Most cells that are read of a table.
const MANY_CELLS: usize = 2_000;

/// The walk of one application.
pub struct Walk<'a> {
    /// The application.
    pub app: &'a Arc<App>,
    /// When it ends.
    pub deadline: Instant,
    /// Deepest level below the window; 0 for no limit.
    pub max_depth: u32,
    /// What was left out, and why.
    pub left_out: Vec<String>,
    /// True when the application did not answer in time.
    pub timed_out: bool,
    /// Ends it early.
    pub cancel: Cancel,
}

/// How the children of an object are found.
enum Way {
    All,
    Cells,
    First(i32),
}

impl<'a> Walk<'a> {
    /// The walk of a request that ends then.
    pub fn of(app: &'a Arc<App>, request: &SnapshotRequest, deadline: Instant) -> Self {
        Self { max_depth: request.max_depth, cancel: request.cancel.clone(), ..Self::until(app, deadline) }
    }

    /// A walk that ends then.
    pub fn until(app: &'a Arc<App>, deadline: Instant) -> Self {
        Self {
            app,
            deadline,
            max_depth: 0,
            left_out: Vec::new(),
            timed_out: false,
            cancel: Cancel::default(),
        }
    }
}

impl Walk<'_> {
    /// Makes all calls; after the deadline none is made any more.
    pub fn ask_all(&mut self, asks: &[Ask]) -> Vec<Reply> {
        if self.timed_out {
            return asks.iter().map(|_| Err(CallError::TimedOut)).collect();
        }
        let replies = self.app.ask_all_unless(asks, self.deadline, &self.cancel);
        self.timed_out = replies.iter().any(|reply| matches!(reply, Err(CallError::TimedOut)));
        replies
    }

    /// Reads everything below the objects at these positions that `is_shown` and has not been read.
    pub fn complete(&mut self, objects: &mut Objects, start: &[usize], is_shown: &dyn Fn(States) -> bool) {
        let mut level: Vec<usize> = start.to_vec();
        let mut depth = 0;
        while !level.is_empty() && !self.timed_out && (self.max_depth == 0 || depth < self.max_depth) {
            self.read_children(objects, &level, is_shown);
            level = level.iter().flat_map(|position| objects.all[*position].children.clone()).collect();
            depth += 1;
        }
    }

    fn read_children(&mut self, objects: &mut Objects, level: &[usize], is_shown: &dyn Fn(States) -> bool) {
        self.count_children(objects, level, is_shown);
        let open: Vec<(usize, Way)> = level
            .iter()
            .filter(|position| self.is_open(&objects.all[**position], is_shown))
            .filter_map(|position| way(&objects.all[*position], self.app.toolkit).map(|way| (*position, way)))
            .collect();
        let mut asks = Vec::new();
        let mut spans = Vec::with_capacity(open.len());
        for (position, way) in &open {
            let raw = &objects.all[*position];
            let from = asks.len();
            match way {
                Way::All => asks.push(Ask::plain(&raw.object, ask::ACCESSIBLE, "GetChildren")),
                Way::Cells => asks.extend(self.cells(&raw.object)),
                Way::First(count) => asks.extend((0..*count).map(|index| {
                    Ask::integers(&raw.object, (ask::ACCESSIBLE, "GetChildAtIndex"), "i", &[index])
                })),
            }
            if let Way::First(count) = way
                && *count < raw.child_count
            {
                let (role, all) = (raw.role.name(), raw.child_count);
                self.left_out.push(format!("{count} of the {all} children of a {role} were read"));
            }
            spans.push(from..asks.len());
        }
        let replies = self.ask_all(&asks);
        let found: Vec<Vec<ObjectRef>> = spans
            .into_iter()
            .map(|span| {
                let references = replies[span].iter().flatten();
                references
                    .flat_map(|reply| match collect::single(reply) {
                        Some(one) => vec![one],
                        None => collect::references(reply),
                    })
                    .map(|(bus, path)| self.app.object(&bus, &path))
                    .collect()
            })
            .collect();
        let unknown: Vec<ObjectRef> = found
            .iter()
            .flatten()
            .filter(|object| !objects.by_path.contains_key(&object.path))
            .cloned()
            .collect();
        for raw in self.describe(&unknown, is_shown) {
            objects.insert(raw);
        }
        for ((position, _), children) in open.iter().zip(found) {
            let parent = Arc::clone(&objects.all[*position].object.path);
            let mut positions: Vec<usize> = Vec::with_capacity(children.len());
            for child in children {
                if let Some(at) = objects.by_path.get(&child.path).copied()
                    && at != *position
                    && !positions.contains(&at)
                {
                    objects.all[at].parent = Arc::clone(&parent);
                    positions.push(at);
                }
            }
            if !positions.is_empty() {
                objects.all[*position].children = positions;
            }
        }
    }

    /// Asks containers that make their children on demand how many there are: bulk reads leave it out.
    fn count_children(&mut self, objects: &mut Objects, level: &[usize], is_shown: &dyn Fn(States) -> bool) {
        let uncounted: Vec<usize> = level
            .iter()
            .filter(|position| {
                let raw = &objects.all[**position];
                raw.child_count < 0 && raw.states.has(State::ManagesDescendants) && is_shown(raw.states)
            })
            .copied()
            .collect();
        let count =
            |position: &usize| Ask::property(&objects.all[*position].object, ask::ACCESSIBLE, "ChildCount");
        let asks: Vec<Ask> = uncounted.iter().map(count).collect();
        for (position, reply) in uncounted.iter().zip(self.ask_all(&asks)) {
            objects.all[*position].child_count = ask::integer_property(&reply).unwrap_or(-1);
        }
    }

    /// Reads these objects: the states of all, and of those that are shown also role, name, interfaces and child count.
    /// Most of a long page or list is out of sight.
    pub fn describe(&mut self, objects: &[ObjectRef], is_shown: &dyn Fn(States) -> bool) -> Vec<Raw> {
        let asks: Vec<Ask> =
            objects.iter().map(|object| Ask::plain(object, ask::ACCESSIBLE, "GetState")).collect();
        let states = self.ask_all(&asks);
        let shown: Vec<(&ObjectRef, States)> = objects
            .iter()
            .zip(states.iter().map(|reply| ask::states(reply).map(States)))
            .filter_map(|(object, states)| Some((object, states?)))
            .filter(|(object, states)| is_shown(*states) || self.is_seam(object, *states))
            .collect();
        let asks: Vec<Ask> = shown
            .iter()
            .flat_map(|(object, _)| {
                [
                    Ask::plain(object, ask::ACCESSIBLE, "GetRole"),
                    Ask::plain(object, ask::ACCESSIBLE, "GetInterfaces"),
                    Ask::property(object, ask::ACCESSIBLE, "Name"),
                    Ask::property(object, ask::ACCESSIBLE, "ChildCount"),
                ]
            })
            .collect();
        let replies = self.ask_all(&asks);
        shown.iter().zip(replies.chunks(4)).filter_map(|(shown, replies)| raw(shown, replies)).collect()
    }

    fn is_open(&self, raw: &Raw, is_shown: &dyn Fn(States) -> bool) -> bool {
        is_shown(raw.states) || self.is_seam(&raw.object, raw.states)
    }

    /// True for what never says whether it is shown: the place in a GTK 3 window that another process fills, and what
    /// lies around that process's page.
    fn is_seam(&self, object: &ObjectRef, states: States) -> bool {
        let is_foreign = object.bus != self.app.name;
        self.app.toolkit == Toolkit::Gtk3
            && !states.has(State::Visible)
            && (is_foreign || states == States::default())
    }

    /// The calls that fetch the visible cells of a table.
    fn cells(&mut self, table: &ObjectRef) -> Vec<Ask> {
        let Some((rows, columns)) = self.visible_range(table) else { return Vec::new() };
        let cells = rows.flat_map(|row| columns.clone().map(move |column| [row, column])).take(MANY_CELLS);
        let header = |column| Ask::integers(table, (ask::TABLE, "GetColumnHeader"), "i", &[column]);
        let mut asks: Vec<Ask> = columns.clone().map(header).collect();
        let headers = asks.len();
        asks.extend(cells.map(|cell| Ask::integers(table, (ask::TABLE, "GetAccessibleAt"), "ii", &cell)));
        self.left_out
            .push(format!("only the {} visible cells of a large table were read", asks.len() - headers));
        asks
    }

    /// Rows and columns between the cells in the table's corners; the first rows when these cannot be found.
    fn visible_range(&mut self, table: &ObjectRef) -> Option<(Range<i32>, Range<i32>)> {
        let size = self.ask_all(&[
            Ask::extents(table, self.app.coordinates()),
            Ask::property(table, ask::TABLE, "NRows"),
            Ask::property(table, ask::TABLE, "NColumns"),
        ]);
        let rows = ask::integer_property(&size[1])?.max(0);
        let columns = ask::integer_property(&size[2])?.clamp(0, SOME_CHILDREN);
        let seen = ask::rect(&size[0]).map(|frame| self.visible_cells(table, frame)).unwrap_or_default();
        let range = |places: &[i32], all: i32| {
            let (first, last) = (places.iter().min()?, places.iter().max()?);
            // What was hit is not quite the edge: one more costs nothing.
            Some(first.saturating_sub(1).max(0)..last.saturating_add(2).min(all))
        };
        let (seen_rows, seen_columns): (Vec<i32>, Vec<i32>) = seen.into_iter().unzip();
        let every_column = columns <= FEW_COLUMNS;
        let columns =
            if every_column { 0..columns } else { range(&seen_columns, columns).unwrap_or(0..columns) };
        let fallback = 0..rows.min(SOME_CHILDREN / (columns.end - columns.start).max(1));
        Some((range(&seen_rows, rows).unwrap_or(fallback), columns))
    }

    /// Rows and columns of the cells that are hit by points spread over the table; headers and empty parts hit none.
    fn visible_cells(&mut self, table: &ObjectRef, frame: Rect) -> Vec<(i32, i32)> {
        let size = |pixels: u32| i32::try_from(pixels).unwrap_or(i32::MAX);
        let (width, height) = (size(frame.width), size(frame.height));
        // Headers lie along the edges, so the first and last cells are looked for a little inside as well.
        let spread = |length: i32| [8, 48, 96, length / 2, length - 48, length - 8];
        let points = spread(height).into_iter().flat_map(|y| spread(width).map(|x| (x, y)));
        let asks: Vec<Ask> = points
            .map(|(x, y)| {
                Ask::with(table, (ask::COMPONENT, "GetAccessibleAtPoint"), "iiu", |writer| {
                    writer.i32(frame.x + x).i32(frame.y + y).u32(self.app.coordinates());
                })
            })
            .collect();
        let mut hit: Vec<(String, String)> =
            self.ask_all(&asks).iter().flatten().filter_map(collect::single).collect();
        hit.sort();
        hit.dedup();
        let asks: Vec<Ask> = hit
            .iter()
            .map(|(bus, path)| Ask::plain(&self.app.object(bus, path), ask::ACCESSIBLE, "GetIndexInParent"))
            .collect();
        let asks: Vec<Ask> = self
            .ask_all(&asks)
            .iter()
            .filter_map(ask::integer)
            .flat_map(|index| ["GetRowAtIndex", "GetColumnAtIndex"].map(|member| (member, index)))
            .map(|(member, index)| Ask::integers(table, (ask::TABLE, member), "i", &[index]))
            .collect();
        let places = self.ask_all(&asks);
        let place = |pair: &[Reply]| Some((ask::integer(&pair[0])?, ask::integer(&pair[1])?));
        places.chunks(2).filter_map(place).filter(|(row, column)| *row >= 0 && *column >= 0).collect()
    }
}

fn raw((object, states): &(&ObjectRef, States), replies: &[Reply]) -> Option<Raw> {
    let interfaces = replies[1].as_ref().ok().and_then(|reply| reply.expect("as").ok());
    let abilities = interfaces.and_then(|mut reader| collect::abilities(&mut reader).ok());
    Some(Raw {
        object: (*object).clone(),
        parent: "".into(),
        index: -1,
        child_count: ask::integer_property(&replies[3]).unwrap_or(-1),
        children: Vec::new(),
        abilities: abilities.unwrap_or_default(),
        name: ask::text_property(&replies[2]).unwrap_or_default(),
        description: String::new(),
        role: Role(ask::unsigned(&replies[0])?),
        states: *states,
    })
}

/// How the children of an object are read; none when it has no more than are known.
fn way(raw: &Raw, toolkit: Toolkit) -> Option<Way> {
    let known = i32::try_from(raw.children.len()).unwrap_or(i32::MAX);
    if raw.child_count >= 0 && known >= raw.child_count {
        return None;
    }
    let managed = raw.states.has(State::ManagesDescendants);
    let few = (0..=SOME_CHILDREN).contains(&raw.child_count);
    // Qt never says that a table makes its cells on demand.
    let table = raw.abilities.has(Abilities::TABLE) && (managed || toolkit == Toolkit::Qt);
    if !few && table {
        return Some(Way::Cells);
    }
    // The list of children lacks the one that another process fills in.
    if toolkit == Toolkit::Gtk3 && raw.child_count == 1 && raw.states == States::default() {
        return Some(Way::First(1));
    }
    if !managed && raw.child_count <= MANY_CHILDREN {
        return Some(Way::All);
    }
    Some(Way::First(raw.child_count.clamp(0, SOME_CHILDREN)))
}
