//! Hypervisors that say anything: the client neither panics nor hangs, and says what it met.
#![cfg(unix)]
#![allow(clippy::expect_used, clippy::panic, reason = "a test that fails panics")]

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use qmp::{Client, Event, Listener, QmpError};

const LIMIT: Duration = Duration::from_secs(20);

/// Takes so many events and no more.
struct Takes(usize);

impl Listener for Takes {
    fn event(&mut self, _: &Event) -> bool {
        self.0 = self.0.saturating_sub(1);
        self.0 > 0
    }

    fn end(&mut self, _: &QmpError) {}
}

/// What a hypervisor says, with the answers to two commands in it.
const TALK: &str = concat!(
    r#"{"QMP": {"version": {"qemu": {"micro": 0, "minor": 2, "major": 7}, "package": ""}, "capabilities": ["oob"]}}"#,
    "\r\n",
    r#"{"return": {}, "id": 1}"#,
    "\r\n",
    r#"{"timestamp": {"seconds": 1795, "microseconds": 7}, "event": "STOP"}"#,
    "\r\n",
    r#"{"timestamp": {"seconds": -1, "microseconds": -1}, "event": "JOB_STATUS_CHANGE", "data": {"status": "null", "id": "a"}}"#,
    "\r\n",
    r#"{"id": 2, "error": {"class": "GenericError", "desc": "no"}}"#,
    "\r\n",
);

fn mutated(rng: &mut Rng) -> Vec<u8> {
    let mut bytes = TALK.as_bytes().to_vec();
    for _ in 0..rng.u8(0..6) {
        let at = rng.usize(0..bytes.len());
        match rng.u8(0..6) {
            0 => bytes[at] = rng.u8(..),
            1 => bytes.truncate(at.max(1)),
            2 => bytes.insert(at, b"{}[]\",:\n\\0-eu"[rng.usize(0..13)]),
            3 => drop(bytes.drain(at..(at + rng.usize(0..20)).min(bytes.len() - 1).max(at))),
            4 => {
                let end = (at + rng.usize(0..200)).min(bytes.len());
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            _ => {
                let deep = vec![b"[{"[rng.usize(0..2)]; rng.usize(0..5000)];
                bytes.splice(at..at, deep);
            }
        }
    }
    bytes
}

/// What comes of connecting and one command, where the other side says these bytes once it has heard something, or after
/// `patience`, and hangs up; `stays` leaves that to the client.
fn talk(socket: &Path, bytes: &[u8], takes: usize, patience: Duration, stays: bool) -> Result<(), QmpError> {
    let _ = std::fs::remove_file(socket);
    let server = UnixListener::bind(socket).expect("a socket");
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut peer, _) = server.accept().expect("a client");
            let first = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
            peer.set_read_timeout(Some(patience)).expect("a time limit");
            // Either side may have hung up before.
            let _ = peer.write_all(&bytes[..first]);
            let _ = peer.read(&mut [0; 4096]);
            let _ = peer.write_all(&bytes[first..]);
            if stays {
                let _ = peer.read_to_end(&mut Vec::new());
            }
        });
        let client = Client::connect(socket, LIMIT, Takes(takes))?;
        client.execute("query-status", None, &[], LIMIT).map(|_| ())
    })
}

#[test]
fn no_talk_makes_it_panic_or_hang() {
    let folder = stage::Folder::new().expect("a folder");
    let socket = folder.path().join("qmp");
    let mut codes = std::collections::BTreeMap::<&str, u32>::new();
    for seed in 0..2000 {
        let mut rng = Rng::with_seed(seed);
        let bytes = mutated(&mut rng);
        let began = Instant::now();
        // A client that has not understood the first line says nothing.
        let ended = talk(&socket, &bytes, 100, Duration::from_millis(200), false);
        assert!(began.elapsed() < LIMIT, "seed {seed} took {:?}", began.elapsed());
        let error = ended.expect_err("the talk has no result for this command");
        assert!(!error.to_string().contains("its reader ended"), "seed {seed}: the reader panicked");
        *codes.entry(error.code()).or_default() += 1;
    }
    // An answer that comes before its command was sent belongs to none: only at times is a command refused.
    codes.remove("hypervisor_refused");
    assert_eq!(
        codes.keys().copied().collect::<Vec<_>>(),
        ["hypervisor_garbled", "hypervisor_lost"],
        "{codes:?}"
    );
}

#[test]
fn events_that_nobody_takes_end_the_connection() {
    let folder = stage::Folder::new().expect("a folder");
    let mut bytes = TALK.lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
    bytes += &"{\"event\": \"STOP\"}\n".repeat(50);
    let error =
        talk(&folder.path().join("qmp"), bytes.as_bytes(), 10, LIMIT, true).expect_err("too many events");
    assert_eq!(error.code(), "hypervisor_garbled");
    assert!(error.to_string().contains("faster than they are taken"), "{error}");
}
