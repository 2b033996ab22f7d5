//! A toolkit that asks to be activated when it is clicked: what it takes is given back.

use crate::test_desktop::{Server, TestDesktop, until};
use desktop::{Point, WindowId};
use input::{Agent, Button, Click};

#[test]
fn what_a_clicked_window_takes_from_the_person_is_given_back() {
    for server in [Server::Xvfb, Server::Xvnc] {
        let mut desktop = TestDesktop::open(server);
        let mut command = desktop.command("/usr/bin/python3");
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/journal_qt5.py"));
        command.args(["back", "50", "60", "500", "400"]);
        let mut journal = desktop.journal(command);
        let ready = journal.wait("the window", |record| record["did"] == "ready");
        let window_id = ready["window"].as_u64().unwrap() as u32;
        until("the active window", || (desktop.active() == window_id).then_some(()));
        desktop.gtk("middle", 800, 20, 300, 200);
        desktop.gtk("front", 400, 300, 500, 400);
        desktop.put_pointer(700, 500);
        let before = desktop.person();
        let agent = Agent::open(&desktop.session(), "test").unwrap();
        for _ in 0..3 {
            let at = Point { x: 100, y: 100 };
            let click = Click {
                window_id: WindowId::of_xid(window_id),
                at,
                button: Button::Left,
                count: 1,
                modifiers: vec![],
            };
            let delivery = agent.click(&click).unwrap();
            journal.wait("the click", |record| record["did"] == "clicked");
            assert!(
                delivery.pointer_kept
                    && delivery.focus_kept
                    && delivery.active_window_kept
                    && delivery.stacking_kept,
                "{delivery:?}"
            );
            assert_eq!(desktop.person(), before);
        }
    }
}
