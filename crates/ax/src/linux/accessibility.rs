//! The accessibility bus as callers see it: applications, snapshots, events.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use desktop::Session;

use super::bus::application::App;
use super::bus::ask::{self, Ask};
use super::bus::events::Events;
use super::bus::limit::{CANCELLED_WITHIN, Limit};
use super::bus::toolkit::Toolkit;
use super::bus::{connecting, proxied};
use super::dbus::{Call, Connection, lock};
use super::snapshot::Snapshot;
use super::tree::kept::{self, KeptWindows};
use super::tree::objects;
use crate::{Application, AxError, SnapshotRequest};

/// How long opening the bus and listing applications may take.
const OPEN_TIMEOUT: Duration = Duration::from_secs(5);
/// How long all applications together may take to say their names.
const NAMES_TIMEOUT: Duration = Duration::from_secs(1);
/// Time-out of a bare bulk read.
const ITEMS_TIMEOUT: Duration = Duration::from_secs(30);

/// The accessibility bus of a session; opened anew when it was restarted.
pub struct Accessibility {
    session_address: Option<String>,
    /// The display server that the windows are on.
    session: Option<Session>,
    events: Arc<Events>,
    opened: Instant,
    state: Mutex<State>,
    /// The bus was opened anew, or that failed.
    opened_anew: Condvar,
}

struct State {
    bus: Arc<Connection>,
    apps: HashMap<Arc<str>, Arc<App>>,
    /// The windows of each application as they were read last, with the application that they are of.
    kept: HashMap<Arc<str>, (Weak<App>, Arc<KeptWindows>)>,
    /// A call opens the bus anew.
    opening: bool,
    closed: bool,
}

impl Accessibility {
    /// Opens the accessibility bus of the session bus at `bus_address` (none: of the environment, else what the display
    /// server of `session` names), switches accessibility on and registers for events.
    ///
    /// Without a session, programs inside a window of which its sockets have not heard are missing in its trees.
    pub fn open(bus_address: Option<&str>, session: Option<&Session>) -> Result<Self, AxError> {
        let events = Arc::new(Events::default());
        let limit = Limit::until(Instant::now() + OPEN_TIMEOUT);
        let bus = Arc::new(connecting::open(bus_address, session, &events, &limit)?);
        let state = State { bus, apps: HashMap::new(), kept: HashMap::new(), opening: false, closed: false };
        Ok(Self {
            session_address: bus_address.map(str::to_owned),
            session: session.cloned(),
            events,
            opened: Instant::now(),
            state: Mutex::new(state),
            opened_anew: Condvar::new(),
        })
    }

    /// The applications on the bus, each with its process, or the proxy through which it is there where its own cannot be
    /// told; one that does not answer within a second has no name.
    pub fn applications(&self) -> Result<Vec<Application>, AxError> {
        let apps = self.apps(None, &Limit::until(Instant::now() + OPEN_TIMEOUT))?;
        Ok(apps
            .iter()
            .map(|app| Application {
                pid: app.pid,
                name: app.title.clone(),
                toolkit: app.toolkit_text.clone(),
            })
            .collect())
    }

    /// Reads the tree of a window within the request's time; what is not read by then is missing, and `partial` says so.
    pub fn snapshot(&self, request: &SnapshotRequest) -> Result<Snapshot, AxError> {
        let limit = Limit { deadline: Instant::now() + request.timeout, cancel: request.cancel.clone() };
        let app = self.app(request.pid, &limit)?;
        kept::snapshot(&self.kept_of(&app), &app, request, limit.deadline)
    }

    /// Number of nodes that a bare bulk read (`Cache.GetItems`) of the application answers: the floor of any tree.
    pub fn cache_items(&self, pid: u32) -> Result<u32, AxError> {
        let app = self.app(pid, &Limit::until(Instant::now() + ITEMS_TIMEOUT))?;
        let cache = Ask::plain(&app.object("", objects::CACHE_PATH), ask::CACHE, "GetItems");
        let reply = app
            .ask(cache, Instant::now() + ITEMS_TIMEOUT)
            .map_err(|error| app.failure(&error, ITEMS_TIMEOUT))?;
        Ok(objects::count(&reply))
    }

    /// Number of events of the application so far; grows with every change that it announces.
    pub fn generation(&self, pid: u32) -> u64 {
        self.events.of(pid)
    }

    /// Number of events of the application so far that tell of a change in it. Not in it are those that come with
    /// any key or pointer, and with no change at all: the window is active, the element that has the focus has it,
    /// the caret is where it was, a page has loaded.
    pub fn change_events(&self, pid: u32) -> u64 {
        self.events.change_events_of(pid)
    }

    /// How often the application said so far that something in it got the focus.
    pub fn focus_changes(&self, pid: u32) -> u64 {
        self.events.focuses_of(pid)
    }

    /// How long ago the application last sent an event; since the opening when it has sent none.
    pub fn since_event(&self, pid: u32) -> Duration {
        self.events.since_event(pid, self.opened)
    }

    /// Waits until the number of events of the application differs from `since`; answers the number then.
    pub fn wait_for_event(&self, pid: u32, since: u64, timeout: Duration) -> u64 {
        self.events.wait(pid, since, timeout)
    }

    /// Waits until the application has announced nothing for a while; false when it still did at the end of `ceiling`.
    pub fn settled(&self, pid: u32, quiet: Duration, ceiling: Duration) -> bool {
        self.events.settled(pid, quiet, ceiling)
    }

