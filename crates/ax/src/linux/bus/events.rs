//! Counts the events of every application and keeps what they were about, so that callers see what changed and can wait.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::event_meaning::ReportedFocus;
use crate::platform::dbus::{Message, lock};

/// Changes of one application that are kept: one that floods is read anew.
const MANY: usize = 2_000;

/// Number of events by bus name, and which process each name belongs to; of a process that has ended nothing stays.
#[derive(Default)]
pub struct Events {
    counts: Mutex<HashMap<String, Count>>,
    changed: Condvar,
}

#[derive(Default)]
struct Count {
    pid: u32,
    events: u64,
    /// Those of them that tell of a change.
    change_events: u64,
    reported: ReportedFocus,
    /// The processes in whose windows it is embedded, each with the numbers of its events, and of those that tell of a
    /// change, before that was known.
    hosts: HashMap<u32, (u64, u64)>,
    last: Option<Instant>,
    gone: bool,
    changes: VecDeque<(u64, Change)>,
    /// Number of the last change that is no longer kept.
    forgotten: u64,
}

/// What an event says that has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Something about the object of this path.
    Node(Arc<str>),
    /// Its children.
    Children(Arc<str>),
    /// Where it is.
    Place,
    /// More than can be told.
    Whole,
}

impl Change {
    /// What a signal is about; none when a tree looks the same after it.
    fn of(message: &Message) -> Option<Self> {
        let path = || Arc::from(message.path.as_str());
        match (message.interface.rsplit('.').next()?, message.member.as_str()) {
            ("Document", "LoadComplete" | "Reload" | "LoadStopped") => Some(Self::Whole),
            ("Object", "ChildrenChanged") => Some(Self::Children(path())),
            ("Object", "BoundsChanged") => Some(Self::Place),
            (
                "Object",
                "VisibleDataChanged" | "ModelChanged" | "RowInserted" | "RowDeleted" | "RowReordered",
            ) => Some(Self::Whole),
            ("Object", "TextCaretMoved" | "TextSelectionChanged" | "ActiveDescendantChanged")
            | ("Document", _) => None,
            _ => Some(Self::Node(path())),
        }
    }
}

impl Events {
    /// Counts a signal of the application with this bus name.
    pub fn count(&self, name: &str, message: &Message) {
        if message.interface.starts_with("org.a11y.atspi.Event.") {
            self.note(name, Change::of(message), |reported| reported.is_changed_by(message));
        }
    }

    fn note(&self, name: &str, change: Option<Change>, tells: impl FnOnce(&mut ReportedFocus) -> bool) {
        let mut counts = lock(&self.counts);
        if !counts.contains_key(name) {
            forget_ended(&mut counts);
            counts.insert(name.to_owned(), Count::default());
        }
        if let Some(count) = counts.get_mut(name) {
            count.events += 1;
            count.change_events += u64::from(tells(&mut count.reported));
            count.last = Some(Instant::now());
            if let Some(change) = change {
                if count.changes.len() >= MANY
                    && let Some((number, _)) = count.changes.pop_front()
                {
                    count.forgotten = number;
                }
                count.changes.push_back((count.events, change));
            }
        }
        drop(counts);
        self.changed.notify_all();
    }

    /// Number of events of this name so far.
    pub fn number(&self, name: &str) -> u64 {
        lock(&self.counts).get(name).map_or(0, |count| count.events)
    }

    /// What has changed after event `since` of this name; none when that is no longer known.
    pub fn changes(&self, name: &str, since: u64) -> Option<Vec<Change>> {
        let counts = lock(&self.counts);
        let Some(count) = counts.get(name) else { return Some(Vec::new()) };
        (count.forgotten <= since && !count.gone).then(|| {
            let later = count.changes.iter().filter(|(number, _)| *number > since);
            later.map(|(_, change)| change.clone()).collect()
        })
    }

    /// Says which process a name belongs to, and whether that is a browser.
    pub fn belongs(&self, name: &str, pid: u32, is_browser: bool) {
        let mut counts = lock(&self.counts);
        let count = counts.entry(name.to_owned()).or_default();
        count.pid = pid;
        count.reported.is_browser = is_browser;
    }

    /// Says that these names have a part in a window of a process: their events are events of that process from now on.
    pub fn embeds(&self, host: u32, names: &BTreeSet<Arc<str>>) {
        if names.is_empty() {
            return;
        }
        let mut counts = lock(&self.counts);
        for name in names {
            let count = counts.entry(name.to_string()).or_default();
            count.hosts.entry(host).or_insert((count.events, count.change_events));
        }
    }

    /// Notes that a name has left the bus, which is an event too.
    pub fn left(&self, name: &str) {
        let mut counts = lock(&self.counts);
        forget_ended(&mut counts);
        if let Some(count) = counts.get_mut(name) {
            count.events += 1;
            count.gone = true;
            count.changes = VecDeque::new();
        }
        drop(counts);
        self.changed.notify_all();
    }

    /// True when the name, which belonged to a process, has left the bus.
    pub fn has_left(&self, name: &str) -> bool {
        lock(&self.counts).get(name).is_none_or(|count| count.gone)
    }

    /// Number of events of a process so far.
    pub fn of(&self, pid: u32) -> u64 {
        sum(&lock(&self.counts), pid)
    }

    /// Number of events of a process so far that tell of a change.
    pub fn change_events_of(&self, pid: u32) -> u64 {
        lock(&self.counts).values().filter_map(|count| Some(count.change_events - count.since(pid)?.1)).sum()
    }

    /// How often a process said so far that something got the focus.
    pub fn focuses_of(&self, pid: u32) -> u64 {
        let counts = lock(&self.counts);
        counts.values().filter(|count| count.since(pid).is_some()).map(|count| count.reported.focuses).sum()
    }

