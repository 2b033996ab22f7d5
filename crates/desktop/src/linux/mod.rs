//! Linux: the X server as the display, `/proc` as the processes.

mod applications;
pub mod processes;
mod session;
pub mod x11;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use x11rb::connection::{Connection, RequestConnection};
use x11rb::errors::ReplyError;
use x11rb::protocol::randr::{self, ConnectionExt as _};
use x11rb::protocol::xproto::ConnectionExt as _;

use crate::{App, Clip, DesktopError, Point, Probe, Screen, Window, WindowId};
use applications::catalog::{Catalog, CatalogCache};
use applications::identity::{Identities, Identity};
pub use session::Session;
use x11::clipboard::Clipboard;
use x11::events::EventInbox;
use x11::link::{Link, lock};
use x11::window_cache::WindowCache;

/// An open display, its windows kept up to date by events; shared through its [`Arc`].
///
/// Every answer holds at least what was true when the question was asked.
pub struct Desktop {
    session: Session,
    link: Arc<Link>,
    inbox: Arc<EventInbox>,
    cache: Mutex<WindowCache>,
    catalog_cache: CatalogCache,
    identities: Mutex<Identities>,
    clipboard: Clipboard,
}

impl Desktop {
    /// Connects to a display, by default to that of the environment.
    pub fn open(display: Option<&str>) -> Result<Arc<Self>, DesktopError> {
        let session = Session::of(display)?;
        let link = match &session {
            Session::X11(x11) => Arc::new(Link::open(x11)?),
        };
        let inbox = Arc::new(EventInbox::default());
        let (reader, notes) = (Arc::clone(&link), Arc::clone(&inbox));
        std::thread::Builder::new()
            .name("x11-events".to_owned())
            .spawn(move || notes.follow(&reader))
            .map_err(|error| link.session.unavailable(error))?;
        Ok(Arc::new(Self {
            session,
            link,
            inbox,
            cache: Mutex::default(),
            catalog_cache: CatalogCache::default(),
            identities: Mutex::default(),
            clipboard: Clipboard::default(),
        }))
    }

    /// The display server that it is on, decided when it was opened; others make connections of their own through it.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The name under which it was opened.
    pub fn display_name(&self) -> &str {
        self.session.display()
    }

    /// Size of the main display: the primary monitor, or the whole screen where no monitor is primary.
    pub fn screen(&self) -> Result<Screen, DesktopError> {
        self.ask("screen size", |link| {
            let size = link.conn.get_geometry(link.root)?.reply()?;
            let mut found = (u32::from(size.width), u32::from(size.height));
            if link.conn.extension_information(randr::X11_EXTENSION_NAME)?.is_some() {
                let version = link.conn.randr_query_version(1, 5)?.reply()?;
                if (version.major_version, version.minor_version) >= (1, 5) {
                    let monitors = link.conn.randr_get_monitors(link.root, true)?.reply()?.monitors;
                    if let Some(monitor) = monitors.iter().find(|monitor| monitor.primary) {
                        found = (monitor.width.into(), monitor.height.into());
                    }
                }
            }
            Ok(Screen { width: found.0, height: found.1, scale_factor: 1.0 })
        })
    }

    /// Where the person's pointer is.
    pub fn cursor_position(&self) -> Result<Point, DesktopError> {
        self.ask("pointer position", |link| {
            let pointer = link.conn.query_pointer(link.root)?.reply()?;
            Ok(Point { x: pointer.root_x.into(), y: pointer.root_y.into() })
        })
    }

    /// All windows of applications, minimised ones and popups included, the frontmost last.
    pub fn windows(&self) -> Result<Vec<Window>, DesktopError> {
        Ok(self.listed(&self.catalog_cache.recent())?.into_iter().map(|(window, _)| window).collect())
    }

    /// Counts what has happened to windows so far; take it before looking, then wait for the next.
    pub fn changes(&self) -> u64 {
        self.inbox.count()
    }

    /// From now on a window of ours, which need not exist yet, is none of the desktop's: it is not listed, covers
    /// nothing, and what happens to it is no change. It lasts as long as the window.
    pub fn overlook(&self, window: WindowId) {
        self.inbox.overlook(window);
    }

