//! The event thread: it notes which windows changed, and answers barriers.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use x11rb::connection::Connection;
use x11rb::errors::ReplyError;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConnectionExt as _, CreateNotifyEvent, EventMask,
};

use super::connection::{ANSWER_LIMIT, silence};
use super::link::{Link, lock};
use super::unfocused_launch::{UnfocusedLaunch, maker};
use crate::{DesktopError, WindowId};

/// What changed on one window since it was last read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Changed {
    /// The window went; one of the same id is another.
    pub(crate) gone: bool,
    pub(crate) shape: bool,
    pub(crate) properties: bool,
}

/// What changed since the window cache was last brought up to date.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) root: bool,
    pub(crate) windows: HashMap<u32, Changed>,
    /// Windows of ours that are none of the desktop's.
    pub(crate) overlooked: HashSet<u32>,
}

#[derive(Default)]
struct InboxState {
    changes: Changes,
    /// Counts the events of interest, for those who wait for one.
    count: u64,
    barrier: u32,
    ended: Option<String>,
    /// Windows of ours that are none of the desktop's.
    overlooked: HashSet<u32>,
    /// Launches that go on, by number.
    launches: Vec<(u64, UnfocusedLaunch)>,
}

/// What the event thread writes and everyone else reads.
#[derive(Default)]
pub(crate) struct EventInbox {
    state: Mutex<InboxState>,
    news: Condvar,
    ticket: AtomicU32,
}

