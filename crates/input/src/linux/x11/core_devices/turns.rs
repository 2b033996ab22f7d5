//! The order of the calls of one caller: that in which they were made.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
struct State {
    given: u64,
    waiting: BTreeSet<u64>,
}

/// Gives out turns.
#[derive(Default)]
pub struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

/// A place in the order; it is given up when it is dropped.
pub struct Turn {
    turns: Arc<Turns>,
    number: u64,
}

impl Turns {
    /// The place after all that were taken before.
    pub fn take(self: &Arc<Self>) -> Turn {
        let mut state = self.lock();
        let number = state.given;
        state.given += 1;
        state.waiting.insert(number);
        Turn { turns: Arc::clone(self), number }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Waits until every place before this one is given up.
    pub fn wait(&self) {
        let mut state = self.turns.lock();
        while state.waiting.first().is_some_and(|first| *first < self.number) {
            state = self.turns.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.turns.lock().waiting.remove(&self.number);
        self.turns.changed.notify_all();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails panics")]
mod tests {
    use super::*;

    #[test]
    fn turns_come_in_the_order_in_which_they_were_taken() {
        let turns = Arc::new(Turns::default());
        let taken: Vec<Turn> = (0..8).map(|_| turns.take()).collect();
        let order = Arc::new(Mutex::new(Vec::new()));
        let threads: Vec<_> = taken
            .into_iter()
            .rev()
            .map(|turn| {
                let order = Arc::clone(&order);
                std::thread::spawn(move || {
                    turn.wait();
                    order.lock().unwrap().push(turn.number);
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(*order.lock().unwrap(), (0..8).collect::<Vec<u64>>());
    }
}
