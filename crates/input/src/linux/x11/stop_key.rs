//! The person's stop key: seen whichever window has the focus and whoever holds a grab, and never the agents' own.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use desktop::{Session, x11};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{self, EventMask as DeviceEventMask, XIEventMask};
use x11rb::protocol::xproto::{ClientMessageEvent, ConnectionExt as _, EventMask};
use xkeysym::key;

use super::connection::link::{Link, on_display};
use super::devices::master;
use crate::{InputError, Modifier, check_combination, check_key, check_modifiers};

/// Watches for one combination on the person's keyboard until it is closed.
pub struct StopKey {
    session: x11::Session,
    watch: Arc<Watch>,
}

struct Watch {
    link: Link,
    /// Device id of the person's keyboard.
    keyboard: u16,
    /// Held while it is pressed.
    modifiers: Vec<Modifier>,
    keysym: u32,
    state: Mutex<KeyState>,
    news: Condvar,
}

#[derive(Default)]
struct KeyState {
    /// Presses that nobody was told of yet.
    presses: u64,
    is_closed: bool,
    lost: Option<InputError>,
}

impl StopKey {
    /// Begins to watch the keyboard that the server itself made, with every device that is attached to it.
    ///
    /// Raw events of the X Input protocol (XI2, `XI_RawKeyPress`) come before any grab, so no application
    /// can keep them to itself; the application that has the focus sees the key all the same.
    /// `keys` are names of modifiers and, last, of one key. Fails as [`check_combination`] does, with
    /// `display_unavailable` and `input_unavailable`.
    pub fn watch(session: &Session, keys: &[&str]) -> Result<Self, InputError> {
        let Session::X11(session) = session;
        let watch = Arc::new(on_display(session.display(), Watch::open(session, keys))?);
        let reader = Arc::clone(&watch);
        std::thread::Builder::new()
            .name("stop-key".to_owned())
            .spawn(move || reader.follow())
            .map_err(|error| session.unavailable(error))?;
        Ok(Self { session: session.clone(), watch })
    }

    /// Waits for a press, at most for this time; false when none came or it was closed meanwhile.
    ///
    /// Fails with `display_lost`.
    pub fn pressed(&self, timeout: Duration) -> Result<bool, InputError> {
        on_display(self.session.display(), self.watch.pressed(timeout))
    }

    /// Ends the watch and whoever waits for a press; closing twice is fine.
    pub fn close(&self) {
        self.watch.lock().is_closed = true;
        self.watch.news.notify_all();
        // The thread sits in a blocking read; this message wakes it. Where sending fails the read has failed too.
        let _ = self.watch.wake();
    }
}

impl Drop for StopKey {
    fn drop(&mut self) {
        self.close();
    }
}

impl Watch {
    fn open(session: &x11::Session, keys: &[&str]) -> Result<Self, InputError> {
        let combination = check_combination(keys)?;
        let (modifiers, keysym) = (check_modifiers(&combination.modifiers)?, check_key(&combination.key)?);
        let link = Link::open(session)?;
        let keyboard = master::person(&link)?.keyboard;
        let raw = XIEventMask::RAW_KEY_PRESS | XIEventMask::RAW_KEY_RELEASE;
        let mask = DeviceEventMask { deviceid: keyboard, mask: vec![raw] };
        xinput::xi_select_events(&link.conn, link.root, &[mask])?.check()?;
        Ok(Self { link, keyboard, modifiers, keysym, state: Mutex::default(), news: Condvar::new() })
    }

    fn pressed(&self, timeout: Duration) -> Result<bool, InputError> {
        let deadline = Instant::now() + timeout;
        let mut state = self.lock();
        loop {
            if state.presses > 0 {
                state.presses = 0;
                return Ok(true);
            }
            if let Some(error) = &state.lost {
                return Err(error.clone());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if state.is_closed || left.is_zero() {
                return Ok(false);
            }
            state = self.news.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn follow(&self) {
        let mut down = BTreeSet::new();
        while !self.lock().is_closed {
            if let Err(error) = self.next(&mut down) {
                self.lock().lost = Some(error);
                self.news.notify_all();
                return;
            }
        }
    }

    fn next(&self, down: &mut BTreeSet<u8>) -> Result<(), InputError> {
        match self.link.conn.wait_for_event()? {
            Event::XinputRawKeyPress(raw) if raw.deviceid == self.keyboard => {
                let keycode = raw.detail as u8;
                if down.is_empty() {
                    // What was pressed before the watch began, or let go where no event tells of it.
                    *down = self.pressed_now()?;
                }
                down.insert(keycode);
                if self.is_meant(keycode, down)? {
                    self.lock().presses += 1;
                    self.news.notify_all();
                }
            }
            Event::XinputRawKeyRelease(raw) if raw.deviceid == self.keyboard => {
                down.remove(&(raw.detail as u8));
            }
            _ => {}
        }
        Ok(())
    }

    /// Asked of the map of now: the person may change the layout at any time.
    fn is_meant(&self, keycode: u8, down: &BTreeSet<u8>) -> Result<bool, InputError> {
        let setup = self.link.conn.setup();
        let (first, count) = (setup.min_keycode, setup.max_keycode - setup.min_keycode + 1);
        let map = self.link.conn.get_keyboard_mapping(first, count)?.reply()?;
        let width = usize::from(map.keysyms_per_keycode).max(1);
        let has = |keycode: u8, wanted: &[u32]| {
            let row = usize::from(keycode.saturating_sub(first));
            map.keysyms.chunks(width).nth(row).is_some_and(|row| row.iter().any(|sym| wanted.contains(sym)))
        };
        let is_held = |modifier: &Modifier| down.iter().any(|keycode| has(*keycode, keysyms_of(*modifier)));
        Ok(has(keycode, &[self.keysym]) && self.modifiers.iter().all(is_held))
    }

    fn pressed_now(&self) -> Result<BTreeSet<u8>, InputError> {
        let keys = self.link.conn.query_keymap()?.reply()?.keys;
        let is_down = |keycode: &u8| keys[usize::from(keycode / 8)] & (1 << (keycode % 8)) != 0;
        Ok((0..=u8::MAX).filter(is_down).collect())
    }

    fn wake(&self) -> Result<(), InputError> {
        let Link { conn, own, atoms, .. } = &self.link;
        let message = ClientMessageEvent::new(32, *own, atoms.WM_PROTOCOLS, [0; 5]);
        conn.send_event(false, *own, EventMask::NO_EVENT, message)?;
        conn.flush()?;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, KeyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn keysyms_of(modifier: Modifier) -> &'static [u32] {
    match modifier {
        Modifier::Shift => &[key::Shift_L, key::Shift_R],
        Modifier::Control => &[key::Control_L, key::Control_R],
        Modifier::Alt => &[key::Alt_L, key::Alt_R],
        Modifier::Super => &[key::Super_L, key::Super_R],
    }
}
