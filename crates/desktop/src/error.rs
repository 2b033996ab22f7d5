//! What can go wrong with a display, its windows and its applications.

use crate::WindowId;

/// A failure of this crate; [`DesktopError::code`] is stable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DesktopError {
    /// No display can be reached under that name.
    #[error(
        "The display \"{display}\" cannot be opened: {reason}. Set DISPLAY to a running X server, or start one with `backlot desktop`."
    )]
    DisplayUnavailable {
        /// The name that was tried; empty when none was given and DISPLAY is unset.
        display: String,
        /// What the attempt said.
        reason: String,
    },
    /// The connection to a display that was open is gone.
    #[error("The connection to the display \"{display}\" is lost: {reason}. Open the display again.")]
    DisplayLost {
        /// The display's name.
        display: String,
        /// What the connection said.
        reason: String,
    },
    /// The X server refused a request that always succeeds on a healthy one.
    #[error(
        "The display \"{display}\" refused \"{request}\": {reason}. Check the X server with `backlot doctor`."
    )]
    DisplayRefused {
        /// The display's name.
        display: String,
        /// What was asked for.
        request: &'static str,
        /// What the server answered.
        reason: String,
    },
    /// Nothing says what to launch.
    #[error("Neither \"bundle_id\" nor \"name\" is given. Pass one of them; list_apps shows both.")]
    AppNotNamed,
    /// No application and no program has that name.
    #[error("No application is called \"{name}\".{near} Call list_apps for what is installed.")]
    AppNotFound {
        /// The id or name that was asked for.
        name: String,
        /// Names that come close, as a sentence of its own with a space before it; may be empty.
        near: String,
    },
    /// The program did not start, or ended at once.
    #[error("\"{name}\" did not start: {reason}. Run it in a terminal to see what it says.")]
    LaunchFailed {
        /// The application.
        name: String,
        /// What happened.
        reason: String,
    },
    /// The application runs in a terminal, and there is none.
    #[error(
        "\"{name}\" runs in a terminal and no terminal emulator is installed. Install one, such as xterm."
    )]
    TerminalNotFound {
        /// The application.
        name: String,
    },
    /// No process has that id.
    #[error("No process has the pid \"{pid}\". Call list_windows for the processes with windows.")]
    ProcessNotFound {
        /// The pid that was asked for.
        pid: u32,
    },
    /// The process is one that this desktop or the driver needs.
    #[error("Process \"{pid}\" is {what} and is not ended. Name the pid of an application from list_apps.")]
    ProtectedProcess {
        /// The pid that was asked for.
        pid: u32,
        /// What it is.
        what: &'static str,
    },
    /// The process could not be ended.
    #[error("Process \"{pid}\" was not ended: {reason}. Run the driver as the user that owns the process.")]
    ProcessNotKilled {
        /// The pid that was asked for.
        pid: u32,
        /// What the system said.
        reason: String,
    },
    /// No window has that id.
    #[error("Window {window} does not exist or is closed. Call list_windows for the windows that are there.")]
    WindowNotFound {
        /// The id that was asked for.
        window: WindowId,
    },
    /// The window manager does not do what is asked of it.
    #[error(
        "The window manager did not {what} window {window}: {reason}. Look with get_window_state, or start a window manager."
    )]
    WindowManagerRefused {
        /// The window.
        window: WindowId,
        /// What was asked for, as a verb.
        what: &'static str,
        /// Why not.
        reason: &'static str,
    },
    /// A file is no picture that can be shown.
    #[error("The picture \"{path}\" cannot be shown: {reason}. Name a PNG or JPEG file that can be read.")]
    PictureUnreadable {
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
    /// The program that owns the clipboard does not answer.
    #[error(
        "The program that owns the \"clipboard\" does not answer. Try again, or copy something in another program."
    )]
    ClipboardTimeout,
    /// The clipboard holds more than is read.
    #[error("The \"clipboard\" holds more than {limit} bytes. Save it to a file in its own program.")]
    ClipboardTooLarge {
        /// Bytes that are read at most.
        limit: usize,
    },
    /// This platform has no implementation.
    #[error("\"{what}\" does not exist on this platform. Use a Linux desktop.")]
    UnsupportedPlatform {
        /// What was asked for.
        what: &'static str,
    },
}

impl DesktopError {
    /// The stable snake_case code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::DisplayUnavailable { .. } => "display_unavailable",
            Self::DisplayLost { .. } => "display_lost",
            Self::DisplayRefused { .. } => "display_refused",
            Self::AppNotNamed => "app_not_named",
            Self::AppNotFound { .. } => "app_not_found",
            Self::LaunchFailed { .. } => "launch_failed",
            Self::TerminalNotFound { .. } => "terminal_not_found",
            Self::ProcessNotFound { .. } => "process_not_found",
            Self::ProtectedProcess { .. } => "protected_process",
            Self::ProcessNotKilled { .. } => "process_not_killed",
            Self::WindowNotFound { .. } => "window_not_found",
            Self::WindowManagerRefused { .. } => "window_manager_refused",
            Self::PictureUnreadable { .. } => "invalid_argument",
            Self::ClipboardTimeout => "clipboard_timeout",
            Self::ClipboardTooLarge { .. } => "clipboard_too_large",
            Self::UnsupportedPlatform { .. } => "unsupported_platform",
        }
    }
}
