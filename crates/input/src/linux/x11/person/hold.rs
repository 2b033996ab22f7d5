//! What a connection remembers of its grab of the person's devices.

use x11rb::protocol::xproto::Window;

use super::freeze::Freeze;
use crate::platform::x11::devices::pair::Pair;

/// Where the person's keys go.
#[derive(Clone, Copy, Debug)]
pub struct PersonFocus {
    /// The window that has the person's keyboard focus.
    pub focus: Window,
    /// The active window.
    pub active: Option<Window>,
}

/// What a connection holds of the person's devices. It is kept with the connection, so that every wait on it can let
/// arrive what waits.
pub struct GrabState {
    /// Counts the holds, so that one is not let go for another.
    pub number: u64,
    /// Whose devices.
    pub person: Pair,
    /// Where the person's keys belong.
    pub home: PersonFocus,
    /// For how long, and since when nothing has arrived.
    pub freeze: Freeze,
}
