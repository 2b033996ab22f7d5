//! A window that another one covers whole gets every gesture, and the one in front hears of none.

use std::time::{Duration, Instant};

use crate::test_desktop::{self, Fixture, Server, TestDesktop, Watch};
use desktop::{Point, WindowId};
use input::{
    Agent, Button, Click, Delivery, Direction, Drag, Gesture, Hover, KeyPress, Modifier, Text, Wheel,
};

const SERVERS: [Server; 2] = [Server::Xvfb, Server::Xvnc];

struct Scene {
    desktop: TestDesktop,
    back: Fixture,
    front: Fixture,
    watch: Watch,
    agent: Agent,
}

fn scene(server: Server) -> Scene {
    let mut desktop = TestDesktop::open(server);
    desktop.put_pointer(5, 5);
    let back = desktop.gtk("back", 150, 160, 500, 400);
    let mut front = desktop.gtk("front", 100, 100, 700, 600);
    desktop.put_pointer(700, 500);
    front.journal.wait("the person's pointer", |record| record["event"] == "enter");
    let watch = desktop.watch(front.window);
    let agent = Agent::open(&desktop.session(), "test").unwrap();
    Scene { desktop, back, front, watch, agent }
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
fn every_gesture_reaches_a_covered_window() {
    for server in SERVERS {
        let Scene { desktop, mut back, mut front, watch, agent } = scene(server);
        let (before, shapes) = (desktop.person(), watch.shapes());
        let window_id = back.window;
        let (button, area) = (back.place("button"), back.place("area"));
        let perform = |gesture| kept(agent.perform(&gesture, agent.now()).unwrap());

        perform(Gesture::Click(click(window_id, button)));
        let press = back.journal.wait("the press", |record| record["event"] == "press");
        assert_eq!(press["sent"], false);
        back.journal.wait("the button's own signal", |record| record["did"] == "clicked");
        perform(Gesture::Click(Click { count: 2, ..click(window_id, area) }));
        back.journal.wait("the double click", |record| record["event"] == "double");
        for (button, number) in [(Button::Middle, 2), (Button::Right, 3)] {
            let modifiers = vec![Modifier::Control];
            perform(Gesture::Click(Click { button, modifiers, ..click(window_id, area) }));
            let press = back.journal.wait("the press", |record| record["event"] == "press");
            assert_eq!((&press["button"], &press["state"]), (&number.into(), &0b100.into()));
        }

        let to = Point { x: area.x + 60, y: area.y - 30 };
        let (duration, modifiers) = (Duration::from_millis(100), vec![Modifier::Shift]);
        let drag = Drag {
            window_id: WindowId::of_xid(window_id),
            from: area,
            to,
            button: Button::Left,
            duration,
            steps: 10,
            modifiers,
        };
        perform(Gesture::Drag(drag.clone()));
        back.journal.wait("the drag's press", |record| record["event"] == "press");
        let (left, top) = desktop.origin(window_id);
        let end = Point { x: to.x + i32::from(left) - 150, y: to.y + i32::from(top) - 160 };
        let moved = back.journal.wait("the last motion", |record| {
            record["event"] == "motion" && record["x"] == end.x && record["y"] == end.y
        });
        assert_eq!(moved["state"].as_u64(), Some(1), "Shift is held");
        let up = back.journal.wait("the release", |record| record["event"] == "release");
        assert_eq!((up["x"].as_i64(), up["y"].as_i64()), (Some(end.x.into()), Some(end.y.into())));
        perform(Gesture::Drag(Drag { to: Point { x: 2000, y: -900 }, ..drag }));
        back.journal.wait("a release outside", |record| record["event"] == "release");

        for (direction, name) in [(Direction::Down, "down"), (Direction::Left, "left")] {
            perform(Gesture::Wheel(Wheel {
                window_id: WindowId::of_xid(window_id),
                at: area,
                direction,
                amount: 3,
                modifiers: vec![],
            }));
            for _ in 0..3 {
                back.journal.wait("a detent", |record| record["event"] == "scroll" && record["way"] == name);
            }
        }

        perform(Gesture::Click(click(window_id, back.place("entry"))));
        let text = "Hidden text".to_owned();
        perform(Gesture::Text(Text {
            window_id: WindowId::of_xid(window_id),
            text,
            delay: Duration::ZERO,
            at: None,
        }));
        back.journal.wait("the text", |record| record["text"] == "Hidden text");
        let delay = Duration::from_millis(5);
        perform(Gesture::Text(Text {
            window_id: WindowId::of_xid(window_id),
            text: "!?".to_owned(),
            delay,
            at: None,
        }));
        back.journal.wait("the slow text", |record| record["text"] == "Hidden text!?");
        perform(Gesture::Key(KeyPress {
            window_id: WindowId::of_xid(window_id),
            keysym: 0xff08,
            modifiers: vec![],
            count: 3,
            at: None,
        }));
        back.journal.wait("the shorter text", |record| record["text"] == "Hidden tex");

        perform(Gesture::Hover(Hover { window_id: WindowId::of_xid(window_id), at: button }));
        back.journal.wait("the pointer", |record| record["event"] == "enter");
        assert_ne!(watch.shapes(), shapes, "the pointer stays where it was moved to");
        perform(Gesture::Click(click(window_id, button)));
        back.journal.wait("the click where it was", |record| record["did"] == "clicked");

        assert_eq!(desktop.person(), before);
        assert_eq!(watch.shapes(), shapes);
        assert_eq!(watch.heard(), [] as [&str; 0]);
        assert_eq!(front.journal.of_agents(), [] as [&serde_json::Value; 0]);
    }
}

#[test]
fn a_pointer_that_hovers_lets_go_of_what_covers_the_window_after_ten_seconds() {
    let Scene { desktop: _stage, front: _front, mut back, watch, agent } = scene(Server::Xvfb);
    let shapes = watch.shapes();
    let hover = Hover { window_id: WindowId::of_xid(back.window), at: back.place("button") };
    let begun = Instant::now();
    kept(agent.perform(&Gesture::Hover(hover), agent.now()).unwrap());
    assert_ne!(watch.shapes(), shapes, "the pointer stays where it was moved to");
    test_desktop::until("what covers the window to be whole", || (watch.shapes() == shapes).then_some(()));
    let stayed = begun.elapsed();
    assert!(stayed > Duration::from_millis(9_900), "{stayed:?}");
    back.journal.wait("the pointer to leave", |record| record["event"] == "leave");
}
