//! Reads objects one level at a time, many calls in flight: for applications without bulk reading, and for what a bulk
//! read leaves out.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::objects::{self, Objects, Raw};
use super::view::{self, View};
use crate::platform::bus::application::App;
use crate::platform::bus::ask::{self, Ask, ObjectRef, Reply};
use crate::platform::bus::limit::Limit;
use crate::platform::bus::toolkit::Toolkit;
use crate::platform::dbus::CallError;
use crate::role::Role;
use crate::state::{State, States};
use crate::tree::Abilities;
use crate::{Cell, Offscreen, SnapshotRequest};

/// Containers with more children are read in part.
const MANY_CHILDREN: i32 = 20_000;
/// Most children of a table that are read one by one.
pub(super) const SOME_CHILDREN: i32 = 500;
/// Most children that are read of a container which makes them on demand.
const MANY_ON_DEMAND: i32 = 5_000;
/// So many objects are described in one round of calls, in view or not.
const FEW_OBJECTS: usize = 32;
/// How many things are asked of an object beside its states.
const FACTS: usize = 4;
/// Most objects out of view that are read to be counted alone.
const MANY_UNSEEN: usize = 4_000;

/// The walk of one application.
pub struct Walk<'a> {
    /// The application.
    pub app: &'a Arc<App>,
    /// When it ends.
    pub limit: Limit,
    /// Deepest level below the window; 0 for no limit.
    pub max_depth: u32,
    /// True when what lies beyond the view is read too.
    pub offscreen: bool,
    /// The cell of a sheet that is read too, wherever it is.
    pub cell: Option<Cell>,
    /// How the window's objects say that they are shown, once that is known.
    pub view: Option<View>,
    /// What objects answered when they were asked for their places, in the application's coordinates.
    extents: HashMap<ObjectRef, Reply>,
    /// Objects out of view that have been read.
    unseen: usize,
    /// What of lists and tables lies beyond the view and was not read.
    pub unread: Offscreen,
    /// What was left out, and why.
    pub left_out: Vec<String>,
    /// True when the application did not answer in time, or the walk was ended.
    pub timed_out: bool,
    /// Bus names of the other programs that have a part in the window.
    pub embedded: BTreeSet<Arc<str>>,
    /// Those of them that did not answer in time, and are asked no more.
    pub silent: BTreeSet<Arc<str>>,
}

/// How the children of an object are found.
enum ChildrenQuery {
    All,
    Cells,
    First(i32),
}

impl<'a> Walk<'a> {
    /// The walk of a request that ends then.
    pub fn of(app: &'a Arc<App>, request: &SnapshotRequest, deadline: Instant) -> Self {
        let limit = Limit { deadline, cancel: request.cancel.clone() };
        Self {
            max_depth: request.max_depth,
            offscreen: request.offscreen,
            cell: request.cell,
            limit,
            ..Self::until(app, deadline)
        }
    }

    /// A walk that ends then.
    pub fn until(app: &'a Arc<App>, deadline: Instant) -> Self {
        Self {
            app,
            limit: Limit::until(deadline),
            max_depth: 0,
            offscreen: false,
            cell: None,
            view: None,
            extents: HashMap::new(),
            unseen: 0,
            unread: Offscreen::default(),
            left_out: Vec::new(),
            timed_out: false,
            embedded: BTreeSet::new(),
            silent: BTreeSet::new(),
        }
    }
}

