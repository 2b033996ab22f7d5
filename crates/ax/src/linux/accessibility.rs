//! The accessibility bus as callers see it: applications, snapshots, events.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::application::{App, Toolkit};
use super::ask::{self, Ask};
use super::dbus::{Call, Connection, lock};
use super::events::Events;
use super::snapshot::Snapshot;
use super::{bus, collect, mirror};
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
    events: Arc<Events>,
    opened: Instant,
    state: Mutex<State>,
}

struct State {
    bus: Arc<Connection>,
    apps: HashMap<Arc<str>, Arc<App>>,
    closed: bool,
}

impl Accessibility {
    /// Opens the accessibility bus of the session bus at `bus_address` (none: of the environment), switches accessibility
    /// on and registers for events.
    pub fn open(bus_address: Option<&str>) -> Result<Self, AxError> {
        let events = Arc::new(Events::default());
        let bus = Arc::new(bus::open(bus_address, &events, Instant::now() + OPEN_TIMEOUT)?);
        let state = State { bus, apps: HashMap::new(), closed: false };
        Ok(Self {
            session_address: bus_address.map(str::to_owned),
            events,
            opened: Instant::now(),
            state: Mutex::new(state),
        })
    }

    /// The applications on the bus, each with its process; one that does not answer within a second has no name.
    pub fn applications(&self) -> Result<Vec<Application>, AxError> {
        let apps = self.apps(None)?;
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
        mirror::snapshot(&self.app(request.pid)?, request)
    }

    /// Number of nodes that a bare bulk read (`Cache.GetItems`) of the application answers: the floor of any tree.
    pub fn cache_items(&self, pid: u32) -> Result<u32, AxError> {
        let app = self.app(pid)?;
        let cache = Ask::plain(&app.object("", collect::CACHE_PATH), ask::CACHE, "GetItems");
        let reply = app
            .ask(cache, Instant::now() + ITEMS_TIMEOUT)
            .map_err(|error| app.failure(&error, ITEMS_TIMEOUT))?;
        Ok(collect::count(&reply))
    }

    /// Number of events of the application so far; grows with every change that it announces.
    pub fn generation(&self, pid: u32) -> u64 {
        self.events.of(pid)
    }

    /// Number of events of the application so far that tell of a change in it. Not in it are those that come with
    /// any key or pointer, and with no change at all: the window is active, the element that has the focus has it,
    /// the caret is where it was, a page has loaded.
    pub fn told(&self, pid: u32) -> u64 {
        self.events.told_by(pid)
    }

    /// How long ago the application last sent an event; since the opening when it has sent none.
    pub fn quiet_for(&self, pid: u32) -> Duration {
        self.events.quiet_for(pid, self.opened)
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

    fn app(&self, pid: u32) -> Result<Arc<App>, AxError> {
        let known = lock(&self.state).apps.values().find(|app| app.pid == pid).cloned();
        if let Some(app) = known.filter(|app| !self.events.has_left(&app.name) && !app.is_cut_off()) {
            return Ok(app);
        }
        self.apps(Some(pid))?.into_iter().find(|app| app.pid == pid).ok_or(AxError::NotAccessible { pid })
    }

    /// Everything that is registered now, or what of it belongs to a process: one that hangs must not delay others.
    /// Applications that are known keep their connections.
    fn apps(&self, of: Option<u32>) -> Result<Vec<Arc<App>>, AxError> {
        let deadline = Instant::now() + OPEN_TIMEOUT;
        let bus = self.bus(deadline)?;
        let registry = Call {
            destination: Some("org.a11y.atspi.Registry"),
            path: ask::ROOT,
            interface: ask::ACCESSIBLE,
            member: "GetChildren",
            signature: "",
            body: &[],
        };
        let reply = bus.call(registry, deadline).map_err(|error| AxError::Unavailable {
            reason: format!("the registry: {}", bus::why(&error)),
        })?;
        let names: Vec<Arc<str>> =
            collect::references(&reply).into_iter().map(|(name, _)| name.into()).collect();
        let known = lock(&self.state).apps.clone();
        let fresh: Vec<Arc<str>> = names
            .iter()
            .filter(|name| known.get(*name).is_none_or(|app| app.title.is_empty()))
            .cloned()
            .collect();
        let processes = bus::processes(&bus, &fresh, deadline);
        let pairs: Vec<(Arc<str>, u32)> =
            fresh.into_iter().zip(processes).filter(|(_, pid)| of.is_none_or(|of| of == *pid)).collect();
        let described = App::describe(&bus, &self.events, &pairs, Instant::now() + NAMES_TIMEOUT);
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

    fn bus(&self, deadline: Instant) -> Result<Arc<Connection>, AxError> {
        let mut state = lock(&self.state);
        if state.closed {
            return Err(AxError::Unavailable { reason: "it was closed".to_owned() });
        }
        if state.bus.is_closed() {
            state.bus = Arc::new(bus::open(self.session_address.as_deref(), &self.events, deadline)?);
            state.apps.clear();
        }
        Ok(Arc::clone(&state.bus))
    }
}
