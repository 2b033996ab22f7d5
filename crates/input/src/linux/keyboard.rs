//! The keyboard maps of the person and of the agent.

use std::collections::HashMap;

use x11rb::protocol::xkb::{self, GetMapReply, MapPart};
use x11rb::protocol::xproto::{ConnectionExt as _, ModMask};
use xkeysym::{Keysym, key};

use super::link::Link;
use crate::InputError;
use crate::keys::{character_of, keysym_of};
use crate::plan::{Layout, Stroke};

/// What the keyboard can type in its first group, which is the one in which the agent's keyboard stays.
pub fn layout(link: &Link, keyboard: u16) -> Result<Layout, InputError> {
    Ok(read(&map(link, keyboard)?))
}

/// Gives spare keycodes of the agent's own keyboard a keysym each, 0 for none.
pub fn assign(link: &Link, assignments: &[(u8, u32)]) -> Result<(), InputError> {
    for (keycode, keysym) in assignments {
        link.conn.change_keyboard_mapping(1, *keycode, 2, &[*keysym, *keysym])?;
    }
    link.sync()
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
    let mut layout = Layout::default();
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