impl Walk<'_> {
    /// Makes all calls; after the deadline none is made any more. A program embedded in the window that does not answer
    /// costs half of the time that is left, and then the walk goes on without it.
    pub fn ask_all(&mut self, asks: &[Ask]) -> Vec<Reply> {
        if asks.iter().all(|ask| ask.object.bus == self.app.name) {
            return self.ask_application(asks);
        }
        let mut replies: Vec<Reply> = asks.iter().map(|_| Err(CallError::TimedOut)).collect();
        let mut programs: Vec<Arc<str>> = vec![Arc::clone(&self.app.name)];
        for ask in asks {
            if !programs.contains(&ask.object.bus) {
                programs.push(Arc::clone(&ask.object.bus));
            }
        }
        for program in programs {
            let (places, own): (Vec<usize>, Vec<Ask>) = (0..)
                .zip(asks)
                .filter(|(_, ask)| ask.object.bus == program)
                .map(|(place, ask)| (place, ask.clone()))
                .unzip();
            let answered = if program == self.app.name {
                self.ask_application(&own)
            } else {
                self.ask_embedded(&program, &own)
            };
            for (place, reply) in places.into_iter().zip(answered) {
                replies[place] = reply;
            }
        }
        replies
    }

    /// Asks these objects for their places, each but once: GTK 3 asks the display server for every answer.
    pub fn ask_extents<'o>(&mut self, objects: impl Iterator<Item = &'o ObjectRef>) {
        self.ask_with_extents(objects, Vec::new());
    }

    /// Asks the same together with something else, and answers the replies to that.
    pub fn ask_with_extents<'o>(
        &mut self,
        objects: impl Iterator<Item = &'o ObjectRef>,
        others: Vec<Ask>,
    ) -> Vec<Reply> {
        let mut seen = HashSet::new();
        let unknown: Vec<&ObjectRef> =
            objects.filter(|object| !self.extents.contains_key(*object) && seen.insert(*object)).collect();
        let mut asks = others;
        let own = asks.len();
        asks.extend(unknown.iter().map(|object| Ask::extents(object, self.app.coordinates())));
        let mut replies = self.ask_all(&asks);
        let extents = replies.split_off(own);
        self.extents.extend(unknown.into_iter().cloned().zip(extents));
        replies
    }

    /// Forgets all places: something has changed since.
    pub fn forget_extents(&mut self) {
        self.extents.clear();
    }

    /// What an object answered to [`Walk::ask_extents`]; none where it was not asked.
    pub fn extents(&self, object: &ObjectRef) -> Option<&Reply> {
        self.extents.get(object)
    }

    /// True when no call is made any more.
    pub fn has_ended(&mut self) -> bool {
        self.timed_out |= self.limit.is_over();
        self.timed_out
    }

    fn ask_application(&mut self, asks: &[Ask]) -> Vec<Reply> {
        if self.timed_out {
            return asks.iter().map(|_| Err(CallError::TimedOut)).collect();
        }
        let replies = self.app.ask_all_within(asks, &self.limit);
        self.timed_out = has_timed_out(&replies);
        replies
    }

    fn ask_embedded(&mut self, program: &Arc<str>, asks: &[Ask]) -> Vec<Reply> {
        self.embedded.insert(Arc::clone(program));
        if self.silent.contains(program) || self.has_ended() {
            return asks.iter().map(|_| Err(CallError::TimedOut)).collect();
        }
        let waited = self.limit.left() / 2;
        let replies = self.app.ask_all_within(asks, &self.limit.at_most(waited));
        if has_timed_out(&replies) && !self.has_ended() {
            let name = self.app.process_of(program, &self.limit);
            let name = name.map_or_else(|| format!("\"{program}\""), |pid| format!("with pid {pid}"));
            self.left_out.push(format!(
                "the program {name} that is embedded in the window did not answer within {} ms",
                waited.as_millis()
            ));
            self.silent.insert(Arc::clone(program));
        }
        replies
    }

    /// Reads everything below the objects at these positions that `is_shown` and has not been read. An object that an
    /// application tells as its own descendant is no child there.
    pub fn complete(&mut self, objects: &mut Objects, start: &[usize], is_shown: &dyn Fn(States) -> bool) {
        let mut level: Vec<usize> = start.to_vec();
        let mut visited: HashSet<usize> = start.iter().copied().collect();
        let mut depth = 0;
        while !level.is_empty() && !self.has_ended() && (self.max_depth == 0 || depth < self.max_depth) {
            self.read_children(objects, &level, &visited, is_shown);
            level = next_level(objects, &level, &mut visited);
            depth += 1;
        }
    }

    fn read_children(
        &mut self,
        objects: &mut Objects,
        level: &[usize],
        visited: &HashSet<usize>,
        is_shown: &dyn Fn(States) -> bool,
    ) {
        self.count_children(objects, level, is_shown);
        let open: Vec<(usize, ChildrenQuery)> = level
            .iter()
            .filter(|position| self.is_open(&objects.all[**position], is_shown))
            .filter_map(|position| {
                children_query(&objects.all[*position], self.app.toolkit).map(|query| (*position, query))
            })
            .collect();
        let (asks, spans) = self.listing(objects, &open);
        let replies = self.ask_all(&asks);
        let found: Vec<Vec<ObjectRef>> = spans
            .into_iter()
            .zip(&open)
            .map(|(span, (position, _))| named_in(&objects.all[*position].object, &replies[span]))
            .collect();
        let (mut unknown, mut scrolled) = (Vec::new(), Vec::new());
        for ((position, _), children) in open.iter().zip(&found) {
            let whole = self.offscreen && is_open_list(objects, *position);
            let fresh = children.iter().filter(|object| objects.position(object).is_none()).cloned();
            if whole { scrolled.extend(fresh) } else { unknown.extend(fresh) }
        }
        let mut raws = self.describe(&unknown, is_shown);
        raws.extend(self.describe(&scrolled, &|_| true));
        for raw in raws {
            objects.insert(raw);
        }
        for ((position, _), children) in open.iter().zip(&found) {
            if is_open_list(objects, *position) {
                self.count_unread(objects, children);
            }
        }
        for ((position, _), children) in open.iter().zip(found) {
            link(objects, *position, children, visited);
        }
    }

    /// The calls that list the children of these objects, and which of the calls belong to each.
    fn listing(
        &mut self,
        objects: &Objects,
        open: &[(usize, ChildrenQuery)],
    ) -> (Vec<Ask>, Vec<Range<usize>>) {
        let mut asks = Vec::new();
        let mut spans = Vec::with_capacity(open.len());
        for (position, query) in open {
            let raw = &objects.all[*position];
            let from = asks.len();
            match query {
                ChildrenQuery::All => asks.push(Ask::plain(&raw.object, ask::ACCESSIBLE, "GetChildren")),
                ChildrenQuery::Cells => asks.extend(self.cells(objects, *position)),
                ChildrenQuery::First(count) => asks.extend((0..*count).map(|index| {
                    Ask::integers(&raw.object, (ask::ACCESSIBLE, "GetChildAtIndex"), "i", &[index])
                })),
            }
            if let ChildrenQuery::First(count) = query
                && *count < raw.child_count
            {
                let (role, all) = (raw.role.name(), raw.child_count);
                self.left_out.push(format!("{count} of the {all} children of a {role} were read"));
            }
            spans.push(from..asks.len());
        }
        (asks, spans)
    }

    /// Counts the children of a list that were not kept since they are out of view.
    fn count_unread(&mut self, objects: &Objects, children: &[ObjectRef]) {
        let unread = |children: &[ObjectRef]| {
            let count = children.iter().filter(|child| objects.position(child).is_none()).count();
            u32::try_from(count).unwrap_or(u32::MAX)
        };
        let role = |child: &ObjectRef| objects.position(child).map_or("", |at| objects.all[at].role.name());
        // The headers and the corner of a table stay in view wherever it is scrolled to.
        let first = children.iter().position(|child| role(child) == "table cell");
        let first = first.or_else(|| children.iter().position(|child| objects.position(child).is_some()));
        let (above, below) = children.split_at(first.unwrap_or(0));
        self.unread.add(unread(above), unread(below));
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
    /// Most of a long page or list is out of sight; of a few objects all is asked at once.
    pub fn describe(&mut self, objects: &[ObjectRef], is_shown: &dyn Fn(States) -> bool) -> Vec<Raw> {
        let is_few = objects.len() <= FEW_OBJECTS;
        let mut asks: Vec<Ask> =
            objects.iter().map(|object| Ask::plain(object, ask::ACCESSIBLE, "GetState")).collect();
        if is_few {
            asks.extend(objects.iter().flat_map(facts));
        }
        let replies = self.ask_all(&asks);
        let (states, told) = replies.split_at(objects.len());
        let shown: Vec<(&ObjectRef, States)> = objects
            .iter()
            .zip(states.iter().map(|reply| ask::states(reply).map(States)))
            .filter_map(|(object, states)| Some((object, states?)))
            .filter(|(object, states)| is_shown(*states) || self.is_seam(object, *states))
            .collect();
        let shown = self.within_bounds(shown);
        if is_few {
            let of = |object: &ObjectRef| told.chunks(FACTS).zip(objects).find(|(_, own)| *own == object);
            return shown.iter().filter_map(|shown| raw(shown, of(shown.0)?.0)).collect();
        }
        let asks: Vec<Ask> = shown.iter().flat_map(|(object, _)| facts(object)).collect();
        let replies = self.ask_all(&asks);
        shown.iter().zip(replies.chunks(FACTS)).filter_map(|(shown, replies)| raw(shown, replies)).collect()
    }

    /// What of these is read: all, but no endless document that is only counted.
    fn within_bounds<'o>(&mut self, objects: Vec<(&'o ObjectRef, States)>) -> Vec<(&'o ObjectRef, States)> {
        let Some(view) = self.view.filter(|_| !self.offscreen) else { return objects };
        let mut kept = Vec::with_capacity(objects.len());
        for (object, states) in objects {
            if view.is_shown(states) || self.unseen < MANY_UNSEEN {
                self.unseen += usize::from(!view.is_shown(states));
                kept.push((object, states));
            } else {
                self.unread.at_least = true;
            }
        }
        kept
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
}

