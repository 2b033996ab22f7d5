//! Chromium and Qt 5: trees, presses and text of toolkits that differ from GTK 3.

use std::time::Duration;

use crate::support::{Desk, element, request, tree_with, wait_for};
use ax::{Action, Offscreen, Snapshot, SnapshotRequest};

const TIMEOUT: Duration = Duration::from_secs(30);
/// Cells of the table in the window of Qt.
const CELLS: usize = 300 * 40;

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
    (request.size.width, request.size.height) = (1000, 800);
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
    let window = request(pid, "Fixture");
    let snapshot = tree_with(&accessibility, &window, "\"corner\"");
    let tree = snapshot.markdown(None, false);
    assert!(tree.contains("- table column header = \"1\""), "{tree}");
    assert!(!tree.contains("- table column header = \"40\""), "{tree}");
    assert_eq!(snapshot.partial(), None);
    let cells =
        |snapshot: &Snapshot| snapshot.markdown(Some("table cell"), false).matches("] table cell").count();
    let (seen, beyond) = (cells(&snapshot), snapshot.offscreen());
    assert!(seen < 200, "{tree}");
    let expected = Offscreen { below: u32::try_from(CELLS - seen).unwrap(), ..Offscreen::default() };
    assert_eq!(beyond, expected);

    let whole = accessibility.snapshot(&SnapshotRequest { offscreen: true, ..window.clone() }).unwrap();
    assert_eq!((cells(&whole), whole.partial()), (CELLS, None));
    assert_eq!(whole.offscreen(), Offscreen { listed: true, ..expected });

    let button = element(&snapshot, "push button", "Push");
    snapshot.perform(button.element_index, Action::Press, TIMEOUT).unwrap();
    journal.expect("clicked");
    let check = element(&snapshot, "check box", "Check");
    snapshot.perform(check.element_index, Action::Press, TIMEOUT).unwrap();
    journal.expect("check True");
    // The check box has scrolled the table to its end: what is not read is above now, or beside the view.
    let scrolled = wait_for("the end of the table", || {
        let scrolled = accessibility.snapshot(&window).ok()?;
        (scrolled.offscreen() != beyond).then_some(scrolled)
    });
    let Offscreen { above, below, .. } = scrolled.offscreen();
    assert_eq!(usize::try_from(above + below).unwrap() + cells(&scrolled), CELLS);
    assert!(above > 11_000, "{:?}", scrolled.offscreen());
    let line = element(&snapshot, "text", "Line");
    let inserted = snapshot.insert_text(line.element_index, "Grüße 😀!", TIMEOUT).unwrap();
    assert!(inserted.confirmed, "{inserted:?}");
    journal.expect(&format!("line {}", inserted.value.unwrap()));
}
