//! Maximising, minimising, restoring and closing windows: what is asked for, and what came of it.

use std::time::{Duration, Instant};

use x11rb::CURRENT_TIME;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{ClientMessageEvent, ConnectionExt as _, EventMask};

use super::focus::tell_manager;
use super::properties::{numbers, property_of};
use crate::platform::Desktop;
use crate::{DesktopError, FrameExtents, WindowId, WindowState};

/// How long the window manager may take for what it is asked.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long after each look the next comes.
const GLANCE: Duration = Duration::from_millis(10);

/// Source indication of a pager, whose wish is the person's (EWMH).
const PAGER: u32 = 2;

/// `_NET_WM_STATE_REMOVE` and `_NET_WM_STATE_ADD` (EWMH).
const REMOVE: u32 = 0;
const ADD: u32 = 1;

/// IconicState (ICCCM 4.1.3.1).
const ICONIC: u32 = 3;

impl Desktop {
    /// What a window is now. Fails with `window_not_found`.
    pub fn window_state(&self, window: WindowId) -> Result<WindowState, DesktopError> {
        let is = self.present(window)?;
        self.look(|cache, link| {
            let properties = cache.nodes.get(&window.xid()).and_then(|node| node.properties.as_ref());
            let has = |state| properties.is_some_and(|properties| properties.states.contains(&state));
            let atoms = &link.atoms;
            WindowState {
                window_id: window,
                size: is.size,
                is_active: cache.active == Some(window.xid()),
                is_minimized: is.is_minimized,
                is_maximized: has(atoms._NET_WM_STATE_MAXIMIZED_HORZ)
                    && has(atoms._NET_WM_STATE_MAXIMIZED_VERT),
            }
        })
    }

    /// Makes a window as large as the window manager does; one that is minimised comes back for it.
    ///
    /// Fails with `window_not_found`, and with `window_manager_refused` where it does not happen.
    pub fn maximize(&self, window: WindowId) -> Result<WindowState, DesktopError> {
        if self.managed(window, "maximize")?.is_minimized {
            self.bring_back(window, "maximize")?;
        }
        self.change_maximized(window, ADD)?;
        self.await_state(window, "maximize", |state| state.is_maximized && !state.is_minimized)
    }

    /// Takes a window off the screen; fails as [`Desktop::maximize`] does.
    pub fn minimize(&self, window: WindowId) -> Result<WindowState, DesktopError> {
        self.managed(window, "minimize")?;
        self.ask("minimising", |link| {
            tell_manager(link, window.xid(), link.atoms.WM_CHANGE_STATE, [ICONIC, 0, 0, 0, 0])
        })?;
        self.await_state(window, "minimize", |state| state.is_minimized)
    }

    /// Makes a window neither minimised nor maximised; fails as [`Desktop::maximize`] does.
    pub fn restore(&self, window: WindowId) -> Result<WindowState, DesktopError> {
        if self.managed(window, "restore")?.is_minimized {
            self.bring_back(window, "restore")?;
        }
        self.change_maximized(window, REMOVE)?;
        self.await_state(window, "restore", |state| !state.is_maximized && !state.is_minimized)
    }

    /// Asks a program to close its window (`WM_DELETE_WINDOW`, ICCCM 4.2.8.1) and waits until it is gone.
    ///
    /// Fails with `window_not_found`, and with `window_manager_refused` where the window is still there after that time,
    /// as when the program asks whether to save, or where the program cannot be asked.
    pub fn close_window(&self, window: WindowId, timeout: Duration) -> Result<(), DesktopError> {
        self.present(window)?;
        let refuse = |reason| DesktopError::WindowManagerRefused { window, what: "close", reason };
        let deadline = Instant::now() + timeout;
        let told = deadline.min(Instant::now() + PATIENCE);
        while !self.ask_to_close(window)? {
            // A program says what it takes a moment after its window is shown.
            if self.window(window)?.is_none() || Instant::now() >= told {
                return Err(refuse("its program takes no such request"));
            }
            std::thread::sleep(GLANCE);
        }
        loop {
            let count = self.inbox.count();
            if self.window(window)?.is_none() {
                return Ok(());
            }
            if !self.inbox.wait(count, deadline) {
                let is_gone = self.window(window)?.is_none();
                return if is_gone {
                    Ok(())
                } else {
                    Err(refuse("its program keeps it open and may be asking something"))
                };
            }
        }
    }

    /// The widths of a window's decorations: what the window manager says, else what its frame shows. Fails with
    /// `window_not_found`.
    pub fn frame_extents(&self, window: WindowId) -> Result<FrameExtents, DesktopError> {
        let is = self.placed(window)?;
        let said = self.ask("decorations", |link| {
            Ok(numbers(property_of(link, window.xid(), link.atoms._NET_FRAME_EXTENTS)?.reply())?)
        })?;
        if let [left, right, top, bottom, ..] = said[..] {
            return Ok(FrameExtents { left, right, top, bottom });
        }
        let (inner, outer) = (is.bounds, is.frame);
        let before = |inner: i32, outer: i32| u32::try_from(inner - outer).unwrap_or(0);
        let (left, top) = (before(inner.x, outer.x), before(inner.y, outer.y));
        let right = outer.width.saturating_sub(inner.width).saturating_sub(left);
        let bottom = outer.height.saturating_sub(inner.height).saturating_sub(top);
        Ok(FrameExtents { left, right, top, bottom })
    }

    /// False where the program does not say that it can be asked.
    fn ask_to_close(&self, window: WindowId) -> Result<bool, DesktopError> {
        self.ask("closing", |link| {
            let atoms = &link.atoms;
            let protocols = numbers(property_of(link, window.xid(), atoms.WM_PROTOCOLS)?.reply())?;
            let is_asked = protocols.contains(&atoms.WM_DELETE_WINDOW);
            if is_asked {
                let data = [atoms.WM_DELETE_WINDOW, CURRENT_TIME, 0, 0, 0];
                let message = ClientMessageEvent::new(32, window.xid(), atoms.WM_PROTOCOLS, data);
                link.conn.send_event(false, window.xid(), EventMask::NO_EVENT, message)?;
                link.conn.flush()?;
            }
            Ok(is_asked)
        })
    }

    fn bring_back(&self, window: WindowId, what: &'static str) -> Result<WindowState, DesktopError> {
        self.ask("activation", |link| {
            tell_manager(link, window.xid(), link.atoms._NET_ACTIVE_WINDOW, [PAGER, 0, 0, 0, 0])
        })?;
        self.await_state(window, what, |state| !state.is_minimized)
    }

    fn change_maximized(&self, window: WindowId, change: u32) -> Result<(), DesktopError> {
        self.ask("window state", |link| {
            let atoms = &link.atoms;
            let (across, down) = (atoms._NET_WM_STATE_MAXIMIZED_HORZ, atoms._NET_WM_STATE_MAXIMIZED_VERT);
            tell_manager(link, window.xid(), atoms._NET_WM_STATE, [change, across, down, PAGER, 0])
        })
    }

    /// Waits until a window is so, and it has the place that goes with it.
    fn await_state(
        &self,
        window: WindowId,
        what: &'static str,
        is_reached: impl Fn(&WindowState) -> bool,
    ) -> Result<WindowState, DesktopError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let count = self.inbox.count();
            if is_reached(&self.window_state(window)?) {
                // The state is announced before the window has its size.
                self.settle(|| Ok(()))?;
                return self.window_state(window);
            }
            if !self.inbox.wait(count, deadline) {
                let reason = "it is as it was";
                return Err(DesktopError::WindowManagerRefused { window, what, reason });
            }
        }
    }
}
