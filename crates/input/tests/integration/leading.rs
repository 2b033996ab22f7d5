//! Which applications are led to the agent's devices, and until when.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use crate::test_desktop::{Server, TestDesktop, until};
use desktop::WindowId;
use input::Agent;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, CreateWindowAux, PropMode, Window, WindowClass};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

const DISPLAY: &str = "INPUT_TEST_DISPLAY";
const TEST: &str = "leading::an_application_is_led_that_has_the_numbers_of_one_which_has_ended";

/// An application with one window, which it prints, that says it answers pings.
fn application(display: &str) {
    let (conn, screen) = RustConnection::connect(Some(display)).unwrap();
    let atom = |name: &str| conn.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom;
    let (root, window) = (conn.setup().roots[screen].root, conn.generate_id().unwrap());
    let (copy, kind) = (x11rb::COPY_DEPTH_FROM_PARENT, WindowClass::INPUT_OUTPUT);
    conn.create_window(copy, window, root, 0, 0, 10, 10, 0, kind, 0, &CreateWindowAux::new()).unwrap();
    let (protocols, pings) = (atom("WM_PROTOCOLS"), atom("_NET_WM_PING"));
    conn.change_property32(PropMode::REPLACE, window, protocols, AtomEnum::ATOM, &[pings]).unwrap();
    conn.sync().unwrap();
    println!("\nwindow {window}");
    let _ = std::io::stdin().read(&mut [0]);
}

/// Runs this test program once more, as the application.
fn start(desktop: &TestDesktop) -> (Child, Window) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", TEST, "--nocapture"])
        .env(DISPLAY, &desktop.display)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let window = lines.find_map(|line| line.strip_prefix("window ")?.parse().ok()).unwrap();
    (child, window)
}

#[test]
fn an_application_is_led_that_has_the_numbers_of_one_which_has_ended() {
    if let Ok(display) = std::env::var(DISPLAY) {
        return application(&display);
    }
    for server in [Server::Xvfb, Server::Xvnc] {
        let desktop = TestDesktop::open(server);
        let (conn, _) = desktop.connection();
        let agent = Agent::open(&desktop.session(), "test").unwrap();
        let (mut first, window) = start(&desktop);
        let persons = desktop.client_pointer(window);
        agent.begin_action(WindowId::of_xid(window)).unwrap();
        agent.end_action().unwrap();
        let led = desktop.client_pointer(window);
        assert_ne!(led, persons);
        first.kill().unwrap();
        first.wait().unwrap();
        until("its window to go", || conn.get_geometry(window).unwrap().reply().is_err().then_some(()));
        let (mut second, same) = start(&desktop);
        assert_eq!(same, window, "the server gives the numbers of the client that has gone to the next");
        assert_eq!(desktop.client_pointer(same), persons);
        agent.begin_action(WindowId::of_xid(same)).unwrap();
        agent.end_action().unwrap();
        assert_eq!(desktop.client_pointer(same), led);
        second.kill().unwrap();
        second.wait().unwrap();
    }
}
