//! Windows that believe to have the focus after the gesture that made them, until their application has done what it set
//! off.
//!
//! Qt closes a list when it hears that it has not the focus, also one that it is about to show. So it is told when it has
//! answered, slept and answered again, as [`crate::platform::x11::connection::settle::twice`] waits for, and when no list or menu is open. Here the
//! answers are heard among other events, and whoever does not answer is not asked again.

use x11rb::protocol::Event;
use x11rb::protocol::xproto::{ConnectionExt as _, Window};

use crate::InputError;
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::connection::{settle, window_tree};

/// One such window.
#[derive(Clone, Copy, Debug)]
pub struct PretendedFocus {
    /// The window.
    pub window: Window,
    /// The ping that is not answered yet.
    asked: Option<u32>,
    /// How many were.
    answers: u32,
}

/// What a look at one finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Its application has something to do, or shows a menu.
    Busy,
    /// Its application has nothing to do any more.
    Settled,
    /// It is there no more.
    Gone,
}

impl PretendedFocus {
    /// One whose application was not asked yet.
    pub fn new(window: Window) -> Self {
        Self { window, asked: None, answers: 0 }
    }

    /// Hears an event, which may be an answer.
    pub fn hear(&mut self, link: &Link, event: &Event) {
        let answer = settle::answer_of(link, event).filter(|(window, _)| *window == self.window);
        if answer.is_some_and(|(_, number)| self.asked == Some(number)) {
            self.asked = None;
            self.answers += 1;
        }
    }

    /// Looks whether its application has settled, and asks it what is to be asked.
    pub fn look(&mut self, link: &Link) -> Result<Found, InputError> {
        if link.conn.get_geometry(self.window)?.reply().is_err() {
            return Ok(Found::Gone);
        }
        if !window_tree::menus(link, self.window)?.is_empty() {
            self.answers = 0;
            return Ok(Found::Busy);
        }
        if self.asked.is_some() || self.answers == 1 && !settle::is_asleep(link, self.window)? {
            return Ok(Found::Busy);
        }
        if self.answers > 1 {
            return Ok(Found::Settled);
        }
        let number = settle::next_ping();
        settle::send_ping(link, self.window, number)?;
        link.sync()?;
        self.asked = Some(number);
        Ok(Found::Busy)
    }
}
