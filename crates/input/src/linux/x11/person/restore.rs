//! The person's things after a gesture: waited for, given back where the target took them, and measured.

use std::time::{Duration, Instant};

use x11rb::CURRENT_TIME;
use x11rb::protocol::xinput;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask, PropMode, StackMode, Window,
};
use x11rb::wrapper::ConnectionExt as _;

use super::device_grab::{self, DeviceGrab};
use super::focus::has_focus;
use super::state::PersonState;
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::connection::settle;
use crate::platform::x11::connection::window_tree::{is_inside, same_client};
use crate::platform::x11::devices::pair::Pair;
use crate::{Delivery, InputError};

/// How long an application or the window manager may take for what a gesture set off.
const PATIENCE: Duration = Duration::from_millis(100);
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// How long the person's keys wait after a gesture for the focus to be given back, before it is set.
const LONGEST_DELAY: Duration = Duration::from_millis(100);
/// How often what was taken is given back, for a window manager that was not done with taking it.
const ATTEMPTS: u32 = 2;
/// `_NET_ACTIVE_WINDOW` and `_NET_RESTACK_WINDOW` from something that acts for the person, EWMH "source
/// indication".
pub const FOR_THE_PERSON: u32 = 2;

/// Waits until target and window manager have done what the gesture set off; false when one has not.
pub fn settle(link: &Link, target: Window) -> Result<bool, InputError> {
    let is_settled = settle::by_toolkit(link, target, PATIENCE)?;
    Ok(settle::window_manager(link, PATIENCE)? && is_settled)
}

/// Takes back what the target took from the person, and answers with what ended as it was.
pub fn measure(
    link: &Link,
    person: Pair,
    before: &PersonState,
    target: Window,
    events: u32,
) -> Result<Delivery, InputError> {
    let mut after = PersonState::look(link, person)?;
    // The focus goes first and the window manager hears of it later, so either says that something was taken.
    let took = |after: &PersonState| {
        let is_target = |window: Window| same_client(link, window, target);
        after.active != before.active && after.active.is_some_and(is_target)
            || after.focus != before.focus && is_target(after.focus)
    };
    for _ in 0..ATTEMPTS {
        if !took(&after) {
            break;
        }
        give_back(link, person, before, &after)?;
        after = PersonState::look(link, person)?;
    }
    Ok(before.compare(&after, events))
}

/// Measures, and lets the person go on as soon as the person's keys go where they went before.
pub fn release(
    link: &Link,
    person: Pair,
    before: &PersonState,
    target: Window,
    events: u32,
    device_grab: Option<DeviceGrab<'_>>,
) -> Result<Delivery, InputError> {
    let mut delivery = measure(link, person, before, target, events)?;
    let Some(mut device_grab) = device_grab else { return Ok(delivery) };
    let begun = Instant::now();
    while !device_grab.let_go(|| {
        if begun.elapsed() > LONGEST_DELAY
            && same_client(link, PersonState::look(link, person)?.focus, target)
        {
            set_focus(link, person, before)?;
        }
        has_focus(link, person, before.home())
    })? && begun.elapsed() < 2 * LONGEST_DELAY
    {
        settle(link, target)?;
        delivery = measure(link, person, before, target, events)?;
    }
    Ok(delivery)
}

/// Gives the person the active window, the stacking and the focus of before. Only what the target took is given back: a window that the person chose meanwhile stays chosen.
pub fn give_back(
    link: &Link,
    person: Pair,
    before: &PersonState,
    after: &PersonState,
) -> Result<(), InputError> {
    let Some(active) = before.active.filter(|active| before.stack.contains(active)) else { return Ok(()) };
    let atoms = &link.atoms;
    let now = after.active.unwrap_or_default();
    if after.active != before.active && is_inside(link, after.focus, active)? {
        // A window manager learns of the active window by the focus that comes to it, and there it is already.
        xinput::xi_set_focus(&link.conn, x11rb::NONE, CURRENT_TIME, person.keyboard)?.ignore_error();
    }
    tell(link, active, atoms._NET_ACTIVE_WINDOW, [FOR_THE_PERSON, CURRENT_TIME, now, 0, 0])?;
    settle::window_manager(link, PATIENCE)?;
    let deadline = Instant::now() + PATIENCE;
    while !is_back(link, person, before, active)? && Instant::now() < deadline {
        std::thread::sleep(POLL_INTERVAL);
        device_grab::let_through(link)?;
    }
    if !before.has_order(&PersonState::look(link, person)?) {
        let above: u32 = StackMode::ABOVE.into();
        let stayed: Vec<Window> =
            before.stack.iter().filter(|client| after.stack.contains(client)).copied().collect();
        for pair in stayed.windows(2) {
            tell(link, pair[1], atoms._NET_RESTACK_WINDOW, [FOR_THE_PERSON, pair[0], above, 0, 0])?;
        }
        settle::window_manager(link, PATIENCE)?;
    }
    let focus = PersonState::look(link, person)?.focus;
    if focus != before.focus && !is_inside(link, focus, active)? {
        set_focus(link, person, before)?;
    }
    link.drain()
}

/// Sets the focus to where it was before.
pub fn set_focus(link: &Link, person: Pair, before: &PersonState) -> Result<(), InputError> {
    // A window manager that sees the focus come to a window inside the active one believes that it is lost.
    let active = before.active.filter(|active| is_inside(link, before.focus, *active).unwrap_or(false));
    let focus = active.unwrap_or(before.focus);
    xinput::xi_set_focus(&link.conn, focus, CURRENT_TIME, person.keyboard)?.ignore_error();
    Ok(())
}

fn is_back(link: &Link, person: Pair, before: &PersonState, active: Window) -> Result<bool, InputError> {
    let now = PersonState::look(link, person)?;
    Ok(now.active == Some(active) && now.focus == before.focus)
}

/// Says of the person's active window that it was used later than the gesture that just ended, so that a window manager
/// which compares the times (`_NET_WM_USER_TIME`, EWMH) does not prefer what the gesture opens. Nothing is said of a
/// window of the target's application, or of one without a time.
pub fn raise_user_time(link: &Link, target: Window) -> Result<(), InputError> {
    let atoms = &link.atoms;
    let Some(active) = link.number(link.root, atoms._NET_ACTIVE_WINDOW)? else { return Ok(()) };
    if active == 0 || same_client(link, active, target) {
        return Ok(());
    }
    let keeper = link.number(active, atoms._NET_WM_USER_TIME_WINDOW)?.unwrap_or(active);
    if link.number(keeper, atoms._NET_WM_USER_TIME)?.is_none_or(|time| time == 0) {
        return Ok(());
    }
    let (property, kind, now) = (atoms._NET_WM_USER_TIME, AtomEnum::CARDINAL, link.time()?);
    link.conn.change_property32(PropMode::REPLACE, keeper, property, kind, &[now])?.ignore_error();
    link.sync()
}

/// Asks the window manager for something, by EWMH.
pub fn tell(link: &Link, window: Window, message: u32, data: [u32; 5]) -> Result<(), InputError> {
    let event = ClientMessageEvent::new(32, window, message, data);
    let to_manager = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
    link.conn.send_event(false, link.root, to_manager, event)?;
    Ok(())
}
