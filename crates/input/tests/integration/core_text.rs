//! Text through the display's own keyboard: exact in every toolkit, on every layout, whatever is held or locked.

use std::process::Stdio;
use std::time::Duration;

use crate::test_desktop::{Journal, Server, TestDesktop, until};
use input::{CoreAction, CoreDevices, InputError};
use x11rb::protocol::xkb::{ConnectionExt as _, Group};
use x11rb::protocol::xproto::ModMask;

const GREETING: &str = "Grüße, WORLD! 世界 😀 é Ж € ~^`´";

fn type_text(devices: &CoreDevices, text: &str) -> Result<(), InputError> {
    let act = CoreAction::Text { text: text.to_owned(), delay: Duration::ZERO };
    devices.perform(&act, &devices.ask())
}

fn press_keys(devices: &CoreDevices, names: &[&str]) {
    let keysyms = names.iter().map(|name| input::check_key(name).unwrap()).collect();
    devices.perform(&CoreAction::Keys { keysyms }, &devices.ask()).unwrap();
}

/// So many characters with capitals, symbols and other scripts.
fn long_text(count: usize) -> String {
    (' '..='~').chain("ÄÖÜäöüßéñЖй世界😀€".chars()).cycle().take(count).collect()
}

/// Characters that the us layout has keys for, capitals and symbols among them: no keycode is borrowed. A field draws all of its
/// text again with each of them; the terminal is for long texts.
fn keyed_text() -> String {
    (' '..='~').cycle().take(190).collect()
}

/// What fields and pages are given on a layout: what has no key there gets one that is borrowed, each character once.
fn texts_on(layout: &str) -> Vec<String> {
    match layout {
        "us" => vec![long_text(120), keyed_text()],
        _ => vec![format!("{layout}: {GREETING}")],
    }
}

/// Characters of a long text: each five times on two layouts, and on the others once.
fn length_on(layout: &str) -> usize {
    if ["us", "de"].contains(&layout) { 600 } else { 120 }
}

/// A terminal that stores the bytes of each line that is typed.
fn terminal(desktop: &mut TestDesktop) -> u32 {
    let mut command = desktop.command("xterm");
    command
        .args(["-xrm", "*wmTimeout: 2000", "-geometry", "100x24+50+60", "-e", "cat > typed"])
        .current_dir(desktop.folder.path());
    desktop.spawn(command);
    let window = until("the terminal", || {
        assert_eq!(desktop.ended(), None, "the terminal ended");
        desktop.clients().first().copied()
    });
    until("the terminal's focus", || (desktop.active() == window).then_some(()));
    until("its program", || desktop.folder.path().join("typed").exists().then_some(()));
    window
}

#[test]
fn a_terminal_stores_exactly_what_was_typed_on_every_layout() {
    for server in [Server::Xvfb, Server::Xvnc] {
        let mut desktop = TestDesktop::open(server);
        terminal(&mut desktop);
        let typed = desktop.folder.path().join("typed");
        let devices = CoreDevices::open(&desktop.session()).unwrap();
        let mut expected = String::new();
        for layout in ["us", "de", "fr", "ru", "us,ru"] {
            desktop.run("setxkbmap", &["-layout", layout]);
            let keymap = desktop.keymap();
            let length = if matches!(server, Server::Xvnc) { 120 } else { length_on(layout) };
            let lines: Vec<String> = long_text(length)
                .chars()
                .collect::<Vec<_>>()
                .chunks(80)
                .map(|line| line.iter().collect())
                .collect();
            let text = format!("{layout}:\t{GREETING}\n{}\n", lines.join("\n"));
            type_text(&devices, &text).unwrap();
            expected.push_str(&text);
            let read = || std::fs::read_to_string(&typed).ok();
            until(layout, || read().filter(|read| read.lines().count() >= expected.lines().count()));
            assert_eq!(read().unwrap(), expected, "{layout} on {server:?}");
            assert_eq!(desktop.keymap(), keymap, "the borrowed keycodes mean nothing again");
        }
    }
}

