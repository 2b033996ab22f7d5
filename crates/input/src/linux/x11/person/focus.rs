//! Whether the person's keys go where they belong.

use x11rb::protocol::xinput;

use super::hold::PersonFocus;
use crate::InputError;
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::connection::window_tree::{is_inside, same_client};
use crate::platform::x11::devices::pair::Pair;

/// True when the person's keys go where they went before, to another window of the same application at most.
pub fn has_focus(link: &Link, person: Pair, home: PersonFocus) -> Result<bool, InputError> {
    let focus = xinput::xi_get_focus(&link.conn, person.keyboard)?.reply()?.focus;
    if focus == home.focus || focus > 1 && home.focus > 1 && same_client(link, focus, home.focus) {
        return Ok(true);
    }
    home.active.map_or(Ok(false), |active| is_inside(link, focus, active))
}
