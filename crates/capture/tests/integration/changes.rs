//! Pictures of a window that changes a little each time equal what its program drew, pixel by pixel.

use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

use capture::Capturer;
use desktop::{Desktop, WindowId};
use test_support::{TestDisplay, wait_for};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeGCAux, ConfigureWindowAux, ConnectionExt as _, CreateGCAux, CreateWindowAux, Gcontext,
    PropMode, Rectangle, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

/// A program that remembers what it drew.
struct Painter {
    conn: RustConnection,
    window: Window,
    gc: Gcontext,
    width: u16,
    height: u16,
    rgb: Vec<[u8; 3]>,
    seed: u32,
}

impl Painter {
    fn show(display: &str, width: u16, height: u16) -> Self {
        let (conn, screen) = RustConnection::connect(Some(display)).unwrap();
        let screen = conn.setup().roots[screen].clone();
        let (window, gc) = (conn.generate_id().unwrap(), conn.generate_id().unwrap());
        conn.create_gc(gc, screen.root, &CreateGCAux::new()).unwrap();
        let painter = Self { conn, window, gc, width, height, rgb: Vec::new(), seed: 77 };
        painter.make_window();
        painter
    }

    fn make_window(&self) {
        let Self { conn, window, width, height, .. } = self;
        let screen = &conn.setup().roots[0];
        let (depth, class) = (screen.root_depth, WindowClass::INPUT_OUTPUT);
        let values = CreateWindowAux::new();
        conn.create_window(depth, *window, screen.root, 0, 0, *width, *height, 0, class, 0, &values).unwrap();
        // Only windows of a process that have a name count as those of an application.
        let property = conn.intern_atom(false, b"_NET_WM_PID").unwrap().reply().unwrap().atom;
        let pid = [std::process::id()];
        conn.change_property32(PropMode::REPLACE, *window, property, AtomEnum::CARDINAL, &pid).unwrap();
        conn.change_property8(PropMode::REPLACE, *window, AtomEnum::WM_NAME, AtomEnum::STRING, b"painter")
            .unwrap();
        conn.map_window(*window).unwrap();
        conn.flush().unwrap();
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.seed = self.seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.seed >> 8) % limit
    }

    fn fill(&mut self, area: Rectangle, colour: u32) {
        self.conn.change_gc(self.gc, &ChangeGCAux::new().foreground(colour)).unwrap();
        self.conn.poly_fill_rectangle(self.window, self.gc, &[area]).unwrap();
        self.conn.get_input_focus().unwrap().reply().unwrap();
        let [_, r, g, b] = colour.to_be_bytes();
        let width = usize::from(self.width);
        for row in usize::from(area.y as u16)..usize::from(area.y as u16 + area.height) {
            let start = row * width + usize::from(area.x as u16);
            self.rgb[start..start + usize::from(area.width)].fill([r, g, b]);
        }
    }

    fn id(&self) -> WindowId {
        WindowId::of_xid(self.window)
    }

    /// Draws the whole window anew, in this size.
    fn draw_all(&mut self, width: u16, height: u16) {
        (self.width, self.height) = (width, height);
        self.rgb = vec![[0; 3]; usize::from(width) * usize::from(height)];
        let colour = self.below(1 << 24);
        self.fill(Rectangle { x: 0, y: 0, width, height }, colour);
    }

    fn draw_somewhere(&mut self) {
        let (x, y) = (self.below(u32::from(self.width)) as u16, self.below(u32::from(self.height)) as u16);
        let (right, down) = (self.width - x, self.height - y);
        let width = 1 + self.below(u32::from(right.min(90))) as u16;
        let height = 1 + self.below(u32::from(down.min(50))) as u16;
        let colour = self.below(1 << 24);
        self.fill(Rectangle { x: x as i16, y: y as i16, width, height }, colour);
    }
}

fn pixels(png: &[u8]) -> Vec<[u8; 3]> {
    let mut reader = png::Decoder::new(Cursor::new(png)).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut rgb).unwrap();
    rgb.as_chunks().0.to_vec()
}

fn sees(capturer: &Capturer, painter: &Painter, when: &str) {
    let picture = capturer.window(painter.id(), 0).unwrap();
    assert_eq!((picture.width, picture.height), (painter.width.into(), painter.height.into()), "{when}");
    assert!(pixels(&picture.png) == painter.rgb, "{when}");
}

