//! The display's own pointer: clicks, drags and the wheel arrive as they were asked for.

use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use crate::test_desktop::{Fixture, Server, TestDesktop, until};
use desktop::Point;
use input::{Button, CoreAction, CoreDevices, InputError, Modifier};
use serde_json::{Value, json};

const SERVERS: [Server; 2] = [Server::Xvfb, Server::Xvnc];

fn perform(devices: &CoreDevices, act: &CoreAction) -> Result<(), InputError> {
    devices.perform(act, &devices.ask())
}

/// A point of the fixture in pixels of the screen.
fn on_screen(desktop: &TestDesktop, fixture: &Fixture, name: &str) -> Point {
    let (left, top) = desktop.origin(fixture.window);
    let at = fixture.place(name);
    Point { x: at.x + i32::from(left), y: at.y + i32::from(top) }
}

/// What of these kinds the application gets up to the release of a button, and after it of what was sent before: the
/// window manager looks at a press before it lets it pass, so that a later key may come first.
fn events_of_button(fixture: &mut Fixture, devices: &CoreDevices, button: u8, wanted: &[&str]) -> Vec<Value> {
    let is_wanted = |record: &Value| record["event"].as_str().is_some_and(|event| wanted.contains(&event));
    let is_release = |record: &Value| record["event"] == "release" && record["button"] == button;
    let seen = fixture.journal.until("the release", is_release);
    let later = events(fixture, devices, wanted);
    seen.into_iter().filter(is_wanted).chain(later).collect()
}

/// What of these kinds the application has got of what was sent before.
fn events(fixture: &mut Fixture, devices: &CoreDevices, wanted: &[&str]) -> Vec<Value> {
    let is_wanted = |record: &Value| record["event"].as_str().is_some_and(|event| wanted.contains(&event));
    perform(devices, &CoreAction::Keys { keysyms: vec![input::check_key("f9").unwrap()] }).unwrap();
    let seen = fixture.journal.until("the last key", |record| record["key"] == "F9");
    seen.into_iter().filter(is_wanted).collect()
}

#[test]
fn clicks_are_counted_and_hold_their_modifiers() {
    for server in SERVERS {
        let mut desktop = TestDesktop::open(server);
        let mut front = desktop.gtk("front", 50, 60, 500, 400);
        let devices = CoreDevices::open(&desktop.session()).unwrap();
        let at = on_screen(&desktop, &front, "area");
        let click = |button, count, modifiers| CoreAction::Click { button, count, at: Some(at), modifiers };
        perform(&devices, &click(Button::Left, 2, vec![])).unwrap();
        front.journal.wait("the double click", |record| record["event"] == "double");
        assert_eq!(devices.position().unwrap(), at);
        perform(&devices, &click(Button::Right, 1, vec![Modifier::Control, Modifier::Shift])).unwrap();
        let press = front.journal.wait("the right click", |record| record["button"] == 3);
        assert_eq!((&press["state"], &press["sent"]), (&json!(0b101), &json!(false)));
        let button = on_screen(&desktop, &front, "button");
        let here = CoreAction::Click { button: Button::Left, count: 1, at: None, modifiers: vec![] };
        perform(&devices, &CoreAction::Move { to: button, duration: Duration::from_millis(100) }).unwrap();
        perform(&devices, &here).unwrap();
        front.journal.wait("the button's own signal", |record| record["did"] == "clicked");
        assert_eq!((desktop.keys_down(), desktop.buttons_down()), (vec![], 0));
    }
}

