//! The connection of one agent to the X server, and what its failures are called.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use desktop::DesktopError;
use desktop::x11::{self, Session, XConnection};
use x11rb::connection::{Connection, RequestConnection};
use x11rb::errors::{ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, PropMode, Timestamp, Window, WindowClass,
};
use x11rb::protocol::{shape, xinput, xkb, xtest};

use crate::InputError;
use crate::error::XTEST;
use crate::platform::x11::person::hold::GrabState;

x11rb::atom_manager! {
    /// Names of the window manager's protocol.
    pub Atoms: AtomsCookie {
        _BACKLOT_AGENT,
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
    pub conn: XConnection,
    /// The root window of the default screen.
    pub root: Window,
    /// Interned names.
    pub atoms: Atoms,
    /// A window that is never shown, for the window manager's answers.
    pub own: Window,
    /// Where an agent's pointer rests between gestures: one pixel that only takes input.
    pub parking: Window,
    /// What is held of the person's devices.
    pub hold: Mutex<Option<GrabState>>,
    /// How many pieces of work that have the server for themselves go on, one inside another.
    server_grabs: AtomicU32,
    /// Whether a process, by pid and start time, reads keys from messages: what it has loaded is read once.
    pub message_readers: Mutex<HashMap<(u32, u64), bool>>,
}

impl Link {
    /// Connects and checks that the server has what background input needs.
    pub fn open(session: &Session) -> Result<Self, InputError> {
        let (conn, screen) = session.connect()?;
        // What an application does with a grab of its own lasts as long as it likes.
        conn.stream().wait_for_events();
        let missing =
            |missing| InputError::InputUnavailable { display: session.display().to_owned(), missing };
        for (name, extension) in [
            // Whoever lacks another one has this one: see `InputError::in_background`.
            (xtest::X11_EXTENSION_NAME, XTEST),
            (xinput::X11_EXTENSION_NAME, "XInputExtension"),
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
        create_parking(&conn, root, parking)?;
        let (hold, server_grabs, message_readers) =
            (Mutex::default(), AtomicU32::default(), Mutex::default());
        Ok(Self { conn, root, atoms, own, parking, hold, server_grabs, message_readers })
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

    /// Does something while the server does nothing for anybody else, however the work ends.
    pub fn alone<T>(&self, work: impl FnOnce() -> Result<T, InputError>) -> Result<T, InputError> {
        let _grab = ServerGrab::begin(self)?;
        work()
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

/// The server, grabbed for as long as this lives.
struct ServerGrab<'a>(&'a Link);

impl<'a> ServerGrab<'a> {
    fn begin(link: &'a Link) -> Result<Self, InputError> {
        link.server_grabs.fetch_add(1, Ordering::Relaxed);
        let grab = Self(link);
        link.conn.grab_server()?;
        Ok(grab)
    }
}

impl Drop for ServerGrab<'_> {
    fn drop(&mut self) {
        // The server does not count: the first end of several would be the end of all.
        if self.0.server_grabs.fetch_sub(1, Ordering::Relaxed) == 1 {
            // A connection that is lost grabs nothing any more; who asks next is told so.
            let _ = self.0.conn.ungrab_server();
            let _ = self.0.conn.flush();
        }
    }
}

/// Makes the window, which is not shown yet.
fn create_parking(conn: &XConnection, root: Window, window: Window) -> Result<(), InputError> {
    let unmanaged = CreateWindowAux::new().override_redirect(1);
    let y = parking_row(conn.get_geometry(root)?.reply()?.height);
    let visual = x11rb::COPY_FROM_PARENT;
    conn.create_window(0, window, root, 0, y, 1, 1, 0, WindowClass::INPUT_ONLY, visual, &unmanaged)?;
    Ok(())
}

/// Hardly anybody aims at this pixel of the left edge of a screen.
pub fn parking_row(height: u16) -> i16 {
    i16::try_from(height / 3 * 2).unwrap_or(0)
}

/// Puts the display's name into failures that arose where it was not known.
pub fn on_display<T>(name: &str, result: Result<T, InputError>) -> Result<T, InputError> {
    result.map_err(|mut error| {
        if let InputError::Desktop(
            DesktopError::DisplayLost { display, .. }
            | DesktopError::DisplayRefused { display, .. }
            | DesktopError::DisplayUnavailable { display, .. },
        )
        | InputError::InputUnavailable { display, .. }
        | InputError::TooManyAgents { display, .. } = &mut error
            && display.is_empty()
        {
            name.clone_into(display);
        }
        error
    })
}

impl From<ConnectionError> for InputError {
    fn from(error: ConnectionError) -> Self {
        ReplyOrIdError::from(error).into()
    }
}

impl From<ReplyError> for InputError {
    fn from(error: ReplyError) -> Self {
        ReplyOrIdError::from(error).into()
    }
}

/// The display is not known here: see [`on_display`].
impl From<ReplyOrIdError> for InputError {
    fn from(error: ReplyOrIdError) -> Self {
        let request = match &error {
            ReplyOrIdError::X11Error(error) => error.request_name,
            _ => None,
        };
        x11::failed("", request.unwrap_or("input"), error).into()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use x11rb::rust_connection::RustConnection;

    use super::*;

    /// True when the server answers another client.
    fn answers(display: &str) -> bool {
        let (sender, answer) = channel();
        let display = display.to_owned();
        std::thread::spawn(move || {
            let (conn, _) = RustConnection::connect(Some(&display)).unwrap();
            conn.get_input_focus().unwrap().reply().unwrap();
            sender.send(()).unwrap();
        });
        answer.recv_timeout(Duration::from_secs(20)).is_ok()
    }

    #[test]
    fn work_that_panics_leaves_the_server_to_the_others() {
        let display = test_support::TestDisplay::bare().unwrap();
        let link = Link::open(&Session::of(Some(display.name())).unwrap()).unwrap();
        let panics = || link.alone(|| -> Result<(), InputError> { panic!("in the middle") });
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        assert!(answers(display.name()));
    }

    #[test]
    fn work_inside_other_work_does_not_end_the_grab_of_the_other() {
        let display = test_support::TestDisplay::bare().unwrap();
        let link = Link::open(&Session::of(Some(display.name())).unwrap()).unwrap();
        let (other, _) = RustConnection::connect(Some(display.name())).unwrap();
        let root = link.root;
        let asked = link.alone(|| {
            link.alone(|| link.sync())?;
            let asked =
                other.get_property(false, root, link.atoms._BACKLOT_AGENT, AtomEnum::ANY, 0, 1).unwrap();
            other.flush().unwrap();
            // What the other asked was there before this, and is not answered before it.
            let (kind, name) = (AtomEnum::CARDINAL, link.atoms._BACKLOT_AGENT);
            link.sync()?;
            x11rb::wrapper::ConnectionExt::change_property32(
                &link.conn,
                PropMode::REPLACE,
                root,
                name,
                kind,
                &[7],
            )?;
            Ok(asked)
        });
        let seen: Vec<u32> = asked.unwrap().reply().unwrap().value32().unwrap().collect();
        assert_eq!(seen, [7]);
    }
}
