//! How a gesture under way is told to stop.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::CallStart;

/// Counts how often everything that was under way has been told to stop.
#[derive(Default)]
pub struct Cancellation {
    count: Mutex<u64>,
    changed: Condvar,
}

impl Cancellation {
    /// What begins now is reached by every later stop and by no earlier one.
    pub fn now(&self) -> CallStart {
        CallStart(*self.lock())
    }

    /// Stops what began before.
    pub fn stop(&self) {
        *self.lock() += 1;
        self.changed.notify_all();
    }

    /// Waits for this time or until what began then is stopped; true when it was.
    pub fn wait(&self, since: CallStart, time: Duration) -> bool {
        let deadline = Instant::now() + time;
        let mut count = self.lock();
        while *count == since.0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            count = self.changed.wait_timeout(count, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_reaches_what_began_before_it() {
        let cancellation = Cancellation::default();
        let before = cancellation.now();
        assert!(!cancellation.wait(before, Duration::ZERO));
        cancellation.stop();
        assert!(
            cancellation.wait(before, Duration::ZERO) && cancellation.wait(before, Duration::from_secs(60))
        );
        assert!(!cancellation.wait(cancellation.now(), Duration::ZERO));
    }
}
