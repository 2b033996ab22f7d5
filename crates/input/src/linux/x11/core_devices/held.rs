//! What a caller holds on the display's own devices, how that is written down, and the requests that undo it.

use x11rb::CURRENT_TIME;
use x11rb::connection::RequestConnection;
use x11rb::protocol::xkb::{self, LatchLockStateRequest};
use x11rb::protocol::xproto::{
    BUTTON_RELEASE_EVENT, ChangeKeyboardMappingRequest, KEY_RELEASE_EVENT, ModMask,
};
use x11rb::protocol::xtest::{self, FakeInputRequest};

use crate::InputError;
use crate::platform::x11::connection::link::Link;

/// Kinds of the words in which it is written down: the kind stands in the highest byte.
const KEY: u32 = 1 << 24;
const BUTTON: u32 = 2 << 24;
const BORROWED: u32 = 3 << 24;
const LOCKS: u32 = 4 << 24;
const KIND: u32 = 0xff << 24;

/// Locked modifiers and the locked group of a keyboard, as they have to be afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locks {
    /// Modifier bits.
    pub modifiers: u8,
    /// Number of the group, from 0.
    pub group: u8,
}

/// Everything that has to be undone when the caller ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Keycodes that are down, in the order in which they went down.
    pub keys: Vec<u8>,
    /// Buttons that are down.
    pub buttons: Vec<u8>,
    /// Keycodes that were given a meaning.
    pub borrowed: Vec<u8>,
    /// Locks that were changed.
    pub locks: Option<Locks>,
}

/// The numbers that the server gave to its extensions, and the keyboard.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    xtest: u8,
    xkb: u8,
    keyboard: u16,
    root: u32,
}

impl Numbers {
    /// Asks a connection for them.
    pub fn of(link: &Link, keyboard: u16) -> Result<Self, InputError> {
        let opcode = |name| -> Result<u8, InputError> {
            let missing = InputError::InputUnavailable { display: String::new(), missing: name };
            Ok(link.conn.extension_information(name)?.ok_or(missing)?.major_opcode)
        };
        let (xtest, xkb) = (opcode(xtest::X11_EXTENSION_NAME)?, opcode(xkb::X11_EXTENSION_NAME)?);
        Ok(Self { xtest, xkb, keyboard, root: link.root })
    }
}

impl Held {
    /// True when nothing has to be undone.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// As it is written down.
    pub fn words(&self) -> Vec<u32> {
        let tagged =
            |kind: u32, numbers: &[u8]| numbers.iter().map(move |number| kind | u32::from(*number)).collect();
        let parts: [Vec<u32>; 3] =
            [tagged(KEY, &self.keys), tagged(BUTTON, &self.buttons), tagged(BORROWED, &self.borrowed)];
        let locks = self.locks.map(|locks| LOCKS | u32::from(locks.modifiers) << 8 | u32::from(locks.group));
        parts.into_iter().flatten().chain(locks).collect()
    }

    /// What was written down so; words of unknown kinds mean nothing.
    pub fn of_words(words: &[u32]) -> Self {
        let mut held = Self::default();
        for word in words {
            let [_, _, high, low] = word.to_be_bytes();
            match word & KIND {
                KEY => held.keys.push(low),
                BUTTON => held.buttons.push(low),
                BORROWED => held.borrowed.push(low),
                LOCKS => held.locks = Some(Locks { modifiers: high, group: low }),
                _ => {}
            }
        }
        held
    }

    /// The requests that undo it; each does nothing where it is undone already.
    pub fn undoing(&self, numbers: &Numbers) -> Vec<Vec<u8>> {
        let release = |type_: u8, detail: u8| {
            let (time, root, deviceid) = (CURRENT_TIME, numbers.root, 0);
            let fake = FakeInputRequest { type_, detail, time, root, root_x: 0, root_y: 0, deviceid };
            fake.serialize(numbers.xtest).0.concat()
        };
        let keys = self.keys.iter().rev().map(|keycode| release(KEY_RELEASE_EVENT, *keycode));
        let buttons = self.buttons.iter().map(|button| release(BUTTON_RELEASE_EVENT, *button));
        let locks = self.locks.map(|locks| {
            let all = ModMask::from(u8::MAX);
            let restore = LatchLockStateRequest {
                device_spec: numbers.keyboard,
                affect_mod_locks: all,
                mod_locks: ModMask::from(locks.modifiers),
                lock_group: true,
                group_lock: locks.group.into(),
                affect_mod_latches: ModMask::from(0u8),
                latch_group: false,
                group_latch: 0,
            };
            restore.serialize(numbers.xkb).0.concat()
        });
        let borrowed = self.borrowed.iter().map(|keycode| {
            let nothing = ChangeKeyboardMappingRequest {
                keycode_count: 1,
                first_keycode: *keycode,
                keysyms_per_keycode: 1,
                keysyms: (&[0][..]).into(),
            };
            nothing.serialize().0.concat()
        });
        keys.chain(buttons).chain(locks).chain(borrowed).collect()
    }

    /// Undoes it over a connection.
    pub fn undo(&self, link: &Link, numbers: &Numbers) -> Result<(), InputError> {
        for request in self.undoing(numbers) {
            let slices = [std::io::IoSlice::new(&request)];
            link.conn.send_request_without_reply(&slices, Vec::new())?.ignore_error();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_down_is_read_as_it_was() {
        let locks = Some(Locks { modifiers: 0b10010, group: 2 });
        let held = Held { keys: vec![50, 37], buttons: vec![1], borrowed: vec![255, 97], locks };
        assert_eq!(Held::of_words(&held.words()), held);
        assert_eq!(Held::of_words(&[]), Held::default());
        assert_eq!(Held::of_words(&[7 << 24 | 5]), Held::default());
    }

    #[test]
    fn a_request_says_its_own_length() {
        let numbers = Numbers { xtest: 132, xkb: 135, keyboard: 3, root: 77 };
        let locks = Some(Locks { modifiers: 2, group: 0 });
        let held = Held { keys: vec![50], buttons: vec![1], borrowed: vec![97], locks };
        for request in held.undoing(&numbers) {
            let words = u16::from_ne_bytes([request[2], request[3]]);
            assert_eq!(usize::from(words) * 4, request.len());
        }
    }
}
