//! X servers with a window manager: each serves one test after another, and is ended when it is not as it was at first.

use std::io::{BufRead, BufReader};
use std::ops::Deref;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::xinput::{ConnectionExt as _, DeviceType};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, KeyButMask, MapState, Window};
use x11rb::rust_connection::RustConnection;

use crate::test_desktop::until;

/// How long a server may take to be as it was at first; after that another one is started for the next test.
const SETTLING: Duration = Duration::from_secs(2);

/// Which X server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    Xvfb,
    Xvnc,
}

/// Those that no test uses.
static IDLE: Mutex<Vec<Desk>> = Mutex::new(Vec::new());
static ENDING: Once = Once::new();

fn idle() -> MutexGuard<'static, Vec<Desk>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe extern "C" {
    safe fn atexit(last: extern "C" fn()) -> i32;
}

extern "C" fn end_idle() {
    idle().clear();
}

/// A server that a test has to itself until it drops this.
pub struct Lease(Option<Desk>);

impl Lease {
    pub fn of(server: Server) -> Self {
        ENDING.call_once(|| assert_eq!(atexit(end_idle), 0));
        let mut idle = idle();
        let found = idle.iter().position(|desk| desk.server == server).map(|at| idle.swap_remove(at));
        drop(idle);
        Self(Some(found.unwrap_or_else(|| Desk::start(server))))
    }
}

impl Deref for Lease {
    type Target = Desk;

    fn deref(&self) -> &Desk {
        self.0.as_ref().unwrap()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(desk) = self.0.take()
            && !std::thread::panicking()
            && desk.is_restored()
        {
            idle().push(desk);
        }
    }
}

/// A server and its window manager.
pub struct Desk {
    pub display: String,
    server: Server,
    process: Child,
    manager: Child,
    /// Also keeps the server from beginning anew between two tests.
    conn: RustConnection,
    root: Window,
    at_first: State,
    _folder: test_support::Folder,
}

/// What a test may leave changed.
#[derive(PartialEq, Eq)]
struct State {
    size: (u16, u16),
    /// The person's keyboard map, without the empty columns that servers fill it up with.
    keymap: Vec<Vec<u32>>,
    /// Modifiers that are held or locked, the group and buttons.
    held: KeyButMask,
    keys_down: [u8; 32],
    masters: usize,
    /// Windows on the screen that are not the manager's own.
    shown: Vec<Window>,
    clients: Vec<u32>,
    workspaces: (Vec<u32>, Vec<u32>),
}

