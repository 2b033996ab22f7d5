//! Platforms without an implementation: the same public items, each refusing with `unsupported_platform`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::{
    App, Clip, DesktopError, FrameExtents, LaunchOptions, Launched, Placement, Point, Probe, Screen, Window,
    WindowId, WindowState,
};

/// Processes, of which nothing is known here.
pub mod processes {
    /// What a kernel of Linux says of them.
    pub mod stat {}
}

/// The X server: there is none here.
pub mod x11 {}

/// The display server of a desktop, of which there is none here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    never: std::convert::Infallible,
}

impl Session {
    /// Always fails with `unsupported_platform`.
    pub fn of(_display: Option<&str>) -> Result<Self, DesktopError> {
        Err(DesktopError::UnsupportedPlatform { what: "desktop" })
    }

    /// The name of the display.
    pub fn display(&self) -> &str {
        match self.never {}
    }
}

/// A display that cannot be opened here.
pub struct Desktop {
    never: std::convert::Infallible,
}

impl Desktop {
    /// Always fails with `unsupported_platform`.
    pub fn open(_display: Option<&str>) -> Result<Arc<Self>, DesktopError> {
        Err(DesktopError::UnsupportedPlatform { what: "desktop" })
    }

    /// The display server that it is on.
    pub fn session(&self) -> &Session {
        match self.never {}
    }

    /// The name under which it was opened.
    pub fn display_name(&self) -> &str {
        match self.never {}
    }

    /// Size of the main display.
    pub fn screen(&self) -> Result<Screen, DesktopError> {
        match self.never {}
    }

    /// Where the person's pointer is.
    pub fn cursor_position(&self) -> Result<Point, DesktopError> {
        match self.never {}
    }

    /// All windows of applications.
    pub fn windows(&self) -> Result<Vec<Window>, DesktopError> {
        match self.never {}
    }

    /// Counts what has happened to windows so far.
    pub fn changes(&self) -> u64 {
        match self.never {}
    }

    /// From now on a window of ours is none of the desktop's.
    pub fn overlook(&self, _window: WindowId) {
        match self.never {}
    }

    /// Waits until the number of changes differs from `since`.
    pub fn wait_for_change(&self, _since: u64, _timeout: Duration) -> Result<u64, DesktopError> {
        match self.never {}
    }

    /// One listed window.
    pub fn window(&self, _id: WindowId) -> Result<Option<Window>, DesktopError> {
        match self.never {}
    }

    /// The window that has the person's focus.
    pub fn active_window(&self) -> Result<Option<WindowId>, DesktopError> {
        match self.never {}
    }

    /// What the display and the session on it can do.
    pub fn probe(&self) -> Result<Probe, DesktopError> {
        match self.never {}
    }

    /// Applications that run, then those that are installed.
    pub fn apps(&self) -> Result<Vec<App>, DesktopError> {
        match self.never {}
    }

    /// Starts an application as a person does.
    pub fn start(&self, _options: &LaunchOptions) -> Result<u32, DesktopError> {
        match self.never {}
    }

    /// Starts an application without giving it the focus.
    pub fn launch(&self, _options: &LaunchOptions) -> Result<Launched, DesktopError> {
        match self.never {}
    }

    /// Ends a process at once.
    pub fn kill(&self, _pid: u32) -> Result<(), DesktopError> {
        match self.never {}
    }

    /// Gives a window the person's focus and brings it up.
    pub fn activate(&self, _window: WindowId) -> Result<bool, DesktopError> {
        match self.never {}
    }

    /// Moves and resizes a window.
    pub fn set_frame(&self, _window: WindowId, _wanted: &Placement) -> Result<Window, DesktopError> {
        match self.never {}
    }

    /// What a window is now.
    pub fn window_state(&self, _window: WindowId) -> Result<WindowState, DesktopError> {
        match self.never {}
    }

    /// Makes a window as large as the window manager does.
    pub fn maximize(&self, _window: WindowId) -> Result<WindowState, DesktopError> {
        match self.never {}
    }

    /// Takes a window off the screen.
    pub fn minimize(&self, _window: WindowId) -> Result<WindowState, DesktopError> {
        match self.never {}
    }

    /// Makes a window neither minimised nor maximised.
    pub fn restore(&self, _window: WindowId) -> Result<WindowState, DesktopError> {
        match self.never {}
    }

    /// Asks a program to close its window.
    pub fn close_window(&self, _window: WindowId, _timeout: Duration) -> Result<(), DesktopError> {
        match self.never {}
    }

    /// The widths of a window's decorations.
    pub fn frame_extents(&self, _window: WindowId) -> Result<FrameExtents, DesktopError> {
        match self.never {}
    }

    /// Shows a picture as the background of the screen.
    pub fn set_wallpaper(&self, _path: &Path) -> Result<(), DesktopError> {
        match self.never {}
    }

    /// What the clipboard holds.
    pub fn clipboard_read(&self) -> Result<Clip, DesktopError> {
        match self.never {}
    }

    /// Takes the clipboard.
    pub fn clipboard_write(&self, _clip: &Clip) -> Result<(), DesktopError> {
        match self.never {}
    }

    /// True while others have the clipboard's content from here.
    pub fn clipboard_is_held(&self) -> bool {
        match self.never {}
    }

    /// Closes the display.
    pub fn close(&self) {
        match self.never {}
    }
}
