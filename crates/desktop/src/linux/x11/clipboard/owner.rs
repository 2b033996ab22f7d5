//! Owning the clipboard: answers whoever asks until another program takes it.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::errors::ReplyError;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, PropMode, Property,
    SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, Window,
};
use x11rb::wrapper::ConnectionExt as _;
use x11rb::{CURRENT_TIME, NONE};

use super::peer::{Names, PATIENCE, Peer};
use crate::clip::{copied_files, uri_list};
use crate::platform::x11::link::lock;
use crate::platform::x11::session::Session;
use crate::{Clip, DesktopError};

/// Bytes that go at once; more are sent in pieces (ICCCM 2.7.2, INCR).
const PIECE: usize = 128 << 10;
/// How long a program that fetches pieces may be silent until it is forgotten.
const FETCHING: Duration = Duration::from_secs(30);

/// The forms in which something is offered, the bytes with the type that they get.
type Offer = Vec<(Atom, Atom, Arc<[u8]>)>;

/// A connection that answers for what was written last.
pub(super) struct Owner {
    peer: Peer,
    state: Mutex<OwnerState>,
    news: Condvar,
}

#[derive(Default)]
struct OwnerState {
    /// Waits for the server's time, by which ownership is told.
    pending: Option<Offer>,
    held: Option<(u32, Offer)>,
    /// Counts what was pending and then taken or refused.
    settled: u64,
    is_saved: bool,
    ended: Option<DesktopError>,
    is_closed: bool,
}

/// What goes to one program in pieces.
struct Transfer {
    type_: Atom,
    bytes: Arc<[u8]>,
    sent: usize,
    at: Instant,
}

type Transfers = HashMap<(Window, Atom), Transfer>;

impl Owner {
    pub(super) fn open(session: &Session) -> Result<Arc<Self>, DesktopError> {
        let peer = Peer::open(session)?;
        peer.conn.stream().wait_for_events();
        let owner = Arc::new(Self { peer, state: Mutex::default(), news: Condvar::new() });
        let server = Arc::clone(&owner);
        std::thread::Builder::new()
            .name("x11-clipboard".to_owned())
            .spawn(move || server.serve())
            .map_err(|error| owner.peer.refused(&error.to_string()))?;
        Ok(owner)
    }

    /// Takes the clipboard, and hands the content to a clipboard manager where one runs.
    pub(super) fn write(&self, clip: &Clip) -> Result<(), DesktopError> {
        let asked = {
            let mut state = lock(&self.state);
            state.pending = Some(offer(&self.peer.names, clip));
            state.is_saved = false;
            state.settled
        };
        self.tick().map_err(|error| self.peer.failed(error))?;
        let state = self.wait(|state| state.settled != asked)?;
        if state.held.is_none() {
            return Err(self.peer.refused("another program took it"));
        }
        drop(state);
        self.save()
    }

    /// Whether nobody has taken the clipboard since it was written.
    pub(super) fn holds(&self) -> bool {
        lock(&self.state).held.is_some()
    }

    /// Whether the connection is gone, or closed.
    pub(super) fn has_ended(&self) -> bool {
        let state = lock(&self.state);
        state.is_closed || state.ended.is_some()
    }

    /// Lets the clipboard go; closing twice is fine.
    pub(super) fn close(&self) {
        lock(&self.state).is_closed = true;
        // The thread sits in a blocking read, which ends with the connection.
        self.peer.conn.stream().end();
    }

    /// Makes the server tell its time: a property changes by nothing.
    fn tick(&self) -> Result<(), ReplyError> {
        let Peer { conn, own, names, .. } = &self.peer;
        conn.change_property8(PropMode::APPEND, *own, names.TIMESTAMP, AtomEnum::INTEGER, &[])?;
        Ok(conn.flush()?)
    }

