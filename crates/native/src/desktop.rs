//! The display, its windows and its applications, for JavaScript.

mod clipboard;
mod records;
mod windows;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use desktop::{DesktopError, WindowId};
use napi::Env;
use napi::bindgen_prelude::PromiseRaw;
use napi_derive::napi;

pub use crate::desktop::records::{
    App, LaunchOptions, Launched, Placement, Point, Probe, Rect, Screen, Window,
};
use crate::failure::promise;

/// An open display.
#[napi]
pub struct Desktop {
    pub(crate) desktop: Arc<desktop::Desktop>,
}

#[napi]
impl Desktop {
    /// Connects to a display; null is that of the environment. Rejects with `display_unavailable`.
    #[napi(catch_unwind)]
    pub fn open(env: &Env, display: Option<String>) -> napi::Result<PromiseRaw<'_, Desktop>> {
        promise(env, move || desktop::Desktop::open(display.as_deref()).map(|desktop| Desktop { desktop }))
    }

    /// The display's name.
    #[napi(getter, catch_unwind)]
    pub fn display(&self) -> String {
        self.desktop.display_name().to_owned()
    }

    /// Size and scale of the main display.
    #[napi(catch_unwind)]
    pub fn screen<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, Screen>> {
        let desktop = Arc::clone(&self.desktop);
        promise(env, move || {
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
    pub fn cursor_position<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, Point>> {
        let desktop = Arc::clone(&self.desktop);
        promise(env, move || desktop.cursor_position().map(|point| Point { x: point.x, y: point.y }))
    }

    /// All windows of applications, the frontmost last.
    #[napi(catch_unwind)]
    pub fn windows<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, Vec<Window>>> {
        let desktop = Arc::clone(&self.desktop);
        promise(env, move || {
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
    pub fn wait_for_change<'env>(
        &self,
        env: &'env Env,
        since: f64,
        timeout_ms: u32,
    ) -> napi::Result<PromiseRaw<'env, f64>> {
        let desktop = Arc::clone(&self.desktop);
        let timeout = Duration::from_millis(u64::from(timeout_ms));
        promise(env, move || desktop.wait_for_change(since as u64, timeout).map(|count| count as f64))
    }

    /// The window that has the person's focus.
    #[napi(catch_unwind, ts_return_type = "Promise<number | null>")]
    pub fn active_window<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, Option<u32>>> {
        let desktop = Arc::clone(&self.desktop);
        promise(env, move || Ok::<_, DesktopError>(desktop.active_window()?.map(WindowId::wire)))
    }

    /// Applications that run with a window a person could work in, then those that are installed.
    #[napi(catch_unwind)]
    pub fn apps<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, Vec<App>>> {
        let desktop = Arc::clone(&self.desktop);
        promise(env, move || Ok::<_, DesktopError>(desktop.apps()?.into_iter().map(App::from).collect()))
    }

    /// Starts an application as a person does: it may take the focus, and nothing is waited for; fulfils with its pid.
    #[napi(catch_unwind)]
    pub fn start<'env>(&self, env: &'env Env, options: LaunchOptions) -> napi::Result<PromiseRaw<'env, u32>> {
        let desktop = Arc::clone(&self.desktop);
        promise(env, move || desktop.start(&options.into()))
    }

    /// Starts an application without giving it the focus, and waits for its first window.
    #[napi(catch_unwind)]
    pub fn launch<'env>(
        &self,
        env: &'env Env,
        options: LaunchOptions,
    ) -> napi::Result<PromiseRaw<'env, Launched>> {
        let desktop = Arc::clone(&self.desktop);
        promise(env, move || desktop.launch(&options.into()).map(Launched::from))
    }

    /// Ends a process at once, and returns when it is gone.
    #[napi(catch_unwind)]
    pub fn kill<'env>(&self, env: &'env Env, pid: u32) -> napi::Result<PromiseRaw<'env, ()>> {
        let desktop = Arc::clone(&self.desktop);
        promise(env, move || desktop.kill(pid))
    }

    /// Gives a window the person's focus and brings it up; true when the window manager did. Rejects with
    /// `window_not_found` and `window_manager_refused`.
    #[napi(catch_unwind)]
    pub fn activate<'env>(&self, env: &'env Env, window_id: u32) -> napi::Result<PromiseRaw<'env, bool>> {
        let desktop = Arc::clone(&self.desktop);
        promise(env, move || desktop.activate(WindowId::from_wire(window_id)))
    }

    /// Moves and resizes a window without its decorations, and answers with what it then is; window managers and
    /// programs may round. Rejects with `window_not_found` and `window_manager_refused`.
    #[napi(catch_unwind)]
    pub fn set_frame<'env>(
        &self,
        env: &'env Env,
        window_id: u32,
        frame: Placement,
    ) -> napi::Result<PromiseRaw<'env, Window>> {
        let desktop = Arc::clone(&self.desktop);
        promise(env, move || {
            desktop.set_frame(WindowId::from_wire(window_id), &frame.into()).map(Window::from)
        })
    }

    /// What the display and the session on it can do.
    #[napi(catch_unwind)]
    pub fn probe<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, Probe>> {
        let desktop = Arc::clone(&self.desktop);
        promise(env, move || {
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
    pub fn close<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, ()>> {
        let desktop = Arc::clone(&self.desktop);
        promise(env, move || {
            desktop.close();
            Ok::<_, Infallible>(())
        })
    }
}
