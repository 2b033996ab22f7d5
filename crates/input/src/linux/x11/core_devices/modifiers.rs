//! Modifiers, locks and the group of the display's own keyboard, which are out of the way while something exact is typed.

use std::collections::BTreeSet;

use desktop::Point;
use x11rb::protocol::xinput::{self, DeviceType, InputStateData};
use x11rb::protocol::xkb;
use x11rb::protocol::xproto::{ConnectionExt as _, KEY_PRESS_EVENT, ModMask};
use xkeysym::key;

use super::devices::Devices;
use super::held::{Held, Locks};
use crate::InputError;
use crate::plan::Layout;
use crate::platform::x11::devices::pointer::fake;

/// Modifier keys that were lifted for a text, and are pressed again after it.
#[derive(Debug, Default)]
pub struct Lifted {
    /// Keycodes of modifiers that somebody held with fake input, in the order of their numbers.
    again: BTreeSet<u8>,
    /// Those of them that this caller holds.
    own: Vec<u8>,
}

impl Devices {
    /// Releases the modifiers that are down and the keys that are about to be typed, and undoes locks, latches and the
    /// group; [`Devices::put_back`] restores them. With `all` false only the group is changed.
    pub fn lift(&mut self, layout: &Layout, typed: &BTreeSet<u8>, all: bool) -> Result<Lifted, InputError> {
        let mut lifted = Lifted::default();
        if all {
            self.lift_keys(layout, typed, &mut lifted)?;
        }
        let state = xkb::get_state(&self.link.conn, self.person.keyboard)?.reply()?;
        let cleared = if all { !number_lock(layout) } else { 0 };
        let locked = u8::try_from(u16::from(state.locked_mods)).unwrap_or_default();
        let latched = u16::from(state.latched_mods) & u16::from(cleared) != 0 || state.latched_group != 0;
        let group = u8::from(state.locked_group);
        if locked & cleared != 0 || latched || group != 0 {
            self.held.locks = Some(Locks { modifiers: locked, group });
            self.note()?;
            let (none, cleared) = (ModMask::from(0u8), ModMask::from(cleared));
            let (conn, keyboard) = (&self.link.conn, self.person.keyboard);
            xkb::latch_lock_state(conn, keyboard, cleared, none, true, 0u8.into(), cleared, true, 0)?;
            self.link.sync()?;
        }
        Ok(lifted)
    }

    /// As [`Devices::lift`] for what somebody has pressed or locked since.
    pub fn lift_more(
        &mut self,
        layout: &Layout,
        typed: &BTreeSet<u8>,
        lifted: &mut Lifted,
    ) -> Result<(), InputError> {
        let locks = self.held.locks;
        let more = self.lift(layout, typed, true)?;
        self.held.locks = locks.or(self.held.locks);
        lifted.again.extend(more.again);
        lifted.own.extend(more.own);
        Ok(())
    }

    /// True while a modifier is down, latched or locked that would change what is typed.
    pub fn is_modified(&self, layout: &Layout) -> Result<bool, InputError> {
        let state = xkb::get_state(&self.link.conn, self.person.keyboard)?.reply()?;
        let ignored = u16::from(number_lock(layout));
        Ok(u16::from(state.mods) & !ignored != 0 || u8::from(state.group) != 0)
    }

    /// Presses again what was released and restores locks and group.
    pub fn put_back(&mut self, lifted: Lifted) -> Result<(), InputError> {
        if let Some(locks) = self.held.locks.take() {
            let restored = Held { locks: Some(locks), ..Held::default() };
            restored.undo(&self.link, self.numbers())?;
            self.link.sync()?;
            self.note()?;
        }
        if !lifted.own.is_empty() {
            self.hold(&lifted.own, &[])?;
        }
        for keycode in lifted.again.iter().filter(|keycode| !lifted.own.contains(keycode)) {
            fake(&self.link, KEY_PRESS_EVENT, *keycode, Point::default())?;
        }
        self.link.sync()
    }

    fn lift_keys(
        &mut self,
        layout: &Layout,
        typed: &BTreeSet<u8>,
        lifted: &mut Lifted,
    ) -> Result<(), InputError> {
        let down = set_bits(&self.link.conn.query_keymap()?.reply()?.keys);
        let faked = self.faked_keys()?;
        let is_modifier = |keycode: &u8| layout.modifiers.contains_key(keycode);
        let mut released: Vec<u8> =
            down.iter().copied().filter(|keycode| is_modifier(keycode) || typed.contains(keycode)).collect();
        // A key that was released on another keyboard is still down on the one of fake input, which then ignores that it
        // is pressed again.
        released.extend(faked.difference(&down));
        if released.is_empty() {
            return Ok(());
        }
        // A modifier that somebody holds on a real keyboard stays up: pressed again with fake input it would stay down
        // when it is let go.
        lifted.again = released
            .iter()
            .copied()
            .filter(|keycode| is_modifier(keycode) && faked.contains(keycode) && down.contains(keycode))
            .collect();
        lifted.own =
            self.held.keys.iter().copied().filter(|keycode| lifted.again.contains(keycode)).collect();
        self.release(&released, &[])
    }

    /// The keys that are down on the keyboard of fake input.
    fn faked_keys(&self) -> Result<BTreeSet<u8>, InputError> {
        let is_it = |kind, attachment, name: &[u8]| {
            kind == DeviceType::SLAVE_KEYBOARD
                && attachment == self.person.keyboard
                && name.ends_with(b"XTEST keyboard")
        };
        let devices = self.devices()?;
        let faked = devices.iter().find(|device| is_it(device.type_, device.attachment, &device.name));
        let Some(id) = faked.and_then(|device| u8::try_from(device.deviceid).ok()) else {
            return Ok(BTreeSet::new());
        };
        let state = xinput::query_device_state(&self.link.conn, id)?.reply()?;
        let keys = state.classes.iter().find_map(|class| match &class.data {
            InputStateData::Key(keys) => Some(set_bits(&keys.keys)),
            _ => None,
        });
        Ok(keys.unwrap_or_default())
    }
}

/// The modifier bit of Num Lock, which changes nothing but the keypad.
fn number_lock(layout: &Layout) -> u8 {
    let keycode = layout.strokes.get(&key::Num_Lock).map(|stroke| stroke.keycode);
    let bits = keycode.and_then(|keycode| layout.modifiers.get(&keycode)).copied().unwrap_or_default();
    u8::try_from(bits).unwrap_or_default()
}

/// The numbers of the bits that are set, counted from the first byte's lowest.
fn set_bits(bytes: &[u8; 32]) -> BTreeSet<u8> {
    let bits = |(byte, at): (&u8, u8)| {
        let byte = *byte;
        (0..8u8).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| at * 8 + bit)
    };
    bytes.iter().zip(0u8..).flat_map(bits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_from_the_lowest() {
        let mut bytes = [0; 32];
        bytes[0] = 0b10;
        bytes[31] = 0b1000_0000;
        assert_eq!(set_bits(&bytes), BTreeSet::from([1, 255]));
    }
}
