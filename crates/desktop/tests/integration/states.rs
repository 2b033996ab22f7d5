//! Maximising, minimising, restoring and closing windows, on a private display.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use desktop::{Desktop, DesktopError, FrameExtents, Window, WindowId, WindowState};
use test_support::{TestDisplay, wait_for};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{ConnectionExt as _, CreateWindowAux, WindowClass};
use x11rb::rust_connection::RustConnection;

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(300);

/// A window whose program closes it where its first argument says so.
const ASKED: &str = "
import gi, sys
gi.require_version('Gtk', '3.0')
from gi.repository import Gtk
window = Gtk.Window(title='asked')
window.connect('delete-event', lambda *_: sys.argv[1] == 'stays')
window.connect('destroy', Gtk.main_quit)
window.show()
Gtk.main()
";

/// Window managers with what they are started with.
const MANAGERS: [&[&str]; 3] = [
    &["openbox", "--sm-disable"],
    &["dbus-run-session", "--", "xfwm4", "--compositor=off"],
    &["dbus-run-session", "--", "metacity", "--no-composite"],
];

fn managed_by(manager: &[&str]) -> (TestDisplay, Arc<Desktop>, Ending) {
    let mut display = TestDisplay::bare().unwrap();
    let pid = display.run(manager[0], &manager[1..]).unwrap();
    let desktop = Desktop::open(Some(display.name())).unwrap();
    wait_for(|| desktop.x11_window_manager().unwrap()).expect("the window manager runs");
    (display, desktop, Ending(pid))
}

/// Ends the children of a process when it is dropped: a bus ends, with what it started, when the program ends for which
/// it runs, and not when whoever started both is killed.
struct Ending(u32);

impl Drop for Ending {
    fn drop(&mut self) {
        let parent = self.0.to_string();
        let managers = ["xfwm4", "metacity"];
        for manager in managers {
            let _ = Command::new("pkill").args(["-TERM", "-x", "-P", &parent, manager]).status();
        }
        let has_bus =
            || Command::new("pgrep").args(["-P", &parent]).output().is_ok_and(|found| found.status.success());
        let _ = wait_for(|| (!has_bus()).then_some(()));
    }
}

fn managed() -> (TestDisplay, Arc<Desktop>) {
    let (display, desktop, _) = managed_by(MANAGERS[0]);
    (display, desktop)
}

fn window_of(display: &mut TestDisplay, desktop: &Desktop, program: &str, arguments: &[&str]) -> Window {
    let pid = display.run(program, arguments).unwrap();
    let on_screen = |window: &Window| window.pid == pid && window.is_on_screen;
    wait_for(|| desktop.windows().unwrap().into_iter().find(on_screen)).unwrap()
}

fn xterm(display: &mut TestDisplay, desktop: &Desktop) -> Window {
    window_of(display, desktop, "xterm", &["-geometry", "40x10+100+100"])
}

