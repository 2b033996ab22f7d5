//! Damaged and hostile images: whatever the bytes, this crate neither panics nor hangs, and it never makes damage of its own.
//!
//! Images by QEMU are mutated where it matters: fields of the header, entries of tables, lengths. What is found to be sound
//! is grown and has to stay sound; now and then QEMU is asked whether it agrees.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{asked, image, number, qemu, text};
use fastrand::Rng;
use qcow2::{Contents, Header, Medium as _, Step};
use test_support::Folder;

/// So many images are tried at least.
const INPUTS: u64 = 1_000;

/// No image of these sizes may take longer to be looked at, by far.
const PATIENCE: Duration = Duration::from_secs(20);

/// Images of many kinds, the smaller the better: a mutation then hits something.
fn seeds(folder: &Path) -> Vec<Vec<u8>> {
    let kinds = [
        ("cluster_size=512,refcount_bits=16", "1M", true),
        ("cluster_size=512,refcount_bits=1", "64k", false),
        ("cluster_size=1k,refcount_bits=64", "300k", true),
        ("cluster_size=4k,refcount_bits=2", "4M", false),
        ("cluster_size=512,compat=0.10", "256k", true),
        ("cluster_size=16k,extended_l2=on", "8M", false),
        ("cluster_size=64k,lazy_refcounts=on", "1T", false),
    ];
    let base = folder.join("base");
    fs::write(&base, vec![7; 30_000]).expect("a raw disk");
    let mut images: Vec<Vec<u8>> = kinds
        .iter()
        .enumerate()
        .map(|(at, (options, size, has_snapshot))| {
            let path = folder.join(format!("seed-{at}"));
            image(&["create", "-q", "-f", "qcow2", "-o", options, text(&path), size]);
            let writes = ["-c", "write -P 3 0 20k", "-c", "write -z 8k 4k", "-c", "write -c -P 4 32k 16k"];
            qemu("qemu-io", &[&["-f", "qcow2"][..], &writes[..], &[text(&path)]].concat(), &[0, 1]);
            if *has_snapshot {
                image(&["snapshot", "-q", "-c", "before", text(&path)]);
                qemu("qemu-io", &["-f", "qcow2", "-c", "write -P 5 4k 4k", text(&path)], &[0]);
            }
            fs::read(&path).expect("the image")
        })
        .collect();
    // Its first extension becomes the one that says where the header of an encryption lies.
    let mut encrypted = images[0].clone();
    let extension = encrypted[103] as usize;
    put(&mut encrypted, 32, 2, 4);
    put(&mut encrypted, extension, 0x0537_be77, 4);
    put(&mut encrypted, extension + 8, 512, 8);
    put(&mut encrypted, extension + 16, 512, 8);
    images.push(encrypted);
    images
}

/// Numbers that formats stumble over.
fn number_like(rng: &mut Rng, length: u64) -> u64 {
    let near = [0, 1, 2, 7, 8, 9, 21, 22, 63, 64, 104, 511, 512, 65536, 1 << 20, 1 << 30, length];
    let base = match rng.u8(0..4) {
        0 => near[rng.usize(0..near.len())],
        1 => 1_u64 << rng.u32(0..64),
        2 => u64::MAX >> rng.u32(0..64),
        _ => rng.u64(0..=length) & !511,
    };
    let flags = [0, 0, 0, 1, 1 << 63, 1 << 62, 3 << 62][rng.usize(0..7)];
    base.wrapping_add(rng.u64(0..3)).wrapping_sub(1) | flags
}

fn mutate(rng: &mut Rng, seed: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 << rng.u32(0..4) {
        let length = bytes.len() as u64;
        match rng.u8(0..16) {
            // A field of the header, of four or eight bytes.
            0..=5 => put(
                &mut bytes,
                rng.usize(0..28) * 4,
                number_like(rng, length),
                if rng.bool() { 4 } else { 8 },
            ),
            // An entry of some table, which mostly lies in the first clusters.
            6..=11 => {
                let most = if rng.bool() { length.min(16 << 10) } else { length } as usize / 8;
                put(&mut bytes, rng.usize(0..most.max(1)) * 8, number_like(rng, length), 8);
            }
            12 => {
                let at = rng.usize(0..bytes.len().max(1));
                put(&mut bytes, at, rng.u64(..), rng.usize(1..=8));
            }
            13 => bytes.truncate(rng.usize(0..=bytes.len())),
            14 => bytes.resize(bytes.len() + rng.usize(0..4096), rng.u8(..)),
            _ => {
                let from = rng.usize(0..other.len());
                let count = rng.usize(0..(other.len() - from).min(4096));
                let at = rng.usize(0..=bytes.len());
                let end = (at + count).min(bytes.len());
                bytes.splice(at..end, other[from..from + count].iter().copied());
            }
        }
        if bytes.len() < 512 {
            bytes.resize(512, 0);
        }
    }
    bytes
}

