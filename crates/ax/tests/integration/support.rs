//! A private desktop for one test: X server, session bus, accessibility bus and applications. No test needs a window manager.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, Once, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use ax::{Accessibility, Element, Snapshot, SnapshotRequest};
use desktop::{Point, Size, WindowId};
use test_support::{Folder, end_group, finish};

/// How long a condition may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Held by every desktop, and alone by one whose test counts the waits of this process.
static COUNTED: RwLock<()> = RwLock::new(());

/// The lock as it is held: together with others, or alone.
type Counted = Result<RwLockReadGuard<'static, ()>, RwLockWriteGuard<'static, ()>>;

/// Desktops that no test uses.
static IDLE: Mutex<Vec<Services>> = Mutex::new(Vec::new());
static ENDING: Once = Once::new();

unsafe extern "C" {
    safe fn atexit(last: extern "C" fn()) -> i32;
}

extern "C" fn end_idle() {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// What runs on a desktop whose turn it is to serve one test after another.
struct Services {
    display: String,
    bus: String,
    running: Vec<Child>,
    /// Their runtime folder.
    folder: Folder,
}

impl Services {
    fn start() -> Self {
        let folder = Folder::new().unwrap();
        let mut services = Self { display: String::new(), bus: String::new(), running: Vec::new(), folder };
        // Without GLX neither it nor its clients load what draws in three dimensions.
        let of_server = ["-displayfd", "1", "-screen", "0", "1400x1000x24", "-nolisten", "tcp", "-noreset"];
        let mut server = services.run("Xvfb", &[&of_server[..], &["-extension", "GLX"]].concat());
        services.display = format!(":{}", first_line(&mut server));
        let mut bus = services.run("dbus-daemon", &["--session", "--nofork", "--print-address=1"]);
        services.bus = first_line(&mut bus);
        drop(services.run("/usr/libexec/at-spi-bus-launcher", &["--launch-immediately"]));
        services
    }

    fn run(&mut self, program: &str, arguments: &[&str]) -> ChildStdout {
        let mut child = self.command(program).args(arguments).spawn().unwrap();
        let output = child.stdout.take().unwrap();
        self.running.push(child);
        output
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("DISPLAY", &self.display)
            .env("DBUS_SESSION_BUS_ADDRESS", &self.bus)
            .env("XDG_RUNTIME_DIR", self.folder.path())
            .env("TMPDIR", self.folder.path())
            .env("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1")
            .env("LC_ALL", "C.UTF-8")
            .env_remove("AT_SPI_BUS_ADDRESS")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        command
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        for child in self.running.iter_mut().rev() {
            finish(child);
        }
    }
}

/// A desktop of one test, whose programs end with the value.
pub struct Desk {
    services: Option<Services>,
    /// A folder of the test's own.
    pub folder: Folder,
    children: Vec<Child>,
    _counted: Counted,
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.children.iter_mut().rev().for_each(end_group);
        if let Some(services) = self.services.take()
            && !std::thread::panicking()
        {
            IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(services);
        }
    }
}

impl Desk {
    /// A desktop without programs.
    pub fn start() -> Self {
        Self::holding(Ok(COUNTED.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The same when no other test has one, and keeps others waiting: [`ax::round_trips`] counts its calls only.
    pub fn alone() -> Self {
        Self::holding(Err(COUNTED.write().unwrap_or_else(PoisonError::into_inner)))
    }

    fn holding(counted: Counted) -> Self {
        ENDING.call_once(|| assert_eq!(atexit(end_idle), 0));
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let services = Some(idle.unwrap_or_else(Services::start));
        Self { services, folder: Folder::new().unwrap(), children: Vec::new(), _counted: counted }
    }

    fn services(&self) -> &Services {
        self.services.as_ref().unwrap()
    }

    /// Starts a program on the desktop; it is killed with the test. Answers its standard output.
    pub fn spawn(&mut self, program: &str, arguments: &[&str]) -> ChildStdout {
        let mut child = self.services().command(program).args(arguments).process_group(0).spawn().unwrap();
        let output = child.stdout.take().unwrap();
        self.children.push(child);
        output
    }

    /// Process of the program that was started last.
    pub fn last_pid(&self) -> u32 {
        self.children.last().unwrap().id()
    }

    /// Starts a Python program of this folder and answers its pid and its journal.
    pub fn python(&mut self, program: &str) -> (u32, Journal) {
        let path = format!("{}/tests/{program}", env!("CARGO_MANIFEST_DIR"));
        let output = self.spawn("/usr/bin/python3", &["-u", &path]);
        (self.last_pid(), Journal::follow(output))
    }

    /// Opens the accessibility bus.
    pub fn accessibility(&self) -> Accessibility {
        wait_for("the accessibility bus", || Accessibility::open(Some(&self.services().bus), None).ok())
    }
}

fn first_line(output: &mut impl Read) -> String {
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).unwrap();
    line.trim().to_owned()
}

/// What an application says on its standard output, line by line.
pub struct Journal(std::sync::mpsc::Receiver<String>);

impl Journal {
    fn follow(output: ChildStdout) -> Self {
        let (sender, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self(lines)
    }

    /// Waits for this line; earlier ones are passed over.
    pub fn expect(&self, expected: &str) {
        let deadline = Instant::now() + PATIENCE;
        let mut seen = Vec::new();
        while let Ok(line) = self.0.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            if line == expected {
                return;
            }
            seen.push(line);
        }
        panic!("no line {expected:?} in {seen:?}");
    }
}

/// Waits until the condition gives a value.
pub fn wait_for<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(Instant::now() < deadline, "{what} did not come");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// A request for the window of this title, wherever it is.
pub fn request(pid: u32, title: &str) -> SnapshotRequest {
    SnapshotRequest {
        offscreen: false,
        cell: None,
        pid,
        window_id: WindowId::of_xid(0),
        title: title.to_owned(),
        size: Size { width: 600, height: 500 },
        place: Some(Point::default()),
        max_elements: 0,
        max_depth: 0,
        all_places: false,
        timeout: PATIENCE,
        cancel: ax::Cancel::default(),
    }
}

/// Waits until the tree of the window holds this text.
pub fn tree_with(accessibility: &Accessibility, request: &SnapshotRequest, text: &str) -> Snapshot {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let seen = match accessibility.snapshot(request) {
            Ok(snapshot) => {
                let tree = snapshot.markdown(None, false);
                if tree.contains(text) {
                    return snapshot;
                }
                tree
            }
            Err(error) => error.to_string(),
        };
        assert!(Instant::now() < deadline, "no {text:?} in\n{seen}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// The element of this role and label.
pub fn element(snapshot: &Snapshot, role: &str, label: &str) -> Element {
    let mut elements = (0..snapshot.element_count()).filter_map(|index| snapshot.element(index));
    let found = elements.find(|element| element.role == role && element.label == label);
    found.unwrap_or_else(|| panic!("no {role} {label:?} in\n{}", snapshot.markdown(None, false)))
}