#[test]
fn every_click_arrives_while_the_window_manager_is_slow() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let manager = desktop.manager().to_string();
    let stat = format!("/proc/{manager}/stat");
    let has_nothing_to_do = move || std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") S "));
    let signal = move |name: &str| Command::new("kill").args([name, &manager]).status().unwrap();
    // The terminal answers what it is when it has read that it shall tell of the mouse.
    let mut terminal = desktop.command("xterm");
    let script = "stty raw -echo; printf '\\033[?1000h\\033[?1006h\\033[c'; cat >told";
    terminal.args(["-geometry", "80x24+50+60", "-e", script]).current_dir(desktop.folder.path());
    desktop.spawn(terminal);
    let file = desktop.folder.path().join("told");
    let told = || String::from_utf8(std::fs::read(&file).unwrap_or_default()).unwrap();
    until("the terminal", || told().ends_with('c').then_some(()));
    let window = until("the terminal's window", || desktop.clients().first().copied());
    until("the terminal's focus", || (desktop.active() == window).then_some(()));
    let devices = CoreDevices::open(&desktop.session()).unwrap();
    let at = Some(Point { x: 200, y: 200 });
    let (end, ended) = mpsc::channel::<()>();
    // Again and again it is kept from its work for a moment; on a busy machine it gets the time that its work needs.
    let slowing = std::thread::spawn(move || {
        while ended.try_recv() == Err(mpsc::TryRecvError::Empty) {
            signal("-STOP");
            std::thread::sleep(Duration::from_millis(80));
            signal("-CONT");
            std::thread::sleep(Duration::from_millis(2));
            until("the window manager to rest", || has_nothing_to_do().then_some(()));
        }
    });
    for _ in 0..30 {
        perform(&devices, &CoreAction::Click { button: Button::Left, count: 2, at, modifiers: vec![] })
            .unwrap();
        perform(&devices, &CoreAction::Press { button: Button::Left, at }).unwrap();
        perform(&devices, &CoreAction::Release { button: Button::Left, at }).unwrap();
    }
    drop(end);
    slowing.join().unwrap();
    perform(&devices, &CoreAction::Click { button: Button::Right, count: 1, at, modifiers: vec![] }).unwrap();
    let last = "\u{1b}[<2;";
    let told =
        until("the last click", || Some(told()).filter(|told| told.contains(last) && told.ends_with('m')));
    let of_left: String = told
        .split("\u{1b}[<")
        .filter(|one| one.starts_with("0;"))
        .filter_map(|one| one.chars().last())
        .collect();
    assert_eq!(of_left, "Mm".repeat(90));
}

#[test]
fn a_drag_is_one_press_motions_and_one_release() {
    for server in SERVERS {
        let mut desktop = TestDesktop::open(server);
        let mut front = desktop.gtk("front", 50, 60, 500, 400);
        let devices = CoreDevices::open(&desktop.session()).unwrap();
        let from = on_screen(&desktop, &front, "area");
        let corner = Point { x: from.x + 100, y: from.y };
        let to = Point { x: from.x + 100, y: from.y + 60 };
        let path = vec![from, corner, to];
        let duration = Duration::from_millis(200);
        perform(&devices, &CoreAction::Drag { path, button: Button::Left, duration, modifiers: vec![] })
            .unwrap();
        let seen = events_of_button(&mut front, &devices, 1, &["press", "release", "motion"]);
        let is = |kind: &'static str| move |record: &&Value| record["event"] == kind;
        assert_eq!(
            (seen.iter().filter(is("press")).count(), seen.iter().filter(is("release")).count()),
            (1, 1)
        );
        let press = seen.iter().position(|record| record["event"] == "press").unwrap();
        let release = seen.iter().position(|record| record["event"] == "release").unwrap();
        let between = &seen[press + 1..release];
        assert!(
            between.len() >= 5 && between.iter().all(|record| record["event"] == "motion"),
            "{between:?}"
        );
        let place = |at: Point| (json!(at.x - 50), json!(at.y - 60));
        let first = (seen[press]["x"].clone(), seen[press]["y"].clone());
        let last = (seen[release]["x"].clone(), seen[release]["y"].clone());
        assert_eq!((first, last), (place(from), place(to)));
        assert_eq!(desktop.buttons_down(), 0);
    }
}

#[test]
fn every_detent_of_the_wheel_arrives_with_its_sign() {
    for server in SERVERS {
        let mut desktop = TestDesktop::open(server);
        let mut front = desktop.gtk("front", 50, 60, 500, 400);
        let devices = CoreDevices::open(&desktop.session()).unwrap();
        let at = Some(on_screen(&desktop, &front, "area"));
        for (right, down, ways) in [
            (0, 5, vec!["down"; 5]),
            (0, -3, vec!["up"; 3]),
            (2, 0, vec!["right"; 2]),
            (-4, 0, vec!["left"; 4]),
        ] {
            perform(&devices, &CoreAction::Wheel { right, down, at, modifiers: vec![] }).unwrap();
            let seen: Vec<Value> = events(&mut front, &devices, &["scroll"])
                .iter()
                .map(|record| record["way"].clone())
                .collect();
            assert_eq!(seen, ways, "{server:?}");
        }
        perform(&devices, &CoreAction::Wheel { right: 0, down: 200, at, modifiers: vec![] }).unwrap();
        assert_eq!(events(&mut front, &devices, &["scroll"]).len(), 200);
    }
}

