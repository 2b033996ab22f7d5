//! Keys and text in Qt, which takes a key's modifiers from the person's keyboard unless the key is sent to it.

use std::time::Duration;

use crate::test_desktop::{Journal, Server, TestDesktop, until};
use desktop::WindowId;
use input::{Agent, KeyPress, Modifier, Text};

const TEXT: &str = "Grüße, WORLD! 世界 😀 é Ж €";
const VERSIONS: [&str; 2] = ["5", "6"];

/// The Qt application behind the person's window, its window ids and its journal.
pub fn application(desktop: &mut TestDesktop, version: &str, more: &[&str]) -> (u32, u32, Journal) {
    let mut command = desktop.command("/usr/bin/python3");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/keys_qt.py"));
    command.args([version, "back", "50", "60", "300", "200"]).args(more);
    let mut journal = desktop.journal(command);
    let ready = journal.wait("the window", |record| record["did"] == "ready");
    let id = |name: &str| ready[name].as_u64().unwrap() as u32;
    until("the window in the list", || desktop.clients().contains(&id("window")).then_some(()));
    (id("window"), id("second"), journal)
}

fn text(window_id: u32, text: &str) -> Text {
    Text { window_id: WindowId::of_xid(window_id), text: text.to_owned(), delay: Duration::ZERO, at: None }
}

fn press(window_id: u32, keysym: u32, modifiers: &[Modifier]) -> KeyPress {
    KeyPress {
        window_id: WindowId::of_xid(window_id),
        keysym,
        modifiers: modifiers.to_vec(),
        count: 1,
        at: None,
    }
}

#[test]
fn text_arrives_exactly_in_a_covered_window_whatever_the_person_holds() {
    for version in VERSIONS {
        let mut desktop = TestDesktop::open(Server::Xvfb);
        let (window, _, mut journal) = application(&mut desktop, version, &[]);
        let mut front = desktop.gtk("front", 20, 20, 700, 600);
        desktop.put_pointer(700, 500);
        let agent = Agent::open(&desktop.session(), "test").unwrap();
        for layout in ["us", "de", "fr", "ru"] {
            desktop.run("setxkbmap", &[layout]);
            let before = (desktop.person(), desktop.keymap());
            let delivery = agent.type_text(&text(window, TEXT)).unwrap();
            assert!(delivery.focus_kept && delivery.active_window_kept && delivery.stacking_kept);
            journal.wait(layout, |record| record["text"] == TEXT);
            assert_eq!((desktop.person(), desktop.keymap()), before);
            agent.press_key(&press(window, 0x61, &[Modifier::Control])).unwrap();
            agent.press_key(&press(window, 0xffff, &[])).unwrap();
            journal.wait("the empty field", |record| record["text"] == "");
        }
        desktop.run("setxkbmap", &["us"]);
        for locks in [&["key", "Caps_Lock"][..], &["key", "Num_Lock"], &["keydown", "Shift_L"]] {
            desktop.run("xdotool", locks);
            agent.type_text(&text(window, "aB1!")).unwrap();
            journal.wait("the text beside the person's locks", |record| record["text"] == "aB1!");
            agent.press_key(&press(window, 0x61, &[Modifier::Control])).unwrap();
            agent.press_key(&press(window, 0xff08, &[])).unwrap();
            journal.wait("the empty field", |record| record["text"] == "");
        }
        desktop.run("xdotool", &["keyup", "Shift_L"]);
        assert_eq!(front.journal.of_agents(), [] as [&serde_json::Value; 0]);
    }
}

#[test]
fn shortcuts_of_a_window_without_the_focus_work() {
    for version in VERSIONS {
        let mut desktop = TestDesktop::open(Server::Xvfb);
        let (window, _, mut journal) = application(&mut desktop, version, &[]);
        desktop.gtk("front", 20, 20, 700, 600);
        desktop.put_pointer(700, 500);
        let before = desktop.person();
        let agent = Agent::open(&desktop.session(), "test").unwrap();
        for (keysym, modifiers, name) in [
            (0x73, &[Modifier::Control][..], "Ctrl+S"),
            (0x6b, &[Modifier::Control, Modifier::Shift], "Ctrl+Shift+K"),
            (0xffc2, &[], "F5"),
        ] {
            agent.press_key(&press(window, keysym, modifiers)).unwrap();
            journal.wait(name, |record| record["name"] == name);
        }
        assert_eq!(desktop.person(), before);
    }
}

#[test]
fn keys_that_would_reach_the_persons_own_window_of_the_application_are_refused() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let (window, second, mut journal) = application(&mut desktop, "5", &["two"]);
    desktop.run("xdotool", &["windowactivate", "--sync", &second.to_string()]);
    until("the focus of the second window", || (desktop.person().2 == second).then_some(()));
    let agent = Agent::open(&desktop.session(), "test").unwrap();
    assert_eq!(agent.type_text(&text(window, "a")).unwrap_err().code(), "application_in_use");
    assert_eq!(agent.press_key(&press(window, 0x61, &[])).unwrap_err().code(), "application_in_use");
    agent.type_text(&text(second, "mine")).unwrap();
    let record = journal.wait("the text", |record| record["text"] == "mine");
    assert_eq!(record["window"], "back two");
}
