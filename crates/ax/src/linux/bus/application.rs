//! One application on the bus: how it is reached, and what it is built with.

use std::sync::Arc;
use std::time::{Duration, Instant};

use desktop::Session;

use super::action_names::ActionNames;
use super::ask::{self, Ask, ObjectRef, Reply};
use super::connecting;
use super::direct::{Direct, Opened};
use super::events::Events;
use super::limit::Limit;
use super::toolkit::{Toolkit, toolkit};
use crate::AxError;
use crate::platform::dbus::{Call, CallError, Connection};

/// Longest wait for an event before the state is looked at again: not every change is announced.
const RECHECK: Duration = Duration::from_millis(20);

/// An application that has been found on the bus.
pub struct App {
    /// Unique bus name.
    pub name: Arc<str>,
    /// Process; that of the proxy through which it is on the bus, while its own is not known.
    pub pid: u32,
    /// What it calls itself.
    pub title: String,
    /// Toolkit and version.
    pub toolkit_text: String,
    /// Toolkit.
    pub toolkit: Toolkit,
    /// Actions of its objects as they were read last.
    pub action_names: ActionNames,
    /// The display server that its windows are on, where that is known.
    pub session: Option<Session>,
    /// Its events.
    pub events: Arc<Events>,
    bus: Arc<Connection>,
    direct: Direct,
}

impl App {
    /// Describes the applications of these bus names; what does not answer by the deadline has empty texts.
    pub fn describe(
        bus: &Arc<Connection>,
        session: Option<&Session>,
        events: &Arc<Events>,
        names: &[(Arc<str>, u32)],
        limit: &Limit,
    ) -> Vec<Arc<Self>> {
        let asks: Vec<Ask> = names
            .iter()
            .flat_map(|(name, _)| {
                let root = ObjectRef { bus: Arc::clone(name), path: ask::ROOT.into() };
                [
                    Ask::property(&root, ask::ACCESSIBLE, "Name"),
                    Ask::property(&root, ask::APPLICATION, "ToolkitName"),
                    Ask::property(&root, ask::APPLICATION, "Version"),
                ]
            })
            .collect();
        let replies = through(bus, &asks, true, limit);
        let describe = |((name, pid), replies): (&(Arc<str>, u32), &[Reply])| {
            let texts: Vec<String> =
                replies.iter().map(|reply| ask::text_property(reply).unwrap_or_default()).collect();
            Arc::new(Self {
                name: Arc::clone(name),
                pid: *pid,
                title: texts[0].clone(),
                toolkit_text: format!("{} {}", texts[1], texts[2]).trim().to_owned(),
                toolkit: toolkit(&texts[1], &texts[2]),
                action_names: ActionNames::default(),
                bus: Arc::clone(bus),
                session: session.cloned(),
                events: Arc::clone(events),
                direct: Direct::default(),
            })
        };
        names.iter().zip(replies.chunks(3)).map(describe).collect()
    }

    /// The object that stands for the whole application.
    pub fn root(&self) -> ObjectRef {
        self.object(&self.name, ask::ROOT)
    }

    /// An object of this application, or of the one whose bus name is given.
    pub fn object(&self, bus: &str, path: &str) -> ObjectRef {
        let bus = if bus.is_empty() || bus == &*self.name { Arc::clone(&self.name) } else { bus.into() };
        ObjectRef { bus, path: path.into() }
    }

    /// The coordinates in which places are asked. GTK 3 answers relative to the screen with half the requests to the X
    /// server, and relative to the popup for what is in an open menu. Qt moves one edge alone into the
    /// window, so that its widths and heights grow, and Gecko's window is its frame. Others get only window coordinates
    /// right.
    pub fn coordinates(&self) -> u32 {
        if self.toolkit == Toolkit::Gtk3 || self.toolkit.misplaces_windows() {
            ask::COORD_SCREEN
        } else {
            ask::COORD_WINDOW
        }
    }

    /// True when the bus it was found on has ended.
    pub fn is_cut_off(&self) -> bool {
        self.bus.is_closed()
    }

    /// True while the application answers nothing on its own socket, over which its events come.
    pub fn is_stuck(&self) -> bool {
        self.direct.now().is_some_and(|connection| connection.is_stuck())
    }

    /// True when every event that has reached this process has been counted.
    pub fn is_drained(&self) -> bool {
        self.bus.is_drained() && self.direct.now().is_none_or(|direct| direct.is_drained())
    }

