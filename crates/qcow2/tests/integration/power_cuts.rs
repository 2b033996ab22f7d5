//! Power cuts at every write of this crate: afterwards a disk is as it was or as it is to be, whole either way.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{asked, comparable, image, qemu, qemu_check, text};
use fastrand::Rng;
use qcow2::{CheckReport, Header, Naming, Overlay, Step};
use test_support::Folder;

const SECTOR: usize = 512;

/// A file on a drive that has taken some of what was not synced: each sector that was written, or not.
fn after_cut(old: &[u8], steps: &[Step], mut is_taken: impl FnMut() -> bool) -> Vec<u8> {
    let synced = steps.iter().rposition(|step| *step == Step::Sync).map_or(0, |at| at + 1);
    let mut file = old.to_vec();
    for (at, step) in steps.iter().enumerate() {
        let mut taken = || at < synced || is_taken();
        match step {
            Step::Sync => {}
            Step::SetLength(length) => {
                if taken() {
                    file.resize(*length as usize, 0);
                }
            }
            Step::Write { offset, bytes } => {
                let mut from = 0;
                while from < bytes.len() {
                    let place = *offset as usize + from;
                    let count = (SECTOR - place % SECTOR).min(bytes.len() - from);
                    // A file system may know of a longer file whose bytes it has not written.
                    if taken() {
                        file.resize(file.len().max(place + count), 0);
                    }
                    if taken() {
                        file.resize(file.len().max(place + count), 0);
                        file[place..place + count].copy_from_slice(&bytes[from..from + count]);
                    }
                    from += count;
                }
            }
        }
    }
    file
}

/// The different files that power cuts can leave: at each step, with nothing, all and parts of what was not synced.
fn cuts(old: &[u8], steps: &[Step], rng: &mut Rng, tries: usize) -> Vec<Vec<u8>> {
    let mut seen = BTreeSet::new();
    let mut files = Vec::new();
    for done in 0..=steps.len() {
        let steps = &steps[..done];
        let mut keep = |file: Vec<u8>| {
            if seen.insert(file.clone()) {
                files.push(file);
            }
        };
        keep(after_cut(old, steps, || false));
        keep(after_cut(old, steps, || true));
        for _ in 0..tries {
            let share = rng.u8(1..=9);
            keep(after_cut(old, steps, || rng.u8(0..10) < share));
        }
    }
    files
}

/// An image of small clusters, so that growing it moves tables, with some content and perhaps a snapshot.
fn some_image(path: &Path, rng: &mut Rng) -> u64 {
    let cluster = 1_u64 << rng.u32(9..=12);
    let size = rng.u64(64..=4096) * 512;
    let count_bits = 1 << rng.u32(0..=6);
    let options = format!("cluster_size={cluster},refcount_bits={count_bits}");
    image(&["create", "-q", "-f", "qcow2", "-o", &options, text(path), &size.to_string()]);
    for round in 0..rng.u8(0..4) {
        let at = rng.u64(0..size / 512) * 512;
        let length = rng.u64(1..=64).min((size - at) / 512) * 512;
        let write = format!("write -P {} {at} {length}", rng.u8(1..=255));
        qemu("qemu-io", &["-f", "qcow2", "-c", &write, text(path)], &[0]);
        // Small counts cannot say how many use a cluster.
        if count_bits >= 8 && rng.bool() {
            image(&["snapshot", "-q", "-c", &format!("at-{round}"), text(path)]);
        }
    }
    size
}

#[test]
fn a_disk_that_grows_is_whole_after_a_power_cut_at_any_write() {
    let seed = asked("BACKLOT_DISK_SEED", 1);
    let images = asked("BACKLOT_POWER_CUT_IMAGES", 8);
    let (mut checked, mut moved, mut old_left, mut new_left) = (0, 0, 0, 0);
    for seed in seed..seed + images {
        let mut rng = Rng::with_seed(seed);
        let folder = Folder::new().expect("a folder");
        let [path, reference, cut] = ["disk", "reference", "cut"].map(|name| folder.path().join(name));
        let size = some_image(&path, &mut rng);
        image(&["convert", "-f", "qcow2", "-O", "raw", text(&path), text(&reference)]);
        let most = if rng.u8(0..4) == 0 { 1 << 21 } else { 1 << 16 };
        let wanted = size + rng.u64(1..=most) * 512;
        let old = std::fs::read(&path).expect("the image");
        let steps = qcow2::plan_resize(&path, &old, wanted).expect("a plan");
        let header = |file: &Vec<u8>| Header::read(&path, file).expect("a header").expect("a qcow2");

        for file in cuts(&old, &steps, &mut rng, 6) {
            let now = header(&file);
            assert!([size, wanted].contains(&now.size), "seed {seed}: {} of {size} and {wanted}", now.size);
            *(if now.size == size { &mut old_left } else { &mut new_left }) += 1;
            let ours = qcow2::check_medium(&path, &file, &now).expect("a check");
            assert!(ours.findings.is_empty(), "seed {seed}: {:?}", ours.findings);
            std::fs::write(&cut, &file).expect("the file");
            assert_eq!(qemu_check(&cut), comparable(ours), "seed {seed}");
            // Of different sizes, the longer one has to end with zeros.
            image(&["compare", "-q", "-f", "raw", "-F", "qcow2", text(&reference), text(&cut)]);
            checked += 1;
        }

        qcow2::resize(&path, wanted).expect("a resize");
        let new = std::fs::read(&path).expect("the image");
        assert!(
            new == after_cut(&old, &steps, || false),
            "seed {seed}: what was done is not what was planned"
        );
        assert_eq!(header(&new).size, wanted);
        moved += u64::from(header(&old).l1_offset != header(&new).l1_offset);
        // What is freed by the move is used again by QEMU, and all stays sound.
        let write = format!("write -P 9 {} 512", wanted - 512);
        qemu("qemu-io", &["-f", "qcow2", "-c", &write, text(&path)], &[0]);
        let CheckReport { corruptions, leaks, .. } = qemu_check(&path);
        assert_eq!((corruptions, leaks), (0, 0), "seed {seed}");
    }
    assert!(moved > 0 && old_left > 0 && new_left > 0, "{moved} moved, {old_left} old, {new_left} new");
    println!(
        "{checked} files after power cuts were whole ({old_left} as before, {new_left} grown); {moved} of {images} tables moved"
    );
}

