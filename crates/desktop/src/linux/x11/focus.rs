//! Who has the focus, and giving it back.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::errors::ReplyError;
use x11rb::protocol::xproto::{ClientMessageEvent, ConnectionExt as _, EventMask, StackMode};

use super::link::Link;
use super::stacking;
use super::window_cache::WindowCache;
use crate::platform::Desktop;
use crate::{DesktopError, WindowId, WindowKind};

/// How long nothing must happen on the display until a launch counts as over.
const QUIET: Duration = Duration::from_millis(150);

/// How long it is watched at most.
const WATCH: Duration = Duration::from_millis(800);

/// How long the window manager may take to give the focus back.
const RESTORE: Duration = Duration::from_secs(1);

/// Where the focus was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Focus {
    /// The active window, as the window manager says.
    pub(crate) active: WindowId,
    /// The root's child that gets the person's keys.
    top_level: Option<u32>,
}

impl Desktop {
    /// The window that has the person's focus: what the window manager says, else the top-level window of the focus.
    pub fn active_window(&self) -> Result<Option<WindowId>, DesktopError> {
        let (is_managed, active) = self.look(|cache, _| (cache.manager.is_some(), cache.active))?;
        let active = if is_managed { active } else { self.ask("input focus", stacking::focused_top_level)? };
        Ok(active.map(WindowId::of_xid))
    }

    /// Where the focus is; none without a window manager or an active window.
    pub(crate) fn focus(&self) -> Result<Option<Focus>, DesktopError> {
        let active = self.look(|cache, _| cache.active)?;
        let Some(active) = active else { return Ok(None) };
        let top_level = self.ask("input focus", stacking::focused_top_level)?;
        Ok(Some(Focus { active: WindowId::of_xid(active), top_level }))
    }

    /// Waits until the display is quiet for a moment; looks at it after each change.
    pub(crate) fn settle(
        &self,
        mut look: impl FnMut() -> Result<(), DesktopError>,
    ) -> Result<(), DesktopError> {
        let deadline = Instant::now() + WATCH;
        loop {
            let until = deadline.min(Instant::now() + QUIET);
            let count = self.inbox.count();
            look()?;
            if !self.inbox.wait(count, until) || Instant::now() >= deadline {
                return look();
            }
        }
    }

    /// True when one of the windows, or its frame, has the focus.
    pub(crate) fn is_at(&self, focus: Focus, windows: &[WindowId]) -> Result<bool, DesktopError> {
        let frames = |cache: &WindowCache| -> Vec<u32> {
            windows
                .iter()
                .filter_map(|window| cache.nodes.get(&window.xid()))
                .map(|node| node.frame)
                .collect()
        };
        let frames = self.look(|cache, _| frames(cache))?;
        Ok(windows.contains(&focus.active) || focus.top_level.is_some_and(|window| frames.contains(&window)))
    }

    /// Gives the focus back to the window that had it; true once it has it again.
    pub(crate) fn give_back(&self, prior: Focus) -> Result<bool, DesktopError> {
        let now = self.look(|cache, _| cache.active)?.unwrap_or(0);
        self.ask("activation", |link| {
            // Source 2 is a pager, whose wish is the person's (EWMH _NET_ACTIVE_WINDOW).
            tell_manager(link, prior.active.xid(), link.atoms._NET_ACTIVE_WINDOW, [2, 0, now, 0, 0])
        })?;
        let deadline = Instant::now() + RESTORE;
        loop {
            let count = self.inbox.count();
            if self.focus()? == Some(prior) {
                return Ok(true);
            }
            if !self.inbox.wait(count, deadline) {
                return Ok(self.focus()? == Some(prior));
            }
        }
    }

    /// Puts windows that came up without the focus behind the one that has it, as far as the window manager does it.
    pub(crate) fn put_behind(&self, prior: Focus, pids: &[u32]) -> Result<(), DesktopError> {
        let deadline = Instant::now() + 2 * QUIET;
        let mut asked = HashSet::new();
        loop {
            let count = self.inbox.count();
            let windows = self.windows()?;
            let in_front = windows.iter().skip_while(|window| window.window_id != prior.active).skip(1);
            let in_front: Vec<WindowId> = in_front
                .filter(|window| pids.contains(&window.pid) && window.kind != WindowKind::Popup)
                .map(|window| window.window_id)
                .collect();
            if in_front.is_empty() {
                return Ok(());
            }
            self.ask("stacking", |link| {
                for window in in_front.into_iter().filter(|window| asked.insert(*window)) {
                    let below = [2, prior.active.xid(), u32::from(StackMode::BELOW), 0, 0];
                    tell_manager(link, window.xid(), link.atoms._NET_RESTACK_WINDOW, below)?;
                }
                Ok(())
            })?;
            if !self.inbox.wait(count, deadline) {
                return Ok(());
            }
        }
    }
}

/// Sends a request of a pager's to the window manager.
pub(crate) fn tell_manager(link: &Link, window: u32, request: u32, data: [u32; 5]) -> Result<(), ReplyError> {
    let message = ClientMessageEvent::new(32, window, request, data);
    let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
    link.conn.send_event(false, link.root, mask, message)?;
    Ok(link.conn.flush()?)
}
