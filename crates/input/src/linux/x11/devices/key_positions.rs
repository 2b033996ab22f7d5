//! Keys by their place on the keyboard, where the layout has no Latin letters.
//!
//! Chromium, and what is built on it, takes a letter that no key of the person's layout means for no letter at all while
//! Control or Alt is held, and looks a shortcut up by the place of its key instead.

use x11rb::protocol::xkb::{self, NameDetail};

use crate::InputError;
use crate::platform::x11::connection::link::Link;

/// Rows of keys as XKB names them ("AD01" and so on), and the letters that stand there on a US keyboard.
const ROWS: [(&str, &str); 3] = [("AD", "qwertyuiop"), ("AC", "asdfghjkl"), ("AB", "zxcvbnm")];

/// The keycode of the key that a Latin letter has on a US keyboard; none for another keysym.
pub fn key_of(link: &Link, keyboard: u16, keysym: u32) -> Result<Option<u8>, InputError> {
    let Some(wanted) = name_of(keysym) else { return Ok(None) };
    let names = xkb::get_names(&link.conn, keyboard, NameDetail::KEY_NAMES)?.reply()?;
    let keys = names.value_list.key_names.unwrap_or_default();
    let at = keys.iter().position(|key| key.name == wanted);
    Ok(at.and_then(|at| names.first_key.checked_add(u8::try_from(at).ok()?)))
}

fn name_of(keysym: u32) -> Option<[u8; 4]> {
    let letter = char::from_u32(keysym).filter(char::is_ascii_alphabetic)?.to_ascii_lowercase();
    ROWS.iter().find_map(|(row, letters)| {
        let nth = letters.find(letter)? + 1;
        format!("{row}{nth:02}").into_bytes().try_into().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn letters_have_places_and_nothing_else_has() {
        let name =
            |letter: char| name_of(u32::from(letter)).map(|name| String::from_utf8_lossy(&name).into_owned());
        assert_eq!(name('q').as_deref(), Some("AD01"));
        assert_eq!(name('P').as_deref(), Some("AD10"));
        assert_eq!(name('a').as_deref(), Some("AC01"));
        assert_eq!(name('m').as_deref(), Some("AB07"));
        assert_eq!((name('ф'), name('1')), (None, None));
    }
}
