//! The clipboard on a private display, with xclip and a bare X client as the other side.

use std::process::{Command, Stdio};
use std::sync::Arc;

use desktop::{Clip, Desktop, DesktopError};
use test_support::{TestDisplay, wait_for};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, PropMode, SELECTION_NOTIFY_EVENT,
    SelectionNotifyEvent, SelectionRequestEvent, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

fn open() -> (TestDisplay, Arc<Desktop>) {
    let display = TestDisplay::bare().unwrap();
    let desktop = Desktop::open(Some(display.name())).unwrap();
    (display, desktop)
}

fn pasted(display: &TestDisplay, target: &str) -> Vec<u8> {
    let paste = Command::new("xclip")
        .args(["-selection", "clipboard", "-o", "-t", target])
        .env("DISPLAY", display.name())
        .stderr(Stdio::null())
        .output();
    paste.unwrap().stdout
}

/// Copies what a new file holds with xclip, which stays until the display ends; answers its process id.
fn copied(display: &mut TestDisplay, target: &str, bytes: &[u8]) -> u32 {
    let file = std::env::temp_dir().join(format!("backlot-clip-{}-{}", std::process::id(), bytes.len()));
    std::fs::write(&file, bytes).unwrap();
    let path = file.to_string_lossy().into_owned();
    let words = ["-quiet", "-selection", "clipboard", "-t", target, "-i", &path];
    let pid = display.run("xclip", &words).unwrap();
    wait_for(|| (pasted(display, target) == bytes).then_some(())).expect("xclip owns the clipboard");
    std::fs::remove_file(file).unwrap();
    pid
}

fn text(text: &str) -> Clip {
    Clip { text: Some(text.to_owned()), ..Clip::default() }
}

#[test]
fn nobody_owns_the_clipboard_of_a_new_display() {
    let (_display, desktop) = open();
    assert_eq!(desktop.clipboard_read(), Ok(Clip::default()));
    assert!(!desktop.clipboard_is_held());
}

#[test]
fn text_goes_both_ways_and_the_last_writer_owns_it() {
    let (mut display, desktop) = open();
    for written in ["Grüße, 世界 😀\n", "", "plain"] {
        desktop.clipboard_write(&text(written)).unwrap();
        assert_eq!(String::from_utf8(pasted(&display, "UTF8_STRING")).unwrap(), written);
        assert_eq!(desktop.clipboard_read().unwrap().text.as_deref(), Some(written));
    }
    assert_eq!(pasted(&display, "STRING"), b"plain");
    assert!(String::from_utf8(pasted(&display, "TARGETS")).unwrap().contains("text/plain;charset=utf-8"));
    assert!(desktop.clipboard_is_held());
    copied(&mut display, "UTF8_STRING", "von außen".as_bytes());
    wait_for(|| (!desktop.clipboard_is_held()).then_some(())).expect("the loss is noticed");
    let read = desktop.clipboard_read().unwrap();
    assert_eq!((read.text.as_deref(), read.image, read.files), (Some("von außen"), None, Vec::new()));
    assert!(read.formats.contains(&"UTF8_STRING".to_owned()));
}

#[test]
fn what_is_large_goes_in_pieces_both_ways() {
    let (mut display, desktop) = open();
    let image: Vec<u8> = (0..5_000_003_u32).map(|index| (index % 251) as u8).collect();
    desktop.clipboard_write(&Clip { image: Some(image.clone()), ..Clip::default() }).unwrap();
    assert!(pasted(&display, "image/png") == image, "xclip reads the pieces");
    assert!(desktop.clipboard_read().unwrap().image.as_ref() == Some(&image));
    copied(&mut display, "image/png", &image);
    assert!(desktop.clipboard_read().unwrap().image == Some(image), "pieces of xclip are read");
}

