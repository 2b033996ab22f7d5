//! Master devices: the agent's own pointer and keyboard, and the sweep of those whose owner is dead.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use desktop::Point;
use x11rb::NONE;
use x11rb::errors::ReplyError;
use x11rb::protocol::ErrorKind;
use x11rb::protocol::xinput::{
    self, ChangeMode, DeviceType, HierarchyChange, HierarchyChangeData, HierarchyChangeDataAddMaster,
    HierarchyChangeDataRemoveMaster, XIDeviceInfo,
};
use x11rb::protocol::xproto::{
    AtomEnum, BUTTON_RELEASE_EVENT, ConnectionExt as _, KEY_RELEASE_EVENT, MOTION_NOTIFY_EVENT, PropMode,
};
use x11rb::wrapper::ConnectionExt as _;

use super::pair::Pair;
use super::parking::{self, park};
use super::pointer::fake;
use crate::InputError;
use crate::platform::process::start_time;
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::connection::settle;

/// `XIAllDevices` of the X Input protocol.
const ALL_DEVICES: u16 = 0;
/// How long applications may take to read their queues before devices go.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// The first word of the names of agents' devices.
pub const PREFIX: &str = "backlot";

static COUNT: AtomicU32 = AtomicU32::new(0);

/// Makes a master pointer and keyboard, and lets fake input of this connection drive them.
///
/// Their name carries a window of the connection, which carries the name: they are an orphan's when it has gone, as it
/// does with the connection. A process cannot always be asked after: the owner's may be in another container.
pub fn create(link: &Link) -> Result<Pair, InputError> {
    // A new pointer is in the middle of the screen and in no window, until anything there changes; from then on
    // what lies there is entered. So where it parks is ready before, and it goes there before anything else
    // happens.
    let at = parking::prepare(link)?;
    link.alone(|| {
        let pair = add(link)?;
        fake(link, MOTION_NOTIFY_EVENT, 0, at)?;
        Ok(pair)
    })
}

fn add(link: &Link) -> Result<Pair, InputError> {
    let pid = std::process::id();
    let started = start_time(pid).unwrap_or(0);
    let name = format!("{PREFIX} {pid} {started} {} {}", COUNT.fetch_add(1, Ordering::Relaxed), link.own);
    let (property, kind) = (link.atoms._BACKLOT_AGENT, AtomEnum::STRING);
    link.conn.change_property8(PropMode::REPLACE, link.own, property, kind, name.as_bytes())?;
    let add = HierarchyChangeDataAddMaster { send_core: true, enable: true, name: name.clone().into_bytes() };
    // Type, length, name length and the two flags are 8 bytes; the name is padded to whole words.
    let len = (8 + name.len().div_ceil(4) * 4) / 4;
    let change = HierarchyChange { len: len as u16, data: HierarchyChangeData::AddMaster(add) };
    xinput::xi_change_hierarchy(&link.conn, &[change])?.check().map_err(|error| match error {
        ReplyError::X11Error(error) if error.error_kind == ErrorKind::Alloc => full(link),
        other => other.into(),
    })?;
    let pointer_name = format!("{name} pointer");
    let pointers = masters(link)?;
    let device = pointers.iter().find(|device| device.name == pointer_name.as_bytes());
    let device = device.ok_or_else(|| InputError::InputUnavailable {
        display: String::new(),
        missing: "second master pointer",
    })?;
    let pair = Pair { pointer: device.deviceid, keyboard: device.attachment };
    xinput::xi_set_client_pointer(&link.conn, NONE, pair.pointer)?.check()?;
    Ok(pair)
}

/// The server has numbers for so many devices and no more (`MAXDEVICES` of the X server), four for each agent.
fn full(link: &Link) -> InputError {
    let agents = |device: &&XIDeviceInfo| device.name.starts_with(PREFIX.as_bytes());
    let agents = masters(link).map_or(0, |masters| masters.iter().filter(agents).count());
    InputError::TooManyAgents { display: String::new(), agents }
}

/// The person's pointer and keyboard: the pair that the server made itself.
pub fn person(link: &Link) -> Result<Pair, InputError> {
    let pointers = masters(link)?;
    let first = pointers.iter().min_by_key(|device| device.deviceid);
    let first =
        first.ok_or(InputError::InputUnavailable { display: String::new(), missing: "master pointer" })?;
    Ok(Pair { pointer: first.deviceid, keyboard: first.attachment })
}

/// Removes a master pointer with its keyboard; false when an application does not answer and it stays.
///
/// The server tells nobody that what was pressed is up, so it goes up first. An application that meets an
/// event of a device which is gone asks the server about it and dies of the error (GTK does); so the pointer
/// leaves all applications, and the devices go when every one has read its queue. Where one hangs they stay
/// for a later sweep.
pub fn remove(link: &Link, pointer: u16) -> Result<bool, InputError> {
    leave(link, pointer)?;
    if !settle::everyone(link, PATIENCE)? {
        return Ok(false);
    }
    delete(link, pointer)?;
    Ok(true)
}

pub fn delete(link: &Link, pointer: u16) -> Result<(), InputError> {
    let data = HierarchyChangeDataRemoveMaster {
        deviceid: pointer,
        return_mode: ChangeMode::FLOAT,
        return_pointer: 0,
        return_keyboard: 0,
    };
    let change = HierarchyChange { len: 3, data: HierarchyChangeData::RemoveMaster(data) };
    xinput::xi_change_hierarchy(&link.conn, &[change])?.check()?;
    Ok(())
}

/// Releases what is pressed on a master pointer and its keyboard, and takes the pointer off all applications.
pub fn leave(link: &Link, pointer: u16) -> Result<(), InputError> {
    let held = xinput::xi_query_pointer(&link.conn, link.root, pointer)?.reply()?.buttons;
    xinput::xi_set_client_pointer(&link.conn, NONE, pointer)?.check()?;
    let keys = link.conn.query_keymap()?.reply()?.keys;
    for button in set_bits(held.iter().flat_map(|word| word.to_le_bytes())) {
        fake(link, BUTTON_RELEASE_EVENT, button, Point::default())?;
    }
    for key in set_bits(keys.into_iter()) {
        fake(link, KEY_RELEASE_EVENT, key, Point::default())?;
    }
    park(link)
}

pub fn masters(link: &Link) -> Result<Vec<XIDeviceInfo>, InputError> {
    let devices = xinput::xi_query_device(&link.conn, ALL_DEVICES)?.reply()?.infos;
    Ok(devices.into_iter().filter(|device| device.type_ == DeviceType::MASTER_POINTER).collect())
}

/// The numbers of the bits that are set, counted from the first byte's lowest.
fn set_bits(bytes: impl Iterator<Item = u8>) -> impl Iterator<Item = u8> {
    bytes
        .zip(0u8..)
        .flat_map(|(byte, at)| (0..8).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| at * 8 + bit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_from_the_lowest() {
        assert_eq!(set_bits([0b10, 0, 0b1000_0001].into_iter()).collect::<Vec<_>>(), [1, 16, 23]);
    }
}