fn put(bytes: &mut [u8], at: usize, number: u64, count: usize) {
    for (place, byte) in bytes.iter_mut().skip(at).zip(&number.to_be_bytes()[8 - count..]) {
        *place = *byte;
    }
}

fn applied(bytes: &[u8], steps: &[Step]) -> Vec<u8> {
    let mut file = bytes.to_vec();
    for step in steps {
        match step {
            Step::Write { offset, bytes } => {
                let at = *offset as usize;
                file.resize(file.len().max(at + bytes.len()), 0);
                file[at..at + bytes.len()].copy_from_slice(bytes);
            }
            Step::SetLength(length) => file.resize(*length as usize, 0),
            Step::Sync => {}
        }
    }
    file
}

/// What became of the inputs.
#[derive(Debug, Default)]
struct Tally {
    inputs: u64,
    parsed: u64,
    sound: u64,
    grown: u64,
    read: u64,
    asked: u64,
    slowest: Duration,
}

struct Target {
    path: PathBuf,
    tally: Tally,
}

impl Target {
    fn take(&mut self, bytes: &Vec<u8>, rng: &mut Rng) {
        self.tally.inputs += 1;
        let path = self.path.as_path();
        let Ok(Some(header)) = Header::read(path, bytes) else { return };
        self.tally.parsed += 1;
        let report = qcow2::check_medium(path, bytes, &header);
        let is_sound = report.as_ref().is_ok_and(|report| report.corruptions == 0);
        self.tally.sound += u64::from(is_sound);

        let more = 1_u64 << rng.u32(9..34);
        let wanted = header.size.saturating_add(more) & !511;
        let steps = qcow2::plan_resize(path, bytes, wanted);
        if let (Ok(steps), Ok(before)) = (&steps, &report)
            && is_sound
            && wanted != header.size
        {
            let grown = applied(bytes, steps);
            let now = Header::read(path, &grown).expect("a header").expect("a qcow2");
            let after = qcow2::check_medium(path, &grown, &now).expect("a check");
            assert_eq!((after.corruptions, after.leaks), (0, before.leaks), "{:?}", after.findings);
            assert_eq!(after.allocated_clusters, before.allocated_clusters);
            assert_eq!(now.size, wanted);
            self.tally.grown += 1;
        }

        fs::write(path, bytes).expect("the image");
        if let Ok(mut contents) = Contents::open(path) {
            let mut some = vec![0; 64 << 10];
            for at in [0, rng.u64(0..=contents.size()), contents.size().saturating_sub(1000), u64::MAX - 5] {
                self.tally.read += u64::from(contents.read_at(at, &mut some).is_ok());
            }
        }
        if is_sound && rng.u8(0..64) == 0 {
            self.ask(bytes);
        }
    }

    /// QEMU, where it opens the image at all, finds no damage in what this crate calls sound.
    fn ask(&mut self, bytes: &Vec<u8>) {
        let json =
            qemu("qemu-img", &["check", "-f", "qcow2", "--output=json", text(&self.path)], &[0, 1, 2, 3, 63]);
        assert!(bytes.length().is_ok());
        if json.contains("\"check-errors\": 0") {
            self.tally.asked += 1;
            let words = || Command::new("qemu-img").args(["check", "-f", "qcow2", text(&self.path)]).output();
            assert_eq!(number(&json, "corruptions"), 0, "{:?}", words());
        }
    }
}

#[test]
fn no_image_makes_it_panic_hang_or_do_damage() {
    let seconds = asked("BACKLOT_FUZZ_SECONDS", 0);
    let first = asked("BACKLOT_FUZZ_SEED", 1);
    let folder = Folder::below(Path::new(if Path::new("/dev/shm").is_dir() { "/dev/shm" } else { "." }))
        .expect("a folder");
    let seeds = seeds(folder.path());
    let mut target = Target { path: folder.path().join("input"), tally: Tally::default() };
    for seed in &seeds {
        target.take(seed, &mut Rng::with_seed(first));
    }
    assert_eq!(target.tally.parsed, seeds.len() as u64);
    let started = Instant::now();
    let mut round = first;
    while target.tally.inputs < INPUTS || started.elapsed() < Duration::from_secs(seconds) {
        let mut rng = Rng::with_seed(round);
        let (one, other) = (rng.usize(0..seeds.len()), rng.usize(0..seeds.len()));
        let bytes = mutate(&mut rng, &seeds[one], &seeds[other]);
        let began = Instant::now();
        let taken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| target.take(&bytes, &mut rng)));
        assert!(taken.is_ok(), "it panicked: BACKLOT_FUZZ_SEED={round}");
        let took = began.elapsed();
        target.tally.slowest = target.tally.slowest.max(took);
        assert!(took < PATIENCE, "it took {took:?}: BACKLOT_FUZZ_SEED={round}");
        round += 1;
    }
    let Tally { parsed, sound, grown, read, asked, .. } = target.tally;
    assert!(parsed > 0 && sound > 0 && grown > 0 && read > 0, "{:?}", target.tally);
    println!("{:?} in {:?}, {asked} of them checked by QEMU too", target.tally, started.elapsed());
}
