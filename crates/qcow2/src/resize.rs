//! Growing a disk so that every write can be the last one: one write of the header, within one sector, makes it larger.
//!
//! What the new header will point to is written beside what the old one points to, and is on the drive before it. Where the
//! L1 table has to move, the refcounts that change move with it, so that neither side of that write has a wrong count.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::Path;

use crate::chain::{backing_of, size_of};
use crate::error::DiskError;
use crate::header::{Header, MOST_L1_BYTES, MOST_REFCOUNT_TABLE_BYTES};
use crate::medium::Medium;
use crate::platform;
use crate::refcounts::Refcounts;
use crate::steps::{Step, deliver};
use crate::tables::{read_table, table_bytes};

/// Grows a qcow2 or raw disk to `size` bytes, a multiple of 512; returns when that would survive a power cut.
pub fn resize(path: &Path, size: u64) -> Result<(), DiskError> {
    let file = platform::open(path, true).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => DiskError::read(path, error),
        _ => DiskError::write(path, error),
    })?;
    if !file.metadata().map_err(|error| DiskError::read(path, error))?.is_file() {
        return Err(DiskError::unsupported(path, "is a block device"));
    }
    if !platform::claim(&file).map_err(|error| DiskError::write(path, error))? {
        return Err(DiskError::InUse { path: path.to_owned() });
    }
    check_backing(path, &file)?;
    let steps = plan_resize(path, &file, size)?;
    deliver(&steps, &file).map_err(|error| DiskError::write(path, error))
}

fn check_backing(path: &Path, file: &File) -> Result<(), DiskError> {
    let Some(header) = Header::read(path, file)? else { return Ok(()) };
    let Some(below) = backing_of(path, &header)? else { return Ok(()) };
    // The guest would see what lay hidden behind the end.
    if size_of(&below.path, below.format)? > header.size.next_multiple_of(512) {
        return Err(DiskError::unsupported(path, "is smaller than the disk that it lies on"));
    }
    Ok(())
}

/// The steps that grow a disk; `path` is for messages.
pub fn plan_resize(path: &Path, medium: &dyn Medium, size: u64) -> Result<Vec<Step>, DiskError> {
    let header = Header::read(path, medium)?;
    let old = match &header {
        Some(header) => header.size,
        None => medium.length().map_err(|error| DiskError::read(path, error))?,
    };
    if size < old {
        return Err(DiskError::Smaller { path: path.to_owned(), size: old, wanted: size });
    }
    if !size.is_multiple_of(512) || size > i64::MAX as u64 {
        let what = format!("A disk cannot have {size} bytes. Pass a multiple of 512 bytes.");
        return Err(DiskError::Argument { what });
    }
    let Some(header) = header else { return Ok(vec![Step::SetLength(size), Step::Sync]) };
    check_growable(path, &header)?;
    if size == old {
        return Ok(Vec::new());
    }
    let entries = header.l1_entries_for(size);
    if entries * 8 > MOST_L1_BYTES {
        let what = format!("its clusters of {} bytes do not make up {size} bytes", header.cluster_bytes());
        return Err(DiskError::Argument {
            what: format!("The disk \"{}\" cannot grow: {what}. Pass a smaller size.", path.display()),
        });
    }
    let (mut steps, grown) = grown(path, medium, &header, entries, size)?;
    // What the header will point to is there before it.
    steps.extend([Step::Sync, Step::Write { offset: SWITCH, bytes: grown.switch(&header) }, Step::Sync]);
    Ok(steps)
}

fn check_growable(path: &Path, header: &Header) -> Result<(), DiskError> {
    if header.features.is_dirty() || header.features.is_corrupt() {
        return Err(DiskError::corrupt(path, "it was not closed properly, or QEMU marked it so"));
    }
    let reasons = [
        (header.features.has_data_file(), "keeps its content in another file"),
        (header.features.unknown() != 0, "has features of a later version"),
        (header.has_bitmaps, "has bitmaps of its own"),
        (header.version < 3 && header.snapshots > 0, "is of version 2 and has snapshots"),
    ];
    match reasons.into_iter().find(|(applies, _)| *applies) {
        Some((_, what)) => Err(DiskError::unsupported(path, what)),
        None => Ok(()),
    }
}

/// Where the bytes of the header begin that make a disk larger.
const SWITCH: u64 = 24;

/// What the header is to say.
struct Grown {
    size: u64,
    l1_entries: u64,
    l1_offset: u64,
    refcount_table_offset: u64,
    refcount_table_clusters: u64,
}

impl Grown {
    /// The bytes from the size on. Unknown autoclear features are cleared, as the format asks of whoever writes.
    fn switch(&self, header: &Header) -> Vec<u8> {
        let mut bytes = self.size.to_be_bytes().to_vec();
        bytes.extend(header.encryption.to_be_bytes());
        bytes.extend((self.l1_entries as u32).to_be_bytes());
        bytes.extend(self.l1_offset.to_be_bytes());
        bytes.extend(self.refcount_table_offset.to_be_bytes());
        bytes.extend((self.refcount_table_clusters as u32).to_be_bytes());
        bytes.extend(header.snapshots.to_be_bytes());
        bytes.extend(header.snapshots_offset.to_be_bytes());
        if header.version >= 3 {
            bytes.extend(header.features.0.to_be_bytes());
            bytes.extend(header.compatible.to_be_bytes());
            bytes.extend(0_u64.to_be_bytes());
        }
        bytes
    }
}