    /// A clipboard manager keeps the content when this process ends; one that is silent is not waited for.
    fn save(&self) -> Result<(), DesktopError> {
        let Peer { conn, own, names, .. } = &self.peer;
        let ask = || -> Result<bool, ReplyError> {
            let manager = names.CLIPBOARD_MANAGER;
            if conn.get_selection_owner(manager)?.reply()?.owner == NONE {
                return Ok(false);
            }
            conn.convert_selection(*own, manager, names.SAVE_TARGETS, names.BACKLOT_CLIP, CURRENT_TIME)?;
            conn.flush()?;
            Ok(true)
        };
        if ask().map_err(|error| self.peer.failed(error))? {
            match self.wait(|state| state.is_saved) {
                Ok(_) | Err(DesktopError::DisplayRefused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn wait(
        &self,
        is_there: impl Fn(&OwnerState) -> bool,
    ) -> Result<std::sync::MutexGuard<'_, OwnerState>, DesktopError> {
        let deadline = Instant::now() + PATIENCE;
        let mut state = lock(&self.state);
        while !is_there(&state) {
            if let Some(error) = &state.ended {
                return Err(error.clone());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(self.peer.refused("no answer in time"));
            }
            state = self.news.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(state)
    }

    fn serve(&self) {
        let mut transfers = Transfers::new();
        while !lock(&self.state).is_closed {
            let served = match self.peer.conn.wait_for_event() {
                Ok(event) => self.take(&event, &mut transfers),
                Err(error) => Err(error.into()),
            };
            if let Err(ReplyError::ConnectionError(error)) = served {
                let mut state = lock(&self.state);
                state.held = None;
                state.ended = Some(self.peer.failed(error));
                break;
            }
            self.news.notify_all();
        }
        lock(&self.state).held = None;
        self.news.notify_all();
    }

    fn take(&self, event: &Event, transfers: &mut Transfers) -> Result<(), ReplyError> {
        let Peer { conn, own, names, .. } = &self.peer;
        match event {
            Event::PropertyNotify(change) if change.window == *own && change.atom == names.TIMESTAMP => {
                self.own_since(change.time)?;
            }
            Event::PropertyNotify(change) if change.state == Property::DELETE => {
                self.send_piece(change.window, change.atom, transfers)?;
            }
            Event::SelectionRequest(request) => self.answer(request, transfers)?,
            Event::SelectionClear(clear) if clear.selection == names.CLIPBOARD => {
                let mut state = lock(&self.state);
                if state
                    .held
                    .as_ref()
                    .is_some_and(|(since, _)| clear.time.wrapping_sub(*since) < u32::MAX / 2)
                {
                    state.held = None;
                }
            }
            Event::SelectionNotify(_) => lock(&self.state).is_saved = true,
            _ => {}
        }
        Ok(conn.flush()?)
    }

    fn own_since(&self, time: u32) -> Result<(), ReplyError> {
        let Peer { conn, own, names, .. } = &self.peer;
        let Some(offer) = lock(&self.state).pending.take() else { return Ok(()) };
        conn.set_selection_owner(*own, names.CLIPBOARD, time)?;
        let owner = conn.get_selection_owner(names.CLIPBOARD)?.reply()?.owner;
        let mut state = lock(&self.state);
        state.held = (owner == *own).then_some((time, offer));
        state.settled += 1;
        Ok(())
    }

    fn answer(&self, request: &SelectionRequestEvent, transfers: &mut Transfers) -> Result<(), ReplyError> {
        transfers.retain(|_, transfer| transfer.at.elapsed() < FETCHING);
        // Old clients name no property (ICCCM 2.2).
        let place = if request.property == NONE { request.target } else { request.property };
        let held = lock(&self.state).held.clone();
        let is_given = match held {
            Some((since, offer)) => {
                self.convert(request.requestor, request.target, place, since, &offer, transfers)?
            }
            None => false,
        };
        let notify = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: request.time,
            requestor: request.requestor,
            selection: request.selection,
            target: request.target,
            property: if is_given { place } else { NONE },
        };
        self.peer.conn.send_event(false, request.requestor, EventMask::NO_EVENT, notify)?;
        Ok(())
    }

    fn convert(
        &self,
        window: Window,
        target: Atom,
        place: Atom,
        since: u32,
        offer: &Offer,
        transfers: &mut Transfers,
    ) -> Result<bool, ReplyError> {
        let Peer { conn, names, .. } = &self.peer;
        let replace = PropMode::REPLACE;
        if target == names.TARGETS {
            let mut targets = vec![names.TARGETS, names.TIMESTAMP, names.MULTIPLE, names.SAVE_TARGETS];
            targets.extend(offer.iter().map(|(target, ..)| *target));
            conn.change_property32(replace, window, place, AtomEnum::ATOM, &targets)?;
        } else if target == names.TIMESTAMP {
            conn.change_property32(replace, window, place, AtomEnum::INTEGER, &[since])?;
        } else if target == names.SAVE_TARGETS {
            conn.change_property32(replace, window, place, names.NULL, &[])?;
        } else if target == names.MULTIPLE {
            let pairs = conn.get_property(false, window, place, names.ATOM_PAIR, 0, 1024)?.reply()?;
            let mut pairs: Vec<Atom> = pairs.value32().into_iter().flatten().collect();
            for pair in pairs.chunks_exact_mut(2) {
                let is_plain = pair[0] != names.MULTIPLE;
                if !is_plain || !self.convert(window, pair[0], pair[1], since, offer, transfers)? {
                    pair[1] = NONE;
                }
            }
            conn.change_property32(replace, window, place, names.ATOM_PAIR, &pairs)?;
        } else {
            let Some((_, type_, bytes)) = offer.iter().find(|(known, ..)| *known == target) else {
                return Ok(false);
            };
            if bytes.len() <= PIECE {
                conn.change_property8(replace, window, place, *type_, bytes)?;
            } else {
                let noted = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
                conn.change_window_attributes(window, &noted)?;
                let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                conn.change_property32(replace, window, place, names.INCR, &[size])?;
                let (type_, bytes) = (*type_, Arc::clone(bytes));
                let transfer = Transfer { type_, bytes, sent: 0, at: Instant::now() };
                transfers.insert((window, place), transfer);
            }
        }
        Ok(true)
    }

    /// The next piece, because the one before was taken; an empty one ends it.
    fn send_piece(&self, window: Window, place: Atom, transfers: &mut Transfers) -> Result<(), ReplyError> {
        let Some(transfer) = transfers.get_mut(&(window, place)) else { return Ok(()) };
        let end = transfer.bytes.len().min(transfer.sent + PIECE);
        let piece = &transfer.bytes[transfer.sent..end];
        self.peer.conn.change_property8(PropMode::REPLACE, window, place, transfer.type_, piece)?;
        transfer.at = Instant::now();
        if transfer.sent == end {
            transfers.remove(&(window, place));
        } else {
            transfer.sent = end;
        }
        Ok(())
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.close();
    }
}

/// Everything as which the content can be had.
fn offer(names: &Names, clip: &Clip) -> Offer {
    let mut offer = Offer::new();
    let mut add = |targets: &[(Atom, Atom)], bytes: &[u8]| {
        let bytes: Arc<[u8]> = bytes.into();
        offer.extend(targets.iter().map(|(target, type_)| (*target, *type_, Arc::clone(&bytes))));
    };
    let same = |target: Atom| (target, target);
    // Programs that know no files take their paths as text.
    let paths = || (!clip.files.is_empty()).then(|| clip.files.join("\n"));
    if let Some(text) = clip.text.clone().or_else(paths) {
        let utf8 = [names.UTF8_STRING, names.TEXT_PLAIN_UTF8, names.TEXT_PLAIN].map(same);
        add(&utf8, text.as_bytes());
        add(&[(names.TEXT, names.UTF8_STRING)], text.as_bytes());
        // STRING is Latin-1, and what lies outside it cannot be said.
        let latin: Result<Vec<u8>, _> = text.chars().map(|each| u8::try_from(u32::from(each))).collect();
        if let Ok(latin) = latin {
            add(&[same(AtomEnum::STRING.into())], &latin);
        }
    }
    if let Some(image) = &clip.image {
        add(&[same(names.IMAGE_PNG)], image);
    }
    if !clip.files.is_empty() {
        add(&[same(names.URI_LIST)], uri_list(&clip.files).as_bytes());
        add(&[same(names.COPIED_FILES)], copied_files(&clip.files).as_bytes());
    }
    offer
}