#[test]
fn each_picture_of_a_changing_window_is_what_was_drawn() {
    let mut display = TestDisplay::managed().unwrap();
    let desktop = Desktop::open(Some(display.name())).unwrap();
    wait_for(|| desktop.x11_window_manager().unwrap()).expect("openbox runs");
    // A window manager that lists its first window is one that manages.
    let over = display.run("xterm", &["-geometry", "200x60+0+0", "-e", "sleep", "600"]).unwrap();
    let on_top = || desktop.windows().unwrap().last().filter(|window| window.pid == over).cloned();
    let over = wait_for(on_top).expect("the terminal is shown").window_id.to_string();
    let mut painter = Painter::show(display.name(), 600, 450);
    let id = painter.id();
    let shown = || desktop.window(id).unwrap().filter(|window| window.is_on_screen);
    wait_for(shown).expect("the window is shown");
    painter.draw_all(600, 450);

    let capturer = Capturer::open(Arc::clone(&desktop)).unwrap();
    sees(&capturer, &painter, "at first");
    for round in 0..60 {
        painter.draw_somewhere();
        sees(&capturer, &painter, &format!("after change {round}"));
    }

    // Digests follow the same changes, and taking one does not hide a change from the next picture.
    let mut digest = capturer.digest(id, None).unwrap();
    for round in 0..20 {
        let before = painter.rgb.clone();
        painter.draw_somewhere();
        let next = capturer.digest(id, None).unwrap();
        assert_eq!(next == digest, before == painter.rgb, "digest {round}");
        assert_eq!(next, capturer.digest(id, None).unwrap());
        digest = next;
        if round % 3 == 0 {
            sees(&capturer, &painter, &format!("after digest {round}"));
        }
    }

    // A smaller picture follows them too.
    let small = capturer.window(id, 100).unwrap();
    painter.draw_all(600, 450);
    let other = capturer.window(id, 100).unwrap();
    assert_ne!(small.png, other.png);
    assert!(pixels(&other.png).iter().all(|pixel| *pixel == painter.rgb[0]));
    sees(&capturer, &painter, "after a smaller one");

    // What other windows cover is drawn and seen as well.
    display.run("xdotool", &["windowactivate", &over]).unwrap();
    let on_top = || {
        let windows = desktop.windows().unwrap();
        windows.last().filter(|window| window.window_id.to_string() == over).map(|_| ())
    };
    wait_for(on_top).expect("the terminal covers the window");
    for round in 0..20 {
        painter.draw_somewhere();
        sees(&capturer, &painter, &format!("covered, after change {round}"));
    }

    // Another size, and back to it unseen.
    for (width, height) in [(500, 300), (640, 470)] {
        let size = ConfigureWindowAux::new().width(width).height(height);
        painter.conn.configure_window(painter.window, &size).unwrap();
        painter.conn.flush().unwrap();
        let is_so = || {
            desktop
                .window(id)
                .unwrap()
                .filter(|window| (window.size.width, window.size.height) == (width, height))
        };
        wait_for(is_so).expect("the window has its new size");
        painter.draw_all(width as u16, height as u16);
        if width == 640 {
            sees(&capturer, &painter, "after a resize");
        }
    }

    // Away and back, drawn anew in between.
    painter.conn.unmap_window(painter.window).unwrap();
    painter.conn.flush().unwrap();
    wait_for(|| desktop.window(id).unwrap().is_none_or(|window| !window.is_on_screen).then_some(())).unwrap();
    painter.conn.map_window(painter.window).unwrap();
    painter.conn.flush().unwrap();
    wait_for(shown).expect("the window is back");
    painter.draw_all(640, 470);
    painter.draw_somewhere();
    sees(&capturer, &painter, "after it was away");
}

#[test]
fn a_window_that_has_the_id_of_a_dead_one_is_not_shown_as_that_one() {
    let display = TestDisplay::bare().unwrap();
    let desktop = Desktop::open(Some(display.name())).unwrap();
    let capturer = Capturer::open(Arc::clone(&desktop)).unwrap();
    let mut painter = Painter::show(display.name(), 300, 200);
    for round in 0..5 {
        wait_for(|| desktop.window(painter.id()).unwrap()).expect("the window is shown");
        painter.draw_all(300, 200);
        sees(&capturer, &painter, &format!("window {round} of the same id"));
        sees(&capturer, &painter, &format!("window {round} of the same id, again"));
        painter.conn.destroy_window(painter.window).unwrap();
        painter.make_window();
    }
}

#[test]
fn a_window_is_calm_from_the_first_look_until_something_is_drawn() {
    let display = TestDisplay::bare().unwrap();
    let desktop = Desktop::open(Some(display.name())).unwrap();
    let mut painter = Painter::show(display.name(), 300, 200);
    wait_for(|| desktop.window(painter.id()).unwrap()).expect("the window is shown");
    painter.draw_all(300, 200);
    let capturer = Capturer::open(Arc::clone(&desktop)).unwrap();
    let since_drawn = |painter: &Painter| capturer.window_digest(painter.id()).unwrap().since_drawn.unwrap();
    let since = Duration::from_millis(30);
    wait_for(|| (since_drawn(&painter) > since).then_some(())).expect("nothing is drawn");
    let before = capturer.window_digest(painter.id()).unwrap();
    // The same pixels again: a caret that was away and is back.
    let (area, [r, g, b]) = (Rectangle { x: 5, y: 5, width: 3, height: 3 }, painter.rgb[0]);
    painter.fill(area, u32::from_be_bytes([0, r, g, b]));
    let after = capturer.window_digest(painter.id()).unwrap();
    assert_eq!((after.digest, after.since_drawn), (before.digest, Some(Duration::ZERO)));
    wait_for(|| (since_drawn(&painter) > since).then_some(())).expect("nothing is drawn again");
}
