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
    notes: Mutex<Notes>,
    added: Condvar,
}

#[derive(Default)]
struct Notes {
    hidden: VecDeque<Hidden>,
    is_over: bool,
}

impl HiddenQueue {
    /// A cursor hid by itself just now.
    pub(crate) fn hid(&self, id: &str) {
        let mut notes = self.lock();
        if notes.hidden.len() == MOST_KEPT {
            notes.hidden.pop_front();
        }
        notes.hidden.push_back(Hidden { id: id.to_owned(), at: SystemTime::now() });
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
        let mut notes = self.lock();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if !notes.hidden.is_empty() || left.is_zero() {
                return Some(notes.hidden.drain(..).collect());
            }
            if notes.is_over {
                return None;
            }
            notes = self.added.wait_timeout(notes, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
