//! GTK 3: the tree against an independent walk, actions and text against the application's own journal.

use std::io::Read;
use std::time::{Duration, Instant};

use crate::support::{self, Desk, element, request, tree_with, wait_for};
use ax::{Action, AxError, SnapshotRequest};

const TIMEOUT: Duration = Duration::from_secs(30);

#[test]
fn the_tree_is_what_an_independent_walk_finds() {
    let mut desk = Desk::start();
    let accessibility = desk.accessibility();
    drop(desk.spawn("gtk3-widget-factory", &[]));
    let pid = desk.last_pid();
    let mut request = request(pid, "gtk3-widget-factory");
    (request.size.width, request.size.height) = (1366, 741);
    tree_with(&accessibility, &request, "table cell \"Orville\"");
    let path = format!("{}/tests/walk.py", env!("CARGO_MANIFEST_DIR"));
    let mut walk = String::new();
    desk.spawn("/usr/bin/python3", &[&path, &pid.to_string()]).read_to_string(&mut walk).unwrap();
    // A header bar gets its buttons some time after its window: what the walk found must be there by now.
    let snapshot = accessibility.snapshot(&request).unwrap();
    let tree = snapshot.markdown(None, false);
    // GTK counts the children of a header bar in one order and lists them in another: places are not compared.
    let mut lines: Vec<&str> = tree.lines().collect();
    let mut compared = 0;
    for (role, name) in walk.lines().filter_map(|line| line.split_once('\t')) {
        // The label of a frame or a button repeats its parent's name and is left out.
        if role == "label" {
            continue;
        }
        let (operated, passive) = (format!("] {role} \"{name}\""), format!("- {role} = \"{name}\""));
        let found = lines.iter().position(|line| line.contains(&operated) || line.contains(&passive));
        lines.remove(found.unwrap_or_else(|| panic!("no further {role} {name:?} in\n{tree}")));
        compared += 1;
    }
    assert!(compared > 60, "only {compared} nodes were compared:\n{walk}");
    assert_eq!(snapshot.partial(), None);
}

#[test]
fn elements_are_operated_and_the_window_keeps_its_place() {
    let mut desk = Desk::start();
    let accessibility = desk.accessibility();
    let (pid, journal) = desk.python("gtk3.py");
    journal.expect("ready");
    let request = request(pid, "Fixture");
    let snapshot = tree_with(&accessibility, &request, "Remove me");

    let button = element(&snapshot, "push button", "Say \"hi\"\nthere");
    assert!(
        snapshot.markdown(None, false).contains("push button \"Say \\\"hi\\\"\\nthere\" [actions=[click]]")
    );
    assert_eq!(snapshot.perform(button.element_index, Action::Press, TIMEOUT).as_deref(), Ok("click"));
    journal.expect("clicked");

    let check = element(&snapshot, "check box", "Check");
    assert_eq!(check.value.as_deref(), Some("unchecked"));
    snapshot.perform(check.element_index, Action::Press, TIMEOUT).unwrap();
    journal.expect("check True");
    let checked = wait_for("the check", || {
        snapshot.read(check.element_index, TIMEOUT).ok().filter(|now| now.value.as_deref() == Some("checked"))
    });
    assert_eq!(checked.frame, check.frame);
    assert!(checked.frame.width > 0);

    let row = element(&snapshot, "list item", "second");
    snapshot.perform(row.element_index, Action::Pick, TIMEOUT).unwrap();
    journal.expect("row 1");

    let disabled = element(&snapshot, "push button", "Disabled");
    assert!(!disabled.enabled);
    let error = snapshot.perform(disabled.element_index, Action::ShowMenu, TIMEOUT).unwrap_err();
    assert_eq!(error.code(), "action_not_supported");
    assert!(error.to_string().contains("it offers: click"), "{error}");

    let gone = element(&snapshot, "push button", "Remove me");
    snapshot.perform(gone.element_index, Action::Press, TIMEOUT).unwrap();
    journal.expect("removed");
    let code = wait_for("staleness", || snapshot.read(gone.element_index, TIMEOUT).err()).code();
    assert_eq!(code, "stale_element");
    assert_eq!(snapshot.perform(9999, Action::Press, TIMEOUT).unwrap_err().code(), "unknown_element");
}

