//! Clicks, keys and text in xterm, which speaks the core protocol.

use std::time::Duration;

use crate::test_desktop::{Server, TestDesktop, until};
use desktop::{Point, WindowId};
use input::{Agent, Button, Click, KeyPress, Modifier, Text};

const SERVERS: [Server; 2] = [Server::Xvfb, Server::Xvnc];

/// A terminal that runs a script behind the person's window.
fn terminal(desktop: &mut TestDesktop, locale: &str, script: &str) -> u32 {
    let mut command = desktop.command("xterm");
    // Its toolkit waits for a window manager that need not move it, five seconds unless told.
    command
        .args(["-xrm", "*wmTimeout: 2000", "-geometry", "80x24+50+60", "-e", script])
        .current_dir(desktop.folder.path());
    command.env("LC_ALL", locale).stderr(std::process::Stdio::null());
    desktop.spawn(command);
    let window = until("the terminal", || desktop.clients().first().copied());
    until("the terminal's focus", || (desktop.active() == window).then_some(()));
    desktop.gtk("front", 400, 300, 500, 400);
    desktop.put_pointer(700, 500);
    window
}

fn text(window_id: u32, text: &str) -> Text {
    Text { window_id: WindowId::of_xid(window_id), text: text.to_owned(), delay: Duration::ZERO, at: None }
}

#[test]
fn keys_and_text_reach_a_terminal_behind_another_window() {
    for server in SERVERS {
        let mut desktop = TestDesktop::open(server);
        let window = terminal(&mut desktop, "C.UTF-8", "cat > typed");
        let before = desktop.person();
        let agent = Agent::open(&desktop.session(), "test").unwrap();
        let line = "Hello, World! {~} aA Grüße 世界 é";
        let typed = agent.type_text(&text(window, &format!("{line}\n"))).unwrap();
        assert!(typed.focus_kept && typed.active_window_kept && typed.pointer_kept && typed.stacking_kept);
        let at = Some(Point { x: 30, y: 30 });
        let press = KeyPress {
            window_id: WindowId::of_xid(window),
            keysym: 0x64,
            modifiers: vec![Modifier::Control],
            count: 1,
            at,
        };
        agent.press_key(&press).unwrap();
        until("the terminal's end", || (!desktop.clients().contains(&window)).then_some(()));
        let written = std::fs::read_to_string(desktop.folder.path().join("typed")).unwrap();
        assert_eq!(written, format!("{line}\n"));
        let after = desktop.person();
        assert_eq!((after.0, after.1, after.2, after.3), (before.0, before.1, before.2, before.3));
    }
}

#[test]
fn text_follows_a_layout_that_changes_meanwhile() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let window = terminal(&mut desktop, "C.UTF-8", "cat > typed");
    let agent = Agent::open(&desktop.session(), "test").unwrap();
    let file = desktop.folder.path().join("typed");
    let mut expected = String::new();
    for layout in ["us", "de", "fr", "ru", "us"] {
        desktop.run("setxkbmap", &[layout]);
        let line = format!("{layout}: Zygote, AMQW! (é) Ж 世界\n");
        agent.type_text(&text(window, &line)).unwrap();
        expected.push_str(&line);
        let read = || std::fs::read_to_string(&file).ok();
        until("the line", || read().filter(|typed| typed.lines().count() == expected.lines().count()));
        assert_eq!(read().unwrap(), expected);
    }
}

#[test]
fn a_click_is_reported_to_the_program_in_the_terminal() {
    for server in SERVERS {
        let mut desktop = TestDesktop::open(server);
        let script = r"stty -icanon -echo; printf '\033[?1000h'; touch ready; dd bs=1 count=6 of=clicked";
        let window = terminal(&mut desktop, "C.UTF-8", script);
        let folder = desktop.folder.path().to_owned();
        until("the program", || folder.join("ready").exists().then_some(()));
        // The terminal reads its program's output in its own time; a click it is not yet asked for is lost.
        let agent = Agent::open(&desktop.session(), "test").unwrap();
        let before = desktop.person();
        let at = Point { x: 60, y: 60 };
        let click = Click {
            window_id: WindowId::of_xid(window),
            at,
            button: Button::Left,
            count: 1,
            modifiers: vec![],
        };
        until("the report", || {
            let gone = !desktop.clients().contains(&window);
            if !gone {
                let delivery = agent.click(&click).ok()?;
                assert!(delivery.focus_kept && delivery.active_window_kept && delivery.stacking_kept);
            }
            gone.then_some(())
        });
        assert!(std::fs::read(folder.join("clicked")).unwrap().starts_with(b"\x1b[M "));
        let after = desktop.person();
        assert_eq!((after.0, after.1, after.2, after.3), (before.0, before.1, before.2, before.3));
    }
}

#[test]
fn text_that_the_terminals_locale_cannot_hold_is_refused() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let window = terminal(&mut desktop, "C", "cat > typed");
    let agent = Agent::open(&desktop.session(), "test").unwrap();
    let error = agent.type_text(&text(window, "a世b世é")).unwrap_err();
    assert_eq!(error.code(), "text_not_typable");
    assert!(error.to_string().contains("\"é世\""), "{error}");
    assert_eq!(agent.type_text(&text(window, "bell \u{7}")).unwrap_err().code(), "text_not_typable");
    agent.type_text(&text(window, "plain\n")).unwrap();
    let typed = desktop.folder.path().join("typed");
    let read = || std::fs::read_to_string(&typed).ok();
    until("the plain text", || read().filter(|text| text == "plain\n"));
}
