//! The connection of one agent to the X server, and how its failures are told.

use std::collections::HashMap;
use std::sync::Mutex;

use desktop::{DesktopError, Point};
use x11rb::connection::{Connection, RequestConnection};
use x11rb::errors::{ConnectionError, ReplyError};
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, PropMode, Timestamp, Window, WindowClass,
};
use x11rb::protocol::{shape, xinput, xkb, xtest};
use x11rb::rust_connection::RustConnection;

use crate::InputError;

x11rb::atom_manager! {
    /// Names of the window manager's protocol.
    pub Atoms: AtomsCookie {
        _BACKLOT_BORROWED_KEYS,
        _BACKLOT_HEARD,
        _BACKLOT_HOLES,
        WM_LOCALE_NAME,
        WM_PROTOCOLS,
        WM_STATE,
        _NET_ACTIVE_WINDOW,
        _NET_CLIENT_LIST_STACKING,
        _NET_CURRENT_DESKTOP,
        _NET_FRAME_EXTENTS,
        _NET_REQUEST_FRAME_EXTENTS,
        _NET_RESTACK_WINDOW,
        _NET_SUPPORTED,
        _NET_WM_DESKTOP,
        _NET_WM_NAME,
        _NET_WM_PING,
        _NET_WM_USER_TIME,
        _NET_WM_USER_TIME_WINDOW,
    }
}

/// A connection of its own: what is set on it ends with it.
pub struct Link {
    /// The connection.
    pub conn: RustConnection,
    /// The root window of the default screen.
    pub root: Window,
    /// Interned names.
    pub atoms: Atoms,
    /// A window that is never shown, for the window manager's answers.
    pub own: Window,
    /// Where an agent's pointer rests between gestures: one pixel that only takes input.
    pub parking: Window,
    /// The screen point of that pixel.
    pub parking_place: Point,
    /// Whether a process, by pid and start time, reads keys from messages: what it has loaded is read once.
    pub message_readers: Mutex<HashMap<(u32, u64), bool>>,
}

impl Link {
    /// Connects and checks that the server has what background input needs.
    pub fn open(display: Option<&str>) -> Result<Self, InputError> {
        let named = || display.unwrap_or_default().to_owned();
        let (conn, screen) = RustConnection::connect(display).map_err(|error| {
            DesktopError::DisplayUnavailable { display: named(), reason: error.to_string() }
        })?;
        let missing = |missing| InputError::InputUnavailable { display: named(), missing };
        for (name, extension) in [
            (xinput::X11_EXTENSION_NAME, "XInputExtension"),
            (xtest::X11_EXTENSION_NAME, "XTEST"),
            (shape::X11_EXTENSION_NAME, "SHAPE"),
            (xkb::X11_EXTENSION_NAME, "XKEYBOARD"),
        ] {
            conn.extension_information(name)?.ok_or_else(|| missing(extension))?;
        }
        let version = xinput::xi_query_version(&conn, 2, 2)?.reply()?;
        if version.major_version < 2 {
            return Err(missing("XInputExtension 2"));
        }
        xkb::use_extension(&conn, 1, 0)?.reply()?;
        let atoms = Atoms::new(&conn)?.reply()?;
        let root = conn.setup().roots.get(screen).map(|screen| screen.root).unwrap_or_default();
        let own = conn.generate_id()?;
        let shown_never = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        let (depth, visual) = (x11rb::COPY_DEPTH_FROM_PARENT, x11rb::COPY_FROM_PARENT);
        conn.create_window(depth, own, root, 0, 0, 1, 1, 0, WindowClass::INPUT_OUTPUT, visual, &shown_never)?;
        let parking = conn.generate_id()?;
        let unmanaged = CreateWindowAux::new().override_redirect(1);
        // Hardly anybody aims at this pixel of the left edge.
        let y = (conn.setup().roots.get(screen).map_or(0, |screen| screen.height_in_pixels) / 3 * 2) as i16;
        conn.create_window(0, parking, root, 0, y, 1, 1, 0, WindowClass::INPUT_ONLY, visual, &unmanaged)?;
        let message_readers = Mutex::default();
        let parking_place = Point { x: 0, y: y.into() };
        Ok(Self { conn, root, atoms, own, parking, parking_place, message_readers })
    }

