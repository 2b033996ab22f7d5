//! The overlay as a second client of the display sees it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use cursor::{Color, Cursors, Icon, Motion, Pace, PreviewPlace, Style};
use desktop::{Desktop, Point, WindowId};
use test_support::{TestDisplay, wait_for};
use x11rb::connection::Connection;
use x11rb::protocol::randr::{ConnectionExt as _, Rotation};
use x11rb::protocol::res::ConnectionExt as _;
use x11rb::protocol::shape::{ConnectionExt as _, SK};
use x11rb::protocol::xproto::{
    ConfigureWindowAux, ConnectionExt as _, CreateWindowAux, ImageFormat, MapState, StackMode, Window,
    WindowClass,
};
use x11rb::rust_connection::RustConnection;

/// A display with a light window of 600x400 at 100,100 and, optionally, a compositor.
struct Scene {
    cursors: Cursors,
    desktop: Arc<Desktop>,
    witness: RustConnection,
    root: Window,
    below: Window,
    _display: TestDisplay,
}

const LIGHT: u32 = 0x00f0_f0f0;

/// With a window manager.
fn scene(compositor: Option<&str>) -> Scene {
    let mut display = TestDisplay::managed().unwrap();
    let (witness, screen) = RustConnection::connect(Some(display.name())).unwrap();
    let root = witness.setup().roots[screen].root;
    let atom = |name: &str| witness.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom;
    let check = atom("_NET_SUPPORTING_WM_CHECK");
    wait_for(|| {
        let found = witness.get_property(false, root, check, 33_u32, 0, 1).unwrap().reply().unwrap();
        (found.value_len > 0).then_some(())
    })
    .unwrap();
    if let Some(program) = compositor {
        display.run(program, &["--backend", "xrender", "--config", "/dev/null"]).unwrap();
        let selection = atom("_NET_WM_CM_S0");
        wait_for(|| {
            let owner = witness.get_selection_owner(selection).unwrap().reply().unwrap().owner;
            (owner != 0).then_some(())
        })
        .unwrap();
    }
    scene_on(display)
}

fn scene_on(display: TestDisplay) -> Scene {
    let (witness, screen) = RustConnection::connect(Some(display.name())).unwrap();
    let root = witness.setup().roots[screen].root;
    let below = witness.generate_id().unwrap();
    let aux = CreateWindowAux::new().override_redirect(1).background_pixel(LIGHT);
    witness.create_window(0, below, root, 100, 100, 600, 400, 0, WindowClass::INPUT_OUTPUT, 0, &aux).unwrap();
    witness.map_window(below).unwrap();
    witness.flush().unwrap();
    let desktop = Desktop::open(Some(display.name())).unwrap();
    let cursors = Cursors::open(Arc::clone(&desktop)).unwrap();
    let scene = Scene { cursors, desktop, witness, root, below, _display: display };
    wait_for(|| (scene.pixel(150, 150) == LIGHT).then_some(())).unwrap();
    scene
}

impl Scene {
    fn pixel(&self, x: i16, y: i16) -> u32 {
        let image = self.witness.get_image(ImageFormat::Z_PIXMAP, self.root, x, y, 1, 1, u32::MAX).unwrap();
        let data = image.reply().unwrap().data;
        u32::from_le_bytes(data[..4].try_into().unwrap()) & 0x00ff_ffff
    }

    fn wait_for_pixel(&self, x: i16, y: i16, wanted: impl Fn(u32) -> bool) -> u32 {
        let mut last = 0;
        let found = wait_for(|| {
            last = self.pixel(x, y);
            wanted(last).then_some(last)
        });
        found.unwrap_or_else(|| panic!("the pixel at {x},{y} stays {last:06x}"))
    }

    fn overlay(&self) -> Window {
        self.cursors.windows().unwrap()[0].xid()
    }
}

fn dot(color: &str, opacity: f32) -> Style {
    Style {
        icon: Icon::Dot,
        image: None,
        color: Color::from_str(color).unwrap(),
        gradient: Vec::new(),
        bloom: None,
        label: String::new(),
        size: 16.0,
        opacity,
    }
}

fn slow(spring: f64) -> Pace {
    let motion = Motion { duration: Duration::from_millis(400), spring, ..Motion::default() };
    Pace { motion, ..Pace::default() }
}

const RED: u32 = 0x00ff_0000;