    /// Waits until the number of changes differs from `since`, for at most `timeout`; answers the number then.
    pub fn wait_for_change(&self, since: u64, timeout: Duration) -> Result<u64, DesktopError> {
        self.inbox.wait(since, Instant::now() + timeout);
        self.inbox.check(&self.link)?;
        Ok(self.inbox.count())
    }

    /// One listed window.
    pub fn window(&self, id: WindowId) -> Result<Option<Window>, DesktopError> {
        Ok(self.windows()?.into_iter().find(|window| window.window_id == id))
    }

    /// Applications that run with a window a person could work in, then those that are installed.
    pub fn apps(&self) -> Result<Vec<App>, DesktopError> {
        let catalog = self.catalog_cache.current();
        let windows = self.listed(&catalog)?;
        let active = self.active_window()?;
        Ok(applications::apps::list(&catalog, &windows, active))
    }

    /// What the server and the session on it can do.
    pub fn probe(&self) -> Result<Probe, DesktopError> {
        let window_manager = self.x11_window_manager()?.map(|manager| manager.name);
        self.ask("extensions", |link| {
            let compositor = link.conn.intern_atom(false, b"_NET_WM_CM_S0")?;
            let names = link.conn.list_extensions()?;
            let owner = link.conn.get_selection_owner(compositor.reply()?.atom)?.reply()?.owner;
            let mut extensions: Vec<String> = names
                .reply()?
                .names
                .iter()
                .map(|name| String::from_utf8_lossy(&name.name).to_lowercase())
                .collect();
            extensions.sort();
            let vendor = String::from_utf8_lossy(&link.conn.setup().vendor).into_owned();
            Ok(Probe { vendor, window_manager, compositor: owner != 0, extensions })
        })
    }

    /// What the clipboard holds, from whichever program owns it; empty when none does.
    ///
    /// Fails with `clipboard_timeout` where that program is silent and with `clipboard_too_large`.
    pub fn clipboard_read(&self) -> Result<Clip, DesktopError> {
        self.inbox.check(&self.link)?;
        self.clipboard.read(&self.link.session)
    }

    /// Takes the clipboard for this content, which is had from here until another program takes it.
    pub fn clipboard_write(&self, clip: &Clip) -> Result<(), DesktopError> {
        self.inbox.check(&self.link)?;
        self.clipboard.write(&self.link.session, clip)
    }

    /// True while others have the clipboard's content from here.
    pub fn clipboard_is_held(&self) -> bool {
        self.clipboard.is_held()
    }

    /// Ends the event thread; later calls fail with `display_lost`. Closing twice is fine.
    pub fn close(&self) {
        self.inbox.end(&self.link, "it was closed");
        self.clipboard.close();
    }

    fn listed(&self, catalog: &Arc<Catalog>) -> Result<Vec<(Window, Identity)>, DesktopError> {
        self.look(|cache, link| {
            let mut identities = lock(&self.identities);
            x11::listing::identified(cache, link, |properties| identities.of_window(catalog, properties))
        })
    }

    fn ask<T>(
        &self,
        request: &'static str,
        question: impl FnOnce(&Link) -> Result<T, ReplyError>,
    ) -> Result<T, DesktopError> {
        // A server that does not answer is lost after this.
        self.inbox.catch_up(&self.link)?;
        question(&self.link).map_err(|error| self.link.session.failed(request, error))
    }

    fn look<T>(&self, answer: impl FnOnce(&WindowCache, &Link) -> T) -> Result<T, DesktopError> {
        // Waited for without the lock: those who wait for a server that is silent do so at the same time.
        self.inbox.catch_up(&self.link)?;
        let mut cache = lock(&self.cache);
        let changes = self.inbox.take();
        if let Err(error) = cache.refresh(&self.link, &changes) {
            // What was noted but not read would otherwise be forgotten.
            *cache = WindowCache::default();
            return Err(self.link.session.failed("windows", error));
        }
        Ok(answer(&cache, &self.link))
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        self.close();
    }
}
