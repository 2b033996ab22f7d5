//! An X server that stands still.

use std::process::Command;
use std::sync::Arc;
use std::thread;

use desktop::{Clip, Desktop, DesktopError, LaunchOptions};
use test_support::{Folder, TestDisplay, wait_for};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt as _, CreateWindowAux, WindowClass};
use x11rb::rust_connection::RustConnection;

#[test]
fn closing_ends_every_wait_for_a_server_that_stands_still() {
    let display = TestDisplay::bare().unwrap();
    let desktop = Desktop::open(Some(display.name())).unwrap();
    let tell = |signal: &str| Command::new("kill").args([signal, &display.server_pid().to_string()]).status();
    tell("-STOP").unwrap();
    let ask = |question: fn(&Desktop) -> Result<(), DesktopError>| {
        let desktop = Arc::clone(&desktop);
        thread::spawn(move || question(&desktop))
    };
    let waiting = [
        ask(|desktop| desktop.windows().map(drop)),
        ask(|desktop| desktop.cursor_position().map(drop)),
        ask(|desktop| desktop.screen().map(drop)),
    ];
    let text = Clip { text: Some("unheard".to_owned()), ..Clip::default() };
    let writing = {
        let desktop = Arc::clone(&desktop);
        thread::spawn(move || desktop.clipboard_write(&text))
    };
    // Nobody who only asks is kept by it.
    assert!(!desktop.clipboard_is_held());
    desktop.close();
    let ended = wait_for(|| waiting.iter().all(thread::JoinHandle::is_finished).then_some(()));
    tell("-CONT").unwrap();
    ended.unwrap();
    for each in waiting {
        assert_eq!(each.join().unwrap().unwrap_err().code(), "display_lost");
    }
    writing.join().unwrap().unwrap_err();
}

#[test]
fn closing_ends_a_launch_on_a_server_that_stands_still() {
    let mut display = TestDisplay::managed().unwrap();
    let desktop = Desktop::open(Some(display.name())).unwrap();
    wait_for(|| desktop.x11_window_manager().unwrap()).unwrap();
    display.run("xterm", &["-e", "cat"]).unwrap();
    // Only where something has the focus the windows of a launch are marked.
    wait_for(|| desktop.active_window().unwrap()).unwrap();
    let folder = Folder::new().unwrap();
    let file = folder.path().join("pid");
    let options = LaunchOptions {
        name: Some("sh".to_owned()),
        additional_arguments: vec!["-c".to_owned(), format!("echo $$ >'{}'; exec sleep 600", file.display())],
        ..LaunchOptions::default()
    };
    let launching = {
        let desktop = Arc::clone(&desktop);
        thread::spawn(move || desktop.launch(&options).map(drop))
    };
    let pid = wait_for(|| std::fs::read_to_string(&file).ok().filter(|text| text.ends_with('\n'))).unwrap();
    // The desktop hears of the new window, and has no answer to who made it: the server serves nobody else now.
    let (witness, screen) = RustConnection::connect(Some(display.name())).unwrap();
    let root = witness.setup().roots[screen].root;
    witness.grab_server().unwrap();
    let (window, class) = (witness.generate_id().unwrap(), WindowClass::INPUT_ONLY);
    witness.create_window(0, window, root, 0, 0, 1, 1, 0, class, 0, &CreateWindowAux::new()).unwrap();
    witness.flush().unwrap();
    // Once this gave up, the desktop waits for that answer.
    assert!(Desktop::open(Some(display.name())).is_err());
    let closing = thread::spawn(move || desktop.close());
    let ended = wait_for(|| (closing.is_finished() && launching.is_finished()).then_some(()));
    Command::new("kill").arg(pid.trim()).status().unwrap();
    ended.unwrap();
    assert_eq!(launching.join().unwrap().unwrap_err().code(), "display_lost");
}
