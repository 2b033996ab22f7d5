//! Clicks, keys and text in a page of Chromium.

use std::process::Stdio;
use std::time::Duration;

use crate::test_desktop::{Journal, Server, TestDesktop, until};
use desktop::{Point, WindowId};
use input::{Agent, Button, Click, Delivery, KeyPress, Modifier, Text};
use serde_json::json;

fn kept(delivery: Delivery) {
    println!("{delivery:?}");
}

#[test]
fn a_page_gets_trusted_events_behind_another_window() {
    for server in [Server::Xvfb, Server::Xvnc] {
        let mut desktop = TestDesktop::open(server);
        let (port, mut page) = Journal::web(include_str!("../fixtures/journal.html"));
        let mut command = desktop.command("chromium");
        command
            .args(["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
            .args(["--disable-component-update", "--disable-sync", "--window-position=50,60"])
            .args(["--window-size=500,400", "--password-store=basic"])
            .arg(format!("--user-data-dir={}", desktop.folder.path().join("profile").display()))
            .arg(format!("--app=http://127.0.0.1:{port}/"))
            .stderr(Stdio::null());
        desktop.spawn(command);
        page.wait("the page", |record| record["did"] == "ready");
        let window = until("the browser's window", || desktop.clients().first().copied());
        desktop.gtk("front", 400, 300, 500, 400);
        desktop.put_pointer(700, 500);
        let before = desktop.person();
        let agent = Agent::open(&desktop.session(), "test").unwrap();
        let click_at = |x, y| Click {
            window_id: WindowId::of_xid(window),
            at: Point { x, y },
            button: Button::Left,
            count: 1,
            modifiers: vec![],
        };
        kept(agent.click(&click_at(300, 330)).unwrap());
        let event = page.wait("a click on nothing", |record| record["event"] == "click");
        let top = 330 - event["y"].as_i64().unwrap() as i32;
        let click = |x, y| click_at(x, top + y);
        kept(agent.click(&click(100, 110)).unwrap());
        let event = page.wait("the click", |record| record["event"] == "click");
        assert_eq!((&event["trusted"], &event["target"]), (&json!(true), &json!("button")));
        assert_eq!(desktop.person(), before, "after the click");
        kept(agent.click(&Click { count: 2, ..click(100, 110) }).unwrap());
        page.wait("the double click", |record| record["event"] == "dblclick");
        kept(
            agent
                .click(&Click { modifiers: vec![Modifier::Control, Modifier::Shift], ..click(100, 110) })
                .unwrap(),
        );
        let event = page.wait("the click with modifiers", |record| {
            record["event"] == "click" && record["modifiers"][0] == true
        });
        assert_eq!(event["modifiers"], json!([true, true, false, false]));
        assert_eq!(desktop.person(), before, "after more clicks");
        kept(agent.click(&click(100, 30)).unwrap());
        page.wait("the click on the entry", |record| {
            record["event"] == "click" && record["target"] == "entry"
        });
        let text = "Hello, World! aA Grüße 世界 😀é";
        let typed = Text {
            window_id: WindowId::of_xid(window),
            text: text.to_owned(),
            delay: Duration::ZERO,
            at: None,
        };
        kept(agent.type_text(&typed).unwrap());
        page.wait("the text", |record| record["event"] == "input" && record["value"] == text);
        let press = |keysym, modifiers| KeyPress {
            window_id: WindowId::of_xid(window),
            keysym,
            modifiers,
            count: 1,
            at: None,
        };
        kept(agent.press_key(&press(0xff08, vec![])).unwrap());
        page.wait("the shorter text", |record| record["value"] == "Hello, World! aA Grüße 世界 😀");
        kept(agent.press_key(&press(0x61, vec![Modifier::Control])).unwrap());
        kept(agent.press_key(&press(0xffff, vec![])).unwrap());
        page.wait("the empty entry", |record| record["event"] == "input" && record["value"] == "");
        assert_eq!(desktop.person(), before, "after keys");
        kept(agent.click(&click(100, 195)).unwrap());
        page.wait("the click on the list", |record| {
            record["event"] == "click" && record["target"] == "select"
        });
        assert_eq!(desktop.person(), before, "after the click on the list");
        // Behind another window the list is opened and closed again at a moment that nothing tells; closed by a key it
        // takes the next one by itself.
        kept(agent.press_key(&press(0xff1b, vec![])).unwrap());
        kept(agent.press_key(&press(0xff54, vec![])).unwrap());
        page.wait("the choice", |record| record["event"] == "change" && record["value"] == "two");
        assert_eq!(desktop.person(), before, "after the choice");
    }
}
