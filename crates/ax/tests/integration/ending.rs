//! Every read ends: with what there is to read, with its own time, or with its own cancel, whatever others wait for.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use crate::support::{Desk, request, tree_with, wait_for};
use ax::{Accessibility, SnapshotRequest};

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(300);

#[test]
fn the_tree_of_objects_that_lie_in_one_another_ends() {
    let mut desk = Desk::start();
    let accessibility = Arc::new(desk.accessibility());
    let (pid, journal) = desk.python("cycle.py");
    journal.expect("ready");
    let (sender, done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let snapshot = tree_with(&accessibility, &request(pid, "Cycle"), "Inside");
        let _ = sender.send((snapshot.markdown(None, false), snapshot.partial().map(str::to_owned)));
    });
    let (tree, partial) = done.recv_timeout(LONG).unwrap();
    assert_eq!(tree.matches("Inside").count(), 1, "{tree}");
    assert_eq!(partial, None);
}

/// An application that is known and stopped before anything of it was read.
struct Stopped {
    accessibility: Arc<Accessibility>,
    request: SnapshotRequest,
    _desk: Desk,
}

impl Stopped {
    fn start() -> Self {
        let mut desk = Desk::start();
        let accessibility = Arc::new(desk.accessibility());
        let (pid, journal) = desk.python("gtk3.py");
        journal.expect("ready");
        wait_for("the application", || {
            let applications = accessibility.applications().unwrap();
            applications.iter().find(|each| each.pid == pid && !each.name.is_empty()).map(|_| ())
        });
        assert!(Command::new("kill").args(["-STOP", &pid.to_string()]).status().unwrap().success());
        Self { accessibility, request: request(pid, "Fixture"), _desk: desk }
    }

    /// Begins to read, with so much time; the flag of the answer says whether the tree is partial.
    fn read(&self, timeout: Duration) -> (ax::Cancel, std::thread::JoinHandle<bool>) {
        let cancel = ax::Cancel::default();
        let request = SnapshotRequest { timeout, cancel: cancel.clone(), ..self.request.clone() };
        let accessibility = Arc::clone(&self.accessibility);
        let reading =
            std::thread::spawn(move || accessibility.snapshot(&request).unwrap().partial().is_some());
        (cancel, reading)
    }
}

#[test]
fn a_read_ends_with_its_own_time_while_another_waits_longer() {
    let stopped = Stopped::start();
    let (cancel, long) = stopped.read(LONG);
    for _ in 0..5 {
        let (_, short) = stopped.read(SHORT);
        assert!(short.join().unwrap());
        assert!(!long.is_finished());
    }
    cancel.cancel();
    assert!(long.join().unwrap());
}

#[test]
fn a_read_ends_with_its_own_cancel_while_others_wait() {
    let stopped = Stopped::start();
    let mut reads: Vec<_> = (0..4).map(|_| stopped.read(LONG)).collect();
    while let Some((cancel, read)) = reads.pop() {
        cancel.cancel();
        assert!(read.join().unwrap());
        assert!(reads.iter().all(|(_, other)| !other.is_finished()));
    }
}
