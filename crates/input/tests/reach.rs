//! Windows and points that a pointer cannot reach are refused before anything is sent.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

mod stage;

use desktop::{Point, Rect};
use input::{Agent, Button, Click, InputError, KeyPress, Text};
use stage::{Server, Stage, until};
use x11rb::connection::Connection;
use x11rb::protocol::shape::{self, SK, SO};
use x11rb::protocol::xproto::{ClipOrdering, ConnectionExt as _, CreateWindowAux, WindowClass};

fn click(window_id: u32, x: i32, y: i32) -> Click {
    Click { window_id, at: Point { x, y }, button: Button::Left, count: 1, modifiers: vec![] }
}

#[test]
fn what_cannot_be_reached_is_refused_with_its_reason() {
    let mut stage = Stage::open(Server::Xvfb);
    let back = stage.gtk("back", 50, 60, 500, 400);
    let front = stage.gtk("front", 400, 300, 500, 400);
    let agent = Agent::open(&stage.display, "test").unwrap();

    let error = agent.click(&click(0x7fff_ffff, 1, 1)).unwrap_err();
    assert_eq!(error.code(), "window_not_found");
    for (x, y) in [(-1, 5), (500, 5), (5, 400)] {
        let error = agent.click(&click(back.window, x, y)).unwrap_err();
        assert_eq!(error.code(), "point_outside_window");
        assert!(error.to_string().contains("500x400"), "{error}");
    }
    let error = agent.click(&click(back.window, 450, 350)).unwrap_err();
    assert_eq!(error.code(), "window_covered");
    assert!(error.to_string().contains("\"front\""), "{error}");

    let mut cover = stage.gtk("cover", 30, 30, 700, 600);
    let press = KeyPress { window_id: back.window, keysym: 0x61, modifiers: vec![], count: 1, at: None };
    let error = agent.press_key(&press).unwrap_err();
    assert!(matches!(&error, InputError::WindowCovered { point: None, .. }), "{error}");
    let text =
        Text { window_id: back.window, text: "a".to_owned(), delay: std::time::Duration::ZERO, at: None };
    assert_eq!(agent.type_text(&text).unwrap_err().code(), "window_covered");
    assert_eq!(cover.journal.of_agents(), [] as [&serde_json::Value; 0]);

    stage.run("xdotool", &["windowminimize", &front.window.to_string()]);
    let reason = |window, reason: &str| {
        until("the refusal", || {
            let error = agent.click(&click(window, 5, 5)).err()?;
            (error.code() == "window_not_visible" && error.to_string().contains(reason)).then_some(())
        });
    };
    reason(front.window, "minimised");
    stage
        .run("xdotool", &["set_num_desktops", "2", "set_desktop_for_window", &cover.window.to_string(), "1"]);
    reason(cover.window, "another workspace");
    // The window manager may show for a moment which workspace it is.
    until("the click", || agent.click(&click(back.window, 450, 350)).ok());
}

#[test]
fn only_what_takes_the_pointer_covers() {
    let mut stage = Stage::open(Server::Xvfb);
    let mut back = stage.gtk("back", 50, 60, 500, 400);
    let agent = Agent::open(&stage.display, "test").unwrap();
    let area = back.place("area");
    let (conn, root) = stage.connection();
    let over = |rect: Rect| {
        let overlay = conn.generate_id().unwrap();
        let aux = CreateWindowAux::new().override_redirect(1).background_pixel(0);
        let (x, y) = (rect.x as i16, rect.y as i16);
        let (width, height) = (rect.width as u16, rect.height as u16);
        conn.create_window(0, overlay, root, x, y, width, height, 0, WindowClass::INPUT_OUTPUT, 0, &aux)
            .unwrap();
        conn.map_window(overlay).unwrap();
        overlay
    };
    // An overlay that lets everything through, as an agent's cursor does.
    let overlay = over(Rect { x: 0, y: 0, width: 1280, height: 800 });
    shape::rectangles(conn, SO::SET, SK::INPUT, ClipOrdering::UNSORTED, overlay, 0, 0, &[]).unwrap();
    conn.get_input_focus().unwrap().reply().unwrap();
    assert!(agent.click(&click(back.window, area.x, area.y)).is_ok());
    back.journal.wait("the click through the overlay", |record| record["event"] == "press");
    // One that takes the left half.
    let (left, _) = stage.origin(back.window);
    over(Rect { x: 0, y: 0, width: (i32::from(left) + area.x) as u32, height: 800 });
    conn.get_input_focus().unwrap().reply().unwrap();
    assert_eq!(agent.click(&click(back.window, area.x - 1, area.y)).unwrap_err().code(), "window_covered");
    assert!(agent.click(&click(back.window, area.x, area.y)).is_ok());
    let text =
        Text { window_id: back.window, text: "free".to_owned(), delay: std::time::Duration::ZERO, at: None };
    assert!(agent.type_text(&text).is_ok());
    back.journal.wait("the text over the free half", |record| record["text"] == "free");
}
