//! Whether an application has handled what was sent to it: the proof that nothing more comes at once.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use desktop::{Session, WindowId, x11};

use super::connection::link::{Link, on_display};
use super::connection::{settle, toolkit};
use crate::InputError;
use crate::platform::rest;

/// Asks the applications of a display, several of them at a time, over connections of its own.
pub struct AppQueues {
    session: x11::Session,
    /// Connections that nobody uses now; none when it was closed.
    idle: Mutex<Option<Vec<Link>>>,
}

impl AppQueues {
    /// Connects at the first question.
    pub fn new(session: &Session) -> Self {
        let Session::X11(session) = session.clone();
        Self { session, idle: Mutex::new(Some(Vec::new())) }
    }

    /// Waits until the application that owns the window has handled every event that it was sent before, for at most
    /// `patience`; false when it had not by then, none where nothing can prove it.
    ///
    /// It has when it answered a `_NET_WM_PING`, which stands in its queue behind those events (Qt, which acts on what it
    /// has read later, twice), and when it and all processes that descend from it slept at one moment after that: what a
    /// browser hands to the process of a page is done too.
    ///
    /// The answer goes to the root window, where the window manager sees it as well; by the time in it no window manager
    /// takes it for an answer to a question of its own.
    ///
    /// Fails with `display_unavailable`, `display_lost` and `input_unavailable`.
    pub fn handled(&self, window: WindowId, patience: Duration) -> Result<Option<bool>, InputError> {
        let deadline = Instant::now() + patience;
        let kept = self.lock().as_mut().and_then(Vec::pop);
        let display = self.session.display();
        let link = kept.map_or_else(|| on_display(display, Link::open(&self.session)), Ok)?;
        let handled = on_display(display, ask(&link, window.xid(), deadline))?;
        // One that failed is not used again.
        if let Some(idle) = self.lock().as_mut() {
            idle.push(link);
        }
        Ok(handled)
    }

    /// Ends the connections that nobody uses, and has the others end with their question; closing twice is fine.
    pub fn close(&self) {
        self.lock().take();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Vec<Link>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ask(link: &Link, window: u32, deadline: Instant) -> Result<Option<bool>, InputError> {
    let left = || deadline.saturating_duration_since(Instant::now());
    if !toolkit::answers_pings(link, window)? {
        return Ok(None);
    }
    let Some(pid) = toolkit::process_of(link, window)? else { return Ok(None) };
    if !settle::by_toolkit(link, window, left())? {
        return Ok(Some(false));
    }
    rest::wait(pid, left(), |time| settle::pause(link, time)).map(Some)
}