    /// Waits until the server has done everything that was sent.
    pub fn sync(&self) -> Result<(), InputError> {
        x11rb::wrapper::ConnectionExt::sync(&self.conn)?;
        Ok(())
    }

    /// The server's time now.
    pub fn time(&self) -> Result<Timestamp, InputError> {
        let (own, name) = (self.own, self.atoms._BACKLOT_BORROWED_KEYS);
        // Even a change of nothing is announced with its time.
        x11rb::wrapper::ConnectionExt::change_property8(
            &self.conn,
            PropMode::APPEND,
            own,
            name,
            AtomEnum::STRING,
            &[],
        )?;
        self.conn.flush()?;
        loop {
            match self.conn.wait_for_event()? {
                Event::PropertyNotify(changed) if changed.window == own && changed.atom == name => {
                    return Ok(changed.time);
                }
                _ => {}
            }
        }
    }

    /// Does something while the server does nothing for anybody else.
    pub fn alone<T>(&self, work: impl FnOnce() -> Result<T, InputError>) -> Result<T, InputError> {
        self.conn.grab_server()?;
        let done = work();
        self.conn.ungrab_server()?;
        self.conn.flush()?;
        done
    }

    /// Forgets the events that grabs and questions of ours brought.
    pub fn drain(&self) -> Result<(), InputError> {
        self.sync()?;
        while self.conn.poll_for_event()?.is_some() {}
        Ok(())
    }

    /// The first 32-bit item of a property of any type.
    pub fn number(&self, window: Window, property: Atom) -> Result<Option<u32>, InputError> {
        let reply = self.conn.get_property(false, window, property, AtomEnum::ANY, 0, 1)?.reply();
        Ok(reply.ok().and_then(|reply| reply.value32()?.next()))
    }
}

/// Puts the display's name into failures that arose where it was not known.
pub fn on_display<T>(display: &str, result: Result<T, InputError>) -> Result<T, InputError> {
    result.map_err(|error| match error {
        InputError::Desktop(DesktopError::DisplayLost { display: unknown, reason }) if unknown.is_empty() => {
            DesktopError::DisplayLost { display: display.to_owned(), reason }.into()
        }
        InputError::Desktop(DesktopError::DisplayRefused { display: unknown, request, reason })
            if unknown.is_empty() =>
        {
            DesktopError::DisplayRefused { display: display.to_owned(), request, reason }.into()
        }
        InputError::Desktop(DesktopError::DisplayUnavailable { display: unknown, reason })
            if unknown.is_empty() =>
        {
            DesktopError::DisplayUnavailable { display: display.to_owned(), reason }.into()
        }
        InputError::InputUnavailable { display: unknown, missing } if unknown.is_empty() => {
            InputError::InputUnavailable { display: display.to_owned(), missing }
        }
        InputError::TooManyAgents { display: unknown, agents } if unknown.is_empty() => {
            InputError::TooManyAgents { display: display.to_owned(), agents }
        }
        other => other,
    })
}

impl From<ConnectionError> for InputError {
    fn from(error: ConnectionError) -> Self {
        DesktopError::DisplayLost { display: String::new(), reason: error.to_string() }.into()
    }
}

impl From<ReplyError> for InputError {
    fn from(error: ReplyError) -> Self {
        match error {
            ReplyError::ConnectionError(error) => error.into(),
            ReplyError::X11Error(error) => DesktopError::DisplayRefused {
                display: String::new(),
                request: error.request_name.unwrap_or("input"),
                reason: format!("{:?}", error.error_kind),
            }
            .into(),
        }
    }
}

impl From<x11rb::errors::ReplyOrIdError> for InputError {
    fn from(error: x11rb::errors::ReplyOrIdError) -> Self {
        match error {
            x11rb::errors::ReplyOrIdError::ConnectionError(error) => error.into(),
            x11rb::errors::ReplyOrIdError::X11Error(error) => ReplyError::X11Error(error).into(),
            x11rb::errors::ReplyOrIdError::IdsExhausted => {
                DesktopError::DisplayLost { display: String::new(), reason: "no more X ids".to_owned() }
                    .into()
            }
        }
    }
}
