//! Windows and points that a pointer cannot reach are refused before anything is sent.

use std::time::Duration;

use crate::test_desktop::{Server, TestDesktop, until};
use desktop::{Point, Rect, WindowId};
use input::{Agent, Button, Click, Text};
use x11rb::connection::Connection;
use x11rb::protocol::shape::{self, SK, SO};
use x11rb::protocol::xproto::{
    AtomEnum, ClipOrdering, ConfigureWindowAux, ConnectionExt as _, CreateWindowAux, PropMode, Rectangle,
    WindowClass,
};
use x11rb::wrapper::ConnectionExt as _;

fn click(window_id: u32, x: i32, y: i32) -> Click {
    Click {
        window_id: WindowId::of_xid(window_id),
        at: Point { x, y },
        button: Button::Left,
        count: 1,
        modifiers: vec![],
    }
}

#[test]
fn what_cannot_be_reached_is_refused_with_its_reason() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let back = desktop.gtk("back", 50, 60, 500, 400);
    let front = desktop.gtk("front", 400, 300, 500, 400);
    let agent = Agent::open(&desktop.session(), "test").unwrap();

    let error = agent.click(&click(0x7fff_ffff, 1, 1)).unwrap_err();
    assert_eq!(error.code(), "window_not_found");
    for (x, y) in [(-1, 5), (500, 5), (5, 400)] {
        let error = agent.click(&click(back.window, x, y)).unwrap_err();
        assert_eq!(error.code(), "point_outside_window");
        assert!(error.to_string().contains("500x400"), "{error}");
    }
    let cover = desktop.gtk("cover", 30, 30, 700, 600);
    desktop.run("xdotool", &["windowminimize", &front.window.to_string()]);
    let reason = |window, reason: &str| {
        until("the refusal", || {
            let error = agent.click(&click(window, 5, 5)).err()?;
            (error.code() == "window_not_visible" && error.to_string().contains(reason)).then_some(())
        });
    };
    reason(front.window, "minimised");
    desktop
        .run("xdotool", &["set_num_desktops", "2", "set_desktop_for_window", &cover.window.to_string(), "1"]);
    reason(cover.window, "another workspace");
    agent.click(&click(back.window, 450, 350)).unwrap();
}

#[test]
fn what_lies_over_a_window_lets_the_agent_through_and_is_left_as_it_was() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let mut back = desktop.gtk("back", 50, 60, 500, 400);
    desktop.put_pointer(1200, 700);
    let area = back.place("area");
    let (conn, root) = desktop.connection();
    let over = |rect: Rect, border: u16| {
        let overlay = conn.generate_id().unwrap();
        let aux = CreateWindowAux::new().override_redirect(1).background_pixel(0).border_pixel(0);
        let (x, y) = (rect.x as i16, rect.y as i16);
        let (width, height) = (rect.width as u16, rect.height as u16);
        conn.create_window(0, overlay, root, x, y, width, height, border, WindowClass::INPUT_OUTPUT, 0, &aux)
            .unwrap();
        conn.map_window(overlay).unwrap();
        conn.get_input_focus().unwrap().reply().unwrap();
        desktop.watch(overlay)
    };
    let screen = Rect { x: 0, y: 0, width: 1280, height: 800 };
    let (left, top) = desktop.origin(back.window);
    let at = Point { x: i32::from(left) + area.x, y: i32::from(top) + area.y };
    let panels = [
        // An overlay that lets everything through, as an agent's cursor does.
        (over(screen, 0), Some(vec![])),
        // Without a shape, with one of the same size, with a border, and in parts.
        (over(screen, 0), None),
        (over(Rect { x: -3, y: -3, ..screen }, 3), None),
        (over(screen, 0), Some(vec![(0, 0, 1000, 30), (0, 30, 700, 700), (900, 30, 300, 700)])),
        // The point is its corner.
        (over(Rect { x: at.x, y: at.y, width: 50, height: 50 }, 0), None),
        (over(Rect { x: at.x, y: at.y, width: 1, height: 1 }, 0), None),
    ];
    for (panel, shape) in &panels {
        if let Some(parts) = shape {
            let parts: Vec<Rectangle> = parts
                .iter()
                .map(|(x, y, width, height)| Rectangle { x: *x, y: *y, width: *width, height: *height })
                .collect();
            let unsorted = ClipOrdering::UNSORTED;
            shape::rectangles(conn, SO::SET, SK::INPUT, unsorted, panel.top(), 0, 0, &parts).unwrap();
        }
    }
    conn.get_input_focus().unwrap().reply().unwrap();
    let agent = Agent::open(&desktop.session(), "test").unwrap();
    for (panel, _) in &panels {
        panel.heard();
    }
    let shapes: Vec<_> = panels.iter().map(|(panel, _)| panel.shapes()).collect();
    for count in [1, 2] {
        let before = desktop.person();
        agent.click(&Click { count, ..click(back.window, area.x, area.y) }).unwrap();
        back.journal.wait("the click", |record| record["event"] == "release");
        let text = Text {
            window_id: WindowId::of_xid(back.window),
            text: "x".repeat(2),
            delay: Duration::from_millis(1),
            at: None,
        };
        agent.type_text(&text).unwrap();
        back.journal.wait("the keys", |record| record["key"] == "x");
        assert_eq!(desktop.person(), before);
    }
    for ((panel, _), shapes) in panels.iter().zip(shapes) {
        assert_eq!(panel.heard(), [] as [&str; 0]);
        assert_eq!(panel.shapes(), shapes);
    }
    // A window that had no shape has none: it takes the pointer wherever it grows to.
    let grown = &panels[4].0;
    conn.configure_window(grown.top(), &ConfigureWindowAux::new().width(90).height(70)).unwrap();
    conn.get_input_focus().unwrap().reply().unwrap();
    assert_eq!(grown.shapes(), [[(0, 0, 90, 70)]]);
}

