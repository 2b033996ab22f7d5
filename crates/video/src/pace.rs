//! When the next picture of a live film is due, and how many bytes it may have: a connection is held at a steady rate while
//! much moves, and what moves little is fine at once.

use std::time::Duration;

use crate::pictures::rate_control::Budget;

/// Bytes a second that are held while much moves.
const RATE: f64 = 90_000.0;

/// Bytes that may come at once after the screen stood still.
const MOST_HELD: f64 = 128_000.0;

/// Pictures a second at least, as far as the coarsest have no more bytes than that allows.
const LEAST_FPS: f64 = 10.0;

/// How long what changed rests before it is made fine, while bytes are there and in any case.
const REST: (Duration, Duration) = (Duration::from_millis(250), Duration::from_millis(600));

/// How much what follows a picture is held back for its bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HoldBack {
    /// The screen rests.
    Nothing,
    /// Something moves while much else is made fine.
    Little,
    Whole,
}

impl HoldBack {
    /// Bytes that are owed at most.
    fn most(self) -> f64 {
        match self {
            Self::Nothing => 0.0,
            Self::Little => RATE / 5.0,
            Self::Whole => RATE / 2.0,
        }
    }
}

/// What may be sent.
pub(crate) struct Pace {
    fps: f64,
    /// Bytes that may be sent now; less than none after a picture that took more.
    held: f64,
    at: Duration,
}

impl Pace {
    pub(crate) fn new(fps: u32) -> Self {
        Self { fps: fps.into(), held: MOST_HELD, at: Duration::ZERO }
    }

    fn held_at(&self, now: Duration) -> f64 {
        (self.held + now.saturating_sub(self.at).as_secs_f64() * RATE).min(MOST_HELD)
    }

    /// The budget of a picture that is made now.
    pub(crate) fn budget(&self, now: Duration) -> Budget {
        let held = self.held_at(now);
        let rest = if held >= MOST_HELD / 4.0 { REST.0 } else { REST.1 };
        Budget {
            now,
            // At the beginning nothing was drafted.
            rested: now.saturating_sub(rest),
            // None is less than none.
            free: (held / 2.0).max(0.0) as usize,
            usual: (RATE / self.fps) as usize,
            most: (RATE / LEAST_FPS) as usize,
        }
    }

    /// How long what moves is to wait.
    pub(crate) fn wait(&self, now: Duration) -> Duration {
        Duration::from_secs_f64((-self.held_at(now)).max(0.0) / RATE)
    }

    /// Notes a picture.
    pub(crate) fn spent(&mut self, now: Duration, bytes: usize, held_back: HoldBack) {
        let held = self.held_at(now);
        let least = held.min(-held_back.most());
        self.held = (held - bytes as f64).max(least);
        self.at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_rate_is_held_while_much_moves() {
        let mut pace = Pace::new(30);
        let (mut now, mut sum) = (at(0), 0);
        while now < at(20_000) {
            let bytes = pace.budget(now).most;
            sum += bytes;
            pace.spent(now, bytes, HoldBack::Whole);
            now += pace.wait(now).max(at(33));
        }
        let rate = sum as f64 / 20.0;
        assert!((RATE..RATE * 1.1).contains(&rate), "{rate}");
    }

    #[test]
    fn what_was_made_fine_holds_back_nothing_and_is_not_made_so_at_once_again() {
        let mut pace = Pace::new(30);
        assert_eq!(pace.budget(at(1_000)).rested, at(750));
        pace.spent(at(1_000), 500_000, HoldBack::Nothing);
        assert_eq!(pace.wait(at(1_000)), at(0));
        assert_eq!(pace.budget(at(1_000)).rested, at(400));
        assert_eq!(pace.budget(at(2_000)).rested, at(1_750));
        pace.spent(at(2_000), 500_000, HoldBack::Whole);
        assert_eq!(pace.wait(at(2_000)), at(500));
        pace.spent(at(2_100), 9, HoldBack::Nothing);
        assert_eq!(pace.wait(at(2_100)), at(400));
        pace.spent(at(4_000), 500_000, HoldBack::Little);
        assert_eq!(pace.wait(at(4_000)), at(200));
    }
}
