//! Clicks, keys and text in a GTK3 window behind the person's, on both X servers.

use crate::test_desktop::{Fixture, Server, TestDesktop};
use desktop::{Point, WindowId};
use input::{Agent, Button, Click, Delivery, Gesture, InputError, KeyPress, Modifier, Text};

const SERVERS: [Server; 2] = [Server::Xvfb, Server::Xvnc];

struct Scene {
    desktop: TestDesktop,
    back: Fixture,
    front: Fixture,
    agent: Agent,
}

fn scene(server: Server) -> Scene {
    let mut desktop = TestDesktop::open(server);
    desktop.put_pointer(5, 5);
    let back = desktop.gtk("back", 50, 60, 500, 400);
    let mut front = desktop.gtk("front", 400, 300, 500, 400);
    desktop.put_pointer(700, 500);
    front.journal.wait("the person's pointer", |record| record["event"] == "enter");
    let agent = Agent::open(&desktop.session(), "test").unwrap();
    Scene { desktop, back, front, agent }
}

fn click(window_id: u32, at: Point) -> Click {
    Click { window_id: WindowId::of_xid(window_id), at, button: Button::Left, count: 1, modifiers: vec![] }
}

fn kept(delivery: Delivery) {
    assert!(
        delivery.pointer_kept && delivery.focus_kept && delivery.active_window_kept && delivery.stacking_kept,
        "{delivery:?}"
    );
}

#[test]
fn a_click_arrives_as_a_real_one_and_nothing_of_the_person_moves() {
    for server in SERVERS {
        let Scene { desktop, mut back, mut front, agent } = scene(server);
        let before = desktop.person();
        kept(agent.click(&click(back.window, back.place("button"))).unwrap());
        let press = back.journal.wait("the press", |record| record["event"] == "press");
        assert_eq!((press["sent"].as_bool(), press["button"].as_u64()), (Some(false), Some(1)));
        back.journal.wait("the button's own signal", |record| record["did"] == "clicked");
        kept(agent.click(&Click { count: 2, ..click(back.window, back.place("area")) }).unwrap());
        back.journal.wait("the double click", |record| record["event"] == "double");
        kept(agent.click(&Click { count: 3, ..click(back.window, back.place("area")) }).unwrap());
        back.journal.wait("the triple click", |record| record["event"] == "triple");
        let right = Click {
            button: Button::Right,
            modifiers: vec![Modifier::Control, Modifier::Alt],
            ..click(back.window, back.place("area"))
        };
        kept(agent.click(&right).unwrap());
        let press = back.journal.wait("the right click", |record| record["button"] == 3);
        assert_eq!(press["state"].as_u64(), Some(0b1100), "Control and Alt are held");
        assert_eq!(desktop.person(), before);
        assert_eq!(front.journal.of_agents(), [] as [&serde_json::Value; 0]);
    }
}

#[test]
fn keys_and_text_arrive_without_the_focus() {
    for server in SERVERS {
        let Scene { desktop, mut back, mut front, agent } = scene(server);
        let (before, keymap) = (desktop.person(), desktop.keymap());
        let text = |text: &str| Text {
            window_id: WindowId::of_xid(back.window),
            text: text.to_owned(),
            delay: std::time::Duration::ZERO,
            at: None,
        };
        kept(agent.type_text(&text("Hello, World! {~}")).unwrap());
        back.journal.wait("the text", |record| record["text"] == "Hello, World! {~}");
        let press = |keysym, modifiers| KeyPress {
            window_id: WindowId::of_xid(back.window),
            keysym,
            modifiers,
            count: 1,
            at: None,
        };
        kept(agent.press_key(&press(0xff08, vec![])).unwrap());
        back.journal.wait("the text without its end", |record| record["text"] == "Hello, World! {~");
        kept(agent.press_key(&press(0x61, vec![Modifier::Control])).unwrap());
        kept(agent.type_text(&text("Grüße 世界 😀é")).unwrap());
        back.journal.wait("the Unicode text", |record| record["text"] == "Grüße 世界 😀é");
        assert_eq!((desktop.person(), desktop.keymap()), (before, keymap));
        assert_eq!(front.journal.of_agents(), [] as [&serde_json::Value; 0]);
    }
}

