//! What the threads that send commands and the one that reads share.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::Value;

use crate::error::QmpError;
use crate::message::Reply;
use crate::platform::Link;

/// A connection, and what has come over it.
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
    pub(crate) is_sending: bool,
    /// The number of the last command.
    pub(crate) last: u64,
}

impl Shared {
    pub(crate) fn new(link: Link, socket: PathBuf) -> Self {
        Self { link, socket, state: Mutex::default(), changed: Condvar::new() }
    }

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
    pub(crate) fn wait<T>(
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
