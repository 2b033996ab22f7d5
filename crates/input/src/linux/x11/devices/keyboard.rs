//! The keyboard maps of the person and of the agent.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use x11rb::protocol::xinput;
use x11rb::protocol::xkb::{self, GetMapReply, MapPart};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, ModMask, PropMode, Window};
use xkeysym::{Keysym, key};

use super::pair::Pair;
use crate::InputError;
use crate::keysyms::{character_of, keysym_of};
use crate::plan::{self, Batch, Layout, Stroke};
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::connection::settle;

/// `XIAllMasterDevices` of the X Input protocol.
const ALL_MASTERS: u16 = 1;
/// How long an application may take until it has read what was sent to it before.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// What the keyboard can type in its first group, which is the one in which the agent's keyboard stays.
pub fn layout(link: &Link, keyboard: u16) -> Result<Layout, InputError> {
    Ok(read(&map(link, keyboard)?))
}

/// Keycodes that agents of this process have borrowed, or are about to: no other agent may take them for keys of
/// the person's, or borrow them too.
static BORROWED: Mutex<BTreeSet<u8>> = Mutex::new(BTreeSet::new());

/// How keysyms are typed; what it borrows is kept from other agents of this process for as long as it lives.
pub struct Plan {
    /// What the keyboard can type by itself.
    pub layout: Layout,
    /// The strokes, with what each batch borrows.
    pub batches: Vec<Batch>,
    reserved: BTreeSet<u8>,
}

impl Plan {
    /// Plans the strokes for the keysyms; none when the keyboard has no room for a character.
    pub fn make(link: &Link, keyboard: u16, keysyms: &[u32]) -> Result<Option<Self>, InputError> {
        let mut borrowed = BORROWED.lock().unwrap_or_else(PoisonError::into_inner);
        let mut layout = layout(link, keyboard)?;
        let noted = noted(link)?;
        let is_free = |keycode: &u8| !borrowed.contains(keycode) && !noted.contains(keycode);
        layout.strokes.retain(|_, stroke| is_free(&stroke.keycode));
        layout.spare.retain(is_free);
        // The rest is for whoever types at the same time.
        layout.spare.truncate(layout.spare.len().div_ceil(2));
        let Some(batches) = plan::batches(keysyms, &layout) else { return Ok(None) };
        let assigned = batches.iter().flat_map(|batch| batch.assign.iter().map(|(keycode, _)| *keycode));
        let reserved: BTreeSet<u8> = assigned.collect();
        borrowed.extend(&reserved);
        Ok(Some(Self { layout, batches, reserved }))
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        let mut borrowed = BORROWED.lock().unwrap_or_else(PoisonError::into_inner);
        borrowed.retain(|keycode| !self.reserved.contains(keycode));
    }
}

/// Spare keycodes that mean something for as long as this lives.
///
/// Applications read keys by the person's map, whatever keyboard they come from; so the keysyms stand there,
/// on keycodes that no key of the person sends. Which they are is written on the agent's device first, so
/// that a sweep finds them when the agent dies with them.
pub struct BorrowedKeycodes<'a> {
    link: &'a Link,
    own: Pair,
    person: Pair,
    keycodes: Vec<u8>,
}

impl<'a> BorrowedKeycodes<'a> {
    /// Gives each keycode its keysym; answers when every client has been told.
    pub fn take(link: &'a Link, own: Pair, person: Pair, keys: &[(u8, u32)]) -> Result<Self, InputError> {
        let keycodes: Vec<u8> = keys.iter().map(|(keycode, _)| *keycode).collect();
        let borrowed = Self { link, own, person, keycodes };
        if !keys.is_empty() {
            write_note(link, own, &borrowed.keycodes)?;
            as_person(link, own, person, || assign(link, keys))?;
        }
        Ok(borrowed)
    }

    /// True when nothing was borrowed.
    pub fn is_empty(&self) -> bool {
        self.keycodes.is_empty()
    }

    /// Waits until the application that owns the window knows what the keycodes mean.
    pub fn wait_until_known(&self, window: Window) -> Result<(), InputError> {
        if !self.is_empty() {
            settle::application(self.link, window, PATIENCE, true)?;
        }
        Ok(())
    }

