//! Random sequences of overlays, resizes and writes: QEMU's programs and this crate agree after each step.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use crate::support::{asked, comparable, image, number, qemu, qemu_check, text};
use fastrand::Rng;
use qcow2::{Contents, Format, Naming, Overlay};
use test_support::Folder;

const SECTOR: u64 = 512;
/// Disks up to this size are compared to the last byte, larger ones where something was written and at random places.
const WHOLE: u64 = 48 << 20;

/// A disk and, sector by sector, what was written to it.
struct Sequence {
    rng: Rng,
    folder: Folder,
    top: PathBuf,
    format: Format,
    size: u64,
    /// What each sector is filled with, where that is not zero.
    written: BTreeMap<u64, u8>,
    disks: u64,
    has_snapshot: bool,
    /// Bits of its refcounts: few cannot say how many snapshots use a cluster.
    count_bits: u32,
    log: Vec<String>,
}

impl Sequence {
    fn start(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let folder = Folder::new().expect("a folder");
        let size = rng.u64(1..=16 << 11) * SECTOR;
        let top = folder.path().join("disk-0");
        let mut format = Format::Qcow2;
        let mut count_bits = 16;
        let log = match rng.u8(0..5) {
            0 => {
                format = Format::Raw;
                File::create(&top).and_then(|file| file.set_len(size)).expect("a raw file");
                format!("raw {size}")
            }
            1 | 2 => {
                qcow2::create(&top, size, Naming::Synced).expect("a new disk");
                format!("create {size}")
            }
            _ => {
                let cluster = 1_u64 << rng.u32(9..=17);
                count_bits = 1 << rng.u32(0..=6);
                let mut options = format!("cluster_size={cluster},refcount_bits={count_bits}");
                if rng.u8(0..6) == 0 {
                    count_bits = 16;
                    options = format!("cluster_size={cluster},compat=0.10");
                }
                image(&["create", "-q", "-f", "qcow2", "-o", &options, text(&top), &size.to_string()]);
                format!("qemu-img create {options} {size}")
            }
        };
        Self {
            rng,
            folder,
            top,
            format,
            size,
            written: BTreeMap::new(),
            disks: 1,
            has_snapshot: false,
            count_bits,
            log: vec![log],
        }
    }

    fn step(&mut self) {
        match self.rng.u8(0..10) {
            0 | 1 => self.overlay(),
            2 | 3 => self.resize(),
            4 if self.format == Format::Qcow2 && self.count_bits >= 8 => self.snapshot(),
            _ => self.write(),
        }
    }

    fn overlay(&mut self) {
        let name = format!("disk-{}", self.disks);
        self.disks += 1;
        let below = self.top.clone();
        let is_relative = self.rng.bool();
        let backing = if is_relative { below.file_name().map(Path::new).expect("a name") } else { &below };
        let more = if self.rng.bool() { 0 } else { self.rng.u64(0..1 << 12) * SECTOR };
        let size = self.size + more;
        let top = self.folder.path().join(name);
        let request = Overlay { backing: text(backing).to_owned(), format: self.format, size: Some(size) };
        qcow2::overlay(&top, &request, Naming::Synced).expect("an overlay");
        self.log.push(format!("overlay {request:?}"));
        (self.top, self.format, self.size) = (top, Format::Qcow2, size);
        (self.has_snapshot, self.count_bits) = (false, 16);
    }

    fn resize(&mut self) {
        let more = match self.rng.u8(0..8) {
            0 if self.format == Format::Qcow2 => self.rng.u64(0..1 << 22),
            1 | 2 => self.rng.u64(0..1 << 16),
            _ => self.rng.u64(0..1 << 12),
        };
        let size = self.size + more * SECTOR;
        self.log.push(format!("resize {size}"));
        match qcow2::resize(&self.top, size) {
            Ok(()) => self.size = size,
            // Version 2 keeps no sizes of snapshots.
            Err(error) => assert!(
                self.has_snapshot && error.to_string().contains("is of version 2 and has snapshots"),
                "{error}: {:?}",
                self.log
            ),
        }
    }

    fn snapshot(&mut self) {
        self.log.push("snapshot".to_owned());
        let name = format!("at-{}", self.log.len());
        image(&["snapshot", "-q", "-c", &name, text(&self.top)]);
        self.has_snapshot = true;
    }

    fn write(&mut self) {
        let mut commands = Vec::new();
        for _ in 0..self.rng.u8(1..=3) {
            let sectors = self.size / SECTOR;
            let first = self.rng.u64(0..sectors);
            let most = if self.rng.bool() { 16 } else { 2048 };
            let count = self.rng.u64(1..=most).min(sectors - first);
            let byte = self.rng.u8(1..=255);
            let (at, length) = (first * SECTOR, count * SECTOR);
            let zero = self.rng.u8(0..5) == 0;
            commands.push(if zero {
                format!("write -z {at} {length}")
            } else {
                format!("write -P {byte} {at} {length}")
            });
            for sector in first..first + count {
                if zero {
                    self.written.remove(&sector);
                } else {
                    self.written.insert(sector, byte);
                }
            }
        }
        let mut arguments = vec!["-f", self.format.name()];
        for command in &commands {
            arguments.extend(["-c", command]);
        }
        arguments.push(text(&self.top));
        qemu("qemu-io", &arguments, &[0]);
        self.log.push(commands.join("; "));
    }

