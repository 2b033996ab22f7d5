//! The windows of an application as they were read last, and what may be told of them without reading them again.
//!
//! Three cases. An application that has not run since, all of whose announcements have been handled and were none, is as
//! it was: nothing is asked. A browser that has run is asked for the places of a few nodes, which also brings in whatever
//! it had announced until then; for a short while only what it announced is read again. All else is read as a whole.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use desktop::{Rect, WindowId};

use super::objects::Source;
use super::part::{self, Part};
use super::reading::{self, Reading};
use super::walk::Walk;
use crate::platform::bus::activity::Activity;
use crate::platform::bus::application::App;
use crate::platform::bus::ask::{self, Ask, Reply};
use crate::platform::bus::events::Change;
use crate::platform::dbus::lock;
use crate::platform::snapshot::Snapshot;
use crate::tree::{Abilities, Tree};
use crate::{AxError, Offscreen, SnapshotRequest};

/// How long the events of an application that has run are trusted to tell of every change.
const TRUSTED: Duration = Duration::from_secs(3);
/// How long the tree of an application whose events do not tell of every change is told from memory.
const SHORT_WHILE: Duration = Duration::from_secs(1);
/// Most nodes whose places are compared.
const MANY_SENTINELS: usize = 64;
/// How long an application that has answered may take to sleep again.
const FALLS_ASLEEP: Duration = Duration::from_millis(1);
/// The places of so few elements are asked at once.
const FEW_PLACES: usize = 128;
/// Most windows of one application that are kept.
const MANY_WINDOWS: usize = 16;

/// The windows of one application, by their ids and by whether what lies beyond the view was read.
#[derive(Default)]
pub struct KeptWindows(Mutex<HashMap<(WindowId, bool), KeptWindow>>);

/// One window as it was read.
struct KeptWindow {
    request: SnapshotRequest,
    tree: Arc<Tree>,
    objects: Arc<Vec<Source>>,
    window: Option<ask::ObjectRef>,
    partial: Option<String>,
    offscreen: Offscreen,
    reading: Reading,
    /// Number of the application's events before it was read.
    events: u64,
    /// What the application had done when it had been read.
    activity: Option<Activity>,
    /// When it was read as a whole.
    read_at: Instant,
}

/// The tree of the window that `request` names: from memory where it cannot have changed, else read.
pub fn snapshot(
    kept_windows: &KeptWindows,
    app: &Arc<App>,
    request: &SnapshotRequest,
    deadline: Instant,
) -> Result<Snapshot, AxError> {
    let key = (request.window_id, request.offscreen);
    // Taken out, so that nobody waits for an application that another call is reading.
    let kept = lock(&kept_windows.0).remove(&key).filter(|kept| kept.fits(request));
    let kept = match kept {
        Some(kept) if kept.is_as_it_was(app) => kept,
        Some(kept) => {
            kept.updated(app, request, deadline).unwrap_or_else(|| KeptWindow::read(app, request, deadline))
        }
        None => KeptWindow::read(app, request, deadline),
    };
    let snapshot = kept.snapshot(app);
    // What belongs to another program changes without this one.
    if kept.reading.in_time && kept.reading.found.is_some() && !kept.reading.has_embedded {
        let mut windows = lock(&kept_windows.0);
        if windows.len() >= MANY_WINDOWS {
            windows.clear();
        }
        windows.insert(key, kept);
    }
    Ok(snapshot)
}

impl KeptWindow {
    fn read(app: &Arc<App>, request: &SnapshotRequest, deadline: Instant) -> Self {
        let events = app.events.number(&app.name);
        let (snapshot, reading) = reading::take(app, request, deadline);
        Self::of(app, request, (snapshot, reading), events, Instant::now())
    }

    fn of(
        app: &App,
        request: &SnapshotRequest,
        (snapshot, reading): (Snapshot, Reading),
        events: u64,
        read_at: Instant,
    ) -> Self {
        let Snapshot { tree, objects, window, partial, offscreen, .. } = snapshot;
        let (request, activity) = (request.clone(), Activity::of(app.pid, FALLS_ASLEEP));
        Self { request, tree, objects, window, partial, offscreen, reading, events, activity, read_at }
    }

    fn snapshot(&self, app: &Arc<App>) -> Snapshot {
        Snapshot {
            app: Arc::clone(app),
            tree: Arc::clone(&self.tree),
            objects: Arc::clone(&self.objects),
            window: self.window.clone(),
            partial: self.partial.clone(),
            offscreen: self.offscreen,
        }
    }

