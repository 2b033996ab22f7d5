//! Delivery of steps through the agent's devices, seen by the target alone.

use std::collections::BTreeSet;
use std::time::Duration;

use desktop::Point;
use x11rb::CURRENT_TIME;
use x11rb::NONE;
use x11rb::connection::Connection;
use x11rb::protocol::xinput::{self, EventMode, GrabMode22, GrabOwner, GrabType, XIEventMask};
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConfigureWindowAux, ConnectionExt as _, GrabMode,
    KEY_PRESS_EVENT, KEY_RELEASE_EVENT, MOTION_NOTIFY_EVENT, StackMode, Window,
};
use x11rb::protocol::xtest;

use super::link::Link;
use super::master::Pair;
use super::target::Target;
use crate::InputError;
use crate::plan::Step;

/// `XIAnyModifier` of the X Input protocol.
const ANY_MODIFIER: u32 = 1 << 31;
/// `XIAnyButton` and `XIAnyKeycode`.
const ANY: u32 = 0;

/// A gesture under way: what is pressed is released, and what is grabbed is let go, when it is dropped.
pub struct Hands<'a> {
    link: &'a Link,
    pair: Pair,
    chain: &'a [Window],
    hides_keys: bool,
    buttons: BTreeSet<u8>,
    keys: BTreeSet<u8>,
    events: u32,
}

impl<'a> Hands<'a> {
    /// Makes the agent's presses pass the window manager by.
    ///
    /// Each window from the root down to the target gets a passive grab by us in front of the one that a
    /// window manager may have there; a press freezes in ours and is replayed below it, so theirs is never
    /// asked. The server does fake input at once and in order, so a press and its replays need no wait.
    /// Keys are hidden only when `hides_keys` says so: a grab makes the target believe for a moment that it
    /// lost the focus, which ends the editing of a table's cell.
    pub fn on(link: &'a Link, pair: Pair, chain: &'a [Window], hides_keys: bool) -> Result<Self, InputError> {
        let (buttons, keys) = (BTreeSet::new(), BTreeSet::new());
        let hands = Self { link, pair, chain, hides_keys, buttons, keys, events: 0 };
        for window in chain {
            hands.grab(*window, pair.pointer, GrabType::BUTTON, XIEventMask::BUTTON_PRESS)?;
            if hides_keys {
                hands.grab(*window, pair.keyboard, GrabType::KEYCODE, XIEventMask::KEY_PRESS)?;
            }
        }
        Ok(hands)
    }

    /// Moves the agent's pointer over the target while nothing else can happen, and sees that the target is
    /// what it met there; then runs `first` before anything else can come between.
    ///
    /// Fails with `window_covered` when another window came in between.
    pub fn reach(&mut self, target: &Target, at: Point, first: &[Step]) -> Result<(), InputError> {
        self.link.conn.grab_server()?;
        let reached = self.reach_grabbed(target, at, first);
        self.link.conn.ungrab_server()?;
        self.link.conn.flush()?;
        reached
    }

    fn reach_grabbed(&mut self, target: &Target, at: Point, first: &[Step]) -> Result<(), InputError> {
        self.step(&Step::Move(at))?;
        let pointer =
            xinput::xi_query_pointer(&self.link.conn, self.link.root, self.pair.pointer)?.reply()?;
        if pointer.child != target.frame() {
            return Err(target.covered(self.link, pointer.child, None));
        }
        first.iter().try_for_each(|step| self.step(step))
    }

    /// Runs the steps until `pauses` says, of a pause, that they are to halt; true when all were run.
    pub fn run(&mut self, steps: &[Step], pauses: &dyn Fn(Duration) -> bool) -> Result<bool, InputError> {
        for step in steps {
            if let Step::Pause(time) = step {
                self.link.conn.flush()?;
                if pauses(*time) {
                    return Ok(false);
                }
            } else {
                self.step(step)?;
            }
        }
        self.link.conn.flush()?;
        Ok(true)
    }

