//! Lists of Qt, which closes them when it hears that it has not the focus.

use std::time::Duration;

use crate::test_desktop::{Server, TestDesktop, until};
use desktop::{Point, WindowId};
use input::{Agent, Button, Click};

/// How long a choice is waited for after each click.
const ONE_CLICK: Duration = Duration::from_millis(300);

#[test]
fn a_list_that_takes_long_to_open_stays_open_for_the_next_click() {
    for version in ["5", "6"] {
        for seconds in ["0", "0.05", "0.6"] {
            let mut desktop = TestDesktop::open(Server::Xvfb);
            let mut command = desktop.command("/usr/bin/python3");
            command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/list_qt.py"));
            command.args([version, "back", "50", "60", "300", "60", seconds]);
            let mut journal = desktop.journal(command);
            let ready = journal.wait("the window", |record| record["did"] == "ready");
            let window_id = ready["window"].as_u64().unwrap() as u32;
            until("the active window", || (desktop.active() == window_id).then_some(()));
            desktop.gtk("front", 20, 20, 700, 600);
            desktop.put_pointer(700, 500);
            let before = desktop.person();
            journal.wait("the application without the focus", |record| record["did"] == "inactive");
            let agent = Agent::open(&desktop.session(), "test").unwrap();
            let click = |window_id: u32, x: i32, y: i32| {
                let (at, button) = (Point { x, y }, Button::Left);
                agent
                    .click(&Click {
                        window_id: WindowId::of_xid(window_id),
                        at,
                        button,
                        count: 1,
                        modifiers: vec![],
                    })
                    .unwrap()
            };
            assert!(click(window_id, 150, 30).focus_pretended);
            let list = journal.wait("the list", |record| record["did"] == "shown");
            let number = |name: &str| list[name].as_u64().unwrap() as u32;
            let (width, height) = (number("width") as i32, number("height") as i32);
            // Qt takes no choice for a while after the list is shown.
            until("the choice", || {
                click(number("window"), width / 2, height / 2);
                journal.next(ONE_CLICK, |record| record["did"] == "chosen" && record["text"] == "Pear")
            });
            journal.wait("the end of the belief to have the focus", |record| record["did"] == "inactive");
            assert_eq!(desktop.person(), before);
        }
    }
}
