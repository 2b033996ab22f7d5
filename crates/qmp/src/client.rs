//! A connection to a hypervisor.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::error::QmpError;
use crate::message::{self, Event, Reply};
use crate::platform::{Descriptor, Link, check_descriptors};
use crate::reader;

/// Longest line that is read; what QEMU sends is under one of these sixteen megabytes.
pub const MOST_LINE_BYTES: usize = 16 << 20;

/// Stack of the thread that reads: JSON nests at most 128 deep.
const STACK_BYTES: usize = 512 << 10;

/// Who is told what a hypervisor says of its own accord, on a thread that must not be kept.
pub trait Listener: Send {
    /// Something happened; false ends the connection, because events come faster than they are taken.
    fn event(&mut self, event: &Event) -> bool;
    /// The connection ended, and nobody had closed it.
    fn end(&mut self, error: &QmpError);
}

/// A connection to a hypervisor, ready for commands; any number of threads may use it at once.
#[derive(Debug)]
pub struct Client {
    shared: Arc<Shared>,
}

/// What the client's threads and the reader share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) link: Link,
    pub(crate) socket: PathBuf,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) greeting: Option<Value>,
    /// Replies by number; none while a command waits for its own.
    pub(crate) replies: HashMap<u64, Option<Reply>>,
    /// Events about jobs so far.
    pub(crate) job_events: u64,
    /// Why the connection ended.
    pub(crate) ended: Option<QmpError>,
    /// True once the end was asked for here.
    pub(crate) is_closed: bool,
    /// True while a thread sends.
    is_sending: bool,
    next: u64,
}

impl Client {
    /// Connects to a QMP socket, takes the greeting and leaves the phase of negotiation, all within `limit`.
    pub fn connect(
        socket: &Path,
        limit: Duration,
        listener: impl Listener + 'static,
    ) -> Result<Self, QmpError> {
        let deadline = Instant::now() + limit;
        let link = Link::open(socket, deadline)?;
        let shared = Arc::new(Shared {
            link,
            socket: socket.to_owned(),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        // From here on every way out closes the connection, which ends the reader.
        let client = Self { shared: Arc::clone(&shared) };
        thread::Builder::new()
            .name("qmp".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || reader::run(&shared, Box::new(listener)))
            .map_err(|error| QmpError::Unreachable {
                socket: socket.to_owned(),
                reason: error.to_string(),
            })?;
        client.shared.wait(deadline, |state| state.greeting.is_some().then_some(())).map_err(|ended| {
            ended.unwrap_or_else(|| QmpError::Timeout { command: "the connection".to_owned(), limit })
        })?;
        client.execute("qmp_capabilities", None, &[], deadline.saturating_duration_since(Instant::now()))?;
        Ok(client)
    }

    /// What the hypervisor said of itself: an object with `version` and `capabilities`.
    pub fn greeting(&self) -> Value {
        self.shared.lock().greeting.clone().unwrap_or_default()
    }

    /// Has a command done and answers its result; `with` are files that `getfd` or `add-fd` takes.
    ///
    /// After a timeout the connection stays in use: the answer, when it comes, is known by its number and thrown away.
    pub fn execute(
        &self,
        command: &str,
        arguments: Option<Value>,
        with: &[Descriptor<'_>],
        limit: Duration,
    ) -> Result<Value, QmpError> {
        check_descriptors(with)?;
        let deadline = Instant::now() + limit;
        let late = || QmpError::Timeout { command: command.to_owned(), limit };
        let shared = &self.shared;
        let id = shared
            .wait(deadline, |state| {
                if state.is_sending || state.ended.is_some() {
                    return None;
                }
                state.is_sending = true;
                state.next += 1;
                state.replies.insert(state.next, None);
                Some(state.next)
            })
            .map_err(|ended| ended.unwrap_or_else(late))?;
        let sent = shared.link.send(&message::command(id, command, arguments), with, deadline);
        shared.lock().is_sending = false;
        shared.changed.notify_all();
        if let Err(error) = sent {
            // Half a line may have gone out: what came after it would not be understood.
            let reason = match error.kind() {
                std::io::ErrorKind::TimedOut => "it took no command in time".to_owned(),
                _ => error.to_string(),
            };
            shared.end(QmpError::Lost { socket: shared.socket.clone(), reason });
        }
        let reply = shared.wait(deadline, |state| state.replies.get_mut(&id).and_then(Option::take));
        shared.lock().replies.remove(&id);
        match reply.map_err(|ended| ended.unwrap_or_else(late))? {
            Reply::Return(result) => Ok(result),
            Reply::Error { class, text } => {
                let reason = text.trim_end_matches('.').to_owned();
                Err(QmpError::Refused { command: command.to_owned(), class, reason })
            }
        }
    }

    /// Waits until more than `seen` events about jobs have come, and answers how many; at most until `deadline`.
    pub(crate) fn job_events(&self, seen: u64, deadline: Instant) -> Result<u64, QmpError> {
        let more = |state: &mut State| (state.job_events > seen).then_some(state.job_events);
        match self.shared.wait(deadline, more) {
            Ok(events) => Ok(events),
            Err(None) => Ok(seen),
            Err(Some(ended)) => Err(ended),
        }
    }

    /// Ends the connection and every command that waits; the VM runs on. Closing twice is fine.
    pub fn close(&self) {
        let shared = &self.shared;
        shared.lock().is_closed = true;
        shared.end(QmpError::Lost { socket: shared.socket.clone(), reason: "it was closed here".to_owned() });
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and wakes whoever waits for that.
    pub(crate) fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Ends the connection for this reason, unless it has ended for another.
    pub(crate) fn end(&self, error: QmpError) {
        self.change(|state| {
            state.ended.get_or_insert(error);
        });
        self.link.shut();
    }

    /// Waits for something of the state; an error is why the connection ended, or none when the time is over.
    fn wait<T>(
        &self,
        deadline: Instant,
        mut found: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<T, Option<QmpError>> {
        let mut state = self.lock();
        loop {
            // An answer that came before the end still counts.
            if let Some(found) = found(&mut state) {
                return Ok(found);
            }
            if let Some(ended) = &state.ended {
                return Err(Some(ended.clone()));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(None);
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
