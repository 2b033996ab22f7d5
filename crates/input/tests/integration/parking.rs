//! Where the agent's pointer rests when the screen changes.

use crate::test_desktop::{Server, TestDesktop, until};
use desktop::WindowId;
use input::{Agent, Button, Click};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt as _, CreateWindowAux, EventMask, WindowClass};

#[test]
fn a_screen_that_becomes_smaller_leaves_the_resting_pointer_off_all_windows() {
    let mut desktop = TestDesktop::open(Server::Xvnc);
    let mut back = desktop.gtk("back", 50, 60, 300, 200);
    let agent = Agent::open(&desktop.session(), "test").unwrap();
    let resting = desktop.under("backlot").unwrap();
    let at = back.place("area");
    let click = Click {
        window_id: WindowId::of_xid(back.window),
        at,
        button: Button::Left,
        count: 1,
        modifiers: vec![],
    };
    let (conn, root) = desktop.connection();
    // A window everywhere, under the one where the pointer rests and nowhere else.
    let (cover, kind) = (conn.generate_id().unwrap(), WindowClass::INPUT_OUTPUT);
    let aux = CreateWindowAux::new().override_redirect(1).event_mask(EventMask::ENTER_WINDOW);
    conn.create_window(0, cover, root, 0, 0, 1280, 800, 0, kind, 0, &aux).unwrap().check().unwrap();
    for size in ["1024x768", "800x600", "640x480"] {
        conn.map_window(cover).unwrap();
        agent.click(&click).unwrap();
        back.journal.wait("the click", |record| record["event"] == "release");
        assert_eq!(desktop.under("backlot"), Some(resting));
        desktop.run("xrandr", &["-s", size]);
        let height: u16 = size.split('x').nth(1).unwrap().parse().unwrap();
        until("the smaller screen", || {
            (conn.get_geometry(root).unwrap().reply().unwrap().height == height).then_some(())
        });
        until("the pointer to rest again", || (desktop.under("backlot") == Some(resting)).then_some(()));
    }
    agent.close().unwrap();
}