/// What `xprop` says of a property.
fn witnessed(display: &TestDisplay, window: WindowId, property: &str) -> String {
    let id = window.to_string();
    let mut command = Command::new("xprop");
    let output = command.args(["-id", &id, property]).env("DISPLAY", display.name()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// What `xprop` says of the active window.
fn active_by_root(display: &TestDisplay) -> String {
    let mut command = Command::new("xprop");
    let output =
        command.args(["-root", "_NET_ACTIVE_WINDOW"]).env("DISPLAY", display.name()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// A window of a program that takes no request to close it.
fn plain_window(display: &TestDisplay) -> (RustConnection, WindowId) {
    let (conn, screen) = RustConnection::connect(Some(display.name())).unwrap();
    let (root, window) = (conn.setup().roots[screen].root, conn.generate_id().unwrap());
    let (kind, none) = (WindowClass::INPUT_OUTPUT, CreateWindowAux::new());
    conn.create_window(0, window, root, 0, 0, 100, 100, 0, kind, 0, &none).unwrap();
    conn.map_window(window).unwrap();
    conn.flush().unwrap();
    (conn, WindowId::of_xid(window))
}

fn code<T>(answer: Result<T, DesktopError>) -> Result<T, &'static str> {
    answer.map_err(|error| error.code())
}

#[test]
fn a_window_is_maximised_minimised_and_restored() {
    for manager in MANAGERS {
        let (mut display, desktop, _ending) = managed_by(manager);
        let window = xterm(&mut display, &desktop);
        let id = window.window_id;
        let is_active = wait_for(|| desktop.window_state(id).unwrap().is_active.then_some(()));
        assert!(
            is_active.is_some(),
            "{manager:?}: {:#x} is not active: {}",
            id.xid(),
            active_by_root(&display)
        );
        let size = |state: WindowState| (state.size.width, state.size.height);

        let large = desktop.maximize(id).unwrap();
        assert!(large.is_maximized && !large.is_minimized);
        // A terminal has whole columns and rows.
        assert!(large.size.width > 1200 && large.size.height > 700, "{manager:?}: {large:?}");
        let states = witnessed(&display, id, "_NET_WM_STATE");
        assert!(
            states.contains("MAXIMIZED_HORZ") && states.contains("MAXIMIZED_VERT"),
            "{manager:?}: {states}"
        );

        let small = desktop.minimize(id).unwrap();
        assert!(small.is_minimized && !small.is_active, "{manager:?}: {small:?}");
        assert!(witnessed(&display, id, "WM_STATE").contains("Iconic"));

        let back = desktop.restore(id).unwrap();
        assert!(!back.is_minimized && !back.is_maximized);
        assert_eq!(size(back), (window.size.width, window.size.height), "{manager:?}");
        assert!(witnessed(&display, id, "WM_STATE").contains("Normal"));

        desktop.minimize(id).unwrap();
        assert!(desktop.maximize(id).unwrap().is_maximized, "{manager:?}");
        assert_eq!(code(desktop.maximize(WindowId::of_xid(4711))), Err("window_not_found"));
    }
}

#[test]
fn a_window_is_closed_by_its_program_or_said_to_stay() {
    let (mut display, desktop) = managed();
    let willing = window_of(&mut display, &desktop, "/usr/bin/python3", &["-c", ASKED, "goes"]).window_id;
    desktop.close_window(willing, LONG).unwrap();
    assert_eq!(desktop.window(willing).unwrap(), None);
    assert_eq!(code(desktop.close_window(willing, SHORT)), Err("window_not_found"));

    let plain = plain_window(&display);
    wait_for(|| desktop.window(plain.1).unwrap()).expect("the window without protocols");
    assert_eq!(code(desktop.close_window(plain.1, SHORT)), Err("window_manager_refused"));

    let stubborn = window_of(&mut display, &desktop, "/usr/bin/python3", &["-c", ASKED, "stays"]);
    assert_eq!(code(desktop.close_window(stubborn.window_id, SHORT)), Err("window_manager_refused"));
    assert!(desktop.window(stubborn.window_id).unwrap().is_some());
}

#[test]
fn decorations_have_the_widths_that_the_window_manager_says() {
    let (mut display, desktop) = managed();
    let window = xterm(&mut display, &desktop);
    let extents = desktop.frame_extents(window.window_id).unwrap();
    let FrameExtents { left, right, top, bottom } = extents;
    let said = witnessed(&display, window.window_id, "_NET_FRAME_EXTENTS");
    assert!(said.trim().ends_with(&format!("= {left}, {right}, {top}, {bottom}")), "{said}");
    assert!(top > 0);
}

#[test]
fn without_a_window_manager_nothing_pretends() {
    let mut display = TestDisplay::bare().unwrap();
    let desktop = Desktop::open(Some(display.name())).unwrap();
    let window = xterm(&mut display, &desktop).window_id;
    for change in [Desktop::maximize, Desktop::minimize, Desktop::restore] {
        assert_eq!(code(change(&desktop, window)), Err("window_manager_refused"));
    }
    // A terminal has a border of its own where nobody decorates it.
    assert_eq!(desktop.frame_extents(window).unwrap(), FrameExtents { left: 1, right: 1, top: 1, bottom: 1 });
    let willing = window_of(&mut display, &desktop, "/usr/bin/python3", &["-c", ASKED, "goes"]);
    desktop.close_window(willing.window_id, LONG).unwrap();
}
