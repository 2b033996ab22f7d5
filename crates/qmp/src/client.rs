//! A connection to a hypervisor.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::error::QmpError;
use crate::message::{self, Reply};
use crate::platform::{Descriptor, Link, check_descriptors};
use crate::reader::{self, Listener};
use crate::shared::{Shared, State};

/// Stack of the thread that reads: JSON nests at most 128 deep.
const STACK_BYTES: usize = 512 << 10;

/// A connection to a hypervisor, ready for commands; any number of threads may use it at once.
#[derive(Debug)]
pub struct Client {
    shared: Arc<Shared>,
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
        let shared = Arc::new(Shared::new(link, socket.to_owned()));
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
                state.last += 1;
                state.replies.insert(state.last, None);
                Some(state.last)
            })
            .map_err(|ended| ended.unwrap_or_else(late))?;
        let sent = shared.link.send(&message::command(id, command, arguments), with, deadline);
        shared.change(|state| state.is_sending = false);
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