#[test]
fn text_is_inserted_at_the_caret_and_read_back() {
    let mut desk = Desk::start();
    let accessibility = desk.accessibility();
    let (pid, journal) = desk.python("gtk3.py");
    journal.expect("ready");
    let snapshot = tree_with(&accessibility, &request(pid, "Fixture"), "Remove me");

    let entry = element(&snapshot, "text", "Your name");
    assert_eq!(entry.value.as_deref(), Some("old"));
    assert!(entry.editable);
    let before = snapshot.read(entry.element_index, TIMEOUT).unwrap();
    assert_eq!(before.label, "Your name");
    // A window that is shown selects the text of the field that has the focus: the first insertion replaces it.
    let first = snapshot.insert_text(entry.element_index, "Grüße 世界 😀é", TIMEOUT).unwrap();
    assert!(first.confirmed, "{first:?}");
    let text = first.value.unwrap();
    assert!(text == "Grüße 世界 😀é" || text == "Grüße 世界 😀éold", "{text}");
    journal.expect(&format!("entry {text}"));
    let second = snapshot.insert_text(entry.element_index, "!", TIMEOUT).unwrap();
    assert_eq!(second.value.as_deref(), Some(text.replacen('é', "é!", 1).as_str()));
    assert!(second.confirmed);

    let secret = element(&snapshot, "password text", "Secret");
    assert_eq!(secret.value, None);
    let inserted = snapshot.insert_text(secret.element_index, "pässword", TIMEOUT).unwrap();
    assert!(inserted.confirmed);
    assert_eq!(inserted.value, None);

    let view = (0..snapshot.element_count())
        .filter_map(|index| snapshot.element(index))
        .find(|element| element.value.as_deref() == Some("Lines\nof text"))
        .unwrap();
    assert!(snapshot.insert_text(view.element_index, "more\n", TIMEOUT).unwrap().confirmed);

    let button = element(&snapshot, "check box", "Check");
    let error = snapshot.insert_text(button.element_index, "x", TIMEOUT).unwrap_err();
    assert_eq!(error.code(), "text_not_supported");
    let error = snapshot.perform(entry.element_index, Action::Press, TIMEOUT).unwrap_err();
    assert_eq!(error.code(), "action_not_supported");
    assert_eq!(snapshot.focus(entry.element_index, TIMEOUT), Ok(false));
}

#[test]
fn an_open_menu_is_in_the_tree_and_is_a_window_of_its_own() {
    let mut desk = Desk::start();
    let accessibility = desk.accessibility();
    let (pid, journal) = desk.python("gtk3.py");
    journal.expect("ready");
    let request = request(pid, "Fixture");
    let snapshot = tree_with(&accessibility, &request, "menu \"File\"");
    assert!(!snapshot.markdown(None, false).contains("Save as"));
    snapshot.perform(element(&snapshot, "menu", "File").element_index, Action::Press, TIMEOUT).unwrap();
    let open = tree_with(&accessibility, &request, "menu item \"Save as\"");
    let item = element(&open, "menu item", "Save as");
    let first = element(&open, "menu item", "Open");
    assert!(item.frame.y > first.frame.y && first.frame.height > 0, "{first:?} {item:?}");

    let window = frames::around(&open.elements(Some("menu item")));
    let (left, top) = (window.left, window.top);
    let mut popup = support::request(pid, "");
    popup.size = desktop::Size { width: window.width, height: window.height };
    popup.place = Some(desktop::Point { x: left, y: top });
    let menu = tree_with(&accessibility, &popup, "menu item \"Save as\"");
    assert!(!menu.markdown(None, false).contains("Remove me"));
    assert_eq!(element(&menu, "menu item", "Open").frame.y, 0);
    menu.perform(element(&menu, "menu item", "Save as").element_index, Action::Press, TIMEOUT).unwrap();
    journal.expect("menu Save as");
}

/// The rectangle around the frames in an elements text.
mod frames {
    pub struct Around {
        pub left: i32,
        pub top: i32,
        pub width: u32,
        pub height: u32,
    }

    fn numbers(json: &str, key: &str) -> Vec<i32> {
        let key = format!("\"{key}\":");
        let parts = json.split(&key).skip(1);
        parts.map(|part| part[..part.find([',', '}']).unwrap()].parse().unwrap()).collect()
    }

    pub fn around(json: &str) -> Around {
        let frames: Vec<&str> = json.split("\"frame\":").skip(1).collect();
        // The first frame is that of the menu itself in the bar.
        let items: Vec<[i32; 4]> =
            frames[1..].iter().map(|frame| ["x", "y", "w", "h"].map(|key| numbers(frame, key)[0])).collect();
        let left = items.iter().map(|frame| frame[0]).min().unwrap();
        let top = items.iter().map(|frame| frame[1]).min().unwrap();
        let right = items.iter().map(|frame| frame[0] + frame[2]).max().unwrap();
        let bottom = items.iter().map(|frame| frame[1] + frame[3]).max().unwrap();
        Around { left, top, width: right.abs_diff(left), height: bottom.abs_diff(top) }
    }
}

