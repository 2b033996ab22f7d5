//! Whether the counts and the tables of an image agree: what `qemu-img check` asks.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::chain::open;
use crate::error::DiskError;
use crate::header::{Header, u32_at, u64_at};
use crate::medium::Medium;
use crate::refcounts::Refcounts;
use crate::tables::{Cluster, L1Entry, REFCOUNT_RESERVED, fault, read_table};

/// What a check found; sizes are those of `qemu-img check`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Places where a guest may read something wrong, or a write may destroy something.
    pub corruptions: u64,
    /// Clusters that are counted as used and are not: lost room and nothing worse.
    pub leaks: u64,
    /// Clusters of the guest's disk.
    pub total_clusters: u64,
    /// Those of them that have a place in the file.
    pub allocated_clusters: u64,
    /// Clusters of the guest's disk about which the image says anything itself, zeros without a place among them; all
    /// others are as the backing disk has them.
    pub own_clusters: u64,
    /// Where the last cluster that is used ends.
    pub image_end_offset: u64,
    /// The first of the findings, in words.
    pub findings: Vec<String>,
}

/// Findings that are told in words.
const MOST_FINDINGS: usize = 20;
/// Clusters of a file that can be counted here: 16 TiB of the usual ones.
const MOST_CLUSTERS: u64 = 1 << 28;

/// Checks an image; one of raw bytes has nothing that could disagree.
pub fn check(path: &Path) -> Result<CheckReport, DiskError> {
    let (file, layer) = open(path, None)?;
    match layer.header {
        Some(header) => check_medium(path, &file, &header),
        None => Ok(CheckReport::default()),
    }
}

/// Checks the image on a medium; `path` is for messages.
pub fn check_medium(path: &Path, medium: &dyn Medium, header: &Header) -> Result<CheckReport, DiskError> {
    let reasons = [
        (header.features.has_data_file(), "keeps its content in another file"),
        (header.features.unknown() != 0, "has features of a later version"),
        (header.has_bitmaps, "has bitmaps of its own"),
    ];
    if let Some((_, what)) = reasons.into_iter().find(|(applies, _)| *applies) {
        return Err(DiskError::unsupported(path, what));
    }
    let failed = |error| DiskError::read(path, error);
    let length = medium.length().map_err(failed)?;
    let clusters = length.div_ceil(header.cluster_bytes());
    if clusters > MOST_CLUSTERS {
        return Err(DiskError::unsupported(path, "is too large a file to be checked"));
    }
    let uses = vec![0_u32; clusters as usize];
    let mut count = Count { medium, header, length, uses, report: CheckReport::default() };
    count.all().map_err(failed)?;
    Ok(count.report)
}

/// A walk over an image that counts how often each cluster is used.
struct Count<'a> {
    medium: &'a dyn Medium,
    header: &'a Header,
    length: u64,
    uses: Vec<u32>,
    report: CheckReport,
}

/// An L1 table: where it lies, its entries, and whether it is the one that the guest uses now.
struct Tree {
    offset: u64,
    entries: u64,
    is_active: bool,
}