    /// Lets everything go and answers with the number of device events sent.
    pub fn finish(mut self) -> Result<u32, InputError> {
        self.release()?;
        Ok(self.events)
    }

    fn step(&mut self, step: &Step) -> Result<(), InputError> {
        match *step {
            Step::Move(at) => self.fake(MOTION_NOTIFY_EVENT, 0, at),
            Step::Button(button, true) => {
                self.buttons.insert(button);
                self.fake(BUTTON_PRESS_EVENT, button, Point::default())?;
                self.replay(self.pair.pointer)
            }
            Step::Button(button, false) => {
                self.buttons.remove(&button);
                self.fake(BUTTON_RELEASE_EVENT, button, Point::default())
            }
            Step::Key(key, true) => {
                self.keys.insert(key);
                self.fake(KEY_PRESS_EVENT, key, Point::default())?;
                if self.hides_keys { self.replay(self.pair.keyboard) } else { Ok(()) }
            }
            Step::Key(key, false) => {
                self.keys.remove(&key);
                self.fake(KEY_RELEASE_EVENT, key, Point::default())
            }
            Step::Pause(_) => Ok(()),
        }
    }

    fn fake(&mut self, kind: u8, detail: u8, at: Point) -> Result<(), InputError> {
        self.events += 1;
        fake(self.link, kind, detail, at)
    }

    fn replay(&self, device: u16) -> Result<(), InputError> {
        for window in self.chain {
            let mode = EventMode::REPLAY_DEVICE;
            xinput::xi_allow_events(&self.link.conn, CURRENT_TIME, device, mode, 0, *window)?;
        }
        Ok(())
    }

    fn grab(&self, window: Window, device: u16, kind: GrabType, mask: XIEventMask) -> Result<(), InputError> {
        let grabbed = xinput::xi_passive_grab_device(
            &self.link.conn,
            CURRENT_TIME,
            window,
            NONE,
            ANY,
            device,
            kind,
            GrabMode22::SYNC,
            GrabMode::ASYNC,
            GrabOwner::NO_OWNER,
            &[mask.into()],
            &[ANY_MODIFIER],
        )?;
        grabbed.discard_reply_and_errors();
        Ok(())
    }

    fn release(&mut self) -> Result<(), InputError> {
        for button in std::mem::take(&mut self.buttons) {
            self.fake(BUTTON_RELEASE_EVENT, button, Point::default())?;
        }
        for key in std::mem::take(&mut self.keys) {
            self.fake(KEY_RELEASE_EVENT, key, Point::default())?;
        }
        park(self.link)?;
        for window in std::mem::take(&mut self.chain) {
            for (device, kind) in
                [(self.pair.pointer, GrabType::BUTTON), (self.pair.keyboard, GrabType::KEYCODE)]
            {
                let conn = &self.link.conn;
                xinput::xi_passive_ungrab_device(conn, *window, ANY, device, kind, &[ANY_MODIFIER])?
                    .ignore_error();
            }
        }
        self.link.drain()
    }
}

impl Drop for Hands<'_> {
    fn drop(&mut self) {
        // A connection that is lost has nothing left to let go: the server does it.
        let _ = self.release();
    }
}

/// Takes the agent's pointer off every application, so that no window which comes to lie there is entered.
pub fn park(link: &Link) -> Result<(), InputError> {
    let front = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
    link.conn.map_window(link.parking)?;
    link.conn.configure_window(link.parking, &front)?;
    fake(link, MOTION_NOTIFY_EVENT, 0, link.parking_place)
}

/// One fake event of the agent's devices: the connection's client pointer says whose they are.
pub fn fake(link: &Link, kind: u8, detail: u8, at: Point) -> Result<(), InputError> {
    let (x, y) = (at.x as i16, at.y as i16);
    xtest::fake_input(&link.conn, kind, detail, CURRENT_TIME, link.root, x, y, 0)?;
    Ok(())
}
