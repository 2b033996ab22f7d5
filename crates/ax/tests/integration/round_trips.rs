//! How often a click on an element waits for the application.

use std::time::Duration;

use crate::support::{Desk, element, request, tree_with};
use ax::{Action, round_trips};

const TIMEOUT: Duration = Duration::from_secs(30);

#[test]
fn an_element_click_waits_three_times_with_the_look_after_it() {
    let mut desk = Desk::alone();
    let accessibility = desk.accessibility();
    let (pid, journal) = desk.python("gtk3.py");
    journal.expect("ready");
    let snapshot = tree_with(&accessibility, &request(pid, "Fixture"), "Remove me");
    for (role, label, said) in
        [("push button", "Say \"hi\"\nthere", "clicked"), ("check box", "Check", "check True")]
    {
        let index = element(&snapshot, role, label).element_index;
        let before = round_trips();
        let read = snapshot.read(index, TIMEOUT).unwrap();
        assert_eq!(round_trips() - before, 1, "{label}");
        assert_eq!((read.actions.as_slice(), read.frame.width > 0), (&["click".to_owned()][..], true));
        snapshot.perform(index, Action::Press, TIMEOUT).unwrap();
        assert_eq!(round_trips() - before, 2, "{label}");
        journal.expect(said);
        snapshot.read(index, TIMEOUT).unwrap();
        assert_eq!(round_trips() - before, 3, "{label}");
    }
}
