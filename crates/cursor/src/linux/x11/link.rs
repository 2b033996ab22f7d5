//! The connection of the overlay, and what its windows are made with.

use std::sync::Arc;

use desktop::x11::{Session, XConnection};
use desktop::{Desktop, Point, WindowId};
use x11rb::connection::{Connection, RequestConnection};
use x11rb::errors::{ReplyError, ReplyOrIdError};
use x11rb::protocol::composite::ConnectionExt as _;
use x11rb::protocol::damage::{self, ConnectionExt as _};
use x11rb::protocol::render::{self, ConnectionExt as _, Pictformat};
use x11rb::protocol::shape;
use x11rb::protocol::xfixes::{self, ConnectionExt as _, SelectionEventMask};
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, Colormap, ColormapAlloc, ConnectionExt as _, CreateGCAux,
    CreateWindowAux, EventMask, Gcontext, PropMode, Visualid, Window, WindowClass,
};
use x11rb::wrapper::ConnectionExt as _;

use crate::CursorError;

x11rb::atom_manager! {
    /// What overlay windows say of themselves.
    pub(crate) Atoms: AtomsCookie {
        UTF8_STRING,
        _COMPTON_SHADOW,
        _NET_WM_NAME,
        _NET_WM_PID,
        _NET_WM_WINDOW_TYPE,
        _NET_WM_WINDOW_TYPE_DOCK,
    }
}

/// One open connection.
pub(crate) struct Link {
    pub(crate) conn: XConnection,
    pub(crate) root: Window,
    /// The depth of windows with an alpha channel, or of the root where there are none.
    pub(crate) depth: u8,
    pub(crate) has_alpha: bool,
    pub(crate) atoms: Atoms,
    pub(crate) visual: Visualid,
    colormap: Colormap,
    compositor: Atom,
    formats: Vec<(Visualid, Pictformat)>,
    desktop: Arc<Desktop>,
}

impl Link {
    /// Connects. Fails with `display_unavailable`, and with `overlay_unavailable` where an extension is missing.
    pub(crate) fn open(session: &Session, desktop: Arc<Desktop>) -> Result<Self, CursorError> {
        let (conn, screen) = session.connect()?;
        for (name, missing) in [
            (shape::X11_EXTENSION_NAME, "SHAPE"),
            (xfixes::X11_EXTENSION_NAME, "XFIXES"),
            (render::X11_EXTENSION_NAME, "RENDER"),
            (damage::X11_EXTENSION_NAME, "DAMAGE"),
            // Without it a picture of a window would show whatever lies on it.
            (x11rb::protocol::composite::X11_EXTENSION_NAME, "Composite"),
        ] {
            let found = conn.extension_information(name).map_err(|error| session.unavailable(error))?;
            if found.is_none() {
                let display = session.display().to_owned();
                return Err(CursorError::OverlayUnavailable { display, missing });
            }
        }
        Ok(Self::prepare(conn, screen, desktop).map_err(|error| session.unavailable(error))?)
    }

    fn prepare(conn: XConnection, number: usize, desktop: Arc<Desktop>) -> Result<Self, ReplyOrIdError> {
        let atoms = Atoms::new(&conn)?.reply()?;
        let compositor = conn.intern_atom(false, format!("_NET_WM_CM_S{number}").as_bytes())?.reply()?.atom;
        conn.xfixes_query_version(2, 0)?.reply()?;
        conn.render_query_version(0, 11)?.reply()?;
        conn.composite_query_version(0, 4)?.reply()?;
        conn.damage_query_version(1, 1)?.reply()?;
        let screens = conn.render_query_pict_formats()?.reply()?.screens;
        let depths = screens.iter().flat_map(|screen| &screen.depths);
        let visuals = depths.flat_map(|depth| &depth.visuals);
        let formats = visuals.map(|visual| (visual.visual, visual.format)).collect();
        let screen = &conn.setup().roots[number];
        let root = screen.root;
        let translucent = screen.allowed_depths.iter().find(|depth| depth.depth == 32);
        let visual = translucent.and_then(|depth| depth.visuals.first()).map(|visual| visual.visual_id);
        let has_alpha = visual.is_some();
        let (depth, visual) = visual.map_or((screen.root_depth, screen.root_visual), |visual| (32, visual));
        let colormap = conn.generate_id()?;
        conn.create_colormap(ColormapAlloc::NONE, colormap, root, visual)?.check()?;
        let events = SelectionEventMask::SET_SELECTION_OWNER
            | SelectionEventMask::SELECTION_WINDOW_DESTROY
            | SelectionEventMask::SELECTION_CLIENT_CLOSE;
        conn.xfixes_select_selection_input(root, compositor, events)?;
        Ok(Self { conn, root, depth, has_alpha, atoms, visual, colormap, compositor, formats, desktop })
    }

