//! Clicks, keys and text in a GTK3 window behind the person's, on both X servers.
mod stage;

use desktop::Point;
use input::{Agent, Button, Click, Delivery, KeyPress, Modifier, Text};
use stage::{Fixture, Server, Stage};

const SERVERS: [Server; 2] = [Server::Xvfb, Server::Xvnc];

struct Scene {
    stage: Stage,
    back: Fixture,
    front: Fixture,
    agent: Agent,
}

fn scene(server: Server) -> Scene {
    let mut stage = Stage::open(server);
    stage.put_pointer(5, 5);
    let back = stage.gtk("back", 50, 60, 500, 400);
    let mut front = stage.gtk("front", 400, 300, 500, 400);
    stage.put_pointer(700, 500);
    front.journal.wait("the person's pointer", |record| record["event"] == "enter");
    let agent = Agent::open(&stage.display, "test").unwrap();
    Scene { stage, back, front, agent }
}

fn click(window_id: u32, at: Point) -> Click {
    Click { window_id, at, button: Button::Left, count: 1, modifiers: vec![] }
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
        let Scene { stage, mut back, mut front, agent } = scene(server);
        let before = stage.person();
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
        assert_eq!(stage.person(), before);
        assert_eq!(front.journal.of_agents(), [] as [&serde_json::Value; 0]);
    }
}

#[test]
fn keys_and_text_arrive_without_the_focus() {
    for server in SERVERS {
        let Scene { stage, mut back, mut front, agent } = scene(server);
        let before = stage.person();
        let text = |text: &str| Text {
            window_id: back.window,
            text: text.to_owned(),
            delay: std::time::Duration::ZERO,
            at: None,
        };
        kept(agent.type_text(&text("Hello, World! {~}")).unwrap());
        back.journal.wait("the text", |record| record["text"] == "Hello, World! {~}");
        let press = |keysym, modifiers| KeyPress { window_id: back.window, keysym, modifiers, at: None };
        kept(agent.press_key(&press(0xff08, vec![])).unwrap());
        back.journal.wait("the text without its end", |record| record["text"] == "Hello, World! {~");
        kept(agent.press_key(&press(0x61, vec![Modifier::Control])).unwrap());
        kept(agent.type_text(&text("Grüße 世界 😀é")).unwrap());
        back.journal.wait("the Unicode text", |record| record["text"] == "Grüße 世界 😀é");
        assert_eq!(stage.person(), before);
        assert_eq!(front.journal.of_agents(), [] as [&serde_json::Value; 0]);
    }
}
