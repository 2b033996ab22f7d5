//! Nothing stays behind: after close, and after a crash in the middle of a gesture.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::test_desktop::{Server, TestDesktop, session, until};
use desktop::{Point, WindowId};
use input::{Agent, Button, Click, Modifier, Text, sweep_agents};
use x11rb::protocol::xinput::{
    ConnectionExt as _, HierarchyChange, HierarchyChangeData, HierarchyChangeDataAddMaster,
};
use x11rb::protocol::xproto::ConnectionExt as _;
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

const SERVERS: [Server; 2] = [Server::Xvfb, Server::Xvnc];
const DISPLAY: &str = "INPUT_TEST_DISPLAY";
const KILLED: &str = "remains::killed_in_the_middle_of_a_gesture_the_next_start_repairs";
const CONTAINED: &str = "remains::an_agent_of_another_container_is_swept_when_it_has_ended_and_not_before";
const WINDOW: &str = "INPUT_TEST_WINDOW";
const GESTURE: &str = "INPUT_TEST_GESTURE";

#[test]
fn a_server_that_has_no_room_for_an_agent_says_so_until_another_one_ends() {
    let desktop = TestDesktop::open(Server::Xvnc);
    let mut agents = Vec::new();
    let refused = loop {
        match Agent::open(&desktop.session(), "one of many") {
            Ok(agent) => agents.push(agent),
            Err(error) => break error,
        }
    };
    assert_eq!(refused.code(), "too_many_agents");
    let said = refused.to_string();
    assert!(said.contains(&desktop.display) && said.contains(&format!("{} agents", agents.len())), "{said}");
    assert!(agents.len() >= 50);
    agents.pop();
    Agent::open(&desktop.session(), "the next").unwrap().ping().unwrap();
}

#[test]
fn closing_removes_the_devices() {
    for server in SERVERS {
        let desktop = TestDesktop::open(server);
        let before = desktop.masters();
        let agent = Agent::open(&desktop.session(), "test").unwrap();
        let other = Agent::open(&desktop.session(), "other").unwrap();
        assert_eq!(desktop.masters().len(), before.len() + 2);
        assert_eq!(sweep_agents(&desktop.session()).unwrap(), [] as [String; 0], "their owner lives");
        agent.close().unwrap();
        agent.close().unwrap();
        assert_eq!(agent.ping().unwrap_err().code(), "agent_closed");
        other.ping().unwrap();
        drop(other);
        assert_eq!(desktop.masters(), before);
    }
}