#[test]
fn locks_groups_and_held_modifiers_change_nothing_and_stay() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let window = terminal(&mut desktop);
    let typed = desktop.folder.path().join("typed");
    let devices = CoreDevices::open(&desktop.session()).unwrap();
    let locks = |desktop: &TestDesktop| {
        let said = desktop.run("xset", &["q"]);
        said.lines()
            .filter(|line| line.contains("Caps Lock") || line.contains("LED mask"))
            .collect::<String>()
    };
    let mut expected = String::new();
    for (before, after) in [
        (&["key", "Caps_Lock"][..], &["key", "Caps_Lock"][..]),
        (&["key", "Num_Lock"], &["key", "Num_Lock"]),
        (&["keydown", "Shift_L"], &["keyup", "Shift_L"]),
        (&["keydown", "Control_L", "keydown", "Alt_L"], &["keyup", "Alt_L", "keyup", "Control_L"]),
    ] {
        desktop.run("xdotool", before);
        let (lit, down) = (locks(&desktop), desktop.keys_down());
        let text = format!("aB1! {GREETING}\n");
        type_text(&devices, &text).unwrap();
        expected.push_str(&text);
        let read = || std::fs::read_to_string(&typed).ok();
        until("the line", || read().filter(|read| read.lines().count() >= expected.lines().count()));
        assert_eq!(read().unwrap(), expected, "{before:?}");
        assert_eq!((locks(&desktop), desktop.keys_down()), (lit, down), "{before:?}");
        desktop.run("xdotool", after);
        assert_eq!(desktop.keys_down(), [] as [u8; 0]);
    }
    assert_eq!(desktop.active(), window);
}

#[test]
fn a_group_that_is_locked_changes_nothing_and_stays() {
    /// The core keyboard of the keyboard extension.
    const CORE: u16 = 0x100;
    let mut desktop = TestDesktop::open(Server::Xvfb);
    terminal(&mut desktop);
    let typed = desktop.folder.path().join("typed");
    desktop.run("setxkbmap", &["-layout", "us,ru"]);
    let (conn, _) = desktop.connection();
    conn.xkb_use_extension(1, 0).unwrap().reply().unwrap();
    let none = ModMask::from(0u8);
    conn.xkb_latch_lock_state(CORE, none, none, true, Group::M2, none, false, 0).unwrap().check().unwrap();
    let devices = CoreDevices::open(&desktop.session()).unwrap();
    let text = format!("abc {GREETING}\n");
    type_text(&devices, &text).unwrap();
    press_keys(&devices, &["d"]);
    press_keys(&devices, &["Return"]);
    let expected = format!("{text}d\n");
    let read = || std::fs::read_to_string(&typed).ok();
    until("both lines", || read().filter(|read| read.lines().count() == 2));
    assert_eq!(read().unwrap(), expected);
    assert_eq!(conn.xkb_get_state(CORE).unwrap().reply().unwrap().locked_group, Group::M2);
}

/// A field with the keyboard and what it says of its text.
fn field(desktop: &mut TestDesktop, program: &str) -> Journal {
    let fixture = |name: &str| format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    let mut command = desktop.command("/usr/bin/python3");
    match program {
        "gtk3" => return desktop.gtk("front", 50, 60, 500, 400).journal,
        "gtk4" => command.arg(fixture("entry_gtk4.py")),
        "qt5" => command.arg(fixture("keys_qt.py")).args(["5", "front", "50", "60", "500", "200"]),
        _ => command.arg(fixture("keys_qt.py")).args(["6", "front", "50", "60", "500", "200"]),
    };
    let mut journal = desktop.journal(command);
    if program == "gtk4" {
        journal.wait("the active field", |record| record["active"] == true);
    } else {
        let ready = journal.wait("the window", |record| record["did"] == "ready");
        let window = ready["window"].as_u64().unwrap() as u32;
        until("the focus", || (desktop.person().2 == window).then_some(()));
    }
    journal
}

#[test]
fn a_field_of_every_toolkit_gets_exactly_what_was_typed() {
    for program in ["gtk3", "gtk4", "qt5", "qt6"] {
        let mut desktop = TestDesktop::open(Server::Xvfb);
        let mut journal = field(&mut desktop, program);
        let devices = CoreDevices::open(&desktop.session()).unwrap();
        for layout in ["us", "de", "ru"] {
            desktop.run("setxkbmap", &[layout]);
            let keymap = desktop.keymap();
            for text in texts_on(layout) {
                type_text(&devices, &text).unwrap();
                journal.wait(&format!("{program} on {layout}"), |record| record["text"] == text);
                assert_eq!(desktop.keymap(), keymap);
                press_keys(&devices, &["ctrl", "a"]);
                press_keys(&devices, &["BackSpace"]);
                journal.wait("the empty field", |record| record["text"] == "");
            }
        }
    }
}

