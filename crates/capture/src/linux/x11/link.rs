//! The capture connection: what the server offers, and reading pixels of a drawable through it.

use std::collections::HashSet;
use std::ops::Range;
use std::slice::from_ref;
use std::sync::Arc;

use desktop::x11::{Session, XConnection};
use desktop::{DesktopError, Rect};
use x11rb::connection::{Connection, RequestConnection};
use x11rb::errors::{ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::composite::{self, ConnectionExt as _, Redirect};
use x11rb::protocol::damage::{self, ConnectionExt as _};
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::protocol::xfixes::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{ConnectionExt as _, Drawable, ImageFormat, ImageOrder, Window};

use super::segment::{Refusal, Segment};
use crate::CaptureError;
use crate::picture::Pixels;

/// Why pixels were not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    /// The drawable vanished or changed its size meanwhile.
    #[error("it vanished or changed its size meanwhile")]
    Gone,
    /// The connection or a request failed for another reason.
    #[error("{0}")]
    Refused(#[from] ReplyOrIdError),
    /// The pixels have a form that is not understood.
    #[error("its pixels have depth {0}; start the X server with depth 24")]
    Depth(u8),
    /// The server runs on a machine of the other byte order.
    #[error("the X server puts the bytes of a pixel in the other order; run it on this machine")]
    ByteOrder,
}

impl ReadError {
    /// What it means to who asked for pixels of `what`.
    pub(crate) fn failed(self, session: &Session, what: &str) -> CaptureError {
        match self {
            Self::Refused(ReplyOrIdError::ConnectionError(error)) => session.lost(error).into(),
            other => CaptureError::Failed { what: what.to_owned(), reason: other.to_string() },
        }
    }
}

impl From<ConnectionError> for ReadError {
    fn from(error: ConnectionError) -> Self {
        Self::Refused(error.into())
    }
}

/// An error that the server answered about a drawable means that the drawable is not what it was.
impl From<ReplyError> for ReadError {
    fn from(error: ReplyError) -> Self {
        match error {
            ReplyError::X11Error(_) => Self::Gone,
            ReplyError::ConnectionError(error) => Self::Refused(error.into()),
        }
    }
}

/// One open connection and the memory it reads into.
pub(crate) struct Link {
    pub(crate) conn: Arc<XConnection>,
    pub(crate) root: Window,
    /// True when covered windows have pixels of their own.
    pub(crate) has_composite: bool,
    pub(crate) has_damage: bool,
    has_shm: bool,
    segment: Option<Segment>,
    copied: Vec<u8>,
}

impl Link {
    /// Connects, and makes the server keep the pixels of covered windows for as long as the connection lasts; answers
    /// the children of the root whose pixels it kept before, for a compositor.
    pub(crate) fn open(session: &Session) -> Result<(Self, HashSet<Window>), DesktopError> {
        let link = Self::connect(session)?;
        let complete = link.keep_covered().map_err(|error| session.unavailable(error))?;
        Ok((link, complete))
    }

    /// See [`Link::open`].
    fn keep_covered(&self) -> Result<HashSet<Window>, ReadError> {
        if !self.has_composite {
            return Ok(HashSet::new());
        }
        self.conn.composite_query_version(0, 4)?.reply()?;
        let is_composited = self.has_compositor()?;
        let kept = self.redirect()?;
        // What another driver has the server keep may lack what was covered when that began.
        Ok(if is_composited { kept } else { HashSet::new() })
    }

    /// Answers the children of the root that had pixels of their own before.
    ///
    /// Compositors end, and leave a window that fills the screen to the server; a redirection beside theirs lasts.
    fn redirect(&self) -> Result<HashSet<Window>, ReadError> {
        let Self { conn, root, .. } = self;
        let mut named = Vec::new();
        for child in conn.query_tree(*root)?.reply()?.children {
            let pixmap = conn.generate_id()?;
            named.push((child, pixmap, conn.composite_name_window_pixmap(child, pixmap)?));
        }
        conn.composite_redirect_subwindows(*root, Redirect::AUTOMATIC)?.check()?;
        let mut kept = HashSet::new();
        for (child, pixmap, answer) in named {
            match answer.check() {
                Ok(()) => {
                    conn.free_pixmap(pixmap)?;
                    kept.insert(child);
                }
                // It is not shown, or the server has kept nothing of it so far.
                Err(ReplyError::X11Error(_)) => {}
                Err(ReplyError::ConnectionError(error)) => return Err(error.into()),
            }
        }
        Ok(kept)
    }

    /// Connects, and asks what the server offers.
    pub(crate) fn connect(session: &Session) -> Result<Self, DesktopError> {
        let (conn, screen) = session.connect()?;
        Self::on(conn, screen).map_err(|error| session.unavailable(error))
    }

    fn on(conn: XConnection, screen: usize) -> Result<Self, ReadError> {
        let root = conn.setup().roots[screen].root;
        let has = |name| Ok::<_, ReadError>(conn.extension_information(name)?.is_some());
        let is_little_endian = conn.setup().image_byte_order == ImageOrder::LSB_FIRST;
        let (has_composite, has_damage) =
            (has(composite::X11_EXTENSION_NAME)?, has(damage::X11_EXTENSION_NAME)?);
        let has_shm = has(shm::X11_EXTENSION_NAME)?;
        if !is_little_endian {
            return Err(ReadError::ByteOrder);
        }
        // What was drawn is told as a region of XFIXES.
        let has_damage = has_damage && has(xfixes::X11_EXTENSION_NAME)?;
        if has_damage {
            conn.xfixes_query_version(2, 0)?.reply()?;
            conn.damage_query_version(1, 1)?.reply()?;
        }
        let version = if has_shm { Some(conn.shm_query_version()?.reply()?) } else { None };
        // File descriptors can be handed over from 1.2 on.
        let has_shm = version.is_some_and(|version| (version.major_version, version.minor_version) >= (1, 2));
        let conn = Arc::new(conn);
        Ok(Self { conn, root, has_composite, has_damage, has_shm, segment: None, copied: Vec::new() })
    }

    /// True while a compositor draws the screen.
    pub(crate) fn has_compositor(&self) -> Result<bool, ReadError> {
        has_compositor(&self.conn)
    }

    /// The whole screen, all monitors.
    pub(crate) fn screen(&self) -> Result<Rect, ReadError> {
        let size = self.conn.get_geometry(self.root)?.reply()?;
        Ok(Rect { x: 0, y: 0, width: size.width.into(), height: size.height.into() })
    }

    /// Reads a rectangle of a drawable; the rectangle must lie inside.
    pub(crate) fn read(&mut self, drawable: Drawable, area: Rect) -> Result<Pixels<'_>, ReadError> {
        self.read_rows(drawable, area, from_ref(&(0..area.height)))
    }

    /// Reads some rows of a rectangle of a drawable, which must lie inside; only these are of now in what is given.
    pub(crate) fn read_rows(
        &mut self,
        drawable: Drawable,
        area: Rect,
        rows: &[Range<u32>],
    ) -> Result<Pixels<'_>, ReadError> {
        let stride = area.width as usize * 4;
        let len = stride * area.height as usize;
        self.make_room(len)?;
        let format = u8::from(ImageFormat::Z_PIXMAP);
        let (x, y) = (narrow(area.x)?, narrow::<i16>(area.y)?);
        let (width, height): (u16, u16) = (narrow(area.width)?, narrow(area.height)?);
        if let Some(segment) = &mut self.segment {
            let mut asked = Vec::with_capacity(rows.len());
            for rows in rows {
                let top = narrow(i64::from(area.y) + i64::from(rows.start))?;
                let count = narrow(rows.end - rows.start)?;
                let place = rows.start * area.width * 4;
                asked.push(self.conn.shm_get_image(
                    drawable,
                    x,
                    top,
                    width,
                    count,
                    u32::MAX,
                    format,
                    segment.id,
                    place,
                )?);
            }
            for answer in asked {
                check_depth(answer.reply()?.depth)?;
            }
            return Ok(Pixels { bytes: segment.bytes(len), width: area.width, height: area.height });
        }
        let reply =
            self.conn.get_image(ImageFormat::Z_PIXMAP, drawable, x, y, width, height, u32::MAX)?.reply()?;
        check_depth(reply.depth)?;
        self.copied = reply.data;
        let bytes = self.copied.get(..len).ok_or(ReadError::Depth(reply.depth))?;
        Ok(Pixels { bytes, width: area.width, height: area.height })
    }

    fn make_room(&mut self, len: usize) -> Result<(), ReadError> {
        if !self.has_shm || self.segment.as_ref().is_some_and(|segment| segment.holds(len)) {
            return Ok(());
        }
        if let Some(old) = self.segment.take() {
            self.conn.shm_detach(old.id)?;
        }
        match Segment::attach(&self.conn, len) {
            Ok(segment) => self.segment = Some(segment),
            // A server in another container, or without the right to our memory, still sends pixels.
            Err(Refusal::Memory | Refusal::Server(ReplyOrIdError::X11Error(_))) => self.has_shm = false,
            Err(Refusal::Server(error)) => return Err(error.into()),
        }
        Ok(())
    }
}

fn has_compositor(conn: &XConnection) -> Result<bool, ReadError> {
    let selection = conn.intern_atom(false, b"_NET_WM_CM_S0")?.reply()?.atom;
    Ok(conn.get_selection_owner(selection)?.reply()?.owner != x11rb::NONE)
}

fn narrow<To: TryFrom<i64>>(value: impl Into<i64>) -> Result<To, ReadError> {
    To::try_from(value.into()).map_err(|_| ReadError::Gone)
}

fn check_depth(depth: u8) -> Result<(), ReadError> {
    if depth == 24 || depth == 32 { Ok(()) } else { Err(ReadError::Depth(depth)) }
}
