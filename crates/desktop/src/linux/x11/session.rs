//! An X server by its name: every connection to it is made here, and failures of requests are named here.

use x11rb::errors::ReplyOrIdError;

use super::connection::{self, XConnection};
use crate::DesktopError;

/// A display of an X server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    display: String,
}

impl Session {
    /// The display of that name, by default that of the environment. Fails with `display_unavailable` where there is no name.
    pub fn of(display: Option<&str>) -> Result<Self, DesktopError> {
        let display = display.map_or_else(|| std::env::var("DISPLAY").unwrap_or_default(), str::to_owned);
        let session = Self { display };
        if session.display.is_empty() {
            return Err(session.unavailable("DISPLAY is not set"));
        }
        Ok(session)
    }

    /// The display's name.
    pub fn display(&self) -> &str {
        &self.display
    }

    /// Connects once more; answers the number of the display's screen as well. Fails with `display_unavailable`.
    ///
    /// Waits on the connection fail after ten seconds of silence, until [`connection::Socket::wait_for_events`].
    pub fn connect(&self) -> Result<(XConnection, usize), DesktopError> {
        connection::connect(&self.display).map_err(|error| self.unavailable(error))
    }

    /// The failure of what has to be there before a connection can be used.
    pub fn unavailable(&self, reason: impl ToString) -> DesktopError {
        DesktopError::DisplayUnavailable { display: self.display.clone(), reason: reason.to_string() }
    }

    /// The failure of a connection that was usable.
    pub fn lost(&self, reason: impl ToString) -> DesktopError {
        lost(&self.display, reason)
    }

    /// What the failure of a request means to the caller: a lost connection, or a request that the server refused.
    pub fn failed(&self, request: &'static str, error: impl Into<ReplyOrIdError>) -> DesktopError {
        failed(&self.display, request, error)
    }
}

/// What the failure of a request on a display means; see [`Session::failed`].
pub fn failed(display: &str, request: &'static str, error: impl Into<ReplyOrIdError>) -> DesktopError {
    match error.into() {
        ReplyOrIdError::ConnectionError(error) => lost(display, error),
        ReplyOrIdError::IdsExhausted => lost(display, "no more X ids"),
        ReplyOrIdError::X11Error(error) => DesktopError::DisplayRefused {
            display: display.to_owned(),
            request,
            reason: format!("{:?}", error.error_kind),
        },
    }
}

fn lost(display: &str, reason: impl ToString) -> DesktopError {
    DesktopError::DisplayLost { display: display.to_owned(), reason: reason.to_string() }
}
