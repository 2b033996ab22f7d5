//! Reading the clipboard from whichever program owns it.

use std::time::{Duration, Instant};

use x11rb::errors::ReplyError;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{Atom, AtomEnum, ConnectionExt as _, Property};
use x11rb::{CURRENT_TIME, NONE};

use super::peer::{PATIENCE, Peer};
use crate::clip::paths_in;
use crate::platform::x11::session::Session;
use crate::{Clip, DesktopError};

/// Bytes of one form of the content, at most.
const LIMIT: usize = 64 << 20;
/// How long one whole transfer may take, however lively the owner is.
const WHOLE: Duration = Duration::from_secs(20);

/// Everything of the clipboard that there is a use for; empty when nobody owns it.
///
/// Fails with `clipboard_timeout` where its owner is silent and `clipboard_too_large` beyond 64 MiB.
pub(super) fn read(session: &Session) -> Result<Clip, DesktopError> {
    let peer = Peer::open(session)?;
    let owner = peer.conn.get_selection_owner(peer.names.CLIPBOARD).map_err(ReplyError::from);
    let owner = owner.and_then(|cookie| cookie.reply()).map_err(|error| peer.failed(error))?.owner;
    if owner == NONE {
        return Ok(Clip::default());
    }
    let names = &peer.names;
    let targets = atoms_in(&take(&peer, names.TARGETS)?.unwrap_or_default());
    let first = |wanted: &[Atom]| wanted.iter().copied().find(|target| targets.contains(target));
    let latin = AtomEnum::STRING.into();
    let mut clip = Clip { formats: formats(&peer, &targets)?, ..Clip::default() };
    let texts = [names.UTF8_STRING, names.TEXT_PLAIN_UTF8, latin, names.TEXT_PLAIN, names.TEXT];
    if let Some(target) = first(&texts) {
        clip.text = take(&peer, target)?.map(|bytes| text_of(&bytes, target == latin));
    }
    if let Some(target) = first(&[names.IMAGE_PNG]) {
        clip.image = take(&peer, target)?;
    }
    if let Some(target) = first(&[names.URI_LIST, names.COPIED_FILES]) {
        let list = take(&peer, target)?.unwrap_or_default();
        clip.files = paths_in(&String::from_utf8_lossy(&list));
    }
    Ok(clip)
}

fn formats(peer: &Peer, targets: &[Atom]) -> Result<Vec<String>, DesktopError> {
    let ask = || -> Result<Vec<String>, ReplyError> {
        let cookies: Vec<_> =
            targets.iter().map(|atom| peer.conn.get_atom_name(*atom)).collect::<Result<_, _>>()?;
        // An owner may name atoms that do not exist.
        let names = cookies.into_iter().filter_map(|cookie| cookie.reply().ok());
        Ok(names.map(|reply| String::from_utf8_lossy(&reply.name).into_owned()).collect())
    };
    ask().map_err(|error| peer.failed(error))
}

/// One form of the content, whole or in pieces (ICCCM 2.7.2, INCR); none when the owner has it no more.
fn take(peer: &Peer, target: Atom) -> Result<Option<Vec<u8>>, DesktopError> {
    let end = Instant::now() + WHOLE;
    let place = peer.names.BACKLOT_CLIP;
    let convert = || -> Result<(), ReplyError> {
        peer.conn.delete_property(peer.own, place)?;
        peer.conn.convert_selection(peer.own, peer.names.CLIPBOARD, target, place, CURRENT_TIME)?;
        Ok(())
    };
    convert().map_err(|error| peer.failed(error))?;
    let answer = wait(peer, end, |event| match event {
        Event::SelectionNotify(notify) if notify.requestor == peer.own && notify.target == target => {
            Some(notify.property)
        }
        _ => None,
    })?;
    if answer == NONE {
        return Ok(None);
    }
    let head = property(peer, false, 0)?;
    if head.0 != peer.names.INCR {
        if head.2 > LIMIT {
            return Err(too_large());
        }
        return Ok(Some(property(peer, true, LIMIT)?.1));
    }
    let mut whole = Vec::new();
    // Deleting the announcement asks for the first piece.
    property(peer, true, LIMIT)?;
    loop {
        wait(peer, end, |event| match event {
            Event::PropertyNotify(notify)
                if notify.window == peer.own
                    && notify.atom == place
                    && notify.state == Property::NEW_VALUE =>
            {
                Some(())
            }
            _ => None,
        })?;
        let (_, piece, _) = property(peer, true, LIMIT)?;
        if piece.is_empty() {
            return Ok(Some(whole));
        }
        if whole.len() + piece.len() > LIMIT {
            return Err(too_large());
        }
        whole.extend(piece);
    }
}

/// Type, at most `limit` bytes, and how many more there are.
fn property(peer: &Peer, delete: bool, limit: usize) -> Result<(Atom, Vec<u8>, usize), DesktopError> {
    let words = u32::try_from(limit / 4).unwrap_or(u32::MAX);
    let ask = || {
        let place = peer.names.BACKLOT_CLIP;
        peer.conn.get_property(delete, peer.own, place, AtomEnum::ANY, 0, words)?.reply()
    };
    let reply = ask().map_err(|error| peer.failed(error))?;
    Ok((reply.type_, reply.value, usize::try_from(reply.bytes_after).unwrap_or(usize::MAX)))
}

fn wait<T>(peer: &Peer, end: Instant, meant: impl Fn(&Event) -> Option<T>) -> Result<T, DesktopError> {
    let deadline = end.min(Instant::now() + PATIENCE);
    loop {
        match peer.event_before(deadline).map_err(|error| peer.failed(error))? {
            Some(event) => {
                if let Some(found) = meant(&event) {
                    return Ok(found);
                }
            }
            None => return Err(DesktopError::ClipboardTimeout),
        }
    }
}

fn too_large() -> DesktopError {
    DesktopError::ClipboardTooLarge { limit: LIMIT }
}

fn atoms_in(bytes: &[u8]) -> Vec<Atom> {
    bytes.as_chunks().0.iter().map(|word| u32::from_ne_bytes(*word)).collect()
}

fn text_of(bytes: &[u8], is_latin: bool) -> String {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) if is_latin => bytes.iter().copied().map(char::from).collect(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    };
    // Some programs count the end of a C string as a part of it.
    text.trim_end_matches('\0').to_owned()
}
