//! Bringing a window to the front, and giving it a place: what the window manager is asked for, and what came of it.

use std::time::{Duration, Instant};

use super::focus::tell_manager;
use super::listing::{self, Placed};
use super::stacking::{self, Frame};
use super::window_cache::WindowManager;
use crate::platform::Desktop;
use crate::{DesktopError, Placement, Rect, Window, WindowId};

/// How long the window manager may take for what it is asked.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long it may take until a window begins to move; one that ignores what it is asked costs all of it.
const PLACING_PATIENCE: Duration = Duration::from_secs(3);

/// How long nothing must happen on the display until a window counts as placed.
const QUIET: Duration = Duration::from_millis(120);

/// Source indication of a pager, whose wish is the person's (EWMH).
const PAGER: u32 = 2;

/// Gravity that makes x and y mean the client window, not its decorations (core protocol, StaticGravity).
const STATIC_GRAVITY: u32 = 10;

/// `_NET_WM_STATE_REMOVE` (EWMH).
const REMOVE: u32 = 0;

/// How often a window manager that reads the coordinates in its own way is corrected.
const CORRECTIONS: usize = 2;

impl Desktop {
    /// Gives a window the person's focus and brings it up, out of the taskbar and from another workspace where the
    /// window manager does that; true once the window manager says that it is active and it is on the screen.
    ///
    /// Fails with `window_not_found`, and with `window_manager_refused` where no window manager runs.
    pub fn activate(&self, window: WindowId) -> Result<bool, DesktopError> {
        self.managed(window, "activate")?;
        let now = self.look(|cache, _| cache.active)?.unwrap_or(0);
        self.ask("activation", |link| {
            tell_manager(link, window.xid(), link.atoms._NET_ACTIVE_WINDOW, [PAGER, 0, now, 0, 0])
        })?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            let count = self.inbox.count();
            if self.is_in_front(window)? {
                return Ok(true);
            }
            if !self.inbox.wait(count, deadline) {
                return self.is_in_front(window);
            }
        }
    }

    /// Moves and resizes a window, and answers with what it then is; what is left out stays.
    ///
    /// The client window is placed, without its decorations, in screen pixels. A maximised or full-screen window is
    /// made a normal one first. Programs and window managers may round sizes or keep windows on the screen: compare
    /// the bounds. Fails with `window_not_found`, and with `window_manager_refused` where no window manager runs.
    pub fn set_frame(&self, window: WindowId, wanted: &Placement) -> Result<Window, DesktopError> {
        let before = self.managed(window, "move or resize")?;
        self.unmaximise(window)?;
        let mut asked = *wanted;
        let mut is = self.place(window, &asked, wanted, &before)?;
        // A window manager that has not answered yet has nothing to be corrected for: it would do both.
        let has_moved = is.bounds() != before.bounds();
        for _ in 0..if has_moved { CORRECTIONS } else { 0 } {
            let Some(corrected) = is.bounds().and_then(|is| correction(&asked, wanted, &is)) else { break };
            asked = corrected;
            let last = is.clone();
            is = self.place(window, &asked, wanted, &last)?;
            if is.bounds() == last.bounds() {
                break;
            }
        }
        Ok(is)
    }

    fn place(
        &self,
        window: WindowId,
        asked: &Placement,
        wanted: &Placement,
        before: &Window,
    ) -> Result<Window, DesktopError> {
        let given = [asked.x.is_some(), asked.y.is_some(), asked.width.is_some(), asked.height.is_some()];
        let flags =
            (8u32..).zip(given).filter(|(_, given)| *given).fold(0, |flags, (bit, _)| flags | 1 << bit);
        let request = [
            STATIC_GRAVITY | flags | PAGER << 12,
            asked.x.unwrap_or(0).cast_unsigned(),
            asked.y.unwrap_or(0).cast_unsigned(),
            asked.width.unwrap_or(0),
            asked.height.unwrap_or(0),
        ];
        self.ask("placing", |link| {
            tell_manager(link, window.xid(), link.atoms._NET_MOVERESIZE_WINDOW, request)
        })?;
        let deadline = Instant::now() + PLACING_PATIENCE;
        loop {
            let count = self.inbox.count();
            let is = self.present(window)?;
            if is.bounds().is_some_and(|is| wanted.fits(&is)) || Instant::now() >= deadline {
                return Ok(is);
            }
            // What moved but not to where it should has been placed as far as it goes once nothing happens any more.
            let moved = is.bounds() != before.bounds();
            let until = if moved { deadline.min(Instant::now() + QUIET) } else { deadline };
            if !self.inbox.wait(count, until) {
                return self.present(window);
            }
        }
    }

    /// A maximised window keeps its place whatever it is asked.
    fn unmaximise(&self, window: WindowId) -> Result<(), DesktopError> {
        self.ask("window state", |link| {
            let atoms = &link.atoms;
            let (across, down) = (atoms._NET_WM_STATE_MAXIMIZED_HORZ, atoms._NET_WM_STATE_MAXIMIZED_VERT);
            let full = atoms._NET_WM_STATE_FULLSCREEN;
            tell_manager(link, window.xid(), atoms._NET_WM_STATE, [REMOVE, across, down, PAGER, 0])?;
            tell_manager(link, window.xid(), atoms._NET_WM_STATE, [REMOVE, full, 0, PAGER, 0])
        })
    }

    /// True when the window manager says that the window is active, and a part of it is on the screen in front of the
    /// windows that it was behind.
    fn is_in_front(&self, window: WindowId) -> Result<bool, DesktopError> {
        let active = self.look(|cache, _| cache.active)?;
        Ok(active == Some(window.xid()) && self.present(window)?.is_on_screen && self.shows(window)?)
    }

    /// True when some point of the window's client area is not covered by the frame of another window.
    fn shows(&self, window: WindowId) -> Result<bool, DesktopError> {
        let is = self.placed(window)?;
        let frames = self.x11_stacking()?;
        let above = frames.iter().skip_while(|frame| frame.id != is.frame_id).skip(1);
        Ok(!above.filter(|frame| !frame.is_input_only).any(|frame| covers(&frame.rect, &is.bounds)))
    }

    pub(crate) fn present(&self, window: WindowId) -> Result<Window, DesktopError> {
        self.window(window)?.ok_or(DesktopError::WindowNotFound { window })
    }

    /// The windows of applications as an X server tells of them, in no order.
    pub fn x11_windows(&self) -> Result<Vec<Placed>, DesktopError> {
        self.look(listing::places)
    }

    /// All mapped children of the root window, bottom to top.
    pub fn x11_stacking(&self) -> Result<Vec<Frame>, DesktopError> {
        let frames = self.look(|cache, _| stacking::mapped(cache))?;
        self.ask("window shapes", |link| stacking::with_shapes(link, frames))
    }

    /// The window manager, when one runs.
    pub fn x11_window_manager(&self) -> Result<Option<WindowManager>, DesktopError> {
        self.look(|cache, _| cache.manager.clone())
    }

    pub(crate) fn placed(&self, window: WindowId) -> Result<Placed, DesktopError> {
        let found = self.x11_windows()?.into_iter().find(|placed| placed.window_id == window);
        found.ok_or(DesktopError::WindowNotFound { window })
    }

    pub(crate) fn managed(&self, window: WindowId, what: &'static str) -> Result<Window, DesktopError> {
        let found = self.present(window)?;
        match self.x11_window_manager()? {
            Some(_) => Ok(found),
            None => Err(DesktopError::WindowManagerRefused { window, what, reason: "there is none" }),
        }
    }
}

fn covers(above: &Rect, below: &Rect) -> bool {
    above.intersection(below) == Some(*below)
}

/// The same request, moved by how far the window missed its place; none where it did not miss it.
fn correction(asked: &Placement, wanted: &Placement, is: &Rect) -> Option<Placement> {
    let missed = |wanted: Option<i32>, is: i32| wanted.map_or(0, |wanted| wanted - is);
    let (across, down) = (missed(wanted.x, is.x), missed(wanted.y, is.y));
    let moved = |asked: Option<i32>, by: i32| asked.map(|asked| asked.saturating_add(by));
    (across != 0 || down != 0).then(|| Placement {
        x: moved(asked.x, across),
        y: moved(asked.y, down),
        ..*asked
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_missed_its_place_is_asked_to_go_as_far_to_the_other_side() {
        let wanted = Placement { x: Some(100), y: None, width: Some(50), height: None };
        let is = Rect { x: 104, y: 30, width: 50, height: 60 };
        let corrected = correction(&wanted, &wanted, &is);
        assert_eq!(corrected, Some(Placement { x: Some(96), ..wanted }));
        assert_eq!(correction(&wanted, &wanted, &Rect { x: 100, ..is }), None);
    }
}