#[test]
fn a_menu_that_takes_grabs_is_operated_by_the_same_pointer() {
    for server in SERVERS {
        let Scene { desktop, mut back, mut front, agent } = scene(server);
        let before = desktop.person();
        kept(agent.click(&click(back.window, back.place("file"))).unwrap());
        let shown = back.journal.wait("the menu", |record| record["did"] == "menu_shown");
        let menu = shown["window"].as_u64().unwrap() as u32;
        let (left, top) = desktop.origin(menu);
        let at = |item: &str| Point {
            x: shown["items"][item][0].as_i64().unwrap() as i32 - i32::from(left),
            y: shown["items"][item][1].as_i64().unwrap() as i32 - i32::from(top),
        };
        kept(agent.click(&click(menu, at("Save"))).unwrap());
        back.journal.wait("the item", |record| record["item"] == "Save");
        kept(agent.click(&click(back.window, back.place("button"))).unwrap());
        back.journal.wait("the button after the menu", |record| record["did"] == "clicked");
        assert_eq!(desktop.person(), before);
        assert_eq!(front.journal.of_agents(), [] as [&serde_json::Value; 0]);
    }
}

#[test]
fn a_command_of_the_window_manager_does_not_hit_the_person() {
    for server in SERVERS {
        let Scene { desktop, mut back, agent, .. } = scene(server);
        let before = desktop.person();
        let (window_id, at) = (back.window, Some(back.place("area")));
        let press = |keysym, modifiers| KeyPress {
            window_id: WindowId::of_xid(window_id),
            keysym,
            modifiers,
            count: 1,
            at,
        };
        // openbox closes the active window on Alt+F4 and shows the desktop on Super+D.
        kept(agent.press_key(&press(0xffc1, vec![Modifier::Alt])).unwrap());
        back.journal.wait("Alt+F4", |record| record["key"] == "F4");
        kept(agent.press_key(&press(0x64, vec![Modifier::Super])).unwrap());
        back.journal.wait("Super+D", |record| record["key"] == "d");
        assert_eq!(desktop.person(), before);
    }
}

#[test]
fn text_of_a_german_keyboard_uses_its_levels() {
    let Scene { desktop, mut back, agent, .. } = scene(Server::Xvfb);
    assert!(desktop.command("setxkbmap").arg("de").status().unwrap().success());
    let text = "Yz ß €@ {x} é";
    let typed = Text {
        window_id: WindowId::of_xid(back.window),
        text: text.to_owned(),
        delay: std::time::Duration::ZERO,
        at: None,
    };
    let keymap = desktop.keymap();
    kept(agent.type_text(&typed).unwrap());
    back.journal.wait("the text", |record| record["text"] == text);
    assert_eq!(desktop.keymap(), keymap, "the person's layout");
}

#[test]
fn typing_that_is_cancelled_leaves_no_key_behind() {
    let Scene { desktop, mut back, agent, .. } = scene(Server::Xvfb);
    let (before, keymap) = (desktop.person(), desktop.keymap());
    let text = |text: &str, delay| Text {
        window_id: WindowId::of_xid(back.window),
        text: text.to_owned(),
        delay: std::time::Duration::from_secs(delay),
        at: None,
    };
    let long = text("世A界", 600);
    let asked = agent.now();
    let error = std::thread::scope(|threads| {
        let typing = threads.spawn(|| agent.type_text(&long));
        back.journal.wait("the first character", |record| record["text"] == "世");
        assert_ne!(desktop.keymap(), keymap, "keycodes are borrowed");
        agent.cancel();
        typing.join().unwrap().unwrap_err()
    });
    let window_id = back.window;
    assert_eq!(
        (error.code(), &error),
        ("cancelled", &InputError::Cancelled { window_id: WindowId::of_xid(window_id), typed: 1, count: 3 })
    );
    assert_eq!((desktop.person(), desktop.keymap()), (before, keymap.clone()));
    let error = agent.perform(&Gesture::Text(text("x", 0)), asked).unwrap_err();
    assert_eq!(error, InputError::Cancelled { window_id: WindowId::of_xid(window_id), typed: 0, count: 1 });
    kept(agent.type_text(&text("b", 0)).unwrap());
    back.journal.wait("the next text", |record| record["text"] == "世b");
    std::thread::scope(|threads| {
        let typing = threads.spawn(|| agent.type_text(&long));
        back.journal.wait("the character before the end", |record| record["text"] == "世b世");
        agent.close().unwrap();
        assert_eq!(typing.join().unwrap().unwrap_err().code(), "cancelled");
    });
    assert_eq!(desktop.keymap(), keymap);
}