/// The steps that write the tables of the larger disk, and what the header is to say.
fn grown(
    path: &Path,
    medium: &dyn Medium,
    header: &Header,
    entries: u64,
    size: u64,
) -> Result<(Vec<Step>, Grown), DiskError> {
    let same = Grown {
        size,
        l1_entries: u64::from(header.l1_entries),
        l1_offset: header.l1_offset,
        refcount_table_offset: header.refcount_table_offset,
        refcount_table_clusters: u64::from(header.refcount_table_clusters),
    };
    if entries <= same.l1_entries {
        return Ok((Vec::new(), same));
    }
    let used = same.l1_entries * 8;
    if used > 0 && entries * 8 <= used.next_multiple_of(header.cluster_bytes()) {
        // The clusters of the table are its own to their end, but what is there may be left from something else.
        let rest = vec![0; (entries * 8 - used) as usize];
        let steps = vec![Step::Write { offset: header.l1_offset + used, bytes: rest }];
        return Ok((steps, Grown { l1_entries: entries, ..same }));
    }
    let moved = Move::plan(path, medium, header, entries)?;
    let steps = moved.steps(medium, header).map_err(|error| DiskError::read(path, error))?;
    let cluster = header.cluster_bytes();
    let grown = Grown {
        size,
        l1_entries: entries,
        l1_offset: moved.start * cluster,
        refcount_table_offset: (moved.start + moved.l1_clusters) * cluster,
        refcount_table_clusters: moved.table_clusters,
    };
    Ok((steps, grown))
}

/// A longer L1 table, the refcount table and the refcount blocks that change, behind the end of the file in this order.
struct Move {
    /// The first cluster of them.
    start: u64,
    l1_clusters: u64,
    table_clusters: u64,
    /// Numbers of the refcount blocks that are written again.
    blocks: BTreeSet<u64>,
    /// Clusters that are used once less afterwards.
    freed: Vec<u64>,
    refcounts: Refcounts,
}

impl Move {
    fn plan(path: &Path, medium: &dyn Medium, header: &Header, entries: u64) -> Result<Self, DiskError> {
        let failed = |error| DiskError::read(path, error);
        let cluster = header.cluster_bytes();
        let per_block = header.refcounts_per_block();
        let refcounts = Refcounts::read(medium, header).map_err(failed)?;
        let length = medium.length().map_err(failed)?;
        if refcounts.blocks.iter().any(|block| !block.is_multiple_of(cluster) || *block >= length.max(1)) {
            return Err(DiskError::corrupt(path, "a block of its refcounts lies outside of it"));
        }
        let start = length.div_ceil(cluster);
        let l1_clusters = (entries * 8).div_ceil(cluster);
        let old_l1 = (u64::from(header.l1_entries) * 8).div_ceil(cluster);
        let old_table = u64::from(header.refcount_table_clusters);
        let mut freed: BTreeSet<u64> = (0..old_l1).map(|at| header.l1_offset / cluster + at).collect();
        freed.extend((0..old_table).map(|at| header.refcount_table_offset / cluster + at));

        // A block that is written again frees the cluster of its old copy, which another block may count, and so on.
        let mut blocks: BTreeSet<u64> = freed.iter().map(|at| at / per_block).collect();
        let mut table_clusters = old_table;
        loop {
            let before = (blocks.len(), table_clusters);
            let end = start + l1_clusters + table_clusters + blocks.len() as u64;
            blocks.extend(start / per_block..=(end - 1) / per_block);
            let old: Vec<u64> =
                blocks.iter().filter_map(|at| refcounts.blocks.get(*at as usize)).copied().collect();
            freed.extend(old.iter().filter(|offset| **offset != 0).map(|offset| offset / cluster));
            blocks.extend(freed.iter().map(|at| at / per_block));
            let most = blocks.last().map_or(0, |last| last + 1);
            table_clusters = table_clusters.max((most * 8).div_ceil(cluster));
            if table_clusters * cluster > MOST_REFCOUNT_TABLE_BYTES {
                return Err(DiskError::unsupported(path, "has a refcount table that cannot grow"));
            }
            if before == (blocks.len(), table_clusters) {
                break;
            }
        }
        Ok(Self { start, l1_clusters, table_clusters, blocks, freed: freed.into_iter().collect(), refcounts })
    }

    fn steps(&self, medium: &dyn Medium, header: &Header) -> io::Result<Vec<Step>> {
        let cluster = header.cluster_bytes();
        let per_block = header.refcounts_per_block();
        let l1 = read_table(medium, header.l1_offset, u64::from(header.l1_entries))?;
        let write = |at: u64, bytes| Step::Write { offset: at * cluster, bytes };
        let mut steps = vec![write(self.start, table_bytes(&l1, self.l1_clusters * cluster))];

        let table_at = self.start + self.l1_clusters;
        let blocks_at = table_at + self.table_clusters;
        let end = blocks_at + self.blocks.len() as u64;
        let mut table = self.refcounts.blocks.clone();
        table.resize((self.table_clusters * cluster / 8) as usize, 0);
        for (place, number) in (blocks_at..).zip(&self.blocks) {
            let mut block = self.refcounts.block(medium, *number)?;
            let counted = number * per_block..(number + 1) * per_block;
            for at in self.freed.iter().filter(|at| counted.contains(at)) {
                let at = at - counted.start;
                block.set(at, block.get(at).saturating_sub(1));
            }
            for at in (self.start..end).filter(|at| counted.contains(at)) {
                block.set(at - counted.start, 1);
            }
            table[*number as usize] = place * cluster;
            steps.push(write(place, block.bytes));
        }
        steps.push(write(table_at, table_bytes(&table, self.table_clusters * cluster)));
        Ok(steps)
    }
}
