//! Which applications may have the agent's pointer for their client pointer.
//!
//! A client's questions for "the" keyboard go to the one beside its client pointer. Xlib and Chromium ask for its map
//! whenever they hear of a new one: led, they would read the agent's map, and keep it for the person's keys as well.
//! GTK asks once, when it starts, and from then on for the map of that device.

use x11rb::protocol::xproto::Window;

use super::link::Link;
use super::{messages, process, settle};
use crate::InputError;

/// What every Chromium has mapped, and every Electron.
const CHROMIUM_DATA: &str = "/icudtl.dat";

/// True for an application that opens its menus, and takes the focus, with the devices of its client pointer, and
/// reads keys by the person's map all the same.
///
/// Not for Qt either: it grabs every pointer that there is, and is only confused about the focus.
pub fn is_fit(link: &Link, window: Window) -> Result<bool, InputError> {
    if messages::are_read(link, window)? || !settle::answers_pings(link, window)? {
        return Ok(false);
    }
    Ok(!is_chromium(link, window)?)
}

/// True for Chromium and everything that is built on it.
pub fn is_chromium(link: &Link, window: Window) -> Result<bool, InputError> {
    let pid = settle::process(link, window)?;
    Ok(pid.is_some_and(|pid| process::has_mapped(pid, CHROMIUM_DATA)))
}