impl Count<'_> {
    fn all(&mut self) -> io::Result<()> {
        let header = self.header;
        self.report.total_clusters = header.size.div_ceil(header.cluster_bytes());
        self.uses(0, 1, 1, "the header");
        let mut trees =
            vec![Tree { offset: header.l1_offset, entries: u64::from(header.l1_entries), is_active: true }];
        trees.extend(self.snapshots()?);
        if let Some((offset, bytes)) = header.encryption_header {
            self.uses(offset, bytes, 1, "the encryption's header");
        }
        let table_bytes = u64::from(header.refcount_table_clusters) * header.cluster_bytes();
        self.uses(header.refcount_table_offset, table_bytes, 1, "the refcount table");
        let refcounts = Refcounts::read(self.medium, header)?;
        for offset in refcounts.blocks.iter().copied().filter(|offset| *offset != 0) {
            if offset & REFCOUNT_RESERVED != 0 {
                self.corrupt("an entry of the refcount table has bits that have to be zero".to_owned());
            }
            self.uses(offset, header.cluster_bytes(), 1, "a refcount block");
        }
        let tables = self.l2_tables(&trees)?;
        for (offset, times) in &tables {
            self.l2_table(*offset, *times)?;
        }
        let counts = self.compare(&refcounts)?;
        self.copied(&trees[0], &counts)
    }

    /// Counts `times` uses of the clusters that these bytes lie in.
    fn uses(&mut self, offset: u64, bytes: u64, times: u32, what: &str) {
        if bytes == 0 {
            return;
        }
        let end = offset.saturating_add(bytes);
        let first = offset >> self.header.cluster_bits;
        let last = (end - 1) >> self.header.cluster_bits;
        if last >= self.uses.len() as u64 {
            self.corrupt(format!("{what} at offset {offset} lies behind the end of the file"));
            return;
        }
        for uses in &mut self.uses[first as usize..=last as usize] {
            *uses = uses.saturating_add(times);
        }
    }

    fn corrupt(&mut self, finding: String) {
        self.report.corruptions += 1;
        self.tell(finding);
    }

    fn tell(&mut self, finding: String) {
        if self.report.findings.len() < MOST_FINDINGS {
            self.report.findings.push(finding);
        }
    }

    /// Counts the snapshot table and answers the L1 tables that it names.
    fn snapshots(&mut self) -> io::Result<Vec<Tree>> {
        let start = self.header.snapshots_offset;
        let mut trees = Vec::new();
        let mut at = start;
        for _ in 0..self.header.snapshots {
            at = at.next_multiple_of(8);
            let mut fixed = [0; 40];
            self.medium.read_at(at, &mut fixed)?;
            let (offset, entries) = (u64_at(&fixed, 0), u64::from(u32_at(&fixed, 8)));
            let names = u64::from(u32_at(&fixed, 12) >> 16) + u64::from(u32_at(&fixed, 12) & 0xffff);
            let extra = u64::from(u32_at(&fixed, 36));
            // Version 3 keeps the sizes of machine state and disk there.
            if !(if self.header.version >= 3 { 16..=1024 } else { 0..=1024 }).contains(&extra) {
                self.corrupt(format!("a snapshot has {extra} bytes of extra data"));
            }
            at += 40 + extra + names;
            if at > self.length {
                self.corrupt("the snapshot table does not end within the file".to_owned());
                return Ok(trees);
            }
            if entries * 8 > self.length || !offset.is_multiple_of(self.header.cluster_bytes()) {
                self.corrupt(format!("a snapshot has an L1 table of {entries} entries at offset {offset}"));
                continue;
            }
            trees.push(Tree { offset, entries, is_active: false });
        }
        self.uses(start, at - start, 1, "the snapshot table");
        Ok(trees)
    }

    /// The L2 tables of all L1 tables with how often each is used, so that none is read twice.
    fn l2_tables(&mut self, trees: &[Tree]) -> io::Result<BTreeMap<u64, Uses>> {
        let mut tables: BTreeMap<u64, Uses> = BTreeMap::new();
        for tree in trees {
            self.uses(tree.offset, tree.entries * 8, 1, "an L1 table");
            if tree.offset >= self.length {
                continue;
            }
            for entry in read_table(self.medium, tree.offset, tree.entries)? {
                let entry = L1Entry(entry);
                if entry.is_malformed() {
                    self.corrupt("an entry of an L1 table has bits that it may not have".to_owned());
                }
                let Some(offset) = entry.offset() else { continue };
                let uses = tables.entry(offset).or_default();
                uses.all = uses.all.saturating_add(1);
                uses.active += u32::from(tree.is_active);
            }
        }
        for (offset, uses) in &tables {
            self.uses(*offset, self.header.cluster_bytes(), uses.all, "an L2 table");
            if !offset.is_multiple_of(self.header.cluster_bytes()) {
                self.corrupt(format!("an L2 table at offset {offset} does not begin with a cluster"));
            }
        }
        Ok(tables)
    }

    fn l2_table(&mut self, offset: u64, times: Uses) -> io::Result<()> {
        if offset >= self.length {
            return Ok(());
        }
        let cluster = self.header.cluster_bytes();
        let step = (self.header.l2_entry_bytes() / 8) as usize;
        for entry in read_table(self.medium, offset, cluster / 8)?.chunks_exact(step) {
            let (entry, parts) = (entry[0], entry.get(1).copied().unwrap_or(0));
            if let Some(what) = fault(entry, parts, self.header) {
                self.corrupt(format!("an entry of the L2 table at {offset} {what}"));
            }
            if entry != 0 || parts != 0 {
                self.report.own_clusters += u64::from(times.active);
            }
            let kind = Cluster::of(entry, self.header);
            let (at, bytes, what) = match kind {
                Cluster::Unallocated | Cluster::Zero => continue,
                Cluster::Data { offset, .. } => (offset, cluster, "a cluster"),
                Cluster::Compressed { offset, length } => (offset, length, "a compressed cluster"),
            };
            self.report.allocated_clusters += u64::from(times.active);
            self.uses(at, bytes, times.all, what);
            if matches!(kind, Cluster::Data { .. }) && !at.is_multiple_of(cluster) {
                self.corrupt(format!("{what} at offset {at} does not begin with a cluster"));
            }
        }
        Ok(())
    }

    /// Compares what is used with what is counted, and answers the counts.
    fn compare(&mut self, refcounts: &Refcounts) -> io::Result<Vec<u32>> {
        let per_block = self.header.refcounts_per_block();
        let mut counts = vec![0; self.uses.len()];
        let blocks = (self.uses.len() as u64).div_ceil(per_block);
        for number in 0..blocks {
            let first = number * per_block;
            let last = (first + per_block).min(self.uses.len() as u64);
            let block = match refcounts.blocks.get(number as usize) {
                None | Some(0) => None,
                Some(_) => Some(refcounts.block(self.medium, number)?),
            };
            for at in first..last {
                let used = u64::from(self.uses[at as usize]);
                let counted = block.as_ref().map_or(0, |block| block.get(at - first));
                counts[at as usize] = u32::try_from(counted).unwrap_or(u32::MAX);
                if used > 0 || counted > 0 {
                    self.report.image_end_offset = (at + 1) * self.header.cluster_bytes();
                }
                if counted < used {
                    self.corrupt(format!("cluster {at} is used {used} times and counted {counted} times"));
                } else if counted > used {
                    self.report.leaks += 1;
                    self.tell(format!("cluster {at} is counted {counted} times and used {used} times"));
                }
            }
        }
        Ok(counts)
    }

    /// Whether the entries of the tree that the guest writes to say rightly what it alone uses.
    fn copied(&mut self, tree: &Tree, counts: &[u32]) -> io::Result<()> {
        let cluster = self.header.cluster_bytes();
        let step = (self.header.l2_entry_bytes() / 8) as usize;
        let count = |offset: u64| counts.get((offset / cluster) as usize).copied();
        let mut seen = std::collections::BTreeSet::new();
        for entry in read_table(self.medium, tree.offset, tree.entries)?.into_iter().map(L1Entry) {
            let Some(table) = entry.offset() else { continue };
            let Some(counted) = count(table) else { continue };
            if entry.is_copied() != (counted == 1) {
                self.corrupt(format!("an L1 entry is wrong about the count of the L2 table at {table}"));
            }
            if !seen.insert(table) {
                continue;
            }
            for entry in read_table(self.medium, table, cluster / 8)?.into_iter().step_by(step) {
                let Cluster::Data { offset, is_copied, .. } = Cluster::of(entry, self.header) else {
                    continue;
                };
                let Some(counted) = count(offset) else { continue };
                if is_copied != (counted == 1) {
                    self.corrupt(format!("an L2 entry is wrong about the count of the cluster at {offset}"));
                }
            }
        }
        Ok(())
    }
}

/// How often an L2 table is used: by all L1 tables, and by the one that the guest writes to.
#[derive(Clone, Copy, Debug, Default)]
struct Uses {
    all: u32,
    active: u32,
}
