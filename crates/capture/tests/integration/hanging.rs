//! An X server that stands still.

use std::process::Command;
use std::sync::Arc;

use capture::Capturer;
use desktop::{Desktop, WindowId};
use test_support::TestDisplay;

#[test]
fn a_picture_is_not_waited_for_for_ever() {
    let display = TestDisplay::bare().unwrap();
    let desktop = Desktop::open(Some(display.name())).unwrap();
    let capturer = Capturer::open(Arc::clone(&desktop)).unwrap();
    let tell = |signal: &str| Command::new("kill").args([signal, &display.server_pid().to_string()]).status();
    tell("-STOP").unwrap();
    let pictures = std::thread::scope(|scope| {
        let screen = scope.spawn(|| capturer.screen(0, &[]).map(drop));
        let window = scope.spawn(|| capturer.window(WindowId::of_xid(1), 0).map(drop));
        [screen.join(), window.join()]
    });
    let again = Desktop::open(Some(display.name())).map(drop);
    tell("-CONT").unwrap();
    for picture in pictures {
        assert_eq!(picture.unwrap().unwrap_err().code(), "display_lost");
    }
    assert_eq!(again.unwrap_err().code(), "display_unavailable");
}
