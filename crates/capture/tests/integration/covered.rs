//! Pictures of real windows: covered ones equal uncovered ones, pixel by pixel.

use std::io::Cursor;
use std::sync::Arc;
use std::time::{Duration, Instant};

use capture::{Capturer, Picture};
use desktop::{Desktop, Rect, Window, WindowId};
use test_support::{TestDisplay, wait_for};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, CreateWindowAux, EventMask, PropMode,
    WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

fn managed() -> (TestDisplay, Arc<Desktop>) {
    let display = TestDisplay::managed().unwrap();
    let desktop = Desktop::open(Some(display.name())).unwrap();
    wait_for(|| desktop.x11_window_manager().unwrap()).expect("openbox runs");
    (display, desktop)
}

fn shown(desktop: &Desktop, pid: u32) -> Window {
    let found =
        || desktop.windows().unwrap().into_iter().find(|window| window.pid == pid && window.is_on_screen);
    wait_for(found).unwrap()
}

fn pixels(picture: &Picture) -> Vec<u8> {
    let mut reader = png::Decoder::new(Cursor::new(&picture.png)).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgb).unwrap();
    assert_eq!((info.width, info.height), (picture.width, picture.height));
    rgb
}

/// Long enough for a toolkit to begin and end the animation of a window that loses the focus.
const STILL: Duration = Duration::from_secs(1);

/// Waits until a part of a window has not changed for a while.
fn rest(capturer: &Capturer, window: &Window, region: Option<Rect>) {
    let mut before = (String::new(), Instant::now());
    wait_for(|| {
        let now = capturer.digest(window.window_id, region).unwrap();
        if now != before.0 {
            before = (now, Instant::now());
        }
        (before.1.elapsed() > STILL).then_some(())
    })
    .expect("the window comes to rest");
}

/// The picture of a window that has come to rest; it shows more than one colour.
fn settled(capturer: &Capturer, window: &Window) -> Picture {
    let drawn = || {
        rest(capturer, window, None);
        let picture = capturer.window(window.window_id, 0).unwrap();
        let rgb = pixels(&picture);
        rgb.chunks_exact(3).any(|pixel| pixel != &rgb[..3]).then_some(picture)
    };
    wait_for(drawn).expect("the window is drawn")
}

/// A window on top of everything, larger than the screen's content.
fn cover(display: &mut TestDisplay, desktop: &Desktop) -> Window {
    let arguments = ["-geometry", "200x60+0+0", "-bg", "navy", "-e", "sleep", "600"];
    let pid = display.run("xterm", &arguments).unwrap();
    let cover = shown(desktop, pid);
    wait_for(|| {
        let windows = desktop.windows().unwrap();
        (windows.last()?.window_id == cover.window_id).then_some(())
    })
    .unwrap();
    cover
}

/// The pixels of a rectangle of a picture.
fn cut(picture: &Picture, area: Rect) -> Vec<u8> {
    let (all, width) = (pixels(picture), picture.width as usize * 3);
    let rows = area.y as usize..area.y as usize + area.height as usize;
    rows.flat_map(|row| {
        let start = row * width + area.x as usize * 3;
        all[start..start + area.width as usize * 3].to_vec()
    })
    .collect()
}

/// Moves the cover away, which leaves the focus with it, and compares with what the screen then shows.
fn equals_the_screen(
    display: &mut TestDisplay,
    desktop: &Desktop,
    capturer: &Capturer,
    (window, covered): (&Window, &Picture),
    over: &Window,
    still: Rect,
) -> bool {
    display.run("xdotool", &["windowmove", &over.window_id.to_string(), "3000", "3000"]).unwrap();
    // Its first place was perhaps read while the window manager put it there.
    let place = desktop.window(window.window_id).unwrap().and_then(|window| window.bounds()).unwrap();
    let on_screen = Rect { x: place.x + still.x, y: place.y + still.y, ..still };
    let moved = || frame(desktop, over)?.intersection(&on_screen).is_none().then_some(());
    wait_for(moved).unwrap();
    // The program draws the uncovered part when it comes to it.
    wait_for(|| (cut(&capturer.screen(0, &[]).unwrap(), on_screen) == cut(covered, still)).then_some(()))
        .is_some()
}

