//! What is told of a window without reading it again.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::support::{Desk, request, tree_with, wait_for};
use ax::{Accessibility, round_trips};

/// Changes of every kind that each toolkit makes.
const CHANGES: usize = 12;

/// An application that changes itself as it is told.
struct Changing {
    pid: u32,
    orders: fs::File,
    journal: PathBuf,
    told: usize,
}

impl Changing {
    fn start(desk: &mut Desk, toolkit: &str) -> Self {
        let (orders, journal) =
            (desk.folder.path().join(toolkit), desk.folder.path().join(format!("{toolkit}.jsonl")));
        assert!(Command::new("mkfifo").arg(&orders).status().unwrap().success());
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/support/fixtures/changing.py");
        let arguments = [script, toolkit, orders.to_str().unwrap(), journal.to_str().unwrap(), toolkit, "5"];
        drop(desk.spawn("/usr/bin/python3", &arguments));
        let pid = desk.last_pid();
        wait_for("the application", || said(&journal, "\"ready\""));
        let orders = fs::OpenOptions::new().write(true).open(&orders).unwrap();
        Self { pid, orders, journal, told: 0 }
    }

    fn tell(&mut self, order: &str) {
        self.told += 1;
        writeln!(self.orders, "{order}").unwrap();
        wait_for(order, || said(&self.journal, &format!("\"number\": {}}}", self.told)));
    }
}

fn said(journal: &PathBuf, text: &str) -> Option<()> {
    fs::read_to_string(journal).is_ok_and(|journal| journal.contains(text)).then_some(())
}

/// The order and what the tree says afterwards: a text that it holds, or with `!` one that it does not.
fn change(number: usize) -> (String, String) {
    match number % 6 {
        0 => (format!("[\"say\", \"Status {number}\"]"), format!("\"Status {number}\"")),
        1 => (format!("[\"fill\", \"text {number}\"]"), format!("value=\"text {number}\"")),
        2 => (format!("[\"level\", {number}]"), format!("value=\"{number}\"")),
        3 => (format!("[\"add\", \"New {number}\"]"), format!("\"New {number}\"")),
        4 => (format!("[\"rename\", \"New {}\", \"Old {number}\"]", number - 1), format!("\"Old {number}\"")),
        _ => (format!("[\"remove\", \"Old {}\"]", number - 1), format!("!\"Old {}\"", number - 1)),
    }
}

fn shows_each_change(desk: &mut Desk, accessibility: &Accessibility, toolkit: &str) {
    let mut app = Changing::start(desk, toolkit);
    let request = request(app.pid, toolkit);
    drop(tree_with(accessibility, &request, "Item 4"));
    for number in 0..CHANGES {
        let (order, expected) = change(number);
        app.tell(&order);
        let tree = accessibility.snapshot(&request).unwrap().markdown(None, false);
        let shown = match expected.strip_prefix('!') {
            Some(text) => !tree.contains(text),
            None => tree.contains(&expected),
        };
        assert!(shown, "{toolkit}: {order}\n{tree}");
    }
    // An application at rest is not asked. It may still be finishing what the last order set off.
    wait_for("the application to rest", || {
        accessibility.snapshot(&request).unwrap();
        accessibility.settled(app.pid, Duration::from_millis(50), Duration::from_secs(5));
        accessibility.snapshot(&request).unwrap();
        let before = round_trips();
        accessibility.snapshot(&request).unwrap();
        (round_trips() == before).then_some(())
    });
}

#[test]
fn every_change_is_shown_at_once_and_a_window_at_rest_costs_no_call() {
    let mut desk = Desk::alone();
    let accessibility = desk.accessibility();
    for toolkit in ["gtk3", "gtk4", "qt5", "qt6"] {
        shows_each_change(&mut desk, &accessibility, toolkit);
    }
}
