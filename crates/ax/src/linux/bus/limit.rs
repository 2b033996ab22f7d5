//! How long a wait may last.

use std::time::{Duration, Instant};

use crate::Cancel;

/// How soon a wait ends that is cancelled.
pub const CANCELLED_WITHIN: Duration = Duration::from_millis(20);

/// When a wait ends: at a time, or earlier when it is cancelled.
#[derive(Clone, Debug)]
pub struct Limit {
    /// The time.
    pub deadline: Instant,
    /// Ends it earlier.
    pub cancel: Cancel,
}

impl Limit {
    /// A limit that nobody cancels.
    pub fn until(deadline: Instant) -> Self {
        Self { deadline, cancel: Cancel::default() }
    }

    /// The same limit, or at most so long from now.
    #[must_use]
    pub fn at_most(&self, longest: Duration) -> Self {
        Self { deadline: self.deadline.min(Instant::now() + longest), cancel: self.cancel.clone() }
    }

    /// The time that is left; nothing when it was cancelled.
    pub fn left(&self) -> Duration {
        if self.cancel.is_cancelled() {
            return Duration::ZERO;
        }
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// True when nothing is left.
    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_ends_with_its_time_or_its_cancel() {
        let limit = Limit::until(Instant::now() + Duration::from_secs(60));
        assert!(!limit.is_over());
        assert!(limit.at_most(Duration::ZERO).is_over());
        limit.cancel.cancel();
        assert!(limit.is_over() && limit.at_most(Duration::from_secs(1)).is_over());
    }
}