#[test]
fn without_a_compositor_a_cursor_is_cut_out_and_moves_over_what_lies_below() {
    let scene = scene(None);
    scene.cursors.set_style("a", &dot("red", 0.5)).unwrap();
    assert_eq!(scene.cursors.state("a").unwrap().unwrap().position, None);
    assert_eq!(scene.cursors.windows().unwrap(), []);
    scene.cursors.place("a", Point { x: 200, y: 200 }).unwrap();
    scene.wait_for_pixel(200, 200, |pixel| pixel == RED);
    // Its square's corner is not its own.
    scene.wait_for_pixel(185, 185, |pixel| pixel == LIGHT);
    assert!(scene.cursors.glide("a", Point { x: 400, y: 300 }).unwrap());
    let state = scene.cursors.state("a").unwrap().unwrap();
    assert_eq!(state.position, Some(Point { x: 400, y: 300 }));
    assert!(state.is_visible && !state.is_composited);
    scene.wait_for_pixel(400, 300, |pixel| pixel == RED);
    scene.cursors.remove("a").unwrap();
    assert_eq!(scene.cursors.state("a").unwrap(), None);
    assert!(!scene.cursors.glide("a", Point { x: 1, y: 1 }).unwrap());
}

#[test]
fn with_a_compositor_a_cursor_is_translucent_and_is_cut_out_once_that_is_gone() {
    let mut scene = scene(Some("picom"));
    scene.cursors.set_style("a", &dot("red", 0.5)).unwrap();
    scene.cursors.place("a", Point { x: 200, y: 200 }).unwrap();
    assert!(scene.cursors.state("a").unwrap().unwrap().is_composited);
    // Half of red and half of what lies below.
    scene.wait_for_pixel(200, 200, |pixel| {
        let [blue, green, red, _] = pixel.to_le_bytes();
        red > 0xe8 && (0x70..0x82).contains(&green) && (0x70..0x82).contains(&blue)
    });
    let picom = *scene._display.programs().last().unwrap();
    scene._display.end(picom);
    wait_for(|| (!scene.cursors.state("a").unwrap().unwrap().is_composited).then_some(())).unwrap();
    scene.wait_for_pixel(200, 200, |pixel| pixel == RED);
}

#[test]
fn a_cursor_is_in_nobodys_way() {
    // A window manager that starts changes things of its own.
    let scene = scene_on(TestDisplay::bare().unwrap());
    let Scene { witness, root, .. } = &scene;
    let looked = || {
        let pointer = witness.query_pointer(*root).unwrap().reply().unwrap();
        let focus = witness.get_input_focus().unwrap().reply().unwrap().focus;
        (pointer.root_x, pointer.root_y, pointer.child, focus)
    };
    witness.warp_pointer(0_u32, *root, 0, 0, 0, 0, 210, 210).unwrap();
    let before = looked();
    let changes = scene.desktop.changes();
    scene.cursors.set_style("a", &dot("red", 1.0)).unwrap();
    scene.cursors.place("a", Point { x: 200, y: 200 }).unwrap();
    assert!(scene.cursors.glide("a", Point { x: 212, y: 210 }).unwrap());
    scene.cursors.pulse("a").unwrap();
    scene.wait_for_pixel(212, 210, |pixel| pixel == RED);
    // The pointer meets what lies below it.
    assert_eq!(looked(), before);
    assert_eq!(before.2, scene.below);
    let overlay = scene.overlay();
    assert!(witness.shape_get_rectangles(overlay, SK::INPUT).unwrap().reply().unwrap().rectangles.is_empty());
    assert!(scene.desktop.windows().unwrap().iter().all(|window| window.window_id.xid() != overlay));
    assert!(scene.desktop.x11_stacking().unwrap().iter().all(|frame| frame.id != overlay));
    assert_eq!(scene.desktop.changes(), changes);
}

#[test]
fn a_cursor_stays_above_windows_that_come_and_rise() {
    let scene = scene(None);
    let Scene { witness, root, .. } = &scene;
    scene.cursors.set_style("a", &dot("red", 1.0)).unwrap();
    scene.cursors.place("a", Point { x: 200, y: 200 }).unwrap();
    scene.wait_for_pixel(200, 200, |pixel| pixel == RED);
    witness.configure_window(scene.below, &ConfigureWindowAux::new().stack_mode(StackMode::ABOVE)).unwrap();
    let menu = witness.generate_id().unwrap();
    let aux = CreateWindowAux::new().override_redirect(1).background_pixel(0x00ff);
    witness.create_window(0, menu, *root, 150, 150, 90, 90, 0, WindowClass::INPUT_OUTPUT, 0, &aux).unwrap();
    witness.map_window(menu).unwrap();
    scene.wait_for_pixel(200, 160, |pixel| pixel == 0x00ff);
    scene.wait_for_pixel(200, 200, |pixel| pixel == RED);
}