    /// Path of the object of this name that last got the focus, as far as the name said so; it may have lost it since.
    pub fn last_focus(&self, name: &str) -> Option<Arc<str>> {
        lock(&self.counts).get(name).and_then(|count| count.reported.focus().cloned())
    }

    /// How long ago the last event of a process came; since `start` when none has.
    pub fn since_event(&self, pid: u32, start: Instant) -> Duration {
        let counts = lock(&self.counts);
        let last = counts.values().filter(|count| count.since(pid).is_some());
        let last = last.filter_map(|count| count.last).max();
        last.unwrap_or(start).elapsed()
    }

    /// Waits until the number of events differs from `since`; answers the number then.
    pub fn wait(&self, pid: u32, since: u64, timeout: Duration) -> u64 {
        let deadline = Instant::now() + timeout;
        let mut counts = lock(&self.counts);
        loop {
            let now = sum(&counts, pid);
            let left = deadline.saturating_duration_since(Instant::now());
            if now != since || left.is_zero() {
                return now;
            }
            counts = self.changed.wait_timeout(counts, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until a process has been quiet for a while; false when it was not by the end of `ceiling`.
    pub fn settled(&self, pid: u32, quiet: Duration, ceiling: Duration) -> bool {
        let deadline = Instant::now() + ceiling;
        let mut events = self.of(pid);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let now = self.wait(pid, events, quiet.min(left));
            if now == events {
                return left >= quiet;
            }
            events = now;
        }
    }
}

/// Forgets the names that have left the bus before this moment and whose process has ended, as have those in whose windows
/// they were: those who waited for its events were told of the leaving.
fn forget_ended(counts: &mut HashMap<String, Count>) {
    let lives = |pid: &u32| Path::new("/proc").join(pid.to_string()).exists();
    counts.retain(|_, count| !count.gone || lives(&count.pid) || count.hosts.keys().any(lives));
}

fn sum(counts: &HashMap<String, Count>, pid: u32) -> u64 {
    counts.values().filter_map(|count| Some(count.events - count.since(pid)?.0)).sum()
}

impl Count {
    /// The numbers of events, and of those that tell of a change, from which on they are events of this process too;
    /// none when they are not.
    fn since(&self, pid: u32) -> Option<(u64, u64)> {
        if self.pid == pid { Some((0, 0)) } else { self.hosts.get(&pid).copied() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_with_the_event_or_the_time() {
        let events = Events::default();
        events.belongs(":1.5", 42, false);
        assert_eq!(events.wait(42, 0, Duration::from_millis(1)), 0);
        std::thread::scope(|scope| {
            scope.spawn(|| events.left(":1.5"));
            assert_eq!(events.wait(42, 0, Duration::from_secs(60)), 1);
        });
        assert_eq!(events.changes(":1.5", 0), None);
        assert!(events.has_left(":1.5"));
        assert_eq!(events.of(7), 0);
    }

    #[test]
    fn nothing_stays_of_a_process_that_has_ended() {
        let events = Events::default();
        // No process can have this number (proc(5), `pid_max`).
        events.belongs(":1.5", 1 << 23, false);
        events.belongs(":1.6", std::process::id(), false);
        for name in [":1.5", ":1.6"] {
            events.note(name, Some(Change::Node("/1".into())), |_| true);
            events.left(name);
        }
        assert_eq!((events.of(1 << 23), events.of(std::process::id())), (0, 2));
        assert!(events.has_left(":1.5") && events.has_left(":1.6"));
        assert!(lock(&events.counts).values().all(|count| count.changes.is_empty()));
        events.note(":1.7", None, |_| true);
        let mut names: Vec<String> = lock(&events.counts).keys().cloned().collect();
        names.sort();
        assert_eq!(names, [":1.6", ":1.7"]);
    }

    #[test]
    fn events_of_what_is_embedded_in_a_window_are_events_of_its_process() {
        let events = Events::default();
        events.belongs(":1.5", 42, false);
        events.belongs(":1.6", 43, false);
        let note = |name| events.note(name, None, |_| true);
        let numbers = |pid| (events.of(pid), events.change_events_of(pid));
        note(":1.6");
        let embedded = BTreeSet::from([Arc::from(":1.6"), Arc::from(":1.7")]);
        events.embeds(42, &embedded);
        assert_eq!((numbers(42), numbers(43)), ((0, 0), (1, 1)), "earlier ones are not");
        note(":1.6");
        note(":1.7");
        events.embeds(42, &embedded);
        assert_eq!((numbers(42), numbers(43)), ((2, 2), (2, 2)));
        assert!(events.since_event(42, Instant::now()) < Duration::from_secs(60));
    }

    #[test]
    fn a_flood_is_forgotten_and_says_so() {
        let events = Events::default();
        let change = Change::Node("/1".into());
        for _ in 0..=MANY {
            events.note(":1.5", Some(change.clone()), |_| true);
        }
        events.note(":1.5", None, |_| true);
        assert_eq!(events.changes(":1.5", 0), None);
        assert_eq!(events.changes(":1.5", events.number(":1.5") - 2), Some(vec![change]));
        assert_eq!(events.changes(":1.5", events.number(":1.5") - 1), Some(vec![]));
        assert_eq!(events.changes(":1.6", 0), Some(vec![]));
    }

    #[test]
    fn a_process_settles_when_its_events_stop() {
        let events = Events::default();
        events.belongs(":1.5", 42, false);
        let (quiet, never) = (Duration::from_millis(5), Duration::from_secs(60));
        assert!(events.settled(42, quiet, never));
        assert!(!events.settled(42, never, quiet));
    }
}
