//! The connection to the X server, and its atoms.

use std::sync::{Mutex, MutexGuard, PoisonError};

use x11rb::connection::{Connection, RequestConnection};
use x11rb::errors::{ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::res;
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ConnectionExt as _, CreateWindowAux, EventMask, Window, WindowClass,
};

use super::connection::XConnection;
use super::session::Session;
use crate::DesktopError;

x11rb::atom_manager! {
    /// The atoms that the window cache reads.
    pub(crate) Atoms: AtomsCookie {
        BACKLOT_BARRIER,
        COMPOUND_TEXT,
        ESETROOT_PMAP_ID,
        UTF8_STRING,
        WM_CHANGE_STATE,
        WM_DELETE_WINDOW,
        WM_PROTOCOLS,
        WM_STATE,
        _NET_ACTIVE_WINDOW,
        _NET_CLIENT_LIST,
        _NET_CURRENT_DESKTOP,
        _NET_FRAME_EXTENTS,
        _NET_MOVERESIZE_WINDOW,
        _NET_RESTACK_WINDOW,
        _NET_SUPPORTING_WM_CHECK,
        _NET_WM_DESKTOP,
        _NET_WM_NAME,
        _NET_WM_PID,
        _NET_WM_STATE,
        _NET_WM_STATE_FULLSCREEN,
        _NET_WM_STATE_HIDDEN,
        _NET_WM_STATE_MAXIMIZED_HORZ,
        _NET_WM_STATE_MAXIMIZED_VERT,
        _NET_WM_STATE_SHADED,
        _NET_WM_USER_TIME,
        _NET_WM_WINDOW_TYPE,
        _NET_WM_WINDOW_TYPE_COMBO,
        _NET_WM_WINDOW_TYPE_DESKTOP,
        _NET_WM_WINDOW_TYPE_DIALOG,
        _NET_WM_WINDOW_TYPE_DOCK,
        _NET_WM_WINDOW_TYPE_DROPDOWN_MENU,
        _NET_WM_WINDOW_TYPE_POPUP_MENU,
        _NET_WM_WINDOW_TYPE_TOOLTIP,
        _XROOTPMAP_ID,
    }
}

/// One open connection.
pub(crate) struct Link {
    pub(crate) conn: XConnection,
    pub(crate) session: Session,
    pub(crate) root: Window,
    /// An input-only window of ours that receives the barrier's messages.
    pub(crate) own: Window,
    pub(crate) atoms: Atoms,
    /// True when the server can say which process opened a window.
    pub(crate) names_processes: bool,
}

impl Link {
    /// Connects and subscribes to what happens on the root window.
    pub(crate) fn open(session: &Session) -> Result<Self, DesktopError> {
        let (conn, screen) = session.connect()?;
        let root = conn.setup().roots[screen].root;
        let prepared = prepare(&conn, root).map_err(|error| session.unavailable(error))?;
        let (own, atoms, names_processes) = prepared;
        conn.stream().wait_for_events();
        Ok(Self { conn, session: session.clone(), root, own, atoms, names_processes })
    }

    /// The part of a resource id that tells which client made it.
    pub(crate) fn client_of(&self, id: u32) -> u32 {
        id & !self.conn.setup().resource_id_mask
    }
}

fn prepare(conn: &XConnection, root: Window) -> Result<(Window, Atoms, bool), ReplyOrIdError> {
    let atoms = Atoms::new(conn)?;
    let own = conn.generate_id()?;
    conn.create_window(0, own, root, 0, 0, 1, 1, 0, WindowClass::INPUT_ONLY, 0, &CreateWindowAux::new())?;
    let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::STRUCTURE_NOTIFY | EventMask::PROPERTY_CHANGE;
    conn.change_window_attributes(root, &ChangeWindowAttributesAux::new().event_mask(mask))?;
    let names_processes = conn.extension_information(res::X11_EXTENSION_NAME)?.is_some()
        && optional(res::query_version(conn, 1, 2)?.reply())?
            .is_some_and(|version| (version.server_major, version.server_minor) >= (1, 2));
    Ok((own, atoms.reply()?, names_processes))
}

/// An answer of the server, or nothing where it answered with an error: what was asked about is gone.
pub(crate) fn optional<R>(answer: Result<R, ReplyError>) -> Result<Option<R>, ConnectionError> {
    match answer {
        Ok(reply) => Ok(Some(reply)),
        Err(ReplyError::X11Error(_)) => Ok(None),
        Err(ReplyError::ConnectionError(error)) => Err(error),
    }
}

/// Locks whether or not another thread panicked while it held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
