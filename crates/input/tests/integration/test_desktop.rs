//! A private desktop for a test: X server, openbox, applications that journal, and a second X client that
//! looks at what must not move.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use desktop::Session;
use serde_json::Value;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::shape::{ConnectionExt as _, GetRectanglesReply, SK};
use x11rb::protocol::xinput::{self, ConnectionExt as _, DeviceType, XIEventMask};
use x11rb::protocol::xproto::{ChangeWindowAttributesAux, ConnectionExt as _, EventMask, Window};
use x11rb::rust_connection::RustConnection;

use crate::servers::{self, Lease};

pub use crate::servers::Server;

const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for a condition.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        let waited = begun.elapsed();
        assert!(waited < PATIENCE, "waited in vain for {what}");
        // The longer it takes, the more seldom: looks cost the others time.
        std::thread::sleep((waited / 20).clamp(Duration::from_millis(2), Duration::from_millis(100)));
    }
}

pub struct TestDesktop {
    pub display: String,
    /// They end first, then what the connection made goes, and then the server is as it was.
    programs: Programs,
    conn: RustConnection,
    root: Window,
    server: Lease,
    pub folder: test_support::Folder,
}

/// Programs that end when this is dropped, with what they have started.
#[derive(Default)]
struct Programs(Vec<Child>);

impl Drop for Programs {
    fn drop(&mut self) {
        self.0.iter_mut().rev().for_each(test_support::end_group);
    }
}

/// The session of a display by its name.
pub fn session(display: &str) -> Session {
    Session::of(Some(display)).unwrap()
}

impl TestDesktop {
    /// What is to be opened on its display.
    pub fn session(&self) -> Session {
        session(&self.display)
    }

    pub fn open(server: Server) -> Self {
        let server = Lease::of(server);
        let display = server.display.clone();
        let (conn, screen) = RustConnection::connect(Some(&display)).unwrap();
        let root = conn.setup().roots[screen].root;
        conn.xinput_xi_query_version(2, 2).unwrap().reply().unwrap();
        let folder = test_support::Folder::new().unwrap();
        Self { display, folder, programs: Programs::default(), conn, root, server }
    }

    /// The window manager's process id.
    pub fn manager(&self) -> u32 {
        self.server.manager()
    }