    /// Waits for the application's next event, at most until the deadline and never longer than a short while.
    pub fn wait_for_change(&self, deadline: Instant) {
        let left = deadline.saturating_duration_since(Instant::now()).min(RECHECK);
        self.events.wait(self.pid, self.events.of(self.pid), left);
    }

    /// What is shown in messages.
    pub fn label(&self) -> String {
        if self.title.is_empty() { format!("pid {}", self.pid) } else { self.title.clone() }
    }

    /// Makes all calls, over the application's own socket where it offers one.
    pub fn ask_all(&self, asks: &[Ask], deadline: Instant) -> Vec<Reply> {
        self.ask_all_within(asks, &Limit::until(deadline))
    }

    /// Makes all calls, and gives them up when they are cancelled.
    pub fn ask_all_within(&self, asks: &[Ask], limit: &Limit) -> Vec<Reply> {
        if asks.iter().all(|ask| ask.object.bus != self.name) {
            return if asks.is_empty() { Vec::new() } else { through(&self.bus, asks, true, limit) };
        }
        let Some(direct) = self.direct(limit) else {
            return through(&self.bus, asks, true, limit);
        };
        if asks.iter().all(|ask| ask.object.bus == self.name) {
            return through(&direct, asks, false, limit);
        }
        let (own, foreign): (Vec<Ask>, Vec<Ask>) =
            asks.iter().cloned().partition(|ask| ask.object.bus == self.name);
        let mut own = through(&direct, &own, false, limit).into_iter();
        let mut foreign = through(&self.bus, &foreign, true, limit).into_iter();
        asks.iter()
            .filter_map(|ask| if ask.object.bus == self.name { own.next() } else { foreign.next() })
            .collect()
    }

    /// Makes one call.
    pub fn ask(&self, ask: Ask, deadline: Instant) -> Reply {
        self.ask_all(&[ask], deadline).pop().unwrap_or(Err(CallError::TimedOut))
    }

    /// The process that has a bus name; none when the bus does not know it.
    pub fn process_of(&self, name: &Arc<str>, limit: &Limit) -> Option<u32> {
        let processes = connecting::processes(&self.bus, std::slice::from_ref(name), limit);
        processes.first().copied().filter(|pid| *pid != 0)
    }

    /// The failure of a call as the caller sees it.
    pub fn failure(&self, error: &CallError, waited: Duration) -> AxError {
        match error {
            CallError::TimedOut => AxError::Timeout {
                application: self.label(),
                waited_ms: u64::try_from(waited.as_millis()).unwrap_or(u64::MAX),
            },
            CallError::Closed(reason) => AxError::Connection { peer: self.label(), reason: reason.clone() },
            CallError::Remote { name, text } => {
                AxError::Connection { peer: self.label(), reason: format!("{name}: {text}") }
            }
        }
    }

    fn direct(&self, limit: &Limit) -> Option<Arc<Connection>> {
        self.direct.or_open(|| {
            let ask = Ask::plain(&self.root(), ask::APPLICATION, "GetApplicationBusAddress");
            let Some(reply) = through(&self.bus, &[ask], true, limit).pop() else {
                return Opened::Unanswered;
            };
            if matches!(reply, Err(CallError::TimedOut | CallError::Closed(_))) {
                return Opened::Unanswered;
            }
            let Some(address) = ask::text(&reply).filter(|address| !address.is_empty()) else {
                return Opened::Absent;
            };
            let (events, name) = (Arc::clone(&self.events), Arc::clone(&self.name));
            let count = move |message: &_| events.count(&name, message);
            match Connection::open_of(self.pid, &address, limit, Box::new(count)) {
                Ok(connection) => Opened::Open(Arc::new(connection)),
                // One that is stopped, or whose caller gave up, may answer the next time.
                Err(error) if error.kind() == std::io::ErrorKind::TimedOut => Opened::Unanswered,
                Err(_) => Opened::Absent,
            }
        })
    }
}

/// Makes calls over a connection: over the bus, or past it.
pub fn through(connection: &Connection, asks: &[Ask], bus: bool, limit: &Limit) -> Vec<Reply> {
    let calls: Vec<Call<'_>> = asks
        .iter()
        .map(|ask| Call {
            destination: bus.then_some(&*ask.object.bus),
            path: &ask.object.path,
            interface: ask.interface,
            member: ask.member,
            signature: ask.signature,
            body: ask.body.as_slice(),
        })
        .collect();
    connection.call_all(&calls, limit)
}
