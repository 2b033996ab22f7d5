//! The window list on a private display, with real programs.

use std::sync::Arc;

use desktop::x11::Placed;
use desktop::{Desktop, Window, WindowId, WindowKind};
use test_support::{TestDisplay, wait_for};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, CreateWindowAux, PropMode, WindowClass};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

fn managed() -> (TestDisplay, Arc<Desktop>) {
    let display = TestDisplay::managed().unwrap();
    let desktop = Desktop::open(Some(display.name())).unwrap();
    wait_for(|| desktop.x11_window_manager().unwrap()).expect("openbox runs");
    (display, desktop)
}

fn window_of(desktop: &Desktop, pid: u32) -> Option<Window> {
    desktop.windows().unwrap().into_iter().find(|window| window.pid == pid)
}

fn placed(desktop: &Desktop, id: WindowId) -> Option<Placed> {
    desktop.x11_windows().unwrap().into_iter().find(|placed| placed.window_id == id)
}

#[test]
fn a_managed_window_has_its_process_title_and_client_rectangle() {
    let (mut display, desktop) = managed();
    assert_eq!(desktop.x11_window_manager().unwrap().unwrap().name, "Openbox");
    let pid = display.run("xterm", &["-T", "Grüße äöü", "-geometry", "80x24+100+120"]).unwrap();
    let window = wait_for(|| window_of(&desktop, pid)).unwrap();
    assert_eq!(window.title, "Grüße äöü");
    assert_eq!(window.kind, WindowKind::Normal);
    assert!(window.is_on_screen && window.on_current_space && !window.is_minimized);
    let placed = placed(&desktop, window.window_id).unwrap();
    assert_ne!(placed.frame_id, window.window_id.xid());
    assert!(placed.frame.height > window.size.height, "the frame has a title bar");
    assert!(window.bounds().unwrap().y > placed.frame.y);
    assert_eq!(wait_for(|| desktop.active_window().unwrap()), Some(window.window_id));
}

#[test]
fn the_stack_and_the_geometry_follow_events() {
    let (mut display, desktop) = managed();
    let first = display.run("xterm", &["-geometry", "40x10+0+0"]).unwrap();
    let first = wait_for(|| window_of(&desktop, first)).unwrap();
    let second = display.run("xterm", &["-geometry", "40x10+50+50"]).unwrap();
    let second = wait_for(|| window_of(&desktop, second)).unwrap();
    let order = |desktop: &Desktop| {
        desktop.windows().unwrap().iter().map(|window| window.window_id).collect::<Vec<_>>()
    };
    wait_for(|| (order(&desktop) == [first.window_id, second.window_id]).then_some(())).unwrap();

    let tool = |display: &mut TestDisplay, arguments: &[&str]| display.run("xdotool", arguments).unwrap();
    let id = first.window_id.to_string();
    tool(&mut display, &["windowraise", &id]);
    wait_for(|| (order(&desktop) == [second.window_id, first.window_id]).then_some(())).unwrap();
    tool(&mut display, &["windowmove", &id, "300", "200"]);
    wait_for(|| {
        let placed = placed(&desktop, first.window_id)?;
        (placed.bounds.x >= 300 && placed.bounds.y >= 200 && placed.frame.x >= 290).then_some(())
    })
    .unwrap();
    tool(&mut display, &["windowminimize", &id]);
    let is_hidden = |window: &Window| window.is_minimized && !window.is_on_screen;
    wait_for(|| desktop.window(first.window_id).unwrap().filter(is_hidden)).unwrap();
    display.end(first.pid);
    wait_for(|| desktop.window(first.window_id).unwrap().is_none().then_some(())).unwrap();
}

#[test]
fn a_window_that_gets_the_id_of_one_that_went_is_another() {
    let (mut display, desktop) = managed();
    let first = display.run("xterm", &["-T", "first"]).unwrap();
    let first = wait_for(|| window_of(&desktop, first)).unwrap();
    // Nobody looks in between.
    display.end(first.pid);
    let pid = display.run("xterm", &["-T", "second"]).unwrap();
    let second = wait_for(|| window_of(&desktop, pid)).unwrap();
    assert_eq!(
        second.window_id, first.window_id,
        "the server gives the ids of a client that went to the next"
    );
    assert_eq!(second.title, "second");
}