fn frame(desktop: &Desktop, window: &Window) -> Option<Rect> {
    let windows = desktop.x11_windows().unwrap();
    windows.into_iter().find(|placed| placed.window_id == window.window_id).map(|placed| placed.frame)
}

fn is_active(desktop: &Desktop, window: &Window) {
    wait_for(|| (desktop.active_window().unwrap() == Some(window.window_id)).then_some(())).unwrap();
}

#[test]
fn a_covered_window_has_the_picture_of_the_uncovered_one() {
    let (mut display, desktop) = managed();
    let capturer = Capturer::open(Arc::clone(&desktop)).unwrap();
    let pid = display.run("gtk3-widget-factory", &[]).unwrap();
    let window = shown(&desktop, pid);
    is_active(&desktop, &window);
    let over = cover(&mut display, &desktop);
    is_active(&desktop, &over);
    // Its spinners and progress bars move for ever; the rows above them stand still. It is wider than the screen.
    let still = Rect { x: 0, y: 0, width: 1000, height: 60 };
    rest(&capturer, &window, Some(still));
    let covered = capturer.window(window.window_id, 0).unwrap();
    assert!(!covered.stale);
    if equals_the_screen(&mut display, &desktop, &capturer, (&window, &covered), &over, still) {
        return;
    }
    // A busy machine may begin the animation of the lost focus after any rest. Then the window looks different now.
    let now = capturer.window(window.window_id, 0).unwrap();
    assert!(cut(&now, still) != cut(&covered, still), "what was covered is not what the screen shows");
    display.run("xdotool", &["windowmove", &over.window_id.to_string(), "0", "0"]).unwrap();
    let is_back = || frame(&desktop, &over)?.intersection(&window.bounds().unwrap()).map(drop);
    wait_for(is_back).unwrap();
    rest(&capturer, &window, Some(still));
    let covered = capturer.window(window.window_id, 0).unwrap();
    assert!(equals_the_screen(&mut display, &desktop, &capturer, (&window, &covered), &over, still));
}

#[test]
fn a_window_that_was_covered_before_the_capturer_opened_is_complete_too() {
    for (program, arguments) in [
        ("xterm", vec!["-geometry", "60x20+100+100", "-e", "sh", "-c", "seq 1 200; exec sleep 600"]),
        ("mousepad", vec!["--disable-server"]),
    ] {
        let (mut display, desktop) = managed();
        let pid = display.run(program, &arguments).unwrap();
        let window = shown(&desktop, pid);
        is_active(&desktop, &window);
        let over = cover(&mut display, &desktop);
        is_active(&desktop, &over);

        // The program comes to rest first; with its capturer the server forgets what is covered.
        settled(&Capturer::open(Arc::clone(&desktop)).unwrap(), &window);
        let capturer = Capturer::open(Arc::clone(&desktop)).unwrap();
        // On a busy machine a picture may come before the program drew; it says so then.
        let fresh = || Some(capturer.window(window.window_id, 0).unwrap()).filter(|picture| !picture.stale);
        let first = wait_for(fresh).unwrap();
        let covered = settled(&capturer, &window);
        assert!(pixels(&first) == pixels(&covered), "{program}: the first picture is already complete");
        let whole = Rect { x: 0, y: 0, ..window.bounds().unwrap() };
        let is_equal =
            equals_the_screen(&mut display, &desktop, &capturer, (&window, &covered), &over, whole);
        assert!(is_equal, "{program}: covered and uncovered differ");
    }
}

#[test]
fn a_window_that_cannot_draw_what_was_covered_is_stale() {
    let (mut display, desktop) = managed();
    let pid = display.run("xterm", &["-geometry", "40x10+100+100", "-e", "sleep", "600"]).unwrap();
    let window = shown(&desktop, pid);
    is_active(&desktop, &window);
    let over = cover(&mut display, &desktop);
    is_active(&desktop, &over);
    display.run("kill", &["-STOP", &pid.to_string()]).unwrap();
    let is_stopped = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit(") ").next().unwrap().starts_with('T').then_some(())
    };
    wait_for(is_stopped).unwrap();
    let capturer = Capturer::open(Arc::clone(&desktop)).unwrap();
    assert!(capturer.window(window.window_id, 0).unwrap().stale);
    display.run("kill", &["-CONT", &pid.to_string()]).unwrap();
    wait_for(|| (!capturer.window(window.window_id, 0).unwrap().stale).then_some(())).unwrap();
}

