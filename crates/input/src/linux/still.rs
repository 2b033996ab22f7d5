//! The person's devices held still while an application takes what an agent's press made it take.

use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::xinput::{self, GrabOwner};
use x11rb::protocol::xproto::{GrabMode, GrabStatus, Window};
use x11rb::{CURRENT_TIME, NONE};

use super::link::Link;
use super::master::Pair;
use crate::InputError;

/// How long what the person does waits until it may arrive between two steps of what it waits for.
pub const BREATH: Duration = Duration::from_millis(30);

/// The person's pointer and keyboard, frozen for as long as this lives: what they send waits in the server and
/// arrives afterwards, in order and where it was meant to.
///
/// Chromium grabs every master pointer when a button goes down in a page; Qt, GTK 4 and the old toolkits open
/// menus by grabbing the pointer and the keyboard that they were born with, which are the person's. While we hold
/// these, they are refused. The window of the grab is the one under the person's pointer, so nothing is
/// entered or left, and the keyboard is frozen by the pointer's grab, so no focus is seen to move.
pub struct Still<'a> {
    link: &'a Link,
    person: Pair,
    /// False where another client had the person's pointer.
    pub is_held: bool,
    /// Since when what the person does has not arrived.
    pub since: Instant,
}

impl<'a> Still<'a> {
    /// Holds the devices, unless another client has the person's pointer, with which nobody can grab it then.
    /// To be called with the server grabbed.
    pub fn hold(link: &'a Link, person: Pair) -> Result<Self, InputError> {
        let under = under(link, person)?;
        Self::hold_over(link, person, under)
    }

    /// Holds the devices at once, with the window that the person's pointer is known to be in.
    pub fn hold_over(link: &'a Link, person: Pair, under: Window) -> Result<Self, InputError> {
        let is_held = grab(link, person, under)?;
        Ok(Self { link, person, is_held, since: Instant::now() })
    }

    /// Lets go if `is_hers` says that the person's keys go where they belong. The server does nothing for anybody else
    /// between that and the arrival of what has waited. True when nothing is held any more.
    pub fn let_go(&mut self, is_hers: impl FnOnce() -> Result<bool, InputError>) -> Result<bool, InputError> {
        if !self.is_held {
            return Ok(true);
        }
        self.link.alone(|| {
            let is_free = is_hers()?;
            if is_free {
                self.release();
            }
            Ok(is_free)
        })
    }

    /// Lets arrive what has waited and holds on, once it has waited for a while and if `is_hers` says that the person's
    /// keys go where they belong; as [`Still::let_go`] in between.
    pub fn breathe(&mut self, is_hers: impl FnOnce() -> Result<bool, InputError>) -> Result<(), InputError> {
        if !self.is_held || self.since.elapsed() < BREATH {
            return Ok(());
        }
        self.link.alone(|| {
            if is_hers()? {
                self.release();
                self.is_held = grab(self.link, self.person, under(self.link, self.person)?)?;
                self.since = Instant::now();
            }
            Ok(())
        })
    }

    fn release(&mut self) {
        if std::mem::take(&mut self.is_held) {
            let ungrabbed = xinput::xi_ungrab_device(&self.link.conn, CURRENT_TIME, self.person.pointer);
            // A connection that is lost holds nothing any more.
            if let Ok(cookie) = ungrabbed {
                cookie.ignore_error();
                let _ = self.link.conn.flush();
            }
        }
    }
}

fn grab(link: &Link, person: Pair, window: Window) -> Result<bool, InputError> {
    let (conn, freeze, nobody) = (&link.conn, GrabMode::SYNC, GrabOwner::NO_OWNER);
    let device = person.pointer;
    let grabbed =
        xinput::xi_grab_device(conn, window, CURRENT_TIME, NONE, device, freeze, freeze, nobody, &[0])?;
    Ok(grabbed.reply()?.status == GrabStatus::SUCCESS)
}

/// The innermost window that the person's pointer is in.
pub fn under(link: &Link, person: Pair) -> Result<Window, InputError> {
    let mut under = link.root;
    loop {
        let child = xinput::xi_query_pointer(&link.conn, under, person.pointer)?.reply()?.child;
        if child == NONE {
            return Ok(under);
        }
        under = child;
    }
}

impl Drop for Still<'_> {
    fn drop(&mut self) {
        self.release();
    }
}
