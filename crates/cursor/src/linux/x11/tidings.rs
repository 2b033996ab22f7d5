//! What the cursors' thread tells of its own accord, for whoever wants to hear it.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::Hidden;

/// Tidings that nobody hears are forgotten but for so many.
const MOST_KEPT: usize = 64;

/// Cursors that hid by themselves, in order.
#[derive(Default)]
pub(crate) struct Tidings {
    notes: Mutex<Notes>,
    told: Condvar,
}

#[derive(Default)]
struct Notes {
    hidden: VecDeque<Hidden>,
    is_over: bool,
}

impl Tidings {
    /// A cursor hid by itself just now.
    pub(crate) fn hid(&self, id: &str) {
        let mut notes = self.lock();
        if notes.hidden.len() == MOST_KEPT {
            notes.hidden.pop_front();
        }
        notes.hidden.push_back(Hidden { id: id.to_owned(), at: SystemTime::now() });
        self.told.notify_all();
    }

    /// Nothing more will be told.
    pub(crate) fn end(&self) {
        self.lock().is_over = true;
        self.told.notify_all();
    }

    /// Waits until something is told, at most for a while; none when nothing more will be.
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
            notes = self.told.wait_timeout(notes, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
