//! The application's own socket, past the bus: calls take half the time.

use std::sync::{Arc, Mutex};

use crate::platform::dbus::{Connection, lock};

/// What is known of the socket.
#[derive(Default)]
pub struct Direct(Mutex<State>);

#[derive(Default)]
enum State {
    #[default]
    Untried,
    /// A call is opening it; the others go over the bus meanwhile, each with its own limit.
    Opening,
    Absent,
    Open(Arc<Connection>),
}

/// What came of opening the socket.
pub enum Opened {
    /// It is open.
    Open(Arc<Connection>),
    /// The application has none that can be reached.
    Absent,
    /// The application did not say; it is asked again next time.
    Unanswered,
}

impl Direct {
    /// The socket as it is open now.
    pub fn now(&self) -> Option<Arc<Connection>> {
        match &*lock(&self.0) {
            State::Open(connection) => Some(Arc::clone(connection)),
            State::Untried | State::Opening | State::Absent => None,
        }
    }

    /// The socket, opened when nobody has tried; none where there is none, while another call opens it, and while it
    /// answers nothing.
    pub fn or_open(&self, open: impl FnOnce() -> Opened) -> Option<Arc<Connection>> {
        {
            let mut state = lock(&self.0);
            match &*state {
                // A handler that opens a modal dialog in the midst of a call leaves this socket unread until it is closed.
                State::Open(connection) if !connection.is_closed() => {
                    return (!connection.is_stuck()).then(|| Arc::clone(connection));
                }
                State::Opening | State::Absent => return None,
                State::Open(_) | State::Untried => *state = State::Opening,
            }
        }
        let (state, opened) = match open() {
            Opened::Open(connection) => (State::Open(Arc::clone(&connection)), Some(connection)),
            Opened::Absent => (State::Absent, None),
            Opened::Unanswered => (State::Untried, None),
        };
        *lock(&self.0) = state;
        opened
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_while_it_is_opened_does_not_wait() {
        let direct = Direct::default();
        let mut came = false;
        direct.or_open(|| {
            came = direct.or_open(|| unreachable!("it is being opened")).is_none() && direct.now().is_none();
            Opened::Unanswered
        });
        assert!(came);
        let mut tried = 0;
        for _ in 0..3 {
            direct.or_open(|| {
                tried += 1;
                Opened::Absent
            });
        }
        assert_eq!(tried, 1, "what is absent is not looked for again");
    }
}
