//! Which characters an application can read from keys.

use desktop::WindowId;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, Window};

use crate::InputError;
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::connection::toolkit;

/// Fails with `text_not_typable` for characters that the window's application would change.
///
/// Programs of the old toolkit turn keys into bytes of their locale, which the toolkit writes into
/// `WM_LOCALE_NAME` (Xlib's `XSetWMProperties`). Newer toolkits, known by `_NET_WM_PING`, read keysyms.
pub fn check(link: &Link, window: Window, text: &str) -> Result<(), InputError> {
    let mut foreign: Vec<char> = text.chars().filter(|character| !character.is_ascii()).collect();
    if foreign.is_empty() || toolkit::answers_pings(link, window)? {
        return Ok(());
    }
    let reply =
        link.conn.get_property(false, window, link.atoms.WM_LOCALE_NAME, AtomEnum::ANY, 0, 64)?.reply()?;
    let locale = String::from_utf8_lossy(&reply.value).to_lowercase();
    if locale.is_empty() || locale.contains("utf-8") || locale.contains("utf8") {
        return Ok(());
    }
    foreign.sort_unstable();
    foreign.dedup();
    Err(InputError::TextNotTypable {
        window_id: WindowId::of_xid(window),
        characters: foreign.into_iter().collect(),
    })
}
