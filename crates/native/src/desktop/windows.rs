//! What is done to windows and to the background of the screen, for JavaScript.

use std::path::PathBuf;
use std::time::Duration;

use desktop::WindowId;
use napi_derive::napi;

use crate::desktop::Desktop;
use crate::failure::{Promise, promise_with};

/// What a window is once the window manager has done what it was asked.
#[napi(object, object_from_js = false)]
pub struct WindowState {
    /// The window.
    #[napi(js_name = "window_id")]
    pub window_id: u32,
    /// True when the window manager says that it has the focus.
    #[napi(js_name = "is_active")]
    pub is_active: bool,
    /// True when the window manager has iconified it.
    #[napi(js_name = "is_minimized")]
    pub is_minimized: bool,
    /// True when it is maximised in both directions.
    #[napi(js_name = "is_maximized")]
    pub is_maximized: bool,
}

impl From<desktop::WindowState> for WindowState {
    fn from(state: desktop::WindowState) -> Self {
        Self {
            window_id: state.window_id.wire(),
            is_active: state.is_active,
            is_minimized: state.is_minimized,
            is_maximized: state.is_maximized,
        }
    }
}

/// The widths of a window's decorations in pixels.
#[napi(object, object_from_js = false)]
pub struct FrameExtents {
    /// On the left.
    pub left: u32,
    /// On the right.
    pub right: u32,
    /// Above, the title bar included.
    pub top: u32,
    /// Below.
    pub bottom: u32,
}

#[napi]
impl Desktop {
    /// What a window is now. Rejects with `window_not_found`.
    #[napi(catch_unwind)]
    pub fn window_state(&self, window_id: u32) -> Promise<WindowState> {
        promise_with(&self.desktop, move |desktop| {
            desktop.window_state(WindowId::from_wire(window_id)).map(WindowState::from)
        })
    }

    /// Makes a window as large as the window manager does; one that is minimised comes back for it. Rejects with
    /// `window_not_found`, and with `window_manager_refused` where it does not happen.
    #[napi(catch_unwind)]
    pub fn maximize(&self, window_id: u32) -> Promise<WindowState> {
        promise_with(&self.desktop, move |desktop| {
            desktop.maximize(WindowId::from_wire(window_id)).map(WindowState::from)
        })
    }

    /// Takes a window off the screen. Rejects as `maximize` does.
    #[napi(catch_unwind)]
    pub fn minimize(&self, window_id: u32) -> Promise<WindowState> {
        promise_with(&self.desktop, move |desktop| {
            desktop.minimize(WindowId::from_wire(window_id)).map(WindowState::from)
        })
    }

    /// Makes a window neither minimised nor maximised. Rejects as `maximize` does.
    #[napi(catch_unwind)]
    pub fn restore(&self, window_id: u32) -> Promise<WindowState> {
        promise_with(&self.desktop, move |desktop| {
            desktop.restore(WindowId::from_wire(window_id)).map(WindowState::from)
        })
    }

    /// Asks a program to close its window and waits until it is gone, for at most `timeoutMs` milliseconds. Rejects with
    /// `window_not_found`, and with `window_manager_refused` where it is still there, as when the program asks whether to
    /// save.
    #[napi(catch_unwind)]
    pub fn close_window(&self, window_id: u32, timeout_ms: u32) -> Promise<()> {
        promise_with(&self.desktop, move |desktop| {
            desktop.close_window(WindowId::from_wire(window_id), Duration::from_millis(timeout_ms.into()))
        })
    }

    /// The widths of a window's decorations. Rejects with `window_not_found`.
    #[napi(catch_unwind)]
    pub fn frame_extents(&self, window_id: u32) -> Promise<FrameExtents> {
        promise_with(&self.desktop, move |desktop| {
            desktop.frame_extents(WindowId::from_wire(window_id)).map(|extents| FrameExtents {
                left: extents.left,
                right: extents.right,
                top: extents.top,
                bottom: extents.bottom,
            })
        })
    }

    /// Shows a PNG or JPEG, scaled to cover the screen, as the background of the root window. Rejects with
    /// `invalid_argument` where the file is no such picture, and with `window_manager_refused` where a desktop program
    /// covers the root window: it has a wallpaper of its own.
    #[napi(catch_unwind)]
    pub fn set_wallpaper(&self, path: String) -> Promise<()> {
        promise_with(&self.desktop, move |desktop| desktop.set_wallpaper(&PathBuf::from(path)))
    }
}