#[test]
fn only_the_visible_part_of_a_huge_table_is_read() {
    let mut desk = Desk::start();
    let accessibility = desk.accessibility();
    let (pid, journal) = desk.python("gtk3.py");
    journal.expect("ready");
    let snapshot = tree_with(&accessibility, &request(pid, "Fixture"), "table cell \"other 2\"");
    let tree = snapshot.markdown(None, false);
    assert!(tree.contains("table cell \"cell 0\""), "{tree}");
    assert!(!tree.contains("cell 30"), "{tree}");
    assert!(tree.contains("table column header = \"Column 1\""), "{tree}");
    let partial = "cells in view of a table of 15000 rows and 2 columns were read: scroll to the others";
    assert!(snapshot.partial().is_some_and(|said| said.contains(partial)), "{:?}", snapshot.partial());
    assert!(snapshot.offscreen().at_least, "{:?}", snapshot.offscreen());

    // Nor is the rest read where it is asked for: that would take the application's time without end.
    let request = SnapshotRequest { offscreen: true, ..request(pid, "Fixture") };
    let whole = accessibility.snapshot(&request).unwrap();
    assert!(whole.element_count() < 200, "{}", whole.markdown(None, false));
    assert!(whole.partial().is_some_and(|said| said.contains(partial)), "{:?}", whole.partial());
    assert!(whole.offscreen().at_least && whole.offscreen().listed, "{:?}", whole.offscreen());
}

#[test]
fn limits_say_that_the_tree_is_partial() {
    let mut desk = Desk::start();
    let accessibility = desk.accessibility();
    let (pid, journal) = desk.python("gtk3.py");
    journal.expect("ready");
    let mut request = request(pid, "Fixture");
    tree_with(&accessibility, &request, "Remove me");
    request.max_elements = 2;
    let snapshot = accessibility.snapshot(&request).unwrap();
    assert_eq!(snapshot.element_count(), 2);
    assert!(snapshot.partial().unwrap().contains("max_elements 2 was reached"));
    (request.max_elements, request.max_depth) = (0, 1);
    let snapshot = accessibility.snapshot(&request).unwrap();
    assert_eq!(snapshot.element_count(), 0);
    assert!(snapshot.partial().unwrap().contains("max_depth 1 was reached"));
    assert!(matches!(
        accessibility.snapshot(&support::request(1, "x")),
        Err(AxError::NotAccessible { pid: 1 })
    ));
}

#[test]
fn a_stopped_application_costs_only_the_time_that_was_given() {
    let mut desk = Desk::start();
    let accessibility = desk.accessibility();
    let (pid, journal) = desk.python("gtk3.py");
    journal.expect("ready");
    let mut request = request(pid, "Fixture");
    let snapshot = tree_with(&accessibility, &request, "Remove me");
    let signal = |name: &str| {
        assert!(
            std::process::Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success()
        );
    };
    signal("-STOP");
    request.timeout = Duration::from_millis(300);
    let start = Instant::now();
    let stopped = accessibility.snapshot(&request).unwrap();
    assert!(stopped.partial().unwrap().contains("did not answer within 300 ms"), "{:?}", stopped.partial());
    let error = snapshot.read(0, Duration::from_millis(300)).unwrap_err();
    assert_eq!(error.code(), "accessibility_timeout");
    assert!(start.elapsed() < TIMEOUT);
    signal("-CONT");
    request.timeout = TIMEOUT;
    assert!(accessibility.snapshot(&request).unwrap().element_count() > 5);
}

#[test]
fn events_are_counted_and_waited_for() {
    let mut desk = Desk::start();
    let accessibility = desk.accessibility();
    let (pid, journal) = desk.python("gtk3.py");
    journal.expect("ready");
    let snapshot = tree_with(&accessibility, &request(pid, "Fixture"), "Remove me");
    let since = accessibility.generation(pid);
    snapshot.perform(element(&snapshot, "check box", "Check").element_index, Action::Press, TIMEOUT).unwrap();
    assert!(accessibility.wait_for_event(pid, since, TIMEOUT) > since);
    let applications = accessibility.applications().unwrap();
    let own = applications.iter().find(|application| application.pid == pid).unwrap();
    assert!(own.toolkit.starts_with("gtk 3."), "{own:?}");
}
