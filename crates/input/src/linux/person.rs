//! The person's things after a gesture: waited for, given back where the target took them, and measured.

use std::time::Duration;

use x11rb::CURRENT_TIME;
use x11rb::connection::Connection;
use x11rb::protocol::xinput;
use x11rb::protocol::xproto::{ClientMessageEvent, ConnectionExt as _, EventMask, StackMode, Window};

use super::link::Link;
use super::master::Pair;
use super::witness::Witness;
use super::{messages, settle};
use crate::{Delivery, InputError};

/// How long an application or the window manager may take for what a gesture set off.
const PATIENCE: Duration = Duration::from_millis(100);
/// How often what was taken is given back, for a window manager that was not done with taking it.
const ATTEMPTS: u32 = 2;
/// `_NET_ACTIVE_WINDOW` and `_NET_RESTACK_WINDOW` from something that acts for the person, EWMH "source
/// indication".
const FOR_THE_PERSON: u32 = 2;

/// Waits until target and window manager have done what the gesture set off, takes back what the target took
/// from the person, and answers with what ended as it was.
pub fn measure(
    link: &Link,
    person: Pair,
    before: &Witness,
    target: Window,
    events: u32,
) -> Result<Delivery, InputError> {
    messages::settle(link, target, PATIENCE)?;
    settle::window_manager(link, link.own, PATIENCE)?;
    let mut after = Witness::look(link, person)?;
    // The focus goes first and the window manager hears of it later, so either says that something was taken.
    let took = |after: &Witness| {
        let is_target = |window: Window| same_client(link, window, target);
        after.active != before.active && after.active.is_some_and(is_target)
            || after.focus != before.focus && is_target(after.focus)
    };
    for _ in 0..ATTEMPTS {
        if !took(&after) {
            break;
        }
        give_back(link, person, before, &after)?;
        after = Witness::look(link, person)?;
    }
    Ok(before.compare(&after, events))
}

/// Only what the target took is given back: a window that the person chose meanwhile stays chosen.
fn give_back(link: &Link, person: Pair, before: &Witness, after: &Witness) -> Result<(), InputError> {
    let Some(active) = before.active.filter(|active| before.stack.contains(active)) else { return Ok(()) };
    let atoms = &link.atoms;
    let now = after.active.unwrap_or_default();
    tell(link, active, atoms._NET_ACTIVE_WINDOW, [FOR_THE_PERSON, CURRENT_TIME, now, 0, 0])?;
    settle::window_manager(link, link.own, PATIENCE)?;
    settle::application(link, active, PATIENCE, false)?;
    let above: u32 = StackMode::ABOVE.into();
    let stayed: Vec<Window> =
        before.stack.iter().filter(|client| after.stack.contains(client)).copied().collect();
    for pair in stayed.windows(2) {
        tell(link, pair[1], atoms._NET_RESTACK_WINDOW, [FOR_THE_PERSON, pair[0], above, 0, 0])?;
    }
    settle::window_manager(link, link.own, PATIENCE)?;
    if Witness::look(link, person)?.focus != before.focus {
        xinput::xi_set_focus(&link.conn, before.focus, CURRENT_TIME, person.keyboard)?.ignore_error();
    }
    link.drain()
}

fn tell(link: &Link, window: Window, message: u32, data: [u32; 5]) -> Result<(), InputError> {
    let event = ClientMessageEvent::new(32, window, message, data);
    let to_manager = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
    link.conn.send_event(false, link.root, to_manager, event)?;
    Ok(())
}

/// True when one connection made both windows: ids of one client share the bits outside the server's mask.
pub fn same_client(link: &Link, one: Window, other: Window) -> bool {
    let mask = link.conn.setup().resource_id_mask;
    one & !mask == other & !mask
}
