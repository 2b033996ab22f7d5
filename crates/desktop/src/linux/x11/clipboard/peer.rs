//! A connection of the clipboard's own, and the names that its protocol uses (ICCCM 2, freedesktop clipboards).

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use x11rb::connection::Connection;
use x11rb::errors::{ConnectionError, ReplyOrIdError};
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{ConnectionExt as _, CreateWindowAux, EventMask, Window, WindowClass};

use crate::DesktopError;
use crate::platform::x11::connection::XConnection;
use crate::platform::x11::session::Session;

x11rb::atom_manager! {
    /// Selections, targets and types.
    pub(super) Names: NamesCookie {
        ATOM_PAIR,
        CLIPBOARD,
        CLIPBOARD_MANAGER,
        INCR,
        MULTIPLE,
        NULL,
        SAVE_TARGETS,
        TARGETS,
        TEXT,
        TIMESTAMP,
        UTF8_STRING,
        BACKLOT_CLIP,
        TEXT_PLAIN: b"text/plain",
        TEXT_PLAIN_UTF8: b"text/plain;charset=utf-8",
        IMAGE_PNG: b"image/png",
        URI_LIST: b"text/uri-list",
        COPIED_FILES: b"x-special/gnome-copied-files",
    }
}

/// One connection with a window for properties.
pub(super) struct Peer {
    pub(super) conn: XConnection,
    pub(super) own: Window,
    pub(super) names: Names,
    session: Session,
}

impl Peer {
    pub(super) fn open(session: &Session) -> Result<Self, DesktopError> {
        let (conn, screen) = session.connect()?;
        let root = conn.setup().roots[screen].root;
        let prepare = || -> Result<_, ReplyOrIdError> {
            let names = Names::new(&conn)?;
            let own = conn.generate_id()?;
            let noted = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
            conn.create_window(0, own, root, 0, 0, 1, 1, 0, WindowClass::INPUT_ONLY, 0, &noted)?;
            Ok((own, names.reply()?))
        };
        let (own, names) = prepare().map_err(|error| session.unavailable(error))?;
        Ok(Self { conn, own, names, session: session.clone() })
    }

    /// The next event, waited for until the deadline.
    pub(super) fn event_before(&self, deadline: Instant) -> Result<Option<Event>, ConnectionError> {
        self.conn.flush()?;
        loop {
            if let Some(event) = self.conn.poll_for_event()? {
                return Ok(Some(event));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            let time = Timespec::try_from(left).unwrap_or(SECOND);
            // Interrupted or not, the connection is asked again.
            let _ = poll(&mut [PollFd::new(self.conn.stream(), PollFlags::IN)], Some(&time));
        }
    }

    pub(super) fn failed(&self, error: impl Into<ReplyOrIdError>) -> DesktopError {
        self.session.failed("clipboard", error)
    }

    pub(super) fn refused(&self, reason: &str) -> DesktopError {
        let (display, reason) = (self.session.display().to_owned(), reason.to_owned());
        DesktopError::DisplayRefused { display, request: "clipboard", reason }
    }
}

const SECOND: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// How long the other side of a transfer may be silent.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
