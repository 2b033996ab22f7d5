//! Clicks, keys and text in xterm, which speaks the core protocol.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails may panic")]

mod stage;

use std::time::Duration;

use desktop::Point;
use input::{Agent, Button, Click, KeyPress, Modifier, Text};
use stage::{Server, Stage, until};

#[test]
fn keys_and_text_reach_a_terminal_behind_another_window() {
    for server in [Server::Xvfb, Server::Xvnc] {
        let mut stage = Stage::open(server);
        let folder = stage.folder.path().to_owned();
        let mut command = stage.command("xterm");
        command.args(["-u8", "-geometry", "80x24+50+60", "-e", "cat > typed"]).current_dir(&folder);
        stage.spawn(command);
        let window = until("the terminal", || stage.clients().first().copied());
        until("the terminal's focus", || (stage.active() == window).then_some(()));
        stage.gtk("front", 400, 300, 500, 400);
        stage.put_pointer(700, 500);
        let before = stage.person();
        let agent = Agent::open(&stage.display, "test").unwrap();
        let at = Point { x: 30, y: 30 };
        let click = Click { window_id: window, at, button: Button::Left, count: 1, modifiers: vec![] };
        println!("{:?}", agent.click(&click).unwrap());
        let typing = std::env::var("EXP_TEXT").unwrap_or("Hello, World! {~} aA".into());
        let text = Text { window_id: window, text: format!("{typing}\n"), delay: Duration::ZERO, at: None };
        println!("{:?}", agent.type_text(&text).unwrap());
        let press =
            KeyPress { window_id: window, keysym: 0x64, modifiers: vec![Modifier::Control], at: None };
        println!("{:?}", agent.press_key(&press).unwrap());
        until("the terminal's end", || (!stage.clients().contains(&window)).then_some(()));
        assert_eq!(std::fs::read_to_string(folder.join("typed")).unwrap(), format!("{typing}\n"));
        let after = stage.person();
        assert_eq!((after.0, after.1, after.2, after.3), (before.0, before.1, before.2, before.3));
    }
}