#[test]
fn a_cursor_that_is_switched_off_sent_elsewhere_or_idle_says_so() {
    let scene = scene(None);
    let cursors = &scene.cursors;
    cursors.set_style("a", &dot("red", 1.0)).unwrap();
    cursors.set_pace("a", slow(1.0)).unwrap();
    cursors.place("a", Point { x: 150, y: 150 }).unwrap();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| cursors.glide("a", Point { x: 600, y: 400 }).unwrap());
        wait_for(|| {
            (cursors.state("a").unwrap().unwrap().position? != Point { x: 150, y: 150 }).then_some(())
        })
        .unwrap();
        assert!(cursors.glide("a", Point { x: 300, y: 150 }).unwrap());
        assert!(!first.join().unwrap());
    });
    cursors.enable("a", false).unwrap();
    assert!(!cursors.glide("a", Point { x: 200, y: 200 }).unwrap());
    cursors.place("a", Point { x: 200, y: 200 }).unwrap();
    assert!(!cursors.state("a").unwrap().unwrap().is_visible);
    assert_eq!(scene.pixel(200, 200), LIGHT);
    cursors.enable("a", true).unwrap();
    scene.wait_for_pixel(200, 200, |pixel| pixel == RED);
    cursors.set_pace("a", Pace { idle_hide: Duration::from_millis(50), ..Pace::default() }).unwrap();
    wait_for(|| (!cursors.state("a").unwrap().unwrap().is_visible).then_some(())).unwrap();
    scene.wait_for_pixel(200, 200, |pixel| pixel == LIGHT);
    // What happens next shows it again.
    assert!(cursors.glide("a", Point { x: 220, y: 200 }).unwrap());
    assert_eq!(cursors.windows().unwrap().len(), 1);
}

#[test]
fn a_click_is_seen_and_the_cursor_stays_for_its_dwell_time() {
    let scene = scene(None);
    let cursors = &scene.cursors;
    cursors.set_style("a", &dot("red", 1.0)).unwrap();
    let dwell = Duration::from_millis(300);
    cursors.set_pace("a", Pace { dwell, ..Pace::default() }).unwrap();
    cursors.place("a", Point { x: 200, y: 200 }).unwrap();
    let clicked = std::time::Instant::now();
    cursors.pulse("a").unwrap();
    // The ring is larger than the disc.
    scene.wait_for_pixel(200, 181, |pixel| pixel != LIGHT);
    assert!(cursors.glide("a", Point { x: 400, y: 200 }).unwrap());
    assert!(clicked.elapsed() >= dwell);
    scene.wait_for_pixel(400, 181, |pixel| pixel == LIGHT);
}

#[test]
fn closing_takes_everything_away_and_a_lost_display_is_told() {
    let mut scene = scene(None);
    scene.cursors.set_style("a", &dot("red", 1.0)).unwrap();
    scene.cursors.place("a", Point { x: 200, y: 200 }).unwrap();
    let overlay = scene.overlay();
    scene.cursors.close();
    scene.cursors.close();
    let is_gone = |window| {
        let state = scene.witness.get_window_attributes(window).unwrap().reply();
        state.map_or(true, |state| state.map_state == MapState::UNMAPPED)
    };
    wait_for(|| is_gone(overlay).then_some(())).unwrap();
    assert_eq!(wait_for(|| scene.cursors.state("a").err()).unwrap().code(), "display_lost");
    let others = Cursors::open(Arc::clone(&scene.desktop)).unwrap();
    others.set_style("a", &dot("red", 1.0)).unwrap();
    scene._display.end_server();
    assert_eq!(wait_for(|| others.state("a").err()).unwrap().code(), "display_lost");
}

#[test]
fn a_live_picture_lies_on_the_screen_as_it_is_now_and_leaves_nothing_with_a_window_that_is_hidden() {
    let scene = scene_on(TestDisplay::bare().unwrap());
    let (witness, root) = (&scene.witness, scene.root);
    // A screen can become smaller than an output only once that is off.
    let resources = witness.randr_get_screen_resources(root).unwrap().reply().unwrap();
    let off = witness.randr_set_crtc_config(resources.crtcs[0], 0, 0, 0, 0, 0, Rotation::ROTATE0, &[]);
    off.unwrap().reply().unwrap();
    witness.randr_set_screen_size(root, 640, 480, 160, 120).unwrap().check().unwrap();
    let place = |window| {
        let geometry = witness.get_geometry(window).unwrap().reply().unwrap();
        (geometry.x, geometry.y, geometry.width, geometry.height)
    };
    let shown = PreviewPlace { width: 64, height: 48, position: None };
    scene.cursors.preview(WindowId::of_xid(scene.below), shown).unwrap();
    let preview = wait_for(|| scene.cursors.windows().unwrap().first().copied()).unwrap().xid();
    assert_eq!(place(preview), (560, 416, 64, 48));
    let damages = || {
        let resources = witness.res_query_client_resources(preview).unwrap().reply().unwrap();
        let is_damage =
            |kind: u32| witness.get_atom_name(kind).unwrap().reply().unwrap().name == b"DamageExt";
        resources.types.iter().find(|kind| is_damage(kind.resource_type)).map_or(0, |kind| kind.count)
    };
    assert_eq!(damages(), 1);
    witness.unmap_window(scene.below).unwrap().check().unwrap();
    wait_for(|| scene.cursors.windows().unwrap().is_empty().then_some(())).unwrap();
    wait_for(|| (damages() == 0).then_some(())).unwrap();
}