impl Desk {
    fn start(server: Server) -> Self {
        let folder = test_support::Folder::new().unwrap();
        let mut command = match server {
            Server::Xvfb => Command::new("Xvfb"),
            Server::Xvnc => Command::new("Xvnc"),
        };
        match server {
            Server::Xvfb => command.args(["-screen", "0", "1280x800x24", "-nolisten", "tcp"]),
            Server::Xvnc => command
                .args(["-geometry", "1280x800", "-depth", "24", "-SecurityTypes", "None", "-rfbport", "-1"])
                .arg("-rfbunixpath")
                .arg(folder.path().join("rfb")),
        };
        // Without GLX neither it nor its clients load what draws in three dimensions.
        command
            .args(["-displayfd", "1", "-extension", "GLX"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut number = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let display = format!(":{}", number.trim());
        let (conn, screen) = RustConnection::connect(Some(&display)).unwrap();
        let root = conn.setup().roots[screen].root;
        let mut command = Command::new("openbox");
        // It opens its input method anew with each change of the keyboard map; what it composes nobody looks at.
        command.arg("--sm-disable").env("XCOMPOSEFILE", "/dev/null").env("DISPLAY", &display);
        for name in ["HOME", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"] {
            command.env(name, folder.path());
        }
        let settings = folder.path().join("openbox");
        std::fs::create_dir(&settings).unwrap();
        std::fs::write(settings.join("rc.xml"), with_few_keys()).unwrap();
        command.env("LC_ALL", "C.UTF-8").stdin(Stdio::null()).stderr(Stdio::null());
        let manager = command.spawn().unwrap();
        until("the window manager", || {
            // The last of what it says of itself.
            property(&conn, root, "_NET_CURRENT_DESKTOP").first().copied()
        });
        conn.xinput_xi_query_version(2, 2).unwrap().reply().unwrap();
        let at_first = State::of(&conn, root).unwrap();
        Self { display, server, process, manager, conn, root, at_first, _folder: folder }
    }

    /// The window manager's process id.
    pub fn manager(&self) -> u32 {
        self.manager.id()
    }

    /// Puts back what a person may change; true when all is as it was at first.
    fn is_restored(&self) -> bool {
        let (left, top) = (self.at_first.size.0 / 2, self.at_first.size.1 / 2);
        let _ = self.conn.warp_pointer(x11rb::NONE, self.root, 0, 0, 0, 0, left as i16, top as i16);
        let deadline = Instant::now() + SETTLING;
        let mut is_tried = false;
        while Instant::now() < deadline {
            let Some(state) = State::of(&self.conn, self.root) else { return false };
            if state == self.at_first {
                return true;
            }
            if state.keymap != self.at_first.keymap && !is_tried {
                let mut command = Command::new("setxkbmap");
                let _ = command.args(["-layout", "us"]).env("DISPLAY", &self.display).status();
                is_tried = true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }
}

/// The settings of openbox with two commands on keys: it takes all of them anew with each change of the keyboard map, and
/// typing lends keycodes.
fn with_few_keys() -> String {
    let usual = std::fs::read_to_string("/etc/xdg/openbox/rc.xml").unwrap();
    let (before, rest) = usual.split_once("<keyboard>").unwrap();
    let (_, after) = rest.split_once("</keyboard>").unwrap();
    let key =
        |key: &str, action: &str| format!("<keybind key=\"{key}\"><action name=\"{action}\"/></keybind>");
    let keys = key("A-F4", "Close") + &key("W-d", "ToggleShowDesktop");
    format!("{before}<keyboard>{keys}</keyboard>{after}")
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = self.manager.kill();
        let _ = self.manager.wait();
        test_support::finish(&mut self.process);
    }
}

impl State {
    /// None when the server does not answer.
    fn of(conn: &RustConnection, root: Window) -> Option<Self> {
        let size = conn.get_geometry(root).ok()?.reply().ok()?;
        let devices = conn.xinput_xi_query_device(0u16).ok()?.reply().ok()?.infos;
        let children = conn.query_tree(root).ok()?.reply().ok()?.children;
        let client = |window: u32| window & !conn.setup().resource_id_mask;
        let managers = property(conn, root, "_NET_SUPPORTING_WM_CHECK").first().copied().map(client);
        let is_shown = |window: &Window| {
            let asked = conn.get_window_attributes(*window).ok().and_then(|asked| asked.reply().ok());
            asked.is_some_and(|attributes| attributes.map_state == MapState::VIEWABLE)
        };
        Some(Self {
            size: (size.width, size.height),
            keymap: keymap(conn),
            held: conn.query_pointer(root).ok()?.reply().ok()?.mask,
            keys_down: conn.query_keymap().ok()?.reply().ok()?.keys,
            masters: devices.iter().filter(|device| device.type_ == DeviceType::MASTER_POINTER).count(),
            shown: children
                .into_iter()
                .filter(|window| managers != Some(client(*window)) && is_shown(window))
                .collect(),
            clients: property(conn, root, "_NET_CLIENT_LIST"),
            workspaces: (
                property(conn, root, "_NET_NUMBER_OF_DESKTOPS"),
                property(conn, root, "_NET_CURRENT_DESKTOP"),
            ),
        })
    }
}

/// The numbers of a window's property.
pub fn property(conn: &RustConnection, window: Window, name: &str) -> Vec<u32> {
    let atom = conn.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom;
    let reply = conn.get_property(false, window, atom, AtomEnum::ANY, 0, 1024).unwrap().reply();
    reply.ok().and_then(|reply| Some(reply.value32()?.collect())).unwrap_or_default()
}

/// The person's keyboard map, without the empty columns that servers fill it up with.
pub fn keymap(conn: &RustConnection) -> Vec<Vec<u32>> {
    let setup = conn.setup();
    let count = setup.max_keycode - setup.min_keycode + 1;
    let map = conn.get_keyboard_mapping(setup.min_keycode, count).unwrap().reply().unwrap();
    let keys = map.keysyms.chunks(map.keysyms_per_keycode.into());
    keys.map(|key| key.iter().copied().filter(|keysym| *keysym != 0).collect()).collect()
}