    /// What RENDER calls the pixels of a visual.
    pub(crate) fn format_of(&self, visual: Visualid) -> Pictformat {
        self.formats.iter().find(|(known, _)| *known == visual).map_or(x11rb::NONE, |(_, format)| *format)
    }

    /// True while a compositor blends windows with what is below them.
    pub(crate) fn is_composited(&self) -> Result<bool, ReplyError> {
        Ok(self.has_alpha && self.conn.get_selection_owner(self.compositor)?.reply()?.owner != x11rb::NONE)
    }

    /// True when this is the selection that a compositor owns.
    pub(crate) fn is_compositor(&self, selection: Atom) -> bool {
        selection == self.compositor
    }

    /// Follows what is mapped and moved on the screen, or no longer does.
    pub(crate) fn follow_windows(&self, follows: bool) -> Result<(), ReplyError> {
        let mask = if follows { EventMask::SUBSTRUCTURE_NOTIFY } else { EventMask::NO_EVENT };
        let attributes = ChangeWindowAttributesAux::new().event_mask(mask);
        Ok(self.conn.change_window_attributes(self.root, &attributes).map(drop)?)
    }

    /// Makes a window over the others that no click meets and no window manager manages; not shown yet.
    pub(crate) fn create_overlay(&self, name: &str, size: (u16, u16)) -> Result<Window, ReplyOrIdError> {
        let Self { conn, atoms, .. } = self;
        let window = conn.generate_id()?;
        self.desktop.overlook(WindowId::of_xid(window));
        let attributes = CreateWindowAux::new()
            .override_redirect(1)
            .background_pixel(0)
            .border_pixel(0)
            .colormap(self.colormap);
        let (width, height) = (size.0.max(1), size.1.max(1));
        let class = WindowClass::INPUT_OUTPUT;
        conn.create_window(
            self.depth,
            window,
            self.root,
            0,
            0,
            width,
            height,
            0,
            class,
            self.visual,
            &attributes,
        )?
        .check()?;
        let everything = x11rb::protocol::xproto::ClipOrdering::UNSORTED;
        shape::rectangles(conn, shape::SO::SET, shape::SK::INPUT, everything, window, 0, 0, &[])?;
        let replace = PropMode::REPLACE;
        conn.change_property8(replace, window, AtomEnum::WM_NAME, AtomEnum::STRING, name.as_bytes())?;
        conn.change_property8(replace, window, atoms._NET_WM_NAME, atoms.UTF8_STRING, name.as_bytes())?;
        conn.change_property8(replace, window, AtomEnum::WM_CLASS, AtomEnum::STRING, b"backlot\0Backlot\0")?;
        conn.change_property32(
            replace,
            window,
            atoms._NET_WM_PID,
            AtomEnum::CARDINAL,
            &[std::process::id()],
        )?;
        let kind = [atoms._NET_WM_WINDOW_TYPE_DOCK];
        conn.change_property32(replace, window, atoms._NET_WM_WINDOW_TYPE, AtomEnum::ATOM, &kind)?;
        // Compositors of the picom family would draw a shadow around it.
        conn.change_property32(replace, window, atoms._COMPTON_SHADOW, AtomEnum::CARDINAL, &[0])?;
        Ok(window)
    }

    /// A context for drawing into pixmaps of the overlay's depth.
    pub(crate) fn context_for(&self, drawable: u32) -> Result<Gcontext, ReplyOrIdError> {
        let context = self.conn.generate_id()?;
        self.conn.create_gc(context, drawable, &CreateGCAux::new().graphics_exposures(0))?;
        Ok(context)
    }

    /// The middle of the screen, where a cursor comes from that has been nowhere.
    pub(crate) fn middle(&self) -> Result<Point, ReplyError> {
        let (width, height) = self.size()?;
        Ok(Point { x: i32::from(width) / 2, y: i32::from(height) / 2 })
    }

    /// Width and height of the screen now.
    pub(crate) fn size(&self) -> Result<(u16, u16), ReplyError> {
        let screen = self.conn.get_geometry(self.root)?.reply()?;
        Ok((screen.width, screen.height))
    }
}