    /// True when the same is asked of a window in the same place.
    fn fits(&self, request: &SnapshotRequest) -> bool {
        let what = |request: &SnapshotRequest| {
            (
                request.max_elements,
                request.max_depth,
                request.all_places,
                request.cell,
                request.size,
                request.place,
            )
        };
        what(&self.request) == what(request) && self.request.title == request.title
    }

    /// True when the application cannot have changed the window.
    fn is_as_it_was(&self, app: &App) -> bool {
        if !app.toolkit.tells_all() && self.read_at.elapsed() > SHORT_WHILE {
            return false;
        }
        // In this order: what it did before it fell asleep has been sent, and what was sent has been counted.
        self.activity.as_ref().is_some_and(Activity::is_still_so)
            && app.is_drained()
            && self.changes(app) == Some(vec![])
    }

    fn changes(&self, app: &App) -> Option<Vec<Change>> {
        app.events.changes(&app.name, self.events)
    }

    /// The window as it is now, from what the application announces; none when it must be read as a whole.
    fn updated(mut self, app: &Arc<App>, request: &SnapshotRequest, deadline: Instant) -> Option<Self> {
        let trusted = app.toolkit.is_read_in_part() && self.read_at.elapsed() <= TRUSTED;
        if !trusted || self.partial.is_some() || app.is_stuck() {
            return None;
        }
        let mut walk = Walk::of(app, request, deadline);
        let told = self.changes(app)?;
        let part = Part::of(app, &self.reading.objects, told.clone())?;
        let replies = self.stands_where_it_stood(&mut walk, part.asks(&self.reading.objects))?;
        // The replies came after everything that was announced before them.
        let events = app.events.number(&app.name);
        let changes = self.changes(app)?;
        let read_at = self.read_at;
        if changes.is_empty() {
            self.events = events;
            self.activity = Activity::of(app.pid, FALLS_ASLEEP);
            return Some(self);
        }
        let (part, replies) = if changes == told {
            (part, replies)
        } else {
            let part = Part::of(app, &self.reading.objects, changes)?;
            walk.forget_extents();
            let replies = walk.ask_all(&part.asks(&self.reading.objects));
            (part, replies)
        };
        let changed = part::read_again(walk, self.reading, request, (&part, &replies))?;
        Some(Self::of(app, request, changed, events, read_at))
    }

    /// The replies to what else is asked, when nodes all over the window are where they were: what scrolls is not
    /// announced.
    fn stands_where_it_stood(&self, walk: &mut Walk<'_>, others: Vec<Ask>) -> Option<Vec<Reply>> {
        let elements: Vec<usize> = placed(&self.tree).collect();
        let sentinels = sentinels(&self.tree);
        // Of few elements all places are wanted where anything has changed, so one round asks for them.
        let asked = if elements.len() <= FEW_PLACES { &elements } else { &sentinels };
        let window = &self.objects.first()?.object;
        let mut asks = vec![Ask::plain(window, ask::ACCESSIBLE, "GetState")];
        asks.extend(others);
        let mut replies =
            walk.ask_with_extents(asked.iter().map(|at| &self.objects[*at].object), asks).into_iter();
        replies.next()?.ok()?;
        let origin = match (walk.app.coordinates(), self.reading.found.and_then(|found| found.origin)) {
            (ask::COORD_SCREEN, origin) => origin.unwrap_or(self.tree.origin),
            _ => (0, 0),
        };
        let stands = |at: &usize| {
            let frame = walk.extents(&self.objects[*at].object).and_then(ask::rect).unwrap_or_default();
            let (x, y) = (frame.x.saturating_sub(origin.0), frame.y.saturating_sub(origin.1));
            self.tree.nodes[*at].frame == Rect { x, y, ..frame }
        };
        sentinels.iter().all(stands).then(|| replies.collect())
    }
}

/// The elements that have places.
fn placed(tree: &Tree) -> impl Iterator<Item = usize> {
    tree.elements.iter().flatten().copied().filter(|at| tree.nodes[*at].abilities.has(Abilities::COMPONENT))
}

/// The first and the last indexed child of every node, thinned out where there are many.
fn sentinels(tree: &Tree) -> Vec<usize> {
    let mut ends: HashMap<Option<usize>, (usize, usize)> = HashMap::new();
    for at in placed(tree) {
        ends.entry(tree.nodes[at].parent).or_insert((at, at)).1 = at;
    }
    let both: HashSet<usize> = ends.into_values().flat_map(|(first, last)| [first, last]).collect();
    let mut chosen: Vec<usize> = both.into_iter().collect();
    chosen.sort_unstable();
    let step = chosen.len().div_ceil(MANY_SENTINELS).max(1);
    chosen.into_iter().step_by(step).collect()
}