fn browser(desktop: &mut TestDesktop, program: &str, port: u16) {
    let mut command = desktop.command(program);
    let profile = desktop.folder.path().join("profile");
    let address = format!("http://127.0.0.1:{port}/");
    if program == "chromium" {
        command
            .args(["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
            .args(["--disable-component-update", "--disable-sync", "--window-position=50,60"])
            .args(["--window-size=700,500", "--password-store=basic"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("--app={address}"));
    } else {
        std::fs::create_dir(&profile).unwrap();
        command.args(["--no-remote", "--kiosk", "--profile"]).arg(&profile).arg(&address);
    }
    command.stderr(Stdio::null()).stdout(Stdio::null());
    desktop.spawn(command);
}

#[test]
fn a_page_of_every_browser_gets_exactly_what_was_typed() {
    for program in ["chromium", "firefox-esr"] {
        let mut desktop = TestDesktop::open(Server::Xvfb);
        let (port, mut page) = Journal::web(include_str!("../fixtures/field.html"));
        browser(&mut desktop, program, port);
        page.wait("the field", |record| record["ready"] == true);
        let devices = CoreDevices::open(&desktop.session()).unwrap();
        for layout in ["us", "de", "ru"] {
            desktop.run("setxkbmap", &[layout]);
            let keymap = desktop.keymap();
            for text in texts_on(layout) {
                type_text(&devices, &text).unwrap();
                page.wait(&format!("{program} on {layout}"), |record| record["text"] == text);
                assert_eq!(desktop.keymap(), keymap);
                press_keys(&devices, &["ctrl", "a"]);
            }
        }
    }
}

#[test]
fn a_text_that_no_key_can_mean_is_refused_before_anything_is_typed() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let mut journal = field(&mut desktop, "gtk3");
    let devices = CoreDevices::open(&desktop.session()).unwrap();
    assert_eq!(type_text(&devices, "a\u{1}b").unwrap_err().code(), "text_not_typable");
    type_text(&devices, "after").unwrap();
    let first = journal.wait("the first change", |record| record["did"] == "text");
    assert_eq!(first["text"], "a");
    journal.wait("the text", |record| record["text"] == "after");
}

#[test]
fn a_text_that_is_cancelled_halts_and_gives_its_keycodes_back() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let mut journal = field(&mut desktop, "gtk3");
    let devices = CoreDevices::open(&desktop.session()).unwrap();
    let keymap = desktop.keymap();
    let long = CoreAction::Text { text: "世A界".to_owned(), delay: Duration::from_secs(600) };
    let asked = devices.ask();
    std::thread::scope(|threads| {
        let typing = threads.spawn(|| devices.perform(&long, &asked).unwrap_err());
        journal.wait("the first character", |record| record["text"] == "世");
        assert_ne!(desktop.keymap(), keymap, "keycodes are borrowed");
        devices.cancel();
        assert_eq!(typing.join().unwrap().code(), "cancelled");
    });
    assert_eq!((desktop.keymap(), desktop.keys_down()), (keymap, vec![]));
    drop(asked);
    type_text(&devices, "b").unwrap();
    journal.wait("the next text", |record| record["text"] == "世b");
}

#[test]
fn a_text_for_an_application_that_hangs_can_be_cancelled() {
    let mut desktop = TestDesktop::open(Server::Xvfb);
    let fixture = desktop.gtk("front", 50, 60, 500, 400);
    let devices = CoreDevices::open(&desktop.session()).unwrap();
    let keymap = desktop.keymap();
    let pid = desktop.property(fixture.window, "_NET_WM_PID")[0].to_string();
    desktop.run("kill", &["-STOP", &pid]);
    let asked = devices.ask();
    let act = CoreAction::Text { text: "世".to_owned(), delay: Duration::ZERO };
    let refused = std::thread::scope(|threads| {
        let typing = threads.spawn(|| devices.perform(&act, &asked).unwrap_err());
        until("a keycode that is borrowed", || (desktop.keymap() != keymap).then_some(()));
        devices.cancel();
        typing.join().unwrap()
    });
    // Waited for to the end, it would not be `cancelled`.
    assert_eq!(refused.code(), "cancelled");
    assert_eq!((desktop.keymap(), desktop.keys_down()), (keymap, vec![]));
    desktop.run("kill", &["-CONT", &pid]);
}