#[test]
fn files_are_offered_to_file_managers_and_as_text() {
    let (mut display, desktop) = open();
    let files = vec!["/tmp/a b".to_owned(), "/tmp/ü".to_owned()];
    desktop.clipboard_write(&Clip { files: files.clone(), ..Clip::default() }).unwrap();
    assert_eq!(pasted(&display, "text/uri-list"), b"file:///tmp/a%20b\r\nfile:///tmp/%C3%BC\r\n");
    let copied_files = pasted(&display, "x-special/gnome-copied-files");
    assert_eq!(copied_files, b"copy\nfile:///tmp/a%20b\nfile:///tmp/%C3%BC");
    assert_eq!(pasted(&display, "UTF8_STRING"), "/tmp/a b\n/tmp/ü".as_bytes());
    assert_eq!(desktop.clipboard_read().unwrap().files, files);
    copied(&mut display, "text/uri-list", b"file:///tmp/c%20d\r\nhttps://example.org/\r\n");
    assert_eq!(desktop.clipboard_read().unwrap().files, ["/tmp/c d"]);
}

#[test]
fn an_owner_that_stands_still_costs_a_bounded_time() {
    let (mut display, desktop) = open();
    let pid = copied(&mut display, "UTF8_STRING", b"stuck");
    let signal = |name: &str| Command::new("kill").args([name, &pid.to_string()]).status().unwrap();
    signal("-STOP");
    assert_eq!(desktop.clipboard_read(), Err(DesktopError::ClipboardTimeout));
    desktop.clipboard_write(&text("still writable")).unwrap();
    assert_eq!(desktop.clipboard_read().unwrap().text.as_deref(), Some("still writable"));
    signal("-CONT");
}

/// A clipboard manager of the shortest kind: asked to save, it fetches the text and answers.
fn save_once(conn: &RustConnection, screen: usize) -> String {
    let atom = |name: &str| conn.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom;
    let root = conn.setup().roots[screen].root;
    let own = conn.generate_id().unwrap();
    let aux = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
    conn.create_window(0, own, root, 0, 0, 1, 1, 0, WindowClass::INPUT_ONLY, 0, &aux).unwrap();
    conn.set_selection_owner(own, atom("CLIPBOARD_MANAGER"), x11rb::CURRENT_TIME).unwrap();
    conn.flush().unwrap();
    let mut asked: Option<SelectionRequestEvent> = None;
    loop {
        match conn.wait_for_event().unwrap() {
            Event::SelectionRequest(request) if request.target == atom("SAVE_TARGETS") => {
                asked = Some(request);
                let (selection, target) = (atom("CLIPBOARD"), atom("UTF8_STRING"));
                conn.convert_selection(own, selection, target, target, x11rb::CURRENT_TIME).unwrap();
                conn.flush().unwrap();
            }
            Event::SelectionNotify(got) => {
                let any = AtomEnum::ANY;
                let value =
                    conn.get_property(true, own, got.property, any, 0, 1000).unwrap().reply().unwrap();
                let request = asked.take().unwrap();
                let (to, place) = (request.requestor, request.property);
                conn.change_property32(PropMode::REPLACE, to, place, atom("NULL"), &[]).unwrap();
                let answer = SelectionNotifyEvent {
                    response_type: SELECTION_NOTIFY_EVENT,
                    sequence: 0,
                    time: request.time,
                    requestor: to,
                    selection: request.selection,
                    target: request.target,
                    property: place,
                };
                conn.send_event(false, to, EventMask::NO_EVENT, answer).unwrap();
                conn.flush().unwrap();
                return String::from_utf8(value.value).unwrap();
            }
            _ => {}
        }
    }
}

#[test]
fn a_clipboard_manager_is_asked_to_keep_what_is_written() {
    let (display, desktop) = open();
    let (conn, screen) = RustConnection::connect(Some(display.name())).unwrap();
    let name = conn.intern_atom(false, b"CLIPBOARD_MANAGER").unwrap().reply().unwrap().atom;
    let manager = std::thread::spawn(move || save_once(&conn, screen));
    let (watch, _) = RustConnection::connect(Some(display.name())).unwrap();
    wait_for(|| {
        (watch.get_selection_owner(name).unwrap().reply().unwrap().owner != x11rb::NONE).then_some(())
    })
    .unwrap();
    desktop.clipboard_write(&text("kept")).unwrap();
    assert_eq!(manager.join().unwrap(), "kept");
}

#[test]
fn a_closed_display_lets_the_clipboard_go() {
    let (display, desktop) = open();
    desktop.clipboard_write(&text("gone")).unwrap();
    desktop.close();
    wait_for(|| pasted(&display, "UTF8_STRING").is_empty().then_some(())).expect("nobody owns it");
    assert_eq!(desktop.clipboard_read().map_err(|error| error.code()), Err("display_lost"));
}
