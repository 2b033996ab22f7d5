//! The person's devices held still while an application takes what an agent's press made it take.

use std::time::Instant;

use x11rb::connection::Connection;
use x11rb::protocol::xinput::{self, GrabOwner};
use x11rb::protocol::xproto::{GrabMode, GrabStatus, Window};
use x11rb::{CURRENT_TIME, NONE};

use super::link::Link;
use super::master::Pair;
use crate::InputError;

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
    /// When it began.
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
        let (freeze, nobody) = (GrabMode::SYNC, GrabOwner::NO_OWNER);
        let grabbed = xinput::xi_grab_device(
            &link.conn,
            under,
            CURRENT_TIME,
            NONE,
            person.pointer,
            freeze,
            freeze,
            nobody,
            &[0],
        )?;
        let is_held = grabbed.reply()?.status == GrabStatus::SUCCESS;
        Ok(Self { link, person, is_held, since: Instant::now() })
    }
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
        if self.is_held {
            let ungrabbed = xinput::xi_ungrab_device(&self.link.conn, CURRENT_TIME, self.person.pointer);
            // A connection that is lost holds nothing any more.
            if let Ok(cookie) = ungrabbed {
                cookie.ignore_error();
                let _ = self.link.conn.flush();
            }
        }
    }
}