#[test]
fn the_persons_pointer_does_not_fall_through() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let mut back = desktop.gtk("back", 50, 60, 500, 400);
    let front = desktop.gtk("front", 20, 20, 700, 600);
    let area = back.place("area");
    let (left, top) = desktop.origin(back.window);
    desktop.put_pointer(left + area.x as i16, top + area.y as i16);
    let before = desktop.person();
    let agent = Agent::open(&desktop.session(), "test").unwrap();
    let watch = desktop.watch(front.window);
    agent.click(&click(back.window, area.x, area.y)).unwrap();
    let press = back.journal.wait("the press beside it", |record| record["event"] == "press");
    let beside = i64::from(left) - 50 + i64::from(area.x);
    assert!([beside - 1, beside + 1].contains(&press["x"].as_i64().unwrap()), "{press}");
    assert_eq!(desktop.person(), before);
    assert_eq!(watch.heard(), [] as [&str; 0]);
}

#[test]
fn what_lies_inside_the_same_frame_still_covers() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let mut back = desktop.gtk("back", 50, 60, 500, 400);
    desktop.gtk("front", 400, 300, 500, 400);
    let agent = Agent::open(&desktop.session(), "test").unwrap();
    let (conn, _) = desktop.connection();
    let parent = conn.query_tree(back.window).unwrap().reply().unwrap().parent;
    let inside = conn.generate_id().unwrap();
    let (aux, only) = (CreateWindowAux::new().override_redirect(1), WindowClass::INPUT_ONLY);
    conn.create_window(0, inside, parent, 0, 0, 900, 900, 0, only, 0, &aux).unwrap().check().unwrap();
    conn.map_window(inside).unwrap();
    conn.change_property8(PropMode::REPLACE, inside, AtomEnum::WM_NAME, AtomEnum::STRING, b"pane").unwrap();
    conn.get_input_focus().unwrap().reply().unwrap();
    let error = agent.click(&click(back.window, 250, 250)).unwrap_err();
    assert_eq!(error.code(), "window_covered");
    assert!(error.to_string().contains("\"pane\"") && error.to_string().contains("\"250, 250\""), "{error}");
    conn.destroy_window(inside).unwrap();
    conn.get_input_focus().unwrap().reply().unwrap();
    agent.click(&click(back.window, 250, 250)).unwrap();
    let presses = back.journal.wait("the one press", |record| record["event"] == "press");
    assert_eq!(presses["button"], 1);
}