/// True for a list or table that is open: a closed combo box has its options in one.
fn is_open_list(objects: &Objects, position: usize) -> bool {
    let chooses = |at: usize| objects.all[at].role.name() == "combo box";
    let above = objects.above(position);
    view::scrolls(&objects.all[position])
        && !above.is_some_and(|above| chooses(above) || objects.above(above).is_some_and(chooses))
}

/// The children that an object named in its answers.
fn named_in(parent: &ObjectRef, replies: &[Reply]) -> Vec<ObjectRef> {
    let named = replies.iter().flatten().flat_map(|reply| match objects::single(reply) {
        Some(one) => vec![one],
        None => objects::references(reply),
    });
    named.map(|(bus, path)| parent.named(&bus, &path)).collect()
}

/// Makes the objects that were read the children of the one at this position, but for those that were visited.
fn link(objects: &mut Objects, position: usize, children: Vec<ObjectRef>, visited: &HashSet<usize>) {
    let parent = objects.all[position].object.clone();
    let mut positions: Vec<usize> = Vec::with_capacity(children.len());
    for child in children {
        if let Some(at) = objects.position(&child)
            && !visited.contains(&at)
            && !positions.contains(&at)
        {
            objects.all[at].parent = Some(parent.clone());
            positions.push(at);
        }
    }
    if !positions.is_empty() {
        objects.all[position].children = positions;
    }
}