#[test]
fn what_another_window_draws_does_not_complete_a_covered_one() {
    let display = TestDisplay::bare().unwrap();
    let (program, screen) = RustConnection::connect(Some(display.name())).unwrap();
    let root = program.setup().roots[screen].root;
    let create = |x: i16, width: u16| {
        let (window, class) = (program.generate_id().unwrap(), WindowClass::INPUT_OUTPUT);
        let aux = CreateWindowAux::new().background_pixel(0x00ff_ffff);
        program.create_window(0, window, root, x, 0, width, 100, 0, class, 0, &aux).unwrap();
        let (kind, property) = (AtomEnum::STRING, AtomEnum::WM_NAME);
        program.change_property8(PropMode::REPLACE, window, property, kind, b"window").unwrap();
        program.map_window(window).unwrap().check().unwrap();
        window
    };
    // The second, which never draws, lies below the third.
    let (drawing, covered, _) = (create(400, 100), create(0, 100), create(50, 100));
    let desktop = Desktop::open(Some(display.name())).unwrap();
    let capturer = Capturer::open(Arc::clone(&desktop)).unwrap();
    // From now on the capturer hears of what the first draws.
    capturer.digest(WindowId::of_xid(drawing), None).unwrap();
    let exposures = ChangeWindowAttributesAux::new().event_mask(EventMask::EXPOSURE);
    program.change_window_attributes(covered, &exposures).unwrap().check().unwrap();
    let picture = std::thread::scope(|scope| {
        let picture = scope.spawn(|| capturer.window(WindowId::of_xid(covered), 0));
        let asked = || program.poll_for_event().unwrap().filter(|event| matches!(event, Event::Expose(_)));
        wait_for(asked).expect("the covered window is asked to draw");
        program.clear_area(false, drawing, 0, 0, 100, 100).unwrap().check().unwrap();
        picture.join().unwrap().unwrap()
    });
    assert!(picture.stale);
}

#[test]
fn a_minimised_window_gives_its_last_pixels_or_says_that_there_are_none() {
    let (mut display, desktop) = managed();
    let capturer = Capturer::open(Arc::clone(&desktop)).unwrap();
    let first = display.run("xterm", &["-e", "sleep", "600"]).unwrap();
    let first = shown(&desktop, first);
    let second = display.run("xterm", &["-e", "sleep", "600"]).unwrap();
    let second = shown(&desktop, second);
    let picture = settled(&capturer, &first);
    for window in [&first, &second] {
        display.run("xdotool", &["windowminimize", &window.window_id.to_string()]).unwrap();
        let gone = || desktop.window(window.window_id).unwrap().filter(|window| !window.is_on_screen);
        wait_for(gone).unwrap();
    }
    let kept = capturer.window(first.window_id, 0).unwrap();
    assert!(kept.stale);
    assert_eq!((kept.width, kept.height), (picture.width, picture.height));
    assert_eq!(capturer.window(second.window_id, 0).unwrap_err().code(), "window_not_visible");
    assert_eq!(capturer.window(WindowId::of_xid(1), 0).unwrap_err().code(), "window_not_found");
    display.end(first.pid);
    wait_for(|| capturer.window(first.window_id, 0).err().filter(|error| error.code() == "window_not_found"))
        .unwrap();
}

#[test]
fn a_picture_is_scaled_and_follows_a_resize() {
    let (mut display, desktop) = managed();
    let capturer = Capturer::open(Arc::clone(&desktop)).unwrap();
    let screen = capturer.screen(640, &[]).unwrap();
    assert_eq!((screen.width, screen.height, screen.scale), (640, 400, 0.5));
    let pid = display.run("mousepad", &["--disable-server"]).unwrap();
    let window = shown(&desktop, pid);
    let id = window.window_id.to_string();
    display.run("xdotool", &["windowsize", &id, "700", "500"]).unwrap();
    let picture = wait_for(|| {
        let picture = capturer.window(window.window_id, 0).unwrap();
        ((picture.width, picture.height) == (700, 500)).then_some(picture)
    });
    assert_eq!(picture.unwrap().scale, 1.0);
    capturer.close();
    capturer.close();
    assert_eq!(capturer.screen(0, &[]).unwrap_err().code(), "display_lost");
}