impl EventInbox {
    /// Waits until every event of the server's past has been noted.
    pub(crate) fn catch_up(&self, link: &Link) -> Result<(), DesktopError> {
        let ticket = self.ticket.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        self.send(link, ticket).map_err(|error| self.why(link, &error))?;
        let deadline = Instant::now() + ANSWER_LIMIT;
        let mut state = lock(&self.state);
        loop {
            if let Some(reason) = &state.ended {
                return Err(lost(link, reason.clone()));
            }
            if is_reached(state.barrier, ticket) {
                return Ok(());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(lost(link, silence()));
            }
            state = self.news.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes what was noted.
    pub(crate) fn take(&self) -> Changes {
        let mut state = lock(&self.state);
        let overlooked = state.overlooked.clone();
        Changes { overlooked, ..std::mem::take(&mut state.changes) }
    }

    /// Fails once the display is closed or lost.
    pub(crate) fn check(&self, link: &Link) -> Result<(), DesktopError> {
        match &lock(&self.state).ended {
            Some(reason) => Err(lost(link, reason.clone())),
            None => Ok(()),
        }
    }

    /// The number of events of interest so far; take it before looking, then wait for the next.
    pub(crate) fn count(&self) -> u64 {
        lock(&self.state).count
    }

    /// Counts something of interest that is no event of the server, such as the end of a program.
    pub(crate) fn wake(&self) {
        lock(&self.state).count += 1;
        self.news.notify_all();
    }

    /// Waits for an event of interest after `since`; false when the deadline came first or the display is gone.
    pub(crate) fn wait(&self, since: u64, deadline: Instant) -> bool {
        let mut state = lock(&self.state);
        while state.count == since && state.ended.is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.news.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.count != since
    }

    /// From now on nothing that happens to this window is noted, until it is gone.
    pub(crate) fn overlook(&self, window: WindowId) {
        lock(&self.state).overlooked.insert(window.xid());
    }

    /// From now on marks the windows of a launch; answers the number to end it with.
    pub(crate) fn add_launch(&self, unfocused: UnfocusedLaunch) -> u64 {
        let mut state = lock(&self.state);
        let number = state.launches.last().map_or(0, |(last, _)| last + 1);
        state.launches.push((number, unfocused));
        number
    }

    /// Tells which process a launch has started.
    pub(crate) fn started(&self, number: u64, pid: u32) {
        let mut state = lock(&self.state);
        state
            .launches
            .iter_mut()
            .filter(|(found, _)| *found == number)
            .for_each(|(_, unfocused)| unfocused.started(pid));
    }

    /// Stops marking.
    pub(crate) fn end_launch(&self, number: u64) -> Option<UnfocusedLaunch> {
        let mut state = lock(&self.state);
        let index = state.launches.iter().position(|(found, _)| *found == number)?;
        Some(state.launches.remove(index).1)
    }

    /// Ends the event thread; everything afterwards fails with `display_lost`.
    pub(crate) fn end(&self, link: &Link, reason: &str) {
        lock(&self.state).ended.get_or_insert_with(|| reason.to_owned());
        self.news.notify_all();
        // The thread sits in a blocking read, and others may wait for answers; a server that hangs would leave them there.
        link.conn.stream().end();
    }

    fn send(&self, link: &Link, ticket: u32) -> Result<(), ReplyError> {
        let message = ClientMessageEvent::new(32, link.own, link.atoms.BACKLOT_BARRIER, [ticket, 0, 0, 0, 0]);
        link.conn.send_event(false, link.own, EventMask::NO_EVENT, message)?;
        Ok(link.conn.flush()?)
    }

    fn why(&self, link: &Link, error: &ReplyError) -> DesktopError {
        lost(link, lock(&self.state).ended.clone().unwrap_or_else(|| error.to_string()))
    }

    /// Reads events until the display or the desktop is closed.
    pub(crate) fn follow(self: Arc<Self>, link: &Link) {
        let mut is_ended = false;
        while !is_ended {
            let mut next = link.conn.wait_for_event().map(Some);
            while let Ok(Some(event)) = next {
                if let Event::CreateNotify(event) = &event {
                    self.mark(link, event);
                }
                lock(&self.state).note(link, &event);
                next = link.conn.poll_for_event();
            }
            let mut state = lock(&self.state);
            if let Err(error) = next {
                state.ended.get_or_insert_with(|| error.to_string());
            }
            is_ended = state.ended.is_some();
            drop(state);
            self.news.notify_all();
        }
    }

    /// Marks a new window of a launch that goes on.
    ///
    /// Nothing is locked while the server is asked who made it: one that hangs may never answer.
    fn mark(&self, link: &Link, event: &CreateNotifyEvent) {
        let is_candidate = event.parent == link.root && !event.override_redirect;
        if !is_candidate || lock(&self.state).launches.is_empty() {
            return;
        }
        let maker = maker(link, event.window);
        for (_, unfocused) in &mut lock(&self.state).launches {
            unfocused.mark(link, event.window, maker);
        }
    }
}

impl InboxState {
    fn note(&mut self, link: &Link, event: &Event) {
        let (window, changed) = match event {
            Event::ClientMessage(message) if message.window == link.own => {
                // Those who wait at the same time may have sent theirs in another order.
                let ticket = message.data.as_data32()[0];
                if is_reached(ticket, self.barrier) {
                    self.barrier = ticket;
                }
                return;
            }
            Event::CreateNotify(event) => (event.window, shape()),
            Event::DestroyNotify(event) => (event.window, Changed { gone: true, ..shape() }),
            Event::MapNotify(event) => (event.window, shape()),
            Event::UnmapNotify(event) => (event.window, shape()),
            Event::ReparentNotify(event) => (event.window, shape()),
            Event::ConfigureNotify(event) => (event.window, shape()),
            Event::GravityNotify(event) => (event.window, shape()),
            Event::CirculateNotify(event) => (event.window, shape()),
            Event::PropertyNotify(event) if is_read(link, event.atom) => {
                (event.window, Changed { properties: true, ..Changed::default() })
            }
            _ => return,
        };
        if self.overlooked.contains(&window) {
            if changed.gone {
                self.overlooked.remove(&window);
            }
            return;
        }
        self.count += 1;
        self.changes.root |= changed.shape || window == link.root;
        let entry = self.changes.windows.entry(window).or_default();
        entry.gone |= changed.gone;
        entry.shape |= changed.shape;
        entry.properties |= changed.properties;
    }
}

/// True when a number that goes round is at another or after it.
fn is_reached(number: u32, other: u32) -> bool {
    number.wrapping_sub(other) < u32::MAX / 2
}

fn shape() -> Changed {
    Changed { shape: true, ..Changed::default() }
}

fn lost(link: &Link, reason: String) -> DesktopError {
    link.session.lost(reason)
}

/// True for the properties that the window cache reads; others, such as the time of the last key, change all the time.
fn is_read(link: &Link, atom: u32) -> bool {
    let atoms = &link.atoms;
    let predefined =
        [AtomEnum::WM_NAME, AtomEnum::WM_CLASS, AtomEnum::WM_TRANSIENT_FOR, AtomEnum::WM_CLIENT_MACHINE];
    predefined.iter().any(|known| u32::from(*known) == atom)
        || [
            atoms.WM_STATE,
            atoms._NET_ACTIVE_WINDOW,
            atoms._NET_CLIENT_LIST,
            atoms._NET_CURRENT_DESKTOP,
            atoms._NET_SUPPORTING_WM_CHECK,
            atoms._NET_WM_DESKTOP,
            atoms._NET_WM_NAME,
            atoms._NET_WM_PID,
            atoms._NET_WM_STATE,
            atoms._NET_WM_WINDOW_TYPE,
        ]
        .contains(&atom)
}