#[test]
fn a_new_disk_is_whole_before_it_has_a_name() {
    for size in [512, 1 << 20, 1 << 30, 1 << 46] {
        for backing in [None, Some(("base", "qcow2"))] {
            let steps = qcow2::plan(size, backing);
            assert_eq!(steps.iter().rposition(|step| *step == Step::Sync), Some(steps.len() - 1));
            let file = after_cut(&[], &steps, || false);
            let header = Header::parse(&file).expect("a header");
            assert_eq!((header.size, header.backing.as_deref()), (size, backing.map(|(name, _)| name)));
            let report = qcow2::check_medium(Path::new("new"), &file, &header).expect("a check");
            assert_eq!((report.corruptions, report.leaks), (0, 0));
        }
    }
}

/// The calls of this test program that change files, as `strace` saw them, when it runs the test of this name.
fn calls_of(name: &str, folder: &Path) -> Vec<String> {
    let log = folder.join("calls");
    let own = std::env::current_exe().expect("this program");
    let watched =
        "trace=openat,write,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink";
    let done = Command::new("strace")
        .args(["-f", "-y", "-q", "-s", "4", "-e", watched, "-o", text(&log), text(&own), "--exact", name])
        .env("BACKLOT_TRACED", folder)
        .output();
    let done = done.unwrap_or_else(|error| panic!("strace (package strace) does not start: {error}"));
    assert!(done.status.success(), "strace did not see the test to its end: {done:?}");
    let calls = std::fs::read_to_string(&log).expect("the calls");
    let about =
        |line: &&str| line.contains(text(folder)) && !line.contains("O_RDONLY") && !line.contains("calls");
    calls
        .lines()
        .filter(about)
        .map(|line| line.split_once(' ').map_or(line, |(_, call)| call).trim().to_owned())
        .collect()
}

/// Names of the calls.
fn names(calls: &[String]) -> Vec<&str> {
    calls.iter().map(|call| call.split('(').next().unwrap_or_default()).collect()
}

#[test]
fn creating_syncs_content_then_name_unless_the_name_is_left_to_the_caller() {
    if let Ok(folder) = std::env::var("BACKLOT_TRACED") {
        let request = Overlay { backing: "base".to_owned(), format: qcow2::Format::Qcow2, size: None };
        let folder = PathBuf::from(folder);
        qcow2::overlay(&folder.join("top"), &request, Naming::Synced).expect("an overlay");
        qcow2::overlay(&folder.join("other"), &request, Naming::LeftToCaller).expect("an overlay");
        return;
    }
    let folder = Folder::new().expect("a folder");
    qcow2::create(&folder.path().join("base"), 1 << 20, Naming::Synced).expect("a disk");
    let name = "power_cuts::creating_syncs_content_then_name_unless_the_name_is_left_to_the_caller";
    let calls = calls_of(name, folder.path());
    let made = ["openat", "pwrite64", "pwrite64", "pwrite64", "ftruncate", "fdatasync", "renameat2"];
    let expected = [&made[..], &["fsync"], &made[..]].concat();
    assert_eq!(names(&calls), expected, "{calls:#?}");
    assert!(calls[..6].iter().all(|call| call.contains("/.top.new-")), "{calls:#?}");
    assert!(calls[6].contains("/top\""), "{calls:#?}");
}

#[test]
fn growing_syncs_before_and_after_the_header() {
    let name = |folder: &Path| folder.join("disk");
    if let Ok(folder) = std::env::var("BACKLOT_TRACED") {
        qcow2::resize(&name(Path::new(&folder)), 1 << 26).expect("a resize");
        return;
    }
    let folder = Folder::new().expect("a folder");
    image(&["create", "-q", "-f", "qcow2", "-o", "cluster_size=512", text(&name(folder.path())), "1M"]);
    let calls = calls_of("power_cuts::growing_syncs_before_and_after_the_header", folder.path());
    let mut seen = names(&calls);
    // However many blocks of refcounts change.
    seen.dedup();
    assert_eq!(seen, ["openat", "pwrite64", "fdatasync", "pwrite64", "fdatasync"], "{calls:#?}");
    assert!(calls[calls.len() - 2].contains(", 72, 24)"), "{calls:#?}");
}
