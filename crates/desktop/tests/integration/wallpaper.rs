//! The picture behind all windows, seen by another client.

use std::path::{Path, PathBuf};
use std::process::Command;

use desktop::Desktop;
use test_support::{Folder, TestDisplay, wait_for};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateWindowAux, ImageFormat, PropMode, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

/// A picture whose left half is red and whose right half is blue, four times as wide as it is high.
fn picture(folder: &Folder, name: &str) -> PathBuf {
    let path = folder.path().join(name);
    let halves = ["-size", "200x100", "xc:#ff0000", "xc:#0000ff", "+append", "-quality", "100"];
    assert!(Command::new("convert").args(halves).arg(&path).status().unwrap().success());
    path
}

struct Witness {
    conn: RustConnection,
    root: u32,
}

impl Witness {
    fn of(display: &TestDisplay) -> Self {
        let (conn, screen) = RustConnection::connect(Some(display.name())).unwrap();
        let root = conn.setup().roots[screen].root;
        Self { conn, root }
    }

    /// Red, green and blue of a pixel of the screen.
    fn pixel(&self, x: i16, y: i16) -> [u8; 3] {
        let image = self.conn.get_image(ImageFormat::Z_PIXMAP, self.root, x, y, 1, 1, u32::MAX).unwrap();
        let data = image.reply().unwrap().data;
        [data[2], data[1], data[0]]
    }

    fn pixmap(&self, name: &str) -> u32 {
        let atom = self.conn.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom;
        let reply =
            self.conn.get_property(false, self.root, atom, AtomEnum::PIXMAP, 0, 1).unwrap().reply().unwrap();
        reply.value32().and_then(|mut numbers| numbers.next()).unwrap_or(0)
    }

    fn exists(&self, pixmap: u32) -> bool {
        self.conn.get_geometry(pixmap).unwrap().reply().is_ok()
    }
}

fn is_near(seen: [u8; 3], wanted: [u8; 3]) -> bool {
    seen.iter().zip(wanted).all(|(seen, wanted)| seen.abs_diff(wanted) < 8)
}

#[test]
fn a_picture_covers_the_screen_and_outlives_who_set_it() {
    let display = TestDisplay::managed().unwrap();
    let folder = Folder::new().unwrap();
    let witness = Witness::of(&display);
    let mut last = 0;
    for name in ["a.png", "b.jpg", "c.png"] {
        let desktop = Desktop::open(Some(display.name())).unwrap();
        wait_for(|| desktop.x11_window_manager().unwrap()).unwrap();
        desktop.set_wallpaper(&picture(&folder, name)).unwrap();
        desktop.close();
        for (x, wanted) in [(0, [255, 0, 0]), (600, [255, 0, 0]), (680, [0, 0, 255]), (1279, [0, 0, 255])] {
            for y in [0, 400, 799] {
                assert!(is_near(witness.pixel(x, y), wanted), "{name}: {x}, {y}: {:?}", witness.pixel(x, y));
            }
        }
        let pixmap = witness.pixmap("_XROOTPMAP_ID");
        assert_eq!(witness.pixmap("ESETROOT_PMAP_ID"), pixmap);
        assert!(witness.exists(pixmap) && !witness.exists(last), "the one before it is freed");
        last = pixmap;
    }
}

#[test]
fn what_is_no_picture_is_refused_and_nothing_changes() {
    let display = TestDisplay::bare().unwrap();
    let folder = Folder::new().unwrap();
    let witness = Witness::of(&display);
    let desktop = Desktop::open(Some(display.name())).unwrap();
    let text = folder.path().join("text.png");
    std::fs::write(&text, "no picture").unwrap();
    let cut = folder.path().join("cut.png");
    let whole = std::fs::read(picture(&folder, "whole.png")).unwrap();
    std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    for path in [text.as_path(), cut.as_path(), Path::new("/nowhere/at.png"), folder.path()] {
        let error = desktop.set_wallpaper(path).unwrap_err();
        assert_eq!(error.code(), "invalid_argument");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
    assert_eq!(witness.pixmap("_XROOTPMAP_ID"), 0);
}

#[test]
fn a_desktop_program_keeps_its_own_wallpaper() {
    let display = TestDisplay::bare().unwrap();
    let folder = Folder::new().unwrap();
    let witness = Witness::of(&display);
    let desktop = Desktop::open(Some(display.name())).unwrap();
    let window = witness.conn.generate_id().unwrap();
    let (kind, none) = (WindowClass::INPUT_OUTPUT, CreateWindowAux::new());
    witness.conn.create_window(0, window, witness.root, 0, 0, 1280, 800, 0, kind, 0, &none).unwrap();
    let atom = |name: &str| witness.conn.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom;
    let (property, value) = (atom("_NET_WM_WINDOW_TYPE"), atom("_NET_WM_WINDOW_TYPE_DESKTOP"));
    witness.conn.change_property32(PropMode::REPLACE, window, property, AtomEnum::ATOM, &[value]).unwrap();
    witness.conn.map_window(window).unwrap();
    witness.conn.sync().unwrap();
    let error = desktop.set_wallpaper(&picture(&folder, "a.png")).unwrap_err();
    assert_eq!(error.code(), "window_manager_refused");
    assert_eq!(witness.pixmap("_XROOTPMAP_ID"), 0);
}