#[test]
fn keys_and_buttons_stay_down_until_they_are_released() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let mut front = desktop.gtk("front", 50, 60, 500, 400);
    let devices = CoreDevices::open(&desktop.session()).unwrap();
    let at = Some(on_screen(&desktop, &front, "area"));
    let keysym = |name: &str| input::check_key(name).unwrap();
    perform(&devices, &CoreAction::KeyDown { keysym: keysym("shift") }).unwrap();
    perform(&devices, &CoreAction::Press { button: Button::Left, at }).unwrap();
    let press = front.journal.wait("the press", |record| record["event"] == "press");
    assert_eq!(press["state"], 1);
    assert_eq!((desktop.keys_down().len(), desktop.buttons_down()), (1, 1));
    let text = CoreAction::Text { text: "aB".to_owned(), delay: Duration::ZERO };
    perform(&devices, &text).unwrap();
    front.journal.wait("the exact text", |record| record["text"] == "aB");
    assert_eq!(desktop.keys_down().len(), 1, "what is held stays held");
    perform(&devices, &CoreAction::Release { button: Button::Left, at: None }).unwrap();
    front.journal.wait("the release", |record| record["event"] == "release");
    perform(&devices, &CoreAction::KeyUp { keysym: keysym("shift") }).unwrap();
    assert_eq!((desktop.keys_down(), desktop.buttons_down()), (vec![], 0));
    let keymap = desktop.keymap();
    perform(&devices, &CoreAction::KeyDown { keysym: keysym("世") }).unwrap();
    front.journal.wait("a key that the layout lacks", |record| record["text"] == "aB世");
    assert_ne!(desktop.keymap(), keymap, "its keycode is borrowed while it is down");
    perform(&devices, &CoreAction::KeyDown { keysym: keysym("ctrl") }).unwrap();
    perform(&devices, &CoreAction::ReleaseAll).unwrap();
    assert_eq!((desktop.keys_down(), desktop.keymap()), (vec![], keymap));
}

#[test]
fn a_point_outside_the_screen_is_refused() {
    let desktop = TestDesktop::open(Server::Xvfb);
    let devices = CoreDevices::open(&desktop.session()).unwrap();
    let before = devices.position().unwrap();
    for (x, y) in [(1280, 5), (5, 800), (-1, 5), (i32::MAX, i32::MIN)] {
        let act = CoreAction::Move { to: Point { x, y }, duration: Duration::ZERO };
        let error = perform(&devices, &act).unwrap_err();
        assert_eq!(error.code(), "invalid_argument");
        assert!(error.to_string().contains("1280x800"), "{error}");
    }
    assert_eq!(devices.position().unwrap(), before);
}

#[test]
fn a_drag_that_is_cancelled_lets_go_and_the_next_caller_acts_after_it() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let mut front = desktop.gtk("front", 50, 60, 500, 400);
    let devices = CoreDevices::open(&desktop.session()).unwrap();
    let other = CoreDevices::open(&desktop.session()).unwrap();
    let from = on_screen(&desktop, &front, "area");
    let path = vec![from, Point { x: from.x + 100, y: from.y }];
    let duration = Duration::from_secs(600);
    let drag = CoreAction::Drag { path, button: Button::Left, duration, modifiers: vec![Modifier::Shift] };
    let right = CoreAction::Click { button: Button::Right, count: 1, at: Some(from), modifiers: vec![] };
    let asked = devices.ask();
    std::thread::scope(|threads| {
        let dragging = threads.spawn(|| devices.perform(&drag, &asked).unwrap_err());
        front.journal.wait("the press", |record| record["event"] == "press");
        assert_eq!((desktop.keys_down().len(), desktop.buttons_down()), (1, 1));
        let clicking = threads.spawn(|| perform(&other, &right));
        devices.cancel();
        assert_eq!(dragging.join().unwrap().code(), "cancelled");
        clicking.join().unwrap().unwrap();
    });
    let seen: Vec<(Value, Value)> = events_of_button(&mut front, &other, 3, &["press", "release"])
        .iter()
        .map(|record| (record["event"].clone(), record["button"].clone()))
        .collect();
    assert_eq!(
        seen,
        [("release", 1), ("press", 3), ("release", 3)].map(|(event, button)| (json!(event), json!(button)))
    );
    assert_eq!((desktop.keys_down(), desktop.buttons_down()), (vec![], 0));
}
