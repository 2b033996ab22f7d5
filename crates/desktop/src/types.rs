//! Platform-neutral records: points, rectangles, windows and apps.

use std::time::Duration;

use crate::WindowId;

/// A position in pixels; the origin is the top-left corner of whatever it is relative to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Pixels to the right of the origin.
    pub x: i32,
    /// Pixels below the origin.
    pub y: i32,
}

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rect {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width, never negative.
    pub width: u32,
    /// Height, never negative.
    pub height: u32,
}

impl Rect {
    /// Its top-left corner.
    pub fn place(&self) -> Point {
        Point { x: self.x, y: self.y }
    }

    /// How large it is.
    pub fn size(&self) -> Size {
        Size { width: self.width, height: self.height }
    }

    /// The part that both rectangles cover, when there is one.
    pub fn intersection(&self, other: &Rect) -> Option<Rect> {
        let x = self.x.max(other.x);
        let y = self.y.max(other.y);
        let right =
            (i64::from(self.x) + i64::from(self.width)).min(i64::from(other.x) + i64::from(other.width));
        let bottom =
            (i64::from(self.y) + i64::from(self.height)).min(i64::from(other.y) + i64::from(other.height));
        let width = u32::try_from(right - i64::from(x)).ok().filter(|width| *width > 0)?;
        let height = u32::try_from(bottom - i64::from(y)).ok().filter(|height| *height > 0)?;
        Some(Rect { x, y, width, height })
    }

    /// True when the point lies inside the rectangle.
    pub fn contains(&self, point: Point) -> bool {
        let right = i64::from(self.x) + i64::from(self.width);
        let bottom = i64::from(self.y) + i64::from(self.height);
        point.x >= self.x && i64::from(point.x) < right && point.y >= self.y && i64::from(point.y) < bottom
    }
}

/// How large something is, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

impl Size {
    /// The rectangle of this size at a place.
    pub fn at(self, place: Point) -> Rect {
        Rect { x: place.x, y: place.y, width: self.width, height: self.height }
    }
}

/// Where a window is to be, in screen pixels; what is none stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

impl Placement {
    /// True when a rectangle is as asked for.
    pub fn fits(&self, is: &Rect) -> bool {
        self.x.is_none_or(|x| x == is.x)
            && self.y.is_none_or(|y| y == is.y)
            && self.width.is_none_or(|width| width == is.width)
            && self.height.is_none_or(|height| height == is.height)
    }
}

/// The main display.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Screen {
    /// Width in points; on X11 a point is a pixel.
    pub width: u32,
    /// Height in points.
    pub height: u32,
    /// Pixels per point; 1.0 on X11, whose coordinates are pixels whatever the toolkits scale by.
    pub scale_factor: f64,
}

/// What a display offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The X server's vendor string.
    pub vendor: String,
    /// Name of the window manager, when one runs.
    pub window_manager: Option<String>,
    /// True when a compositing manager runs.
    pub compositor: bool,
    /// Names of the server's extensions in lower case.
    pub extensions: Vec<String>,
}

/// What a listed window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowKind {
    /// A window that the window manager manages.
    Normal,
    /// A managed dialog.
    Dialog,
    /// An override-redirect window: menu, combo list, tooltip.
    Popup,
}

/// One top-level window of an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The client window.
    pub window_id: WindowId,
    /// Process that owns the window; 0 when it cannot be known.
    pub pid: u32,
    /// Display name of the owning application.
    pub app_name: String,
    /// Title; empty when the window has none.
    pub title: String,
    /// The client window without decorations.
    pub size: Size,
    /// Its top-left corner on the screen; none where the display server does not tell.
    pub place: Option<Point>,
    /// Position in the stack; higher is nearer the front.
    pub z_index: u32,
    /// True when the window is mapped and a part of it lies on the screen.
    pub is_on_screen: bool,
    /// True when the window belongs to the current workspace.
    pub on_current_space: bool,
    /// True when the window manager has iconified it.
    pub is_minimized: bool,
    /// What the window is.
    pub kind: WindowKind,
    /// For popups and dialogs the window they belong to.
    pub owner_window_id: Option<WindowId>,
}

impl Window {
    /// The client window in screen pixels; none where the display server does not tell its place.
    pub fn bounds(&self) -> Option<Rect> {
        self.place.map(|place| self.size.at(place))
    }
}

/// What a window is once the window manager has done what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowState {
    /// The client window.
    pub window_id: WindowId,
    /// The client window without decorations.
    pub size: Size,
    /// True when the window manager says that it has the focus.
    pub is_active: bool,
    /// True when the window manager has iconified it.
    pub is_minimized: bool,
    /// True when it is maximised in both directions.
    pub is_maximized: bool,
}

/// The widths of a window's decorations in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// An application: an installed desktop entry, a running process with windows, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App {
    /// Desktop-file id without its suffix, or the program's name where no desktop file matches.
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
    pub launch_path: Option<String>,
    /// Modification time of the desktop file as RFC 3339, when it can be read.
    pub last_used: Option<String>,
}

/// What to launch, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchOptions {
    /// Desktop-file id without its suffix; wins over the name.
    pub bundle_id: Option<String>,
    /// Display name, executable on PATH or absolute path.
    pub name: Option<String>,
    /// Files or URLs for the application.
    pub urls: Vec<String>,
    /// Appends `--remote-debugging-port=N`.
    pub electron_debugging_port: Option<u16>,
    /// Sets `WEBKIT_INSPECTOR_SERVER` to `127.0.0.1:N` and `TAURI_WEBVIEW_AUTOMATION` to `1`.
    pub webkit_inspector_port: Option<u16>,
    /// Asks for a process that shares no window with one that runs.
    pub creates_new_application_instance: bool,
    /// Appended to the command.
    pub additional_arguments: Vec<String>,
    /// How long to wait for the first window; 10 seconds by default.
    pub timeout: Option<Duration>,
}

/// An application that was launched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// The process that owns the windows; 0 when the process ended and no window came.
    pub pid: u32,
    /// Desktop-file id, or the program's name where it has no desktop file.
    pub bundle_id: String,
    /// Display name.
    pub name: String,
    /// Its windows; none when none came in time.
    pub windows: Vec<Window>,
    /// True when the focus stayed with the window that had it, false when the application took it; none when there
    /// was no such window or no window manager to tell.
    pub self_activation_suppressed: Option<bool>,
    /// True when the focus was taken and has been given back.
    pub prior_window_restored: bool,
}