fn has_timed_out(replies: &[Reply]) -> bool {
    replies.iter().any(|reply| matches!(reply, Err(CallError::TimedOut)))
}

/// The children of the objects at these positions that have not been visited, which they are now.
fn next_level(objects: &Objects, level: &[usize], visited: &mut HashSet<usize>) -> Vec<usize> {
    let children = level.iter().flat_map(|position| &objects.all[*position].children);
    children.copied().filter(|child| visited.insert(*child)).collect()
}

/// What is asked of an object beside its states.
fn facts(object: &ObjectRef) -> [Ask; FACTS] {
    [
        Ask::plain(object, ask::ACCESSIBLE, "GetRole"),
        Ask::plain(object, ask::ACCESSIBLE, "GetInterfaces"),
        Ask::property(object, ask::ACCESSIBLE, "Name"),
        Ask::property(object, ask::ACCESSIBLE, "ChildCount"),
    ]
}

fn raw((object, states): &(&ObjectRef, States), replies: &[Reply]) -> Option<Raw> {
    let interfaces = replies[1].as_ref().ok().and_then(|reply| reply.expect("as").ok());
    let abilities = interfaces.and_then(|mut reader| objects::abilities(&mut reader).ok());
    Some(Raw {
        object: (*object).clone(),
        parent: None,
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
fn children_query(raw: &Raw, toolkit: Toolkit) -> Option<ChildrenQuery> {
    let known = i32::try_from(raw.children.len()).unwrap_or(i32::MAX);
    if raw.child_count >= 0 && known >= raw.child_count {
        return None;
    }
    let managed = raw.states.has(State::ManagesDescendants);
    let few = (0..=SOME_CHILDREN).contains(&raw.child_count);
    // Qt never says that a table makes its cells on demand.
    let table = raw.abilities.has(Abilities::TABLE) && (managed || toolkit == Toolkit::Qt);
    if !few && table {
        return Some(ChildrenQuery::Cells);
    }
    // The list of children lacks the one that another process fills in; asked for by its number, it is there.
    if toolkit == Toolkit::Gtk3 && raw.child_count == 1 {
        return Some(ChildrenQuery::First(1));
    }
    let told = toolkit == Toolkit::Gtk3 && (0..=MANY_ON_DEMAND).contains(&raw.child_count);
    if told || !managed && raw.child_count <= MANY_CHILDREN {
        return Some(ChildrenQuery::All);
    }
    Some(ChildrenQuery::First(raw.child_count.clamp(0, MANY_ON_DEMAND)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(bus: &str, path: &str, child_count: i32) -> Raw {
        Raw {
            object: ObjectRef { bus: bus.into(), path: path.into() },
            parent: None,
            index: -1,
            child_count,
            children: Vec::new(),
            abilities: Abilities::default(),
            name: String::new(),
            description: String::new(),
            role: Role(39),
            states: States::default(),
        }
    }

    #[test]
    fn objects_of_several_programs_have_the_same_paths() {
        let mut objects = Objects::default();
        let outer = objects.insert(panel(":1.0", "/org/a11y/atspi/accessible/1", 1));
        let mut inner = panel(":1.2", "/org/a11y/atspi/accessible/1", 0);
        inner.parent = Some(objects.all[outer].object.clone());
        let inner = objects.insert(inner);
        assert_ne!(outer, inner);
        assert_eq!(objects.above(inner), Some(outer));
        assert_eq!(
            objects.position(&objects.all[inner].object.named("", "/org/a11y/atspi/accessible/1")),
            Some(inner)
        );
        assert!(objects.forget(inner) && !objects.forget(inner));
        assert_eq!(objects.position(&objects.all[outer].object), Some(outer));
    }

    #[test]
    fn a_walk_over_objects_that_lie_in_one_another_ends() {
        let mut objects = Objects::default();
        let all: Vec<usize> = ["/1", "/2", "/3"].map(|path| objects.insert(panel(":1.0", path, 1))).to_vec();
        for at in 0..all.len() {
            objects.all[all[at]].children = vec![all[(at + 1) % all.len()]];
        }
        let mut visited = HashSet::from([all[0]]);
        let mut levels = vec![vec![all[0]]];
        while let Some(level) = levels.last().filter(|level| !level.is_empty()) {
            levels.push(next_level(&objects, level, &mut visited));
        }
        assert_eq!(levels, [vec![all[0]], vec![all[1]], vec![all[2]], vec![]]);
    }

    #[test]
    fn the_only_child_in_gtk_3_is_asked_for_by_its_number() {
        let by_number = |toolkit| {
            matches!(children_query(&panel(":1.0", "/1", 1), toolkit), Some(ChildrenQuery::First(1)))
        };
        assert!(by_number(Toolkit::Gtk3) && !by_number(Toolkit::Gtk4));
        assert!(children_query(&panel(":1.0", "/1", 0), Toolkit::Gtk3).is_none());
    }
}
