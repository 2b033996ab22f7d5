//! Characters as keysyms, and keysyms as characters.

use xkeysym::{Keysym, key};

/// The keysym that types a character: line breaks are Return, everything outside the old tables is
/// 0x01000000 plus its code point. None for what no key can mean.
pub fn keysym_of(character: char) -> Option<u32> {
    match character {
        '\n' | '\r' => Some(key::Return),
        '\t' => Some(key::Tab),
        _ if character.is_control() => None,
        _ => Some(Keysym::from_char(character).raw()).filter(|keysym| *keysym != 0),
    }
}

/// The character that a keysym types, when it types one.
pub fn character_of(keysym: u32) -> Option<char> {
    Keysym::new(keysym).key_char()
}
