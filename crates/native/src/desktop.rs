//! The display, its windows and its applications, for JavaScript.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::PromiseRaw;
use napi_derive::napi;

use crate::failure::promise;

/// A rectangle in pixels.
#[napi(object)]
pub struct Rect {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

impl From<desktop::Rect> for Rect {
    fn from(rect: desktop::Rect) -> Self {
        Self { x: rect.x, y: rect.y, width: rect.width, height: rect.height }
    }
}

impl From<Rect> for desktop::Rect {
    fn from(rect: Rect) -> Self {
        Self { x: rect.x, y: rect.y, width: rect.width, height: rect.height }
    }
}

/// A position in screen pixels.
#[napi(object, object_from_js = false)]
pub struct Point {
    /// Pixels from the left.
    pub x: i32,
    /// Pixels from the top.
    pub y: i32,
}

/// The main display.
#[napi(object, object_from_js = false)]
pub struct Screen {
    /// Width in points.
    pub width: u32,
    /// Height in points.
    pub height: u32,
    /// Pixels per point.
    #[napi(js_name = "scale_factor")]
    pub scale_factor: f64,
}

/// One top-level window.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct Window {
    /// The XID of the client window.
    #[napi(js_name = "window_id")]
    pub window_id: u32,
    /// Process that owns it; 0 when it cannot be known.
    pub pid: u32,
    /// Display name of the owning application.
    #[napi(js_name = "app_name")]
    pub app_name: String,
    /// Title; empty when it has none.
    pub title: String,
    /// The client window without decorations, in screen pixels.
    pub bounds: Rect,
    /// Left edge of the bounds.
    pub x: i32,
    /// Top edge of the bounds.
    pub y: i32,
    /// Width of the bounds.
    pub width: u32,
    /// Height of the bounds.
    pub height: u32,
    /// Position in the stack; higher is nearer the front.
    #[napi(js_name = "z_index")]
    pub z_index: u32,
    /// True when it is mapped and a part of it lies on the screen.
    #[napi(js_name = "is_on_screen")]
    pub is_on_screen: bool,
    /// True when it belongs to the current workspace.
    #[napi(js_name = "on_current_space")]
    pub on_current_space: bool,
    /// True when it is iconified.
    #[napi(js_name = "is_minimized")]
    pub is_minimized: bool,
    /// `normal`, `dialog` or `popup`.
    #[napi(ts_type = "'normal' | 'dialog' | 'popup'")]
    pub kind: &'static str,
    /// For popups and dialogs the window they belong to.
    #[napi(js_name = "owner_window_id")]
    pub owner_window_id: Option<u32>,
}

impl From<desktop::Window> for Window {
    fn from(window: desktop::Window) -> Self {
        let bounds = window.bounds;
        Self {
            window_id: window.window_id,
            pid: window.pid,
            app_name: window.app_name,
            title: window.title,
            bounds: bounds.into(),
            x: bounds.x,
            y: bounds.y,
            width: bounds.width,
            height: bounds.height,
            z_index: window.z_index,
            is_on_screen: window.is_on_screen,
            on_current_space: window.on_current_space,
            is_minimized: window.is_minimized,
            kind: match window.kind {
                desktop::WindowKind::Normal => "normal",
                desktop::WindowKind::Dialog => "dialog",
                desktop::WindowKind::Popup => "popup",
            },
            owner_window_id: window.owner_window_id,
        }
    }
}

/// What a display offers.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct Probe {
    /// The X server's vendor string.
    pub vendor: String,
    /// Name of the window manager, when one runs.
    #[napi(js_name = "window_manager")]
    pub window_manager: Option<String>,
    /// True when a compositing manager runs.
    pub compositor: bool,
    /// Names of the server's extensions in lower case.
    pub extensions: Vec<String>,
}

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
            Ok::<_, desktop::DesktopError>(Screen {
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
            Ok::<_, desktop::DesktopError>(desktop.windows()?.into_iter().map(Window::from).collect())
        })
    }

    /// The window that has the person's focus.
    #[napi(catch_unwind, ts_return_type = "Promise<number | null>")]
    pub fn active_window<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, Option<u32>>> {
        let desktop = Arc::clone(&self.desktop);
        promise(env, move || desktop.active_window())
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
    pub fn close(&self) {
        self.desktop.close();
    }
}
