//! An X server that stands still.

use std::process::Command;
use std::sync::Arc;
use std::thread;

use desktop::{Clip, Desktop, DesktopError};
use test_support::{TestDisplay, wait_for};

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
