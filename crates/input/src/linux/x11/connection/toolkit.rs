//! What an application is built with, as far as input depends on it.
//!
//! A client's questions for "the" keyboard go to the one beside its client pointer. Xlib and Chromium ask for its map
//! whenever they hear of a new one: with the agent's pointer for theirs, they would read the agent's map, and keep it for
//! the person's keys as well. GTK asks once, when it starts, and from then on for the map of that device.

use std::sync::PoisonError;

use x11rb::connection::RequestConnection as _;
use x11rb::protocol::res::{self, ClientIdMask, ClientIdSpec};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, Window};

use super::link::Link;
use crate::InputError;
use crate::platform::process;

/// Qt's plugin for X11, under this name in version 5 and 6.
const QT_PLUGIN: &str = "/libqxcb.so";
/// What every Chromium has mapped, and every Electron.
const CHROMIUM_DATA: &str = "/icudtl.dat";

/// True when the window's application reads keys from messages and not from a second keyboard.
pub fn reads_messages(link: &Link, window: Window) -> Result<bool, InputError> {
    let Some(pid) = process_of(link, window)? else { return Ok(false) };
    let Some(started) = process::start_time(pid) else { return Ok(false) };
    let mut known = link.message_readers.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(*known.entry((pid, started)).or_insert_with(|| process::has_mapped(pid, QT_PLUGIN)))
}

/// True for an application that opens its menus, and takes the focus, with the devices of its client pointer, and
/// reads keys by the person's map all the same.
///
/// Not for Qt either: it grabs every pointer that there is, and is only confused about the focus.
pub fn may_be_led(link: &Link, window: Window) -> Result<bool, InputError> {
    if reads_messages(link, window)? || !answers_pings(link, window)? {
        return Ok(false);
    }
    Ok(!is_chromium(link, window)?)
}

/// True for Chromium and everything that is built on it.
pub fn is_chromium(link: &Link, window: Window) -> Result<bool, InputError> {
    let pid = process_of(link, window)?;
    Ok(pid.is_some_and(|pid| process::has_mapped(pid, CHROMIUM_DATA)))
}

/// The local process that made the window, by the X-Resource extension.
pub fn process_of(link: &Link, window: Window) -> Result<Option<u32>, InputError> {
    if link.conn.extension_information(res::X11_EXTENSION_NAME)?.is_none() {
        return Ok(None);
    }
    let spec = ClientIdSpec { client: window, mask: ClientIdMask::LOCAL_CLIENT_PID };
    let ids = res::query_client_ids(&link.conn, &[spec])?.reply().map(|reply| reply.ids);
    Ok(ids.ok().and_then(|ids| ids.first()?.value.first().copied()))
}

/// True when the application that owns the window answers `_NET_WM_PING`.
pub fn answers_pings(link: &Link, window: Window) -> Result<bool, InputError> {
    let atoms = &link.atoms;
    let reply = link.conn.get_property(false, window, atoms.WM_PROTOCOLS, AtomEnum::ATOM, 0, 64)?.reply();
    Ok(reply.is_ok_and(|reply| {
        reply.value32().is_some_and(|mut protocols| protocols.any(|protocol| protocol == atoms._NET_WM_PING))
    }))
}
