//! Knowing that an application or the window manager has done what was sent to it before.

use std::time::{Duration, Instant};

use x11rb::CURRENT_TIME;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask, Window,
};

use super::link::Link;
use crate::InputError;

/// Time that an application without `_NET_WM_PING` gets for the keys that it has in its queue.
const UNANSWERED: Duration = Duration::from_millis(150);
const GLANCE: Duration = Duration::from_micros(100);

/// Waits until the application that owns the window has taken everything from its queue, for at most
/// `patience`: it answers the window manager protocol's `_NET_WM_PING` in order. One that does not know the
/// protocol gets a fixed time when `blind` says so, else none.
pub fn application(link: &Link, window: Window, patience: Duration, blind: bool) -> Result<(), InputError> {
    if !answers_pings(link, window)? {
        if blind {
            std::thread::sleep(UNANSWERED);
        }
        return Ok(());
    }
    let listening = |mask| ChangeWindowAttributesAux::new().event_mask(mask);
    let conn = &link.conn;
    conn.change_window_attributes(link.root, &listening(EventMask::SUBSTRUCTURE_NOTIFY))?;
    let data = [link.atoms._NET_WM_PING, CURRENT_TIME, window, 0, 0];
    let ping = ClientMessageEvent::new(32, window, link.atoms.WM_PROTOCOLS, data);
    conn.send_event(false, window, EventMask::NO_EVENT, ping)?;
    let answered = wait(link, patience, |event| match event {
        Event::ClientMessage(message) => {
            message.window == link.root
                && message.type_ == link.atoms.WM_PROTOCOLS
                && message.data.as_data32()[0] == link.atoms._NET_WM_PING
                && message.data.as_data32()[2] == window
        }
        _ => false,
    });
    conn.change_window_attributes(link.root, &listening(EventMask::NO_EVENT))?;
    link.drain()?;
    answered.map(drop)
}

fn answers_pings(link: &Link, window: Window) -> Result<bool, InputError> {
    let atoms = &link.atoms;
    let reply = link.conn.get_property(false, window, atoms.WM_PROTOCOLS, AtomEnum::ATOM, 0, 64)?.reply();
    Ok(reply.is_ok_and(|reply| {
        reply.value32().is_some_and(|mut protocols| protocols.any(|protocol| protocol == atoms._NET_WM_PING))
    }))
}

fn wait(link: &Link, patience: Duration, mut meant: impl FnMut(&Event) -> bool) -> Result<bool, InputError> {
    link.conn.flush()?;
    let deadline = Instant::now() + patience;
    loop {
        while let Some(event) = link.conn.poll_for_event()? {
            if meant(&event) {
                return Ok(true);
            }
        }
        if Instant::now() >= deadline {
            return Ok(false);
        }
        std::thread::sleep(GLANCE);
    }
}
