//! Who gets the keys, and whether it has read them.

use std::time::{Duration, Instant};

use desktop::WindowId;
use x11rb::NONE;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, Window};

use crate::InputError;
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::connection::{settle, toolkit};
use crate::platform::x11::devices::pair::Pair;
use crate::platform::x11::devices::{keyboard, pointer};
use crate::platform::x11::gestures::steps::CancellableWait;

/// The focus that goes to the window that the pointer is in, core protocol.
const POINTER_ROOT: u32 = 1;
/// How long an application is waited for until it is asked again, and the caller may halt.
const ANSWER: Duration = Duration::from_millis(250);

/// The window of an application that gets the keys; none when nobody gets them.
pub fn current(link: &Link, person: Pair) -> Result<Option<Window>, InputError> {
    let focus = match link.conn.get_input_focus()?.reply()?.focus {
        NONE => return Ok(None),
        POINTER_ROOT => pointer::under(link, person)?,
        focus => focus,
    };
    let mut window = focus;
    while window != NONE && window != link.root {
        if is_top_level(link, window)? {
            return Ok(Some(window));
        }
        let Ok(tree) = link.conn.query_tree(window)?.reply() else { return Ok(None) };
        window = tree.parent;
    }
    Ok((focus != link.root).then_some(focus))
}

/// Waits until each window's application has taken everything from its queue; false when `wait` said that the caller is
/// to halt. Fails with `condition_not_met` where one does not read.
pub fn wait_until_read(
    link: &Link,
    windows: &[Window],
    wait: CancellableWait<'_>,
) -> Result<bool, InputError> {
    for window in windows {
        if toolkit::answers_pings(link, *window)? {
            if !wait_for_answer(link, *window, wait)? {
                return Ok(false);
            }
        } else {
            settle::application(link, *window, keyboard::PATIENCE, true)?;
        }
    }
    Ok(true)
}

/// As [`wait_until_read`] for a window whose application says so itself; others are not waited for.
pub fn keep_pace(link: &Link, window: Window, wait: CancellableWait<'_>) -> Result<bool, InputError> {
    if toolkit::answers_pings(link, window)? { wait_for_answer(link, window, wait) } else { Ok(true) }
}

fn wait_for_answer(link: &Link, window: Window, wait: CancellableWait<'_>) -> Result<bool, InputError> {
    let deadline = Instant::now() + keyboard::PATIENCE;
    while !settle::application(link, window, ANSWER, false)? {
        if wait(Duration::ZERO) {
            return Ok(false);
        }
        if Instant::now() > deadline {
            return Err(InputError::KeysNotRead { window_id: WindowId::of_xid(window) });
        }
    }
    Ok(true)
}

fn is_top_level(link: &Link, window: Window) -> Result<bool, InputError> {
    let state = link.conn.get_property(false, window, link.atoms.WM_STATE, AtomEnum::ANY, 0, 1)?;
    let is_managed = state.reply().is_ok_and(|state| state.type_ != NONE);
    Ok(is_managed || toolkit::answers_pings(link, window)?)
}