#[test]
fn an_agent_of_another_container_is_swept_when_it_has_ended_and_not_before() {
    if let Ok(display) = std::env::var(DISPLAY) {
        let agent = Agent::open(&session(&display), "contained").unwrap();
        println!("\nready");
        // The process is killed here.
        std::thread::park();
        return drop(agent);
    }
    for server in SERVERS {
        let desktop = TestDesktop::open(server);
        let before = desktop.masters();
        let mut child = Command::new("unshare")
            .args(["--pid", "--fork", "--mount-proc", "--kill-child"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", CONTAINED, "--nocapture"])
            .env(DISPLAY, &desktop.display)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        lines.find(|line| line == "ready").unwrap();
        assert_eq!(sweep_agents(&desktop.session()).unwrap(), [] as [String; 0], "its owner lives");
        assert_eq!(desktop.masters().len(), before.len() + 1);
        child.kill().unwrap();
        child.wait().unwrap();
        until("the sweep", || sweep_agents(&desktop.session()).unwrap().pop());
        assert_eq!(desktop.masters(), before);
    }
}

#[test]
fn devices_that_stayed_with_an_application_that_hangs_go_while_their_owner_lives_on() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let before = desktop.masters();
    desktop.gtk("back", 50, 60, 500, 400);
    let agent = Agent::open(&desktop.session(), "test").unwrap();
    desktop.signal("STOP");
    agent.close().unwrap();
    assert_eq!(desktop.masters().len(), before.len() + 1, "the application would die of their events");
    desktop.signal("CONT");
    sweep_agents(&desktop.session()).unwrap();
    assert_eq!(desktop.masters(), before);
}

/// What the killed process does.
fn long_gesture(display: &str) {
    let window_id: u32 = std::env::var(WINDOW).unwrap().parse().unwrap();
    let agent = Agent::open(&session(display), "killed").unwrap();
    if std::env::var(GESTURE).unwrap() == "text" {
        let text = "世界".to_owned();
        let delay = Duration::from_secs(60);
        agent.type_text(&Text { window_id: WindowId::of_xid(window_id), text, delay, at: None }).unwrap();
    } else {
        let modifiers = vec![Modifier::Control, Modifier::Shift];
        let at = Point { x: 250, y: 250 };
        agent
            .click(&Click {
                window_id: WindowId::of_xid(window_id),
                at,
                button: Button::Left,
                count: 100_000,
                modifiers,
            })
            .unwrap();
    }
}

#[test]
fn killed_in_the_middle_of_a_gesture_the_next_start_repairs() {
    if let Ok(display) = std::env::var(DISPLAY) {
        return long_gesture(&display);
    }
    for server in SERVERS {
        for gesture in ["text", "click"] {
            let mut desktop = TestDesktop::open(server);
            let mut back = desktop.gtk("back", 50, 60, 500, 400);
            desktop.gtk("front", 400, 300, 500, 400);
            desktop.put_pointer(700, 500);
            let before = (desktop.masters(), desktop.keymap(), desktop.person());
            let persons = desktop.client_pointer(back.window);
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", KILLED])
                .env(DISPLAY, &desktop.display)
                .env(WINDOW, back.window.to_string())
                .env(GESTURE, gesture)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            back.journal.wait("the middle of the gesture", |record| {
                record["text"] == "世" || record["event"] == "press" && record["state"] == 0b101
            });
            assert_eq!(desktop.keymap() == before.1, gesture != "text", "keycodes are borrowed");
            let led = desktop.client_pointer(back.window);
            assert_ne!(led, persons, "the application is led to the agent's pointer");
            child.kill().unwrap();
            child.wait().unwrap();
            assert_ne!(desktop.masters(), before.0, "the devices outlive their owner");
            let removed = sweep_agents(&desktop.session()).unwrap();
            assert_eq!(removed.len(), 1, "{removed:?}");
            assert_eq!((desktop.masters(), desktop.keymap(), desktop.person()), before);
            assert_eq!(
                desktop.client_pointer(back.window),
                persons,
                "the application has the person's pointer again"
            );
            let agent = Agent::open(&desktop.session(), "next").unwrap();
            let at = back.place("area");
            back.journal.seen.clear();
            let click = Click {
                window_id: WindowId::of_xid(back.window),
                at,
                button: Button::Left,
                count: 1,
                modifiers: vec![],
            };
            agent.click(&click).unwrap();
            let press = back
                .journal
                .wait("the next agent's click", |record| record["event"] == "press" && record["state"] == 0);
            assert_eq!(press["sent"], false);
        }
    }
}

#[test]
fn a_dead_agents_pressed_button_comes_up() {
    for server in SERVERS {
        let mut desktop = TestDesktop::open(server);
        let mut back = desktop.gtk("back", 50, 60, 500, 400);
        desktop.put_pointer(1200, 700);
        let before = desktop.masters();
        let (conn, screen) = RustConnection::connect(Some(&desktop.display)).unwrap();
        let root = x11rb::connection::Connection::setup(&conn).roots[screen].root;
        conn.xinput_xi_query_version(2, 2).unwrap().reply().unwrap();
        // No window has the number 7.
        let name = b"backlot 4194303 1 0 7".to_vec();
        let add = HierarchyChangeDataAddMaster { send_core: true, enable: true, name };
        let change = HierarchyChange { len: 8, data: HierarchyChangeData::AddMaster(add) };
        conn.xinput_xi_change_hierarchy(&[change]).unwrap().check().unwrap();
        let devices = conn.xinput_xi_query_device(0u16).unwrap().reply().unwrap().infos;
        let pointer = devices.iter().find(|device| device.name == b"backlot 4194303 1 0 7 pointer").unwrap();
        conn.xinput_xi_set_client_pointer(x11rb::NONE, pointer.deviceid).unwrap().check().unwrap();
        let area = back.place("area");
        let (left, top) = desktop.origin(back.window);
        let (x, y) = (left + area.x as i16, top + area.y as i16);
        conn.xtest_fake_input(6, 0, 0, root, x, y, 0).unwrap();
        conn.xtest_fake_input(4, 1, 0, root, 0, 0, 0).unwrap();
        conn.xtest_fake_input(2, 50, 0, root, 0, 0, 0).unwrap();
        conn.get_input_focus().unwrap().reply().unwrap();
        drop(conn);
        back.journal.wait("the press", |record| record["event"] == "press");
        sweep_agents(&desktop.session()).unwrap();
        back.journal.wait("the release", |record| record["event"] == "release");
        assert_eq!(desktop.masters(), before);
    }
}
