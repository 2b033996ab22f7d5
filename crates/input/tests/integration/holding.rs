//! What a person types while an element acts: no key goes where the application takes the focus to.

use std::time::Duration;

use crate::qt_keys::application;
use crate::test_desktop::{Server, TestDesktop, until};
use desktop::WindowId;
use input::{Agent, KeyPress, Modifier};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    ConnectionExt as _, EventMask, GrabMode, GrabStatus, InputFocus, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
    Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::{CURRENT_TIME, NONE};

/// Keycodes of a PC keyboard.
const A: u8 = 38;
const B: u8 = 56;
/// Half of the time for which the driver waits for an application that does not answer.
const SHORT: Duration = Duration::from_secs(5);

/// A key of the person's; before it, and before anybody can do anything about it, the focus goes to the `thief`.
fn press_key(desktop: &TestDesktop, key: u8, thief: Option<Window>) {
    let (conn, _) = desktop.connection();
    conn.grab_server().unwrap();
    if let Some(thief) = thief {
        conn.set_input_focus(InputFocus::PARENT, thief, CURRENT_TIME).unwrap();
    }
    for kind in [KEY_PRESS_EVENT, KEY_RELEASE_EVENT] {
        conn.xtest_fake_input(kind, key, CURRENT_TIME, NONE, 0, 0, 0).unwrap();
    }
    conn.ungrab_server().unwrap();
    conn.flush().unwrap();
}

#[test]
fn keys_arrive_while_an_element_acts_and_none_goes_where_the_focus_is_taken_to() {
    for server in [Server::Xvfb, Server::Xvnc] {
        let mut desktop = TestDesktop::open(server);
        desktop.put_pointer(5, 5);
        let back = desktop.gtk("back", 50, 60, 500, 400);
        let mut front = desktop.gtk("front", 400, 300, 500, 400);
        desktop.put_pointer(700, 500);
        front.journal.wait("the person's pointer", |record| record["event"] == "enter");
        let before = desktop.person();
        let agent = Agent::open(&desktop.session(), "test").unwrap();
        agent.begin_action(WindowId::of_xid(back.window)).unwrap();
        press_key(&desktop, A, None);
        front.journal.wait("a key before the application has answered", |record| record["key"] == "a");
        press_key(&desktop, B, Some(back.window));
        front.journal.wait("the key after the focus was taken", |record| record["key"] == "b");
        agent.end_action().unwrap();
        until("what was taken", || (desktop.person() == before).then_some(()));
    }
}

#[test]
fn a_key_arrives_at_once_when_what_an_element_did_has_opened_nothing() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let back = desktop.gtk("back", 50, 60, 500, 400);
    let mut front = desktop.gtk("front", 400, 300, 500, 400);
    desktop.put_pointer(700, 500);
    let agent = Agent::open(&desktop.session(), "test").unwrap();
    for _ in 0..3 {
        agent.begin_action(WindowId::of_xid(back.window)).unwrap();
        press_key(&desktop, A, None);
        agent.end_action().unwrap();
        front.journal.wait("the key", |record| record["key"] == "a");
    }
    // Nobody holds them any more.
    until("devices that are free", || {
        let (conn, root) = desktop.connection();
        let (none, mode) = (EventMask::NO_EVENT, GrabMode::ASYNC);
        let grabbed = conn.grab_pointer(false, root, none, mode, mode, NONE, NONE, CURRENT_TIME).unwrap();
        let status = grabbed.reply().unwrap().status;
        conn.ungrab_pointer(CURRENT_TIME).unwrap();
        (status == GrabStatus::SUCCESS).then_some(())
    });
}

#[test]
fn keys_arrive_while_an_application_hangs_over_a_shortcut_on_a_borrowed_key() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let mut front = desktop.gtk("front", 20, 20, 700, 600);
    desktop.put_pointer(700, 500);
    let before = desktop.keymap();
    let (window_id, ..) = application(&mut desktop, "6", &[]);
    desktop.run("xdotool", &["windowactivate", "--sync", &front.window.to_string()]);
    until("the person's focus", || (desktop.person().2 == front.window + 1).then_some(()));
    desktop.signal("STOP");
    let agent = Agent::open(&desktop.session(), "test").unwrap();
    let press = KeyPress {
        window_id: WindowId::of_xid(window_id),
        keysym: 0xe9,
        modifiers: vec![Modifier::Control],
        count: 1,
        at: None,
    };
    std::thread::scope(|scope| {
        let call = scope.spawn(|| agent.press_key(&press));
        until("the borrowed key", || (desktop.keymap() != before).then_some(()));
        // Longer than the devices may be held at a time.
        for _ in 0..10 {
            assert!(!call.is_finished(), "the shortcut waits for its application");
            press_key(&desktop, A, None);
            let arrived = front.journal.next(SHORT, |record| record["key"] == "a");
            assert!(arrived.is_some(), "a key of the person's waits for an application that hangs");
        }
        desktop.signal("CONT");
        call.join().unwrap().unwrap();
    });
}