    /// Gives the keycodes back when the application that owns the window has read its keys: it looks a key up
    /// when it comes to it.
    pub fn give_back_when_read(self, window: Window) -> Result<(), InputError> {
        self.wait_until_known(window)?;
        self.give_back()
    }

    /// Gives the keycodes back.
    pub fn give_back(mut self) -> Result<(), InputError> {
        self.clear()
    }

    fn clear(&mut self) -> Result<(), InputError> {
        let keycodes = std::mem::take(&mut self.keycodes);
        if keycodes.is_empty() {
            return Ok(());
        }
        as_person(self.link, self.own, self.person, || empty(self.link, &keycodes))?;
        write_note(self.link, self.own, &[])
    }
}

impl Drop for BorrowedKeycodes<'_> {
    fn drop(&mut self) {
        // Where the connection is lost, the note stays for the next sweep.
        let _ = self.clear();
    }
}

/// The keycodes that callers in whatever processes have borrowed: each notes its own on a pointer device.
pub fn noted(link: &Link) -> Result<BTreeSet<u8>, InputError> {
    let (name, any) = (link.atoms._BACKLOT_BORROWED_KEYS, AtomEnum::ANY.into());
    let mut asked = Vec::new();
    for device in xinput::xi_query_device(&link.conn, ALL_MASTERS)?.reply()?.infos {
        if device.type_ == xinput::DeviceType::MASTER_POINTER {
            asked.push(xinput::xi_get_property(&link.conn, device.deviceid, false, name, any, 0, 64)?);
        }
    }
    let mut noted = BTreeSet::new();
    for note in asked {
        // A device that has gone since has borrowed nothing.
        if let Ok(xinput::XIGetPropertyItems::Data8(keycodes)) = note.reply().map(|reply| reply.items) {
            noted.extend(keycodes);
        }
    }
    Ok(noted)
}

/// Takes the meaning from the keycodes that a dead agent's device notes.
pub fn give_back_of(link: &Link, pointer: u16) -> Result<(), InputError> {
    let note = xinput::xi_get_property(
        &link.conn,
        pointer,
        false,
        link.atoms._BACKLOT_BORROWED_KEYS,
        AtomEnum::ANY.into(),
        0,
        64,
    )?;
    match note.reply()?.items {
        xinput::XIGetPropertyItems::Data8(keycodes) => empty(link, &keycodes),
        _ => Ok(()),
    }
}

fn write_note(link: &Link, own: Pair, keycodes: &[u8]) -> Result<(), InputError> {
    let note = xinput::XIChangePropertyAux::Data8(keycodes.to_vec());
    let (name, kind) = (link.atoms._BACKLOT_BORROWED_KEYS, AtomEnum::INTEGER.into());
    let count = keycodes.len() as u32;
    xinput::xi_change_property(&link.conn, own.pointer, PropMode::REPLACE, name, kind, count, &note)?
        .check()?;
    Ok(())
}

/// Core requests for a keyboard's map go to that of the client pointer.
fn as_person(
    link: &Link,
    own: Pair,
    person: Pair,
    work: impl FnOnce() -> Result<(), InputError>,
) -> Result<(), InputError> {
    let client_pointer = ClientPointer::to(link, person, own)?;
    work()?;
    drop(client_pointer);
    link.sync()
}

/// Our connection with the person's client pointer for as long as this lives: whatever happens meanwhile, fake input
/// may not go to the person's devices afterwards.
struct ClientPointer<'a> {
    link: &'a Link,
    own: Pair,
}

impl<'a> ClientPointer<'a> {
    fn to(link: &'a Link, person: Pair, own: Pair) -> Result<Self, InputError> {
        let client_pointer = Self { link, own };
        xinput::xi_set_client_pointer(&link.conn, x11rb::NONE, person.pointer)?;
        Ok(client_pointer)
    }
}

impl Drop for ClientPointer<'_> {
    fn drop(&mut self) {
        // Where the connection is lost no input follows.
        let _ = xinput::xi_set_client_pointer(&self.link.conn, x11rb::NONE, self.own.pointer);
    }
}

fn assign(link: &Link, keys: &[(u8, u32)]) -> Result<(), InputError> {
    for (keycode, keysym) in keys {
        // The same for both levels, so that a held Shift changes nothing.
        link.conn.change_keyboard_mapping(1, *keycode, 2, &[*keysym, *keysym])?;
    }
    Ok(())
}

