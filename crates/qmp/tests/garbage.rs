//! Hypervisors that say and save anything: the client neither panics nor hangs, and says what it met.
#![cfg(unix)]
#![allow(clippy::expect_used, clippy::panic, reason = "a test that fails panics")]

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use qmp::{Client, Event, Listener, QmpError, separate};

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
    let folder = test_support::Folder::new().expect("a folder");
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
    let folder = test_support::Folder::new().expect("a folder");
    let mut bytes = TALK.lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
    bytes += &"{\"event\": \"STOP\"}\n".repeat(50);
    let error =
        talk(&folder.path().join("qmp"), bytes.as_bytes(), 10, LIMIT, true).expect_err("too many events");
    assert_eq!(error.code(), "hypervisor_garbled");
    assert!(error.to_string().contains("faster than they are taken"), "{error}");
}

const PAGE: usize = 4096;

/// A memory as QEMU saves it: two blocks, of which `pc.ram` has pages of 1, 2 and 3, the second of them first zero.
fn saved_memory() -> Vec<u8> {
    let name = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    let number = |value: u64| value.to_be_bytes().to_vec();
    let page = |fill: u8| vec![fill; PAGE];
    let end = [number(0x10), vec![0x7e, 0, 0, 0, 2]].concat();
    let part =
        |mark: u8, records: Vec<Vec<u8>>| [vec![mark, 0, 0, 0, 2], records.concat(), end.clone()].concat();
    let at = |index: u64, flags: u64| number((index * PAGE as u64) | flags);
    [
        b"QEVM\0\0\0\x03\x07\0\0\0\x0bpc-q35-7.2\0".to_vec(),
        [vec![1, 0, 0, 0, 2], name("ram"), vec![0, 0, 0, 0, 0, 0, 0, 4]].concat(),
        [at(6, 0x04), name("bios"), number(2 * PAGE as u64), name("pc.ram"), number(4 * PAGE as u64)]
            .concat(),
        end.clone(),
        part(2, vec![at(0, 0x08), name("bios"), page(9), at(1, 0x22), vec![0]]),
        part(
            2,
            vec![
                [at(0, 0x08), name("pc.ram"), page(1), at(1, 0x22), vec![0]].concat(),
                [at(3, 0x28), page(3)].concat(),
            ],
        ),
        // A page of the block that was the last of the part before.
        part(2, vec![[at(1, 0x28), page(2)].concat(), [at(1, 0x08), name("bios"), page(8)].concat()]),
        part(3, vec![]),
        b"\x04what the devices have\0".to_vec(),
    ]
    .concat()
}

#[test]
fn pages_of_one_block_are_taken_out_of_a_saved_memory() {
    let (mut pages, mut rest) = (vec![0; 4 * PAGE], Vec::new());
    let write = |at: u64, run: &[u8]| {
        pages[at as usize..at as usize + run.len()].copy_from_slice(run);
        Ok(())
    };
    separate(saved_memory().as_slice(), "pc.ram", 4 * PAGE as u64, write, &mut rest).expect("a saved memory");
    assert_eq!(pages.chunks(PAGE).map(|page| page[7]).collect::<Vec<_>>(), [1, 2, 0, 3]);
    // Once more: there is no page of it left, and nothing else is gone.
    let mut again = Vec::new();
    separate(rest.as_slice(), "pc.ram", 4 * PAGE as u64, |_, _| panic!("no page"), &mut again)
        .expect("the rest");
    assert!(rest == again && rest.ends_with(b"\x04what the devices have\0"));
    assert_eq!(saved_memory().len() - rest.len(), 3 * (PAGE + 8) + 8 + 1 + "\x06pc.ram".len());
    for (block, bytes) in [("pc.ram", 8 * PAGE), ("other", 4 * PAGE)] {
        let error = separate(saved_memory().as_slice(), block, bytes as u64, |_, _| Ok(()), std::io::sink());
        assert_eq!(error.expect_err("no such block").code(), "memory_unreadable");
    }
}

#[test]
fn no_saved_memory_makes_it_panic_or_write_beyond() {
    for seed in 0..2000 {
        let mut rng = Rng::with_seed(seed);
        let mut bytes = saved_memory();
        for _ in 0..rng.u8(1..4) {
            // Pages are most of it, and of no interest.
            let at = rng.usize(0..bytes.len());
            let at = if rng.bool() { at.min(rng.usize(0..160)) } else { at };
            match rng.u8(0..3) {
                0 => bytes[at] = rng.u8(..),
                1 => bytes.truncate(at.max(1)),
                _ => drop(bytes.drain(at..(at + rng.usize(0..9)).min(bytes.len()))),
            }
        }
        let write = |at: u64, run: &[u8]| {
            assert!(at as usize + run.len() <= 4 * PAGE, "seed {seed}");
            Ok(())
        };
        let _ = separate(bytes.as_slice(), "pc.ram", 4 * PAGE as u64, write, std::io::sink());
    }
}