    /// Ends the connection; later calls fail.
    pub fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        state.apps.clear();
        state.bus.close();
    }

    /// What was read of an application; nothing yet when it was found anew since.
    fn kept_of(&self, app: &Arc<App>) -> Arc<KeptWindows> {
        let mut state = lock(&self.state);
        state.kept.retain(|_, (of, _)| of.strong_count() > 0);
        let fresh = || (Arc::downgrade(app), Arc::default());
        let (of, kept_windows) = state.kept.entry(Arc::clone(&app.name)).or_insert_with(fresh);
        if !std::ptr::eq(of.as_ptr(), Arc::as_ptr(app)) {
            (*of, *kept_windows) = fresh();
        }
        Arc::clone(kept_windows)
    }

    fn app(&self, pid: u32, limit: &Limit) -> Result<Arc<App>, AxError> {
        let known = lock(&self.state).apps.values().find(|app| app.pid == pid).cloned();
        if let Some(app) = known.filter(|app| !self.events.has_left(&app.name) && !app.is_cut_off()) {
            return Ok(app);
        }
        self.apps(Some(pid), limit)?
            .into_iter()
            .find(|app| app.pid == pid)
            .ok_or(AxError::NotAccessible { pid })
    }

    /// Everything that is registered now, or what of it belongs to a process: one that hangs must not delay others.
    /// Applications that are known keep their connections.
    fn apps(&self, of: Option<u32>, limit: &Limit) -> Result<Vec<Arc<App>>, AxError> {
        let limit = limit.at_most(OPEN_TIMEOUT);
        let bus = self.bus(&limit)?;
        let registry = Call {
            destination: Some("org.a11y.atspi.Registry"),
            path: ask::ROOT,
            interface: ask::ACCESSIBLE,
            member: "GetChildren",
            signature: "",
            body: &[],
        };
        let reply = bus.call(registry, &limit).map_err(|error| AxError::Unavailable {
            reason: format!("the registry: {}", connecting::why(&error)),
        })?;
        let names: Vec<Arc<str>> =
            objects::references(&reply).into_iter().map(|(name, _)| name.into()).collect();
        let known = lock(&self.state).apps.clone();
        let fresh: Vec<Arc<str>> = names
            .iter()
            .filter(|name| known.get(*name).is_none_or(|app| app.title.is_empty()))
            .cloned()
            .collect();
        let processes = connecting::processes(&bus, &fresh, &limit).into_iter().map(proxied::process);
        // What was proved of a connection stays so.
        let proved =
            |name: &Arc<str>| known.get(name).map(|app| app.pid).filter(|pid| !proxied::is_hidden(*pid));
        let pairs = fresh.into_iter().zip(processes);
        let mut pairs: Vec<(Arc<str>, u32)> =
            pairs.map(|(name, pid)| (Arc::clone(&name), proved(&name).unwrap_or(pid))).collect();
        if let Some(of) = of {
            let old =
                names.iter().filter_map(|name| known.get(name)).map(|app| (Arc::clone(&app.name), app.pid));
            pairs = of_process(of, &bus, pairs.into_iter().chain(old), &limit);
        }
        pairs.retain(|(name, pid)| known.get(name).is_none_or(|app| app.title.is_empty() || app.pid != *pid));
        let described =
            App::describe(&bus, self.session.as_ref(), &self.events, &pairs, &limit.at_most(NAMES_TIMEOUT));
        let mut state = lock(&self.state);
        for app in described {
            self.events.belongs(
                &app.name,
                app.pid,
                matches!(app.toolkit, Toolkit::Chromium | Toolkit::Gecko),
            );
            state.apps.insert(Arc::clone(&app.name), app);
        }
        state.apps.retain(|name, _| names.contains(name));
        Ok(names.iter().filter_map(|name| state.apps.get(name).cloned()).collect())
    }

    /// The connection to the bus, opened anew when it has ended; others do not wait for that longer than they want to.
    fn bus(&self, limit: &Limit) -> Result<Arc<Connection>, AxError> {
        let closed = || AxError::Unavailable { reason: "it was closed".to_owned() };
        let mut state = lock(&self.state);
        loop {
            if state.closed {
                return Err(closed());
            }
            if !state.bus.is_closed() {
                return Ok(Arc::clone(&state.bus));
            }
            if !state.opening {
                break;
            }
            let left = limit.left();
            if left.is_zero() {
                return Err(AxError::Unavailable { reason: "it is being opened".to_owned() });
            }
            let woken = self.opened_anew.wait_timeout(state, left.min(CANCELLED_WITHIN));
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.opening = true;
        drop(state);
        let (address, session) = (self.session_address.as_deref(), self.session.as_ref());
        let opened = connecting::open(address, session, &self.events, limit).map(Arc::new);
        let mut state = lock(&self.state);
        state.opening = false;
        self.opened_anew.notify_all();
        let bus = opened?;
        if state.closed {
            return Err(closed());
        }
        state.bus = Arc::clone(&bus);
        state.apps.clear();
        Ok(bus)
    }
}

/// Those of these bus names and processes that are of one process: as the bus says, or else as is proved.
fn of_process(
    pid: u32,
    bus: &Connection,
    all: impl Iterator<Item = (Arc<str>, u32)>,
    limit: &Limit,
) -> Vec<(Arc<str>, u32)> {
    let all: Vec<(Arc<str>, u32)> = all.map(|(name, known)| (name, proxied::process(known))).collect();
    let own: Vec<(Arc<str>, u32)> = all.iter().filter(|(_, known)| *known == pid).cloned().collect();
    if !own.is_empty() {
        return own;
    }
    let hidden = all.into_iter().filter(|(_, known)| proxied::is_hidden(*known)).map(|(name, _)| name);
    let hidden: Vec<Arc<str>> = hidden.collect();
    proxied::names_of(pid, bus, &hidden, limit).into_iter().map(|name| (name, pid)).collect()
}
