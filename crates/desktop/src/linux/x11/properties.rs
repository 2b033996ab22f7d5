//! The properties of a window that say what it is (ICCCM 4.1, EWMH), asked for in one go.

use x11rb::cookie::Cookie;
use x11rb::errors::{ConnectionError, ReplyError};
use x11rb::protocol::res::{self, ClientIdMask, ClientIdSpec, QueryClientIdsReply};
use x11rb::protocol::xproto::{Atom, AtomEnum, ConnectionExt as _, GetPropertyReply, Window};

use super::connection::XConnection;
use super::link::{Atoms, Link, optional};
use super::text;
use crate::platform::processes::process;

/// What a window says about itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Properties {
    pub(crate) title: String,
    /// First half of `WM_CLASS`.
    pub(crate) instance: String,
    /// Second half of `WM_CLASS`.
    pub(crate) class: String,
    pub(crate) pid: u32,
    pub(crate) transient_for: Option<Window>,
    pub(crate) types: Vec<Atom>,
    pub(crate) states: Vec<Atom>,
    pub(crate) is_iconic: bool,
    pub(crate) desktop: Option<u32>,
    /// True when the window names itself in any way; helpers do not.
    pub(crate) is_named: bool,
}

type Pending<'c> = Cookie<'c, XConnection, GetPropertyReply>;

/// The requests for one window's properties, sent and not yet answered.
pub(crate) struct Request<'c> {
    names: [Pending<'c>; 2],
    class: Pending<'c>,
    pid: Pending<'c>,
    machine: Pending<'c>,
    transient_for: Pending<'c>,
    types: Pending<'c>,
    states: Pending<'c>,
    wm_state: Pending<'c>,
    desktop: Pending<'c>,
    client: Option<Cookie<'c, XConnection, QueryClientIdsReply>>,
}

/// Sends the requests without waiting.
pub(crate) fn request(link: &Link, window: Window) -> Result<Request<'_>, ConnectionError> {
    let atoms = &link.atoms;
    let get = |property: Atom| property_of(link, window, property);
    let client = if link.names_processes {
        let spec = ClientIdSpec { client: window, mask: ClientIdMask::LOCAL_CLIENT_PID };
        Some(res::query_client_ids(&link.conn, &[spec])?)
    } else {
        None
    };
    Ok(Request {
        names: [get(atoms._NET_WM_NAME)?, get(AtomEnum::WM_NAME.into())?],
        class: get(AtomEnum::WM_CLASS.into())?,
        pid: get(atoms._NET_WM_PID)?,
        machine: get(AtomEnum::WM_CLIENT_MACHINE.into())?,
        transient_for: get(AtomEnum::WM_TRANSIENT_FOR.into())?,
        types: get(atoms._NET_WM_WINDOW_TYPE)?,
        states: get(atoms._NET_WM_STATE)?,
        wm_state: get(atoms.WM_STATE)?,
        desktop: get(atoms._NET_WM_DESKTOP)?,
        client,
    })
}

/// Sends the request for one property, at most 64 KiB of it.
pub(crate) fn property_of(
    link: &Link,
    window: Window,
    property: Atom,
) -> Result<Pending<'_>, ConnectionError> {
    link.conn.get_property(false, window, property, AtomEnum::ANY, 0, 16_384)
}

/// The 32-bit values of a property; none when it is absent or the window is gone.
pub(crate) fn numbers(answer: Result<GetPropertyReply, ReplyError>) -> Result<Vec<u32>, ConnectionError> {
    let reply = optional(answer)?;
    Ok(reply.and_then(|reply| reply.value32().map(Iterator::collect)).unwrap_or_default())
}

/// The text of a property; none when it is absent or the window is gone.
pub(crate) fn string(
    atoms: &Atoms,
    answer: Result<GetPropertyReply, ReplyError>,
) -> Result<Option<String>, ConnectionError> {
    let reply = optional(answer)?.filter(|reply| reply.format == 8 && reply.type_ != 0);
    Ok(reply.map(|reply| {
        if reply.type_ == atoms.COMPOUND_TEXT {
            text::compound(&reply.value)
        } else {
            text::plain(&reply.value)
        }
    }))
}

impl Request<'_> {
    /// Waits for the answers.
    pub(crate) fn answer(self, atoms: &Atoms) -> Result<Properties, ConnectionError> {
        let [utf8, plain] = self.names;
        let (utf8, plain) = (string(atoms, utf8.reply())?, string(atoms, plain.reply())?);
        let class = optional(self.class.reply())?.map(|reply| reply.value);
        let mut halves = class.as_deref().unwrap_or_default().split(|byte| *byte == 0).map(text::plain);
        let said = numbers(self.pid.reply())?.first().copied();
        let machine = string(atoms, self.machine.reply())?;
        let transient_for = numbers(self.transient_for.reply())?.first().copied();
        let types = numbers(self.types.reply())?;
        let states = numbers(self.states.reply())?;
        let is_iconic = numbers(self.wm_state.reply())?.first() == Some(&3);
        let desktop = numbers(self.desktop.reply())?.first().copied();
        let known = match self.client {
            Some(client) => optional(client.reply())?.as_ref().and_then(local_pid),
            None => None,
        };
        Ok(Properties {
            is_named: utf8.is_some() || plain.is_some() || class.is_some() || said.is_some(),
            title: utf8.or(plain).unwrap_or_default(),
            instance: halves.next().unwrap_or_default(),
            class: halves.next().unwrap_or_default(),
            pid: process::of_window(said, known, machine.as_deref()),
            transient_for: transient_for.filter(|window| *window != 0),
            types,
            states,
            is_iconic,
            desktop,
        })
    }
}

fn local_pid(reply: &QueryClientIdsReply) -> Option<u32> {
    let pid = reply.ids.iter().find_map(|id| id.value.first().copied());
    pid.filter(|pid| *pid != 0 && *pid != u32::MAX)
}
