//! Chromium and Qt 5: trees, presses and text of toolkits that differ from GTK 3.

use std::time::Duration;

use crate::support::{Desk, element, request, tree_with};
use ax::Action;

const TIMEOUT: Duration = Duration::from_secs(30);

#[test]
fn a_page_in_chromium_is_read_and_pressed() {
    let mut desk = Desk::start();
    let accessibility = desk.accessibility();
    let profile = format!("--user-data-dir={}", desk.folder.path().join("profile").display());
    let page = format!("file://{}/tests/page.html", env!("CARGO_MANIFEST_DIR"));
    let arguments = [
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--force-renderer-accessibility",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--window-size=1000,800",
        &profile,
        &page,
    ];
    drop(desk.spawn("chromium", &arguments));
    let mut request = request(desk.last_pid(), "Fixture - Chromium");
    (request.bounds.width, request.bounds.height) = (1000, 800);
    let snapshot = tree_with(&accessibility, &request, "push button \"Button 3\"");
    let tree = snapshot.markdown(None, false);
    assert!(tree.contains("- document web = \"Fixture\""), "{tree}");
    assert!(tree.contains("- static = \"Passive text\""), "a claimed action gives no index:\n{tree}");
    assert!(!tree.contains("Button 900"), "what is out of sight is left out");
    assert_eq!(element(&snapshot, "entry", "Name").value.as_deref(), Some("typed"));
    assert_eq!(element(&snapshot, "check box", "Check").value.as_deref(), Some("unchecked"));
    let link = element(&snapshot, "link", "A link");
    assert!(link.frame.width > 0 && link.frame.y > 50, "{link:?}");

    let button = element(&snapshot, "push button", "Press me");
    assert_eq!(snapshot.perform(button.element_index, Action::Press, TIMEOUT).as_deref(), Ok("press"));
    request.title = "Pressed - Chromium".into();
    tree_with(&accessibility, &request, "document web = \"Pressed\"");
}

#[test]
fn a_window_of_qt_is_walked_and_operated() {
    let mut desk = Desk::start();
    let accessibility = desk.accessibility();
    let (pid, journal) = desk.python("qt5.py");
    journal.expect("ready");
    let snapshot = tree_with(&accessibility, &request(pid, "Fixture"), "\"corner\"");
    let tree = snapshot.markdown(None, false);
    assert!(
        snapshot.partial().is_some_and(|partial| partial.contains("visible cells of a large table")),
        "{tree}"
    );

    let button = element(&snapshot, "push button", "Push");
    snapshot.perform(button.element_index, Action::Press, TIMEOUT).unwrap();
    journal.expect("clicked");
    let check = element(&snapshot, "check box", "Check");
    snapshot.perform(check.element_index, Action::Press, TIMEOUT).unwrap();
    journal.expect("check True");
    let line = element(&snapshot, "text", "Line");
    let inserted = snapshot.insert_text(line.element_index, "Grüße 😀!", TIMEOUT).unwrap();
    assert!(inserted.confirmed, "{inserted:?}");
    journal.expect(&format!("line {}", inserted.value.unwrap()));
}
