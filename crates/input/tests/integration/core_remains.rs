//! What is held on the display's own devices is released when its holder closes, and when it is killed.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::test_desktop::{Server, TestDesktop, session, until};
use input::{Button, CoreAction, CoreDevices, sweep_core_devices};

const SERVERS: [Server; 2] = [Server::Xvfb, Server::Xvnc];
const DISPLAY: &str = "INPUT_TEST_CORE_DISPLAY";
const HELD: &str = "core_remains::held_by_a_killed_process_it_is_released_at_once";

fn perform(devices: &CoreDevices, act: &CoreAction) {
    devices.perform(act, &devices.ask()).unwrap();
}

/// Holds Control, a button and a keycode that is borrowed, and types without an end.
fn hold(devices: &CoreDevices) {
    perform(devices, &CoreAction::KeyDown { keysym: input::check_key("ctrl").unwrap() });
    perform(devices, &CoreAction::Press { button: Button::Middle, at: None });
    let (text, delay) = ("世A".to_owned(), Duration::from_secs(600));
    perform(devices, &CoreAction::Text { text, delay });
}

#[test]
fn closing_releases_what_is_held() {
    for server in SERVERS {
        let desktop = TestDesktop::open(server);
        let keymap = desktop.keymap();
        let devices = CoreDevices::open(&desktop.session()).unwrap();
        perform(&devices, &CoreAction::KeyDown { keysym: input::check_key("ctrl").unwrap() });
        perform(&devices, &CoreAction::KeyDown { keysym: input::check_key("世").unwrap() });
        perform(&devices, &CoreAction::Press { button: Button::Left, at: None });
        assert_eq!((desktop.keys_down().len(), desktop.buttons_down()), (2, 1));
        devices.close().unwrap();
        devices.close().unwrap();
        assert_eq!((desktop.keys_down(), desktop.buttons_down(), desktop.keymap()), (vec![], 0, keymap));
        let error = devices.perform(&CoreAction::ReleaseAll, &devices.ask()).unwrap_err();
        assert_eq!(error.code(), "agent_closed");
    }
}

/// This program again, which holds things on the display without an end.
fn holder(desktop: &TestDesktop) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", HELD]).env(DISPLAY, &desktop.display);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn held_by_a_killed_process_it_is_released_at_once() {
    if let Ok(display) = std::env::var(DISPLAY) {
        return hold(&CoreDevices::open(&session(&display)).unwrap());
    }
    for server in SERVERS {
        let mut desktop = TestDesktop::open(server);
        let mut front = desktop.gtk("front", 50, 60, 500, 400);
        desktop.run("xdotool", &["key", "Caps_Lock"]);
        let (lit, keymap) = (desktop.run("xset", &["q"]), desktop.keymap());
        let mut child = holder(&desktop);
        front.journal.wait("the middle of the text", |record| record["text"] == "世");
        assert_ne!((desktop.keymap(), desktop.buttons_down()), (keymap.clone(), 0));
        child.kill().unwrap();
        child.wait().unwrap();
        until("what it held to be released", || {
            let is_free =
                desktop.keys_down().is_empty() && desktop.buttons_down() == 0 && desktop.keymap() == keymap;
            (is_free && desktop.run("xset", &["q"]) == lit).then_some(())
        });
        desktop.run("xdotool", &["key", "Caps_Lock"]);
        let devices = CoreDevices::open(&desktop.session()).unwrap();
        perform(&devices, &CoreAction::Text { text: "B".to_owned(), delay: Duration::ZERO });
        front.journal.wait("the next caller's text", |record| record["text"] == "世B");
    }
}

#[test]
fn held_by_a_process_that_was_killed_with_its_guard_it_is_released_by_the_next() {
    for server in SERVERS {
        let mut desktop = TestDesktop::open(server);
        let mut front = desktop.gtk("front", 50, 60, 500, 400);
        let keymap = desktop.keymap();
        let mut child = holder(&desktop);
        front.journal.wait("the middle of the text", |record| record["text"] == "世");
        let children = format!("/proc/{0}/task", child.id());
        let guards: Vec<String> = std::fs::read_dir(children)
            .unwrap()
            .flat_map(|task| {
                std::fs::read_to_string(task.unwrap().path().join("children"))
                    .unwrap_or_default()
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(guards.len(), 1, "{guards:?}");
        assert!(Command::new("kill").arg("-KILL").arg(&guards[0]).status().unwrap().success());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_ne!((desktop.keymap(), desktop.buttons_down()), (keymap.clone(), 0));
        assert_eq!(sweep_core_devices(&desktop.session()).unwrap(), 1);
        assert_eq!((desktop.keys_down(), desktop.buttons_down(), desktop.keymap()), (vec![], 0, keymap));
        assert_eq!(sweep_core_devices(&desktop.session()).unwrap(), 0);
    }
}

#[test]
fn texts_of_several_callers_do_not_mix() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let mut front = desktop.gtk("front", 50, 60, 500, 400);
    std::thread::scope(|threads| {
        for word in ["aaaaaaaaaa", "世世世世世世世世世世", "CCCCCCCCCC"] {
            let display = &desktop.display;
            threads.spawn(move || {
                let devices = CoreDevices::open(&session(display)).unwrap();
                for _ in 0..5 {
                    perform(&devices, &CoreAction::Text { text: word.to_owned(), delay: Duration::ZERO });
                }
            });
        }
    });
    let last = front
        .journal
        .wait("all texts", |record| record["text"].as_str().is_some_and(|text| text.chars().count() == 150));
    let text: Vec<char> = last["text"].as_str().unwrap().chars().collect();
    assert!(text.chunks(10).all(|word| word.iter().all(|character| *character == word[0])), "{text:?}");
}
