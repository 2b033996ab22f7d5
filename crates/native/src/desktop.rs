//! The display, its windows and its applications, for JavaScript.

mod clipboard;
mod records;
mod windows;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use desktop::{DesktopError, WindowId};
use napi_derive::napi;

pub use crate::desktop::records::{
    App, LaunchOptions, Launched, Placement, Point, Probe, Rect, Screen, Window,
};
use crate::failure::{Promise, promise, promise_with};

/// An open display.
#[napi]
pub struct Desktop {
    pub(crate) desktop: Arc<desktop::Desktop>,
}

#[napi]
impl Desktop {
    /// Connects to a display; null is that of the environment. Rejects with `display_unavailable`.
    #[napi(catch_unwind)]
    pub fn open(display: Option<String>) -> Promise<Desktop> {
        promise(move || desktop::Desktop::open(display.as_deref()).map(|desktop| Desktop { desktop }))
    }

    /// The display's name.
    #[napi(getter, catch_unwind)]
    pub fn display(&self) -> String {
        self.desktop.display_name().to_owned()
    }

    /// Size and scale of the main display.
    #[napi(catch_unwind)]
    pub fn screen(&self) -> Promise<Screen> {
        promise_with(&self.desktop, move |desktop| {
            let screen = desktop.screen()?;
            Ok::<_, DesktopError>(Screen {
                width: screen.width,
                height: screen.height,
                scale_factor: screen.scale_factor,
            })
        })
    }

    /// Where the person's pointer is.
    #[napi(catch_unwind)]
    pub fn cursor_position(&self) -> Promise<Point> {
        promise_with(&self.desktop, move |desktop| {
            desktop.cursor_position().map(|point| Point { x: point.x, y: point.y })
        })
    }

    /// All windows of applications, the frontmost last.
    #[napi(catch_unwind)]
    pub fn windows(&self) -> Promise<Vec<Window>> {
        promise_with(&self.desktop, move |desktop| {
            Ok::<_, DesktopError>(desktop.windows()?.into_iter().map(Window::from).collect())
        })
    }

    /// Number of changes to windows so far; take it before looking, then wait for the next.
    #[napi(catch_unwind)]
    pub fn changes(&self) -> f64 {
        self.desktop.changes() as f64
    }

    /// Waits until the number of changes to windows differs from `since`; answers the number then.
    #[napi(catch_unwind)]
    pub fn wait_for_change(&self, since: f64, timeout_ms: u32) -> Promise<f64> {
        let timeout = Duration::from_millis(u64::from(timeout_ms));
        promise_with(&self.desktop, move |desktop| {
            desktop.wait_for_change(since as u64, timeout).map(|count| count as f64)
        })
    }

    /// The window that has the person's focus.
    #[napi(catch_unwind, ts_return_type = "Promise<number | null>")]
    pub fn active_window(&self) -> Promise<Option<u32>> {
        promise_with(&self.desktop, move |desktop| {
            Ok::<_, DesktopError>(desktop.active_window()?.map(WindowId::wire))
        })
    }

    /// Applications that run with a window a person could work in, then those that are installed.
    #[napi(catch_unwind)]
    pub fn apps(&self) -> Promise<Vec<App>> {
        promise_with(&self.desktop, move |desktop| {
            Ok::<_, DesktopError>(desktop.apps()?.into_iter().map(App::from).collect())
        })
    }

    /// Starts an application as a person does: it may take the focus, and nothing is waited for; fulfils with its pid.
    #[napi(catch_unwind)]
    pub fn start(&self, options: LaunchOptions) -> Promise<u32> {
        promise_with(&self.desktop, move |desktop| desktop.start(&options.into()))
    }

    /// Starts an application without giving it the focus, and waits for its first window.
    #[napi(catch_unwind)]
    pub fn launch(&self, options: LaunchOptions) -> Promise<Launched> {
        promise_with(&self.desktop, move |desktop| desktop.launch(&options.into()).map(Launched::from))
    }

    /// Ends a process at once, and returns when it is gone.
    #[napi(catch_unwind)]
    pub fn kill(&self, pid: u32) -> Promise<()> {
        promise_with(&self.desktop, move |desktop| desktop.kill(pid))
    }

    /// Gives a window the person's focus and brings it up; true when the window manager did. Rejects with
    /// `window_not_found` and `window_manager_refused`.
    #[napi(catch_unwind)]
    pub fn activate(&self, window_id: u32) -> Promise<bool> {
        promise_with(&self.desktop, move |desktop| desktop.activate(WindowId::from_wire(window_id)))
    }

    /// Moves and resizes a window without its decorations, and answers with what it then is; window managers and
    /// programs may round. Rejects with `window_not_found` and `window_manager_refused`.
    #[napi(catch_unwind)]
    pub fn set_frame(&self, window_id: u32, frame: Placement) -> Promise<Window> {
        promise_with(&self.desktop, move |desktop| {
            desktop.set_frame(WindowId::from_wire(window_id), &frame.into()).map(Window::from)
        })
    }

    /// What the display and the session on it can do.
    #[napi(catch_unwind)]
    pub fn probe(&self) -> Promise<Probe> {
        promise_with(&self.desktop, move |desktop| {
            desktop.probe().map(|probe| Probe {
                vendor: probe.vendor,
                window_manager: probe.window_manager,
                compositor: probe.compositor,
                extensions: probe.extensions,
            })
        })
    }

    /// Closes the connection; closing twice is fine.
    #[napi(catch_unwind)]
    pub fn close(&self) -> Promise<()> {
        promise_with(&self.desktop, move |desktop| {
            desktop.close();
            Ok::<_, Infallible>(())
        })
    }
}
