//! What the person does while an agent types: the rest of the text arrives where it was meant to, or nowhere.

use std::time::Duration;

use crate::qt_keys::application;
use crate::test_desktop::{Fixture, Journal, Server, TestDesktop, until};
use desktop::WindowId;
use input::{Agent, Delivery, InputError, Text};

const TEXT: &str = "a text that takes so long to be typed that somebody does something else meanwhile";

/// Types the text slowly, and does something `meanwhile`, when its beginning has arrived.
fn typed(
    agent: &Agent,
    window: u32,
    journal: &mut Journal,
    meanwhile: impl FnOnce(),
) -> Result<Delivery, InputError> {
    let (window_id, delay) = (WindowId::of_xid(window), Duration::from_millis(40));
    let text = Text { window_id, text: TEXT.to_owned(), delay, at: None };
    std::thread::scope(|scope| {
        let typing = scope.spawn(|| agent.type_text(&text));
        journal.wait("its beginning", |record| record["text"].as_str().is_some_and(|text| text.len() >= 5));
        meanwhile();
        typing.join().unwrap()
    })
}

/// The window that is typed into, and the person's in a corner.
fn scene() -> (TestDesktop, Fixture, Fixture, Agent) {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    desktop.put_pointer(5, 5);
    let back = desktop.gtk("back", 150, 160, 500, 400);
    let front = desktop.gtk("front", 700, 20, 200, 100);
    let agent = Agent::open(&desktop.session(), "test").unwrap();
    (desktop, back, front, agent)
}

fn is_key(record: &&&serde_json::Value) -> bool {
    record["event"].as_str().is_some_and(|event| event.starts_with("key"))
}

#[test]
fn a_window_that_comes_to_cover_the_target_gets_none_of_the_text() {
    let (desktop, mut back, mut front, agent) = scene();
    let id = front.window.to_string();
    let watch = desktop.watch(front.window);
    let shapes = watch.shapes();
    let cover = || {
        desktop.run("xdotool", &["windowmove", &id, "100", "100", "windowsize", "--sync", &id, "500", "500"]);
        // It grows while there is a hole in it.
        until("a hole", || (watch.shapes() != shapes).then_some(()));
        desktop.run("xdotool", &["windowsize", "--sync", &id, "700", "600"]);
    };
    let delivery = typed(&agent, back.window, &mut back.journal, cover).unwrap();
    assert!(delivery.focus_kept && delivery.active_window_kept);
    back.journal.wait("all of the text", |record| record["text"] == TEXT);
    assert_eq!(front.journal.of_agents().iter().filter(is_key).count(), 0);
    assert_eq!(watch.shapes().len(), shapes.len());
}

#[test]
fn the_rest_of_a_text_goes_nowhere_when_its_window_is_gone() {
    let (desktop, mut back, mut front, agent) = scene();
    let (below, above) = (front.window.to_string(), back.window.to_string());
    desktop
        .run("xdotool", &["windowmove", &below, "100", "100", "windowsize", "--sync", &below, "700", "600"]);
    desktop.run("xdotool", &["windowraise", &above]);
    let window = back.window;
    let error = typed(&agent, window, &mut back.journal, || {
        desktop.run("xdotool", &["windowclose", &above]);
    })
    .unwrap_err();
    let InputError::Interrupted { ref cause, typed, count } = error else { panic!("{error}") };
    assert_eq!((cause.code(), error.code(), count), ("window_not_found", "window_not_found", TEXT.len()));
    assert!((5..count).contains(&typed), "{error}");
    assert_eq!(front.journal.of_agents().iter().filter(is_key).count(), 0);
}

#[test]
fn a_window_that_the_person_turns_to_stays_the_active_one() {
    let (desktop, mut back, _front, agent) = scene();
    let (window, id) = (back.window, back.window.to_string());
    let delivery = typed(&agent, window, &mut back.journal, || {
        desktop.run("xdotool", &["windowactivate", "--sync", &id]);
    })
    .unwrap();
    back.journal.wait("all of the text", |record| record["text"] == TEXT);
    assert!(!delivery.active_window_kept);
    assert_eq!(desktop.active(), window);
}

#[test]
fn a_text_for_qt_halts_when_the_person_turns_to_another_window_of_the_application() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let (window, second, mut journal) = application(&mut desktop, "5", &["two"]);
    let _front = desktop.gtk("front", 700, 20, 200, 100);
    let agent = Agent::open(&desktop.session(), "test").unwrap();
    let error = typed(&agent, window, &mut journal, || {
        desktop.run("xdotool", &["windowactivate", "--sync", &second.to_string()]);
    })
    .unwrap_err();
    assert_eq!(error.code(), "application_in_use");
    let InputError::Interrupted { typed, .. } = error else { panic!("{error}") };
    assert!((5..TEXT.len()).contains(&typed), "{error}");
    agent
        .press_key(&input::KeyPress {
            window_id: WindowId::of_xid(second),
            keysym: 0x78,
            modifiers: vec![],
            count: 1,
            at: None,
        })
        .unwrap();
    journal
        .wait("nothing of it before that", |record| record["window"] == "back two" && record["text"] == "x");
}
