//! The records that the display hands over, spelled as on the wire.

use std::time::Duration;

use desktop::WindowId;
use napi_derive::napi;

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

/// Where a window is to be, in screen pixels; what is absent stays as it is.
#[napi(object, object_to_js = false)]
pub struct Placement {
    /// Left edge of the client window.
    pub x: Option<i32>,
    /// Top edge of the client window.
    pub y: Option<i32>,
    /// Width of the client window.
    pub width: Option<u32>,
    /// Height of the client window.
    pub height: Option<u32>,
}

impl From<Placement> for desktop::Placement {
    fn from(placement: Placement) -> Self {
        Self { x: placement.x, y: placement.y, width: placement.width, height: placement.height }
    }
}

/// A position in pixels; the origin is the top-left corner of whatever it is relative to.
#[napi(object)]
pub struct Point {
    /// Pixels from the left.
    pub x: i32,
    /// Pixels from the top.
    pub y: i32,
}

impl From<Point> for desktop::Point {
    fn from(point: Point) -> Self {
        Self { x: point.x, y: point.y }
    }
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
    /// The client window.
    #[napi(js_name = "window_id")]
    pub window_id: u32,
    /// Process that owns it; 0 when it cannot be known.
    pub pid: u32,
    /// Display name of the owning application.
    #[napi(js_name = "app_name")]
    pub app_name: String,
    /// Title; empty when it has none.
    pub title: String,
    /// The client window without decorations, in screen pixels; null where the display server does not tell its place.
    pub bounds: Option<Rect>,
    /// Left edge of the bounds.
    pub x: Option<i32>,
    /// Top edge of the bounds.
    pub y: Option<i32>,
    /// Width without decorations.
    pub width: u32,
    /// Height without decorations.
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
        let (bounds, place) = (window.bounds().map(Rect::from), window.place);
        Self {
            window_id: window.window_id.wire(),
            pid: window.pid,
            app_name: window.app_name,
            title: window.title,
            bounds,
            x: place.map(|place| place.x),
            y: place.map(|place| place.y),
            width: window.size.width,
            height: window.size.height,
            z_index: window.z_index,
            is_on_screen: window.is_on_screen,
            on_current_space: window.on_current_space,
            is_minimized: window.is_minimized,
            kind: match window.kind {
                desktop::WindowKind::Normal => "normal",
                desktop::WindowKind::Dialog => "dialog",
                desktop::WindowKind::Popup => "popup",
            },
            owner_window_id: window.owner_window_id.map(WindowId::wire),
        }
    }
}

/// An application: running with windows, or installed.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct App {
    /// Desktop-file id without its suffix, or the program's name where it has no desktop file.
    #[napi(js_name = "bundle_id")]
    pub bundle_id: String,
    /// Display name.
    pub name: String,
    /// True when a process of it is alive.
    pub running: bool,
    /// True when it owns the active window.
    pub active: bool,
    /// Process id; 0 when not running.
    pub pid: u32,
    /// Path of the desktop file, when there is one.
    #[napi(js_name = "launch_path")]
    pub launch_path: Option<String>,
    /// Always `desktop`.
    #[napi(ts_type = "'desktop'")]
    pub kind: &'static str,
    /// Modification time of the desktop file as RFC 3339, when it can be read.
    #[napi(js_name = "last_used")]
    pub last_used: Option<String>,
}

impl From<desktop::App> for App {
    fn from(app: desktop::App) -> Self {
        Self {
            bundle_id: app.bundle_id,
            name: app.name,
            running: app.running,
            active: app.active,
            pid: app.pid,
            launch_path: app.launch_path,
            kind: "desktop",
            last_used: app.last_used,
        }
    }
}

/// What to launch, and how.
#[napi(object, object_to_js = false)]
pub struct LaunchOptions {
    /// Desktop-file id without its suffix; wins over the name.
    #[napi(js_name = "bundle_id")]
    pub bundle_id: Option<String>,
    /// Display name, executable on PATH or absolute path.
    pub name: Option<String>,
    /// Files or URLs for the application.
    pub urls: Option<Vec<String>>,
    /// Appends `--remote-debugging-port=N`.
    #[napi(js_name = "electron_debugging_port")]
    pub electron_debugging_port: Option<u16>,
    /// Sets `WEBKIT_INSPECTOR_SERVER` to `127.0.0.1:N` and `TAURI_WEBVIEW_AUTOMATION` to `1`.
    #[napi(js_name = "webkit_inspector_port")]
    pub webkit_inspector_port: Option<u16>,
    /// Asks for a process that shares no window with one that runs.
    #[napi(js_name = "creates_new_application_instance")]
    pub creates_new_application_instance: Option<bool>,
    /// Appended to the command.
    #[napi(js_name = "additional_arguments")]
    pub additional_arguments: Option<Vec<String>>,
    /// How long to wait for the first window; 10,000 by default.
    #[napi(js_name = "timeout_ms")]
    pub timeout_ms: Option<u32>,
}

impl From<LaunchOptions> for desktop::LaunchOptions {
    fn from(options: LaunchOptions) -> Self {
        Self {
            bundle_id: options.bundle_id,
            name: options.name,
            urls: options.urls.unwrap_or_default(),
            electron_debugging_port: options.electron_debugging_port,
            webkit_inspector_port: options.webkit_inspector_port,
            creates_new_application_instance: options.creates_new_application_instance.unwrap_or(false),
            additional_arguments: options.additional_arguments.unwrap_or_default(),
            timeout: options.timeout_ms.map(|ms| Duration::from_millis(ms.into())),
        }
    }
}

/// An application that was launched.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct Launched {
    /// The process that owns the windows; 0 when the process ended and no window came.
    pub pid: u32,
    /// Desktop-file id, or the program's name where it has no desktop file.
    #[napi(js_name = "bundle_id")]
    pub bundle_id: String,
    /// Display name.
    pub name: String,
    /// Its windows; none when none came in time.
    pub windows: Vec<Window>,
    /// True when the focus stayed where it was, false when the application took it, null when there was none to take.
    #[napi(js_name = "self_activation_suppressed")]
    pub self_activation_suppressed: Option<bool>,
    /// True when the focus was taken and has been given back.
    #[napi(js_name = "prior_window_restored")]
    pub prior_window_restored: bool,
}

impl From<desktop::Launched> for Launched {
    fn from(launched: desktop::Launched) -> Self {
        Self {
            pid: launched.pid,
            bundle_id: launched.bundle_id,
            name: launched.name,
            windows: launched.windows.into_iter().map(Window::from).collect(),
            self_activation_suppressed: launched.self_activation_suppressed,
            prior_window_restored: launched.prior_window_restored,
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