    /// A program with its own home folder on this display.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("DISPLAY", &self.display)
            .env("HOME", self.folder.path())
            .env("TMPDIR", self.folder.path())
            .env("XDG_RUNTIME_DIR", self.folder.path())
            .env("XDG_CONFIG_HOME", self.folder.path())
            .env("LC_ALL", "C.UTF-8")
            .env("NO_AT_BRIDGE", "1")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::null());
        command
    }

    pub fn spawn(&mut self, mut command: Command) -> &mut Child {
        self.programs.0.push(command.process_group(0).spawn().unwrap());
        self.programs.0.last_mut().unwrap()
    }

    /// Starts a program whose standard output is a journal of JSON lines.
    pub fn journal(&mut self, mut command: Command) -> Journal {
        let mut child = command.process_group(0).stdout(Stdio::piped()).spawn().unwrap();
        let output = child.stdout.take().unwrap();
        self.programs.0.push(child);
        Journal::of(output)
    }

    /// Sends a signal to the program that was started last.
    pub fn signal(&self, name: &str) {
        let pid = self.programs.0.last().unwrap().id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    /// The GTK3 fixture at a place; answers when it is shown.
    pub fn gtk(&mut self, title: &str, x: i32, y: i32, width: u32, height: u32) -> Fixture {
        let mut command = self.command("/usr/bin/python3");
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/journal_gtk3.py"));
        command.arg(title).args([x.to_string(), y.to_string(), width.to_string(), height.to_string()]);
        let mut journal = self.journal(command);
        let ready = journal.wait("the fixture's window", |record| record["did"] == "ready");
        let window = ready["window"].as_u64().unwrap() as u32;
        let fixture = Fixture { window, places: ready["places"].clone(), journal };
        until("the active window", || (self.active() == window).then_some(()));
        // GDK gives the focus on to the hidden window that it makes right after the top-level one.
        until("the focus", || (self.person().2 == window + 1).then_some(()));
        fixture
    }

    /// How the program ended that was started last; none while it runs.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.programs.0.last_mut().unwrap().try_wait().unwrap()
    }

    pub fn property(&self, window: Window, name: &str) -> Vec<u32> {
        servers::property(&self.conn, window, name)
    }

    pub fn active(&self) -> Window {
        self.property(self.root, "_NET_ACTIVE_WINDOW").first().copied().unwrap_or(0)
    }

    pub fn clients(&self) -> Vec<Window> {
        self.property(self.root, "_NET_CLIENT_LIST")
    }

    /// Pointer, focus, active window and stacking, as a second client sees them.
    pub fn person(&self) -> (i16, i16, Window, Window, Vec<u32>) {
        let pointer = self.conn.query_pointer(self.root).unwrap().reply().unwrap();
        let focus = self.conn.get_input_focus().unwrap().reply().unwrap().focus;
        let stack = self.property(self.root, "_NET_CLIENT_LIST_STACKING");
        (pointer.root_x, pointer.root_y, focus, self.active(), stack)
    }

    /// The person's keyboard map.
    pub fn keymap(&self) -> Vec<Vec<u32>> {
        servers::keymap(&self.conn)
    }

    /// The keycodes that are down on the person's keyboard.
    pub fn keys_down(&self) -> Vec<u8> {
        let keys = self.conn.query_keymap().unwrap().reply().unwrap().keys;
        (0..=255u8).filter(|keycode| keys[usize::from(keycode / 8)] >> (keycode % 8) & 1 == 1).collect()
    }

    /// The buttons that are down on the person's pointer, as bits from the first.
    pub fn buttons_down(&self) -> u16 {
        u16::from(self.conn.query_pointer(self.root).unwrap().reply().unwrap().mask) >> 8
    }

    /// The names of all master pointers.
    pub fn masters(&self) -> Vec<String> {
        let devices = self.conn.xinput_xi_query_device(0u16).unwrap().reply().unwrap().infos;
        let pointers = devices.into_iter().filter(|device| device.type_ == DeviceType::MASTER_POINTER);
        pointers.map(|device| String::from_utf8(device.name).unwrap()).collect()
    }

    /// The child of the root window that a master pointer is in, by the beginning of its name.
    pub fn under(&self, pointer: &str) -> Option<Window> {
        let devices = self.conn.xinput_xi_query_device(0u16).unwrap().reply().unwrap().infos;
        let is_meant = |name: &[u8]| name.starts_with(pointer.as_bytes()) && name.ends_with(b" pointer");
        let found = devices
            .iter()
            .find(|device| device.type_ == DeviceType::MASTER_POINTER && is_meant(&device.name))?;
        Some(self.conn.xinput_xi_query_pointer(self.root, found.deviceid).unwrap().reply().unwrap().child)
    }

    /// The pointer that core requests of the window's application go to.
    pub fn client_pointer(&self, window: Window) -> u16 {
        self.conn.xinput_xi_get_client_pointer(window).unwrap().reply().unwrap().deviceid
    }

    pub fn put_pointer(&self, x: i16, y: i16) {
        self.conn.warp_pointer(x11rb::NONE, self.root, 0, 0, 0, 0, x, y).unwrap();
        self.conn.get_input_focus().unwrap().reply().unwrap();
    }

    /// Where the window's top-left corner is on the screen.
    pub fn origin(&self, window: Window) -> (i16, i16) {
        let at = self.conn.translate_coordinates(window, self.root, 0, 0).unwrap().reply().unwrap();
        (at.dst_x, at.dst_y)
    }

    pub fn connection(&self) -> (&RustConnection, Window) {
        (&self.conn, self.root)
    }

    /// Watches a window.
    pub fn watch(&self, window: Window) -> Watch {
        let (conn, _) = RustConnection::connect(Some(&self.display)).unwrap();
        conn.xinput_xi_query_version(2, 2).unwrap().reply().unwrap();
        conn.shape_query_version().unwrap().reply().unwrap();
        let mut top = window;
        loop {
            let parent = conn.query_tree(top).unwrap().reply().unwrap().parent;
            if parent == self.root {
                break;
            }
            top = parent;
        }
        let mut windows = vec![top];
        let mut next = 0;
        while let Some(parent) = windows.get(next) {
            windows.extend(conn.query_tree(*parent).unwrap().reply().unwrap().children);
            next += 1;
        }
        let mask = XIEventMask::ENTER
            | XIEventMask::LEAVE
            | XIEventMask::FOCUS_IN
            | XIEventMask::FOCUS_OUT
            | XIEventMask::MOTION
            | XIEventMask::BUTTON_PRESS
            | XIEventMask::BUTTON_RELEASE
            | XIEventMask::KEY_PRESS
            | XIEventMask::KEY_RELEASE;
        let all_masters = 1;
        let core = EventMask::ENTER_WINDOW | EventMask::LEAVE_WINDOW | EventMask::FOCUS_CHANGE;
        for window in &windows {
            let masks = [xinput::EventMask { deviceid: all_masters, mask: vec![mask] }];
            conn.xinput_xi_select_events(*window, &masks).unwrap().check().unwrap();
            let core = ChangeWindowAttributesAux::new().event_mask(core);
            conn.change_window_attributes(*window, &core).unwrap().check().unwrap();
        }
        Watch { conn, windows }
    }

    /// Runs a program to its end and answers with what it printed.
    pub fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.command(program).args(arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// A second client that hears what devices do to a window, its frame and everything inside.
pub struct Watch {
    conn: RustConnection,
    windows: Vec<Window>,
}

impl Watch {
    /// What was heard so far, but for shapes, which are no events of devices.
    pub fn heard(&self) -> Vec<String> {
        self.conn.get_input_focus().unwrap().reply().unwrap();
        std::iter::from_fn(|| self.conn.poll_for_event().unwrap())
            .map(|event| match event {
                Event::XinputEnter(event) | Event::XinputLeave(event) => {
                    let (x, y) = (event.root_x >> 16, event.root_y >> 16);
                    format!(
                        "device {} crosses {:#x} at {x}, {y}, {:?} {:?}",
                        event.deviceid, event.event, event.mode, event.detail
                    )
                }
                event => format!("{event:?}"),
            })
            .collect()
    }

    /// The child of the root window that was watched.
    pub fn top(&self) -> Window {
        self.windows[0]
    }

    /// The shapes in which the windows take input.
    pub fn shapes(&self) -> Vec<Vec<(i16, i16, u16, u16)>> {
        let ask =
            |window: &Window| self.conn.shape_get_rectangles(*window, SK::INPUT).unwrap().reply().unwrap();
        let parts = |reply: GetRectanglesReply| {
            reply.rectangles.iter().map(|part| (part.x, part.y, part.width, part.height)).collect()
        };
        self.windows.iter().map(|window| parts(ask(window))).collect()
    }
}

pub struct Fixture {
    pub window: Window,
    pub places: Value,
    pub journal: Journal,
}

impl Fixture {
    pub fn place(&self, name: &str) -> desktop::Point {
        let place = &self.places[name];
        desktop::Point { x: place[0].as_i64().unwrap() as i32, y: place[1].as_i64().unwrap() as i32 }
    }
}

/// The lines that an application wrote.
pub struct Journal {
    lines: Receiver<Value>,
    pub seen: Vec<Value>,
}

impl Journal {
    /// Serves one page on a port of its own; what the page posts is the journal.
    pub fn web(page: &'static str) -> (u16, Self) {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for mut peer in listener.incoming().map_while(Result::ok) {
                let sender = sender.clone();
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(peer.try_clone().unwrap());
                    let (mut line, mut length, mut post) = (String::new(), 0, false);
                    while reader.read_line(&mut line).unwrap_or(0) > 2 {
                        post |= line.starts_with("POST");
                        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                            length = value.trim().parse().unwrap_or(0);
                        }
                        line.clear();
                    }
                    let mut body = vec![0; length];
                    if reader.read_exact(&mut body).is_ok() && post {
                        let _ = sender.send(serde_json::from_slice(&body).unwrap_or(Value::Null));
                    }
                    let body = if post { "" } else { page };
                    let head =
                        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html; charset=utf-8";
                    let _ = write!(peer, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
                });
            }
        });
        (port, Self { lines, seen: Vec::new() })
    }

    pub fn of(output: impl Read + Send + 'static) -> Self {
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Ok(record) = serde_json::from_str(&line) {
                    let _ = sender.send(record);
                }
            }
        });
        Self { lines, seen: Vec::new() }
    }

    /// All records up to the first that is meant, which is the last of them; they are forgotten.
    pub fn until(&mut self, what: &str, meant: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut all = std::mem::take(&mut self.seen);
        loop {
            self.take();
            all.append(&mut self.seen);
            if let Some(at) = all.iter().position(&meant) {
                self.seen = all.split_off(at + 1);
                return all;
            }
            all.push(
                self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("waited in vain for {what}")),
            );
        }
    }

    /// The first record, seen already or to come, that is meant; what stood before it is forgotten.
    pub fn wait(&mut self, what: &str, meant: impl Fn(&Value) -> bool) -> Value {
        let found = self.next(PATIENCE, meant);
        found.unwrap_or_else(|| panic!("waited in vain for {what}; the journal: {:?}", self.seen))
    }

    /// As [`Journal::wait`]; none when it did not come in time.
    pub fn next(&mut self, patience: Duration, meant: impl Fn(&Value) -> bool) -> Option<Value> {
        let deadline = Instant::now() + patience;
        loop {
            self.take();
            if let Some(at) = self.seen.iter().position(&meant) {
                return self.seen.drain(..=at).next_back();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(record) => self.seen.push(record),
                Err(_) => return None,
            }
        }
    }

    /// What has come from an agent's devices so far.
    pub fn of_agents(&mut self) -> Vec<&Value> {
        self.take();
        let of_agent =
            |record: &&Value| record["device"].as_str().is_some_and(|name| name.starts_with("backlot"));
        self.seen.iter().filter(of_agent).collect()
    }

    fn take(&mut self) {
        self.seen.extend(self.lines.try_iter());
    }
}