fn empty(link: &Link, keycodes: &[u8]) -> Result<(), InputError> {
    for keycode in keycodes {
        link.conn.change_keyboard_mapping(1, *keycode, 1, &[0])?;
    }
    Ok(())
}

fn map(link: &Link, keyboard: u16) -> Result<GetMapReply, InputError> {
    let full = MapPart::KEY_TYPES | MapPart::KEY_SYMS | MapPart::MODIFIER_MAP;
    let none = MapPart::from(0u16);
    let no_mods = xkb::VMod::from(0u16);
    Ok(xkb::get_map(&link.conn, keyboard, full, none, 0, 0, 0, 0, 0, 0, 0, 0, no_mods, 0, 0, 0, 0, 0, 0)?
        .reply()?)
}

fn read(map: &GetMapReply) -> Layout {
    let types = map.map.types_rtrn.as_deref().unwrap_or_default();
    let keys = map.map.syms_rtrn.as_deref().unwrap_or_default();
    let modifiers: HashMap<u8, ModMask> =
        map.map.modmap_rtrn.iter().flatten().map(|entry| (entry.keycode, entry.mods)).collect();
    let holders = holders(map);
    let held = modifiers.iter().map(|(keycode, mods)| (*keycode, u16::from(*mods)));
    let mut layout = Layout { modifiers: held.collect(), ..Layout::default() };
    for (keycode, key) in (map.first_key_sym..=u8::MAX).zip(keys) {
        let means_nothing = key.syms.iter().all(|keysym| *keysym == 0);
        if means_nothing && !modifiers.contains_key(&keycode) {
            layout.spare.push(keycode);
        }
        let Some(kind) = types.get(usize::from(key.kt_index[0])) else { continue };
        for (level, keysym) in key.syms.iter().take(kind.num_levels.into()).enumerate() {
            if *keysym == 0 {
                continue;
            }
            let entries = kind.map.iter().filter(|entry| entry.active && usize::from(entry.level) == level);
            let masks = entries.map(|entry| u16::from(entry.mods_mask));
            let plain = (level == 0).then_some(0);
            let held = plain.into_iter().chain(masks).filter_map(|mask| hold(mask, &holders));
            let Some(held) = held.min_by_key(Vec::len) else { continue };
            let stroke = Stroke { keycode, held };
            let shorter = |known: &Stroke| known.held.len() <= stroke.held.len();
            let same = normal(*keysym);
            if !layout.strokes.get(&same).is_some_and(shorter) {
                layout.strokes.insert(same, stroke);
            }
        }
    }
    layout
}

/// The keys that hold the modifiers of levels: Shift, and the one of the third level.
fn holders(map: &GetMapReply) -> Vec<(u16, u8)> {
    let keys = map.map.syms_rtrn.as_deref().unwrap_or_default();
    let modifiers = map.map.modmap_rtrn.as_deref().unwrap_or_default();
    let first = |keycode: u8| {
        let at = usize::from(keycode.checked_sub(map.first_key_sym)?);
        keys.get(at)?.syms.first().copied()
    };
    let wanted = [key::Shift_L, key::ISO_Level3_Shift];
    let mut holders = Vec::new();
    for keysym in wanted {
        let holder = modifiers.iter().find(|entry| first(entry.keycode) == Some(keysym));
        holders.extend(holder.map(|entry| (u16::from(entry.mods), entry.keycode)));
    }
    holders
}

fn hold(mask: u16, holders: &[(u16, u8)]) -> Option<Vec<u8>> {
    let mut left = mask;
    let mut held = Vec::new();
    for (modifier, keycode) in holders {
        if *modifier != 0 && left & modifier == *modifier {
            held.push(*keycode);
            left &= !modifier;
        }
    }
    (left == 0).then_some(held)
}

/// The one keysym of a character that has several; other keysyms as they are.
fn normal(keysym: u32) -> u32 {
    let typing = matches!(keysym, 0x20..=0xfcff | 0x0100_0000..) && !Keysym::new(keysym).is_keypad_key();
    let same = typing.then(|| character_of(keysym).and_then(keysym_of)).flatten();
    same.unwrap_or(keysym)
}