#[test]
fn a_menu_is_a_popup_of_its_window() {
    let (mut display, desktop) = managed();
    let pid = display.run("mousepad", &["--disable-server"]).unwrap();
    let main = wait_for(|| window_of(&desktop, pid).filter(|window| window.is_on_screen)).unwrap();
    wait_for(|| (desktop.active_window().unwrap() == Some(main.window_id)).then_some(())).unwrap();
    // A program that just drew its first window may not yet listen to keys.
    let popup = wait_for(|| {
        display.run("xdotool", &["key", "alt+f"]).unwrap();
        let found = || {
            let windows = desktop.windows().unwrap();
            windows.into_iter().find(|window| window.pid == pid && window.kind == WindowKind::Popup)
        };
        // The same keys close it: they are pressed again only where nothing comes of them for long.
        (0..500).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(2));
            found()
        })
    });
    assert_eq!(popup.unwrap().owner_window_id, Some(main.window_id));
}

#[test]
fn a_window_that_is_shown_again_has_the_title_that_it_got_meanwhile() {
    let display = TestDisplay::bare().unwrap();
    let desktop = Desktop::open(Some(display.name())).unwrap();
    let (program, screen) = RustConnection::connect(Some(display.name())).unwrap();
    let root = program.setup().roots[screen].root;
    let (window, class) = (program.generate_id().unwrap(), WindowClass::INPUT_OUTPUT);
    program.create_window(0, window, root, 0, 0, 100, 100, 0, class, 0, &CreateWindowAux::new()).unwrap();
    let rename = |title: &[u8]| {
        let (kind, property) = (AtomEnum::STRING, AtomEnum::WM_NAME);
        let sent = program.change_property8(PropMode::REPLACE, window, property, kind, title);
        sent.unwrap().check().unwrap();
    };
    let title = || desktop.window(WindowId::of_xid(window)).unwrap().map(|window| window.title);
    rename(b"first");
    program.map_window(window).unwrap().check().unwrap();
    assert_eq!(title().as_deref(), Some("first"));
    program.unmap_window(window).unwrap().check().unwrap();
    assert_eq!(title(), None);
    rename(b"second");
    assert_eq!(title(), None);
    program.map_window(window).unwrap().check().unwrap();
    assert_eq!(title().as_deref(), Some("second"));
}

#[test]
fn without_a_window_manager_named_root_children_are_listed() {
    let mut display = TestDisplay::bare().unwrap();
    let desktop = Desktop::open(Some(display.name())).unwrap();
    assert_eq!(desktop.x11_window_manager().unwrap(), None);
    let pid = display.run("xterm", &["-T", "bare"]).unwrap();
    let window = wait_for(|| window_of(&desktop, pid)).unwrap();
    assert_eq!(window.title, "bare");
    assert_eq!(placed(&desktop, window.window_id).unwrap().frame_id, window.window_id.xid());
    assert!(desktop.x11_stacking().unwrap().iter().any(|frame| frame.id == window.window_id.xid()));
}

#[test]
fn a_lost_display_and_a_closed_one_say_so() {
    let mut display = TestDisplay::bare().unwrap();
    let desktop = Desktop::open(Some(display.name())).unwrap();
    desktop.windows().unwrap();
    display.end_server();
    let code = wait_for(|| desktop.windows().err()).unwrap().code();
    assert_eq!(code, "display_lost");
    assert_eq!(desktop.cursor_position().unwrap_err().code(), "display_lost");

    let display = TestDisplay::bare().unwrap();
    let desktop = Desktop::open(Some(display.name())).unwrap();
    desktop.close();
    desktop.close();
    assert_eq!(desktop.windows().unwrap_err().code(), "display_lost");
    assert_eq!(Desktop::open(Some(":none")).err().unwrap().code(), "display_unavailable");
}

#[test]
fn the_probe_names_the_server_and_its_extensions() {
    let (_display, desktop) = managed();
    let probe = desktop.probe().unwrap();
    assert_eq!(probe.window_manager.as_deref(), Some("Openbox"));
    assert!(probe.extensions.iter().any(|name| name == "composite"));
    assert!(!probe.compositor && !probe.vendor.is_empty());
    let screen = desktop.screen().unwrap();
    assert_eq!((screen.width, screen.height, screen.scale_factor), (1280, 800, 1.0));
}
