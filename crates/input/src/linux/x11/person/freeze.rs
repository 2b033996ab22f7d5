//! When what the person does may arrive while their devices are grabbed, and when the grab ends: by what happened and the
//! time alone.

use std::time::{Duration, Instant};

/// How long what the person does waits until it may arrive between two steps of what it waits for.
pub const LET_THROUGH_EVERY: Duration = Duration::from_millis(30);
/// How long it waits until a wait for something else lets it arrive for the first time: most gestures are over by then.
const LET_THROUGH_FIRST: Duration = Duration::from_millis(100);
/// How long it waits at most, wherever the focus is by then: whoever could give it back has had the time.
const LONGEST_DELAY: Duration = Duration::from_secs(1);
/// How long the devices are held at most: meanwhile no menu of the person's can grab them.
const LONGEST: Duration = Duration::from_secs(3);

/// The person's devices are grabbed, and what they send waits in the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freeze {
    /// When they were grabbed first.
    pub begun: Instant,
    /// Since when what the person does has not arrived.
    pub since: Instant,
}

impl Freeze {
    /// Begins now.
    pub fn begin(now: Instant) -> Self {
        Self { begun: now, since: now }
    }
}

/// What happens to a freeze.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Whoever grabbed the devices waits for something.
    HolderWaits,
    /// Anybody else on the connection does.
    OtherWaits,
    /// It was read where the person's keys would go.
    FocusRead {
        /// The person's keys would go where they belong.
        is_back: bool,
    },
    /// Whoever grabbed the devices has no more use for that, and has read where the person's keys would go.
    Finished {
        /// The person's keys would go where they belong.
        is_back: bool,
    },
}

/// What is to be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// To read where the person's keys would go, which is the next event.
    ReadFocus,
    /// To let arrive what waits, and to grab the devices again.
    LetThrough,
    /// To let arrive what waits, for good.
    Release,
}

/// The freeze after an event, and what is to be done.
pub fn next(freeze: Freeze, event: Event, now: Instant) -> (Freeze, Effect) {
    let (age, delay) = (now - freeze.begun, now - freeze.since);
    match event {
        Event::OtherWaits if age < LET_THROUGH_FIRST => (freeze, Effect::None),
        Event::HolderWaits | Event::OtherWaits if delay < LET_THROUGH_EVERY => (freeze, Effect::None),
        Event::HolderWaits | Event::OtherWaits => (freeze, Effect::ReadFocus),
        Event::FocusRead { is_back } if !is_back && delay <= LONGEST_DELAY => (freeze, Effect::None),
        Event::FocusRead { .. } if age > LONGEST => (freeze, Effect::Release),
        Event::FocusRead { .. } => (Freeze { since: now, ..freeze }, Effect::LetThrough),
        Event::Finished { is_back } => (freeze, if is_back { Effect::Release } else { Effect::None }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: [Event; 2] = [Event::FocusRead { is_back: false }, Event::FocusRead { is_back: true }];

    /// What is to be done at so many milliseconds of a freeze that let nothing arrive since `since`.
    fn effect(event: Event, since: u64, at: u64) -> Effect {
        let begun = Instant::now();
        let time = |ms| begun + Duration::from_millis(ms);
        next(Freeze { begun, since: time(since) }, event, time(at)).1
    }

    #[test]
    fn the_holder_asks_every_30_ms_and_others_after_100() {
        assert_eq!(effect(Event::HolderWaits, 0, 29), Effect::None);
        assert_eq!(effect(Event::HolderWaits, 0, 30), Effect::ReadFocus);
        assert_eq!(effect(Event::OtherWaits, 0, 99), Effect::None);
        assert_eq!(effect(Event::OtherWaits, 0, 100), Effect::ReadFocus);
        assert_eq!(effect(Event::OtherWaits, 90, 110), Effect::None);
        assert_eq!(effect(Event::OtherWaits, 90, 120), Effect::ReadFocus);
    }

    #[test]
    fn what_waits_arrives_once_the_focus_is_back_or_after_a_second() {
        let [elsewhere, back] = READ;
        assert_eq!(effect(back, 0, 30), Effect::LetThrough);
        assert_eq!(effect(elsewhere, 0, 30), Effect::None);
        assert_eq!(effect(elsewhere, 0, 1000), Effect::None);
        assert_eq!(effect(elsewhere, 0, 1001), Effect::LetThrough);
        assert_eq!(effect(elsewhere, 500, 1500), Effect::None);
    }

    #[test]
    fn waiting_begins_anew_when_something_arrived_and_the_age_does_not() {
        let begun = Instant::now();
        let now = begun + Duration::from_millis(40);
        let (freeze, _) = next(Freeze::begin(begun), READ[1], now);
        assert_eq!(freeze, Freeze { begun, since: now });
        assert_eq!(next(freeze, READ[0], now), (freeze, Effect::None));
    }

    #[test]
    fn no_freeze_outlives_three_seconds_of_a_wait() {
        let [elsewhere, back] = READ;
        assert_eq!(effect(back, 2990, 3000), Effect::LetThrough);
        assert_eq!(effect(back, 2990, 3001), Effect::Release);
        assert_eq!(effect(elsewhere, 2990, 3001), Effect::None);
        assert_eq!(effect(elsewhere, 2990, 3991), Effect::Release);
    }

    #[test]
    fn one_that_is_finished_ends_once_the_focus_is_back() {
        for at in [0, 5000] {
            assert_eq!(effect(Event::Finished { is_back: false }, 0, at), Effect::None);
            assert_eq!(effect(Event::Finished { is_back: true }, 0, at), Effect::Release);
        }
    }
}
