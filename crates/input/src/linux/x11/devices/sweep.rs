//! The devices of agents whose owner is dead: found, and removed with what they left.

use x11rb::NONE;
use x11rb::connection::RequestConnection as _;
use x11rb::errors::ReplyError;
use x11rb::protocol::res;
use x11rb::protocol::xinput::{self, XIDeviceInfo};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, Window};

use super::keyboard;
use super::master::{PATIENCE, PREFIX, delete, leave, masters, person};
use crate::InputError;
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::connection::settle;
use crate::platform::x11::connection::window_tree::same_client;
use crate::platform::x11::gestures::holes;

/// Removes the masters whose owner is dead and answers with their names.
pub fn sweep(link: &Link) -> Result<Vec<String>, InputError> {
    let mut removed = Vec::new();
    let person = person(link)?;
    for device in masters(link)? {
        let name = String::from_utf8_lossy(&device.name).into_owned();
        if !is_orphan(link, &name)? {
            continue;
        }
        // What it borrowed stands in the person's map, which is that of the client pointer.
        xinput::xi_set_client_pointer(&link.conn, NONE, person.pointer)?;
        // Another sweep may be at it too; what it has removed is gone all the same.
        if keyboard::give_back_of(link, device.deviceid).is_err() {
            continue;
        }
        if sweep_away(link, &device).is_ok_and(|removed| removed) {
            removed.push(name.trim_end_matches(" pointer").to_owned());
        }
    }
    Ok(removed)
}

/// Removes a dead agent's master; false when it is gone, or an application does not answer.
///
/// Whoever fakes input of a device that another sweep removes in that moment moves the person's pointer, and the
/// number of a removed device is given to the next. So with the server grabbed it is looked whether it is still that
/// device.
fn sweep_away(link: &Link, device: &XIDeviceInfo) -> Result<bool, InputError> {
    let if_there = |work: fn(&Link, u16) -> Result<(), InputError>| {
        link.alone(|| {
            let is_it = |now: &XIDeviceInfo| now.deviceid == device.deviceid && now.name == device.name;
            let is_there = masters(link)?.iter().any(is_it);
            if is_there {
                work(link, device.deviceid)?;
                link.sync()?;
            }
            Ok(is_there)
        })
    };
    if !if_there(leave)? {
        return Ok(false);
    }
    holes::close_of(link, device.deviceid)?;
    lead_back(link, device.deviceid)?;
    Ok(settle::everyone(link, PATIENCE)? && if_there(delete)?)
}

/// Gives the applications that a pointer was led to the person's devices again.
fn lead_back(link: &Link, pointer: u16) -> Result<(), InputError> {
    if link.conn.extension_information(res::X11_EXTENSION_NAME)?.is_none() {
        return Ok(());
    }
    let person = person(link)?;
    let mut asked = Vec::new();
    for client in res::query_clients(&link.conn)?.reply()?.clients {
        asked.push((client.resource_base, xinput::xi_get_client_pointer(&link.conn, client.resource_base)?));
    }
    for (client, led) in asked {
        let is_led = led.reply().is_ok_and(|led| led.deviceid == pointer);
        // Our own connection has the pointer in its hand.
        if is_led && !same_client(link, client, link.own) {
            xinput::xi_set_client_pointer(&link.conn, client, person.pointer)?.ignore_error();
        }
    }
    Ok(())
}

/// True for the pointer of an agent whose connection has ended.
fn is_orphan(link: &Link, pointer_name: &str) -> Result<bool, InputError> {
    let Some((name, window)) = agent_of(pointer_name) else { return Ok(false) };
    let property = link.atoms._BACKLOT_AGENT;
    // The server gives the number of a window that has gone to another.
    let owner = link.conn.get_property(false, window, property, AtomEnum::STRING, 0, 64)?.reply();
    match owner {
        Ok(owner) => Ok(owner.value != name.as_bytes()),
        Err(ReplyError::X11Error(_)) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// The name of an agent's devices, and the window of its connection that carries it.
fn agent_of(pointer_name: &str) -> Option<(&str, Window)> {
    let name = pointer_name.strip_suffix(" pointer")?;
    let mut words = name.strip_prefix(PREFIX)?.strip_prefix(' ')?.split(' ');
    let _process: (u32, u64) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let _count: u32 = words.next()?.parse().ok()?;
    let window = words.next()?.parse().ok()?;
    words.next().is_none().then_some((name, window))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_known_by_the_name_of_its_pointer() {
        assert_eq!(agent_of("backlot 7 77 0 4194305 pointer"), Some(("backlot 7 77 0 4194305", 4_194_305)));
        for other in ["Virtual core pointer", "backlot of somebody else pointer", "backlot 7 77 0 pointer"] {
            assert_eq!(agent_of(other), None, "{other}");
        }
    }
}