    /// What QEMU says of the disk and its chain is what this crate says.
    fn describe(&self) {
        let info = qcow2::info(&self.top).expect("a description");
        let json = image(&["info", "--output=json", "-f", self.format.name(), text(&self.top)]);
        assert_eq!(info.top.virtual_size, number(&json, "virtual-size"), "{:?}", self.log);
        assert_eq!(info.top.virtual_size, self.size, "{:?}", self.log);
        assert_eq!(info.top.actual_size, number(&json, "actual-size"), "{:?}", self.log);
        let chain = image(&["info", "--backing-chain", "--output=json", text(&self.top)]);
        assert_eq!(info.below.len() + 1, chain.matches("\"virtual-size\"").count(), "{:?}", self.log);
    }

    /// What QEMU finds in the disk is what this crate finds, and it is no damage.
    fn compare(&self) {
        if self.format == Format::Raw {
            return;
        }
        let theirs = qemu_check(&self.top);
        let ours = qcow2::check(&self.top).expect("a check");
        assert!(ours.findings.is_empty(), "{:?} {:?}", ours.findings, self.log);
        assert!(ours.own_clusters >= ours.allocated_clusters, "{:?}", self.log);
        assert_eq!(comparable(ours), theirs, "{:?}", self.log);
    }

    /// The bytes are those that were written: as QEMU reads them, and as this crate does.
    fn read(&mut self) {
        let reference = self.folder.path().join("reference");
        let mut file = File::create(&reference).expect("a file");
        file.set_len(self.size).expect("its length");
        for (sector, byte) in &self.written {
            file.seek(SeekFrom::Start(sector * SECTOR)).expect("a place");
            file.write_all(&[*byte; SECTOR as usize]).expect("a sector");
        }
        drop(file);
        let ours = ["-f", "raw", "-F", self.format.name(), text(&reference), text(&self.top)];
        image(&[&["compare", "-q"], &ours[..]].concat());
        let mut contents = Contents::open(&self.top).expect("the contents");
        assert_eq!(contents.size(), self.size);
        if self.size <= WHOLE {
            let mut expected = Vec::new();
            File::open(&reference)
                .and_then(|mut file| file.read_to_end(&mut expected))
                .expect("the reference");
            let mut seen = vec![0xee; self.size as usize];
            contents.read_at(0, &mut seen).expect("the bytes");
            assert!(seen == expected, "the bytes differ: {:?}", self.log);
            return;
        }
        let mut sectors: Vec<u64> = self.written.keys().copied().collect();
        sectors.extend((0..1000).map(|_| self.rng.u64(0..self.size / SECTOR)));
        for sector in sectors {
            let mut seen = [0xee; SECTOR as usize];
            contents.read_at(sector * SECTOR, &mut seen).expect("a sector");
            let byte = self.written.get(&sector).copied().unwrap_or(0);
            assert_eq!(seen, [byte; SECTOR as usize], "sector {sector}: {:?}", self.log);
        }
    }
}

#[test]
fn qemu_agrees_after_random_sequences() {
    let first = asked("BACKLOT_DISK_SEED", 1);
    let count = asked("BACKLOT_DISK_SEQUENCES", 20);
    for seed in first..first + count {
        let mut sequence = Sequence::start(seed);
        sequence.log.insert(0, format!("BACKLOT_DISK_SEED={seed}"));
        for _ in 0..sequence.rng.u8(4..12) {
            sequence.step();
            sequence.compare();
        }
        sequence.describe();
        sequence.read();
    }
    println!("{count} sequences agreed");
}

#[test]
fn compressed_disks_are_read() {
    let folder = Folder::new().expect("a folder");
    let [plain, packed, top] = ["plain", "packed", "top"].map(|name| folder.path().join(name));
    let words: Vec<u8> = (0..5_000_000_u32).flat_map(|at| (at % 9973).to_le_bytes()).collect();
    std::fs::write(&plain, &words).expect("a file");
    image(&["convert", "-c", "-f", "raw", "-O", "qcow2", text(&plain), text(&packed)]);
    assert_eq!(comparable(qcow2::check(&packed).expect("a check")), qemu_check(&packed));
    let request = Overlay { backing: "packed".to_owned(), format: Format::Qcow2, size: None };
    qcow2::overlay(&top, &request, Naming::Synced).expect("an overlay");
    qemu("qemu-io", &["-c", "write -P 3 100000 5000", text(&top)], &[0]);
    let mut expected = words;
    expected[100_000..105_000].fill(3);
    expected.resize(expected.len().next_multiple_of(512), 0);
    let mut contents = Contents::open(&top).expect("the contents");
    let mut seen = vec![0; contents.size() as usize];
    contents.read_at(0, &mut seen).expect("the bytes");
    assert!(seen == expected);
}
