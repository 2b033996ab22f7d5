//! The cursors that hid by themselves, for whoever waits for that.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::Hidden;

/// Of cursors that nobody asks about only the last so many are kept.
const MOST_KEPT: usize = 64;

/// Cursors that hid by themselves, in order.
#[derive(Default)]
pub(crate) struct HiddenQueue {
    state: Mutex<HiddenQueueState>,
    added: Condvar,
}

#[derive(Default)]
struct HiddenQueueState {
    hidden: VecDeque<Hidden>,
    is_over: bool,
}

impl HiddenQueue {
    /// A cursor hid by itself just now.
    pub(crate) fn hid(&self, id: &str) {
        let mut state = self.lock();
        if state.hidden.len() == MOST_KEPT {
            state.hidden.pop_front();
        }
        state.hidden.push_back(Hidden { id: id.to_owned(), at: SystemTime::now() });
        self.added.notify_all();
    }

    /// Nothing more will be added.
    pub(crate) fn end(&self) {
        self.lock().is_over = true;
        self.added.notify_all();
    }

    /// Waits until something is added, at most for a while; none when nothing more will be.
    pub(crate) fn wait(&self, timeout: Duration) -> Option<Vec<Hidden>> {
        let deadline = Instant::now() + timeout;
        let mut state = self.lock();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if !state.hidden.is_empty() || left.is_zero() {
                return Some(state.hidden.drain(..).collect());
            }
            if state.is_over {
                return None;
            }
            state = self.added.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, HiddenQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
