//! Tables of big-endian numbers, and what their entries mean.

use std::io;

use crate::header::{Header, u64_at};
use crate::medium::Medium;

/// Bits 9 to 55: where a table or a cluster lies.
const OFFSET: u64 = 0x00ff_ffff_ffff_fe00;
/// The refcount of what an entry points to is exactly one.
const COPIED: u64 = 1 << 63;
const COMPRESSED: u64 = 1 << 62;
/// Bits that have to be zero, in entries of L1 tables, of L2 tables unless compressed, and of refcount tables.
const L1_RESERVED: u64 = 0x7f00_0000_0000_01ff;
const L2_RESERVED: u64 = 0x3f00_0000_0000_01fe;
pub const REFCOUNT_RESERVED: u64 = 0x1ff;

/// Reads a table of numbers.
pub fn read_table(medium: &dyn Medium, offset: u64, entries: u64) -> io::Result<Vec<u64>> {
    let mut bytes = vec![0; (entries * 8) as usize];
    medium.read_at(offset, &mut bytes)?;
    Ok(bytes.chunks_exact(8).map(|entry| u64_at(entry, 0)).collect())
}

/// The bytes of a table, filled up with zeros to `length`.
pub fn table_bytes(entries: &[u64], length: u64) -> Vec<u8> {
    let mut bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.to_be_bytes()).collect();
    bytes.resize(length as usize, 0);
    bytes
}

/// An entry of an L1 table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct L1Entry(pub u64);

impl L1Entry {
    /// Where the L2 table lies; none where all it covers is unallocated.
    pub fn offset(self) -> Option<u64> {
        Some(self.0 & OFFSET).filter(|offset| *offset != 0)
    }

    /// Whether the refcount of the L2 table is said to be one.
    pub fn is_copied(self) -> bool {
        self.0 & COPIED != 0
    }

    /// True where bits are set that have to be zero, or any without an L2 table.
    pub fn is_malformed(self) -> bool {
        self.0 & L1_RESERVED != 0 || (self.0 != 0 && self.offset().is_none())
    }
}

/// What an entry of an L2 table says of a cluster of the guest's disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cluster {
    /// It is what the backing disk has, or zero.
    Unallocated,
    /// It lies at this offset.
    Data {
        /// Where.
        offset: u64,
        /// Whether the cluster's refcount is said to be one.
        is_copied: bool,
        /// True when it reads as zero all the same.
        is_zero: bool,
    },
    /// It reads as zero and takes no room.
    Zero,
    /// It is compressed.
    Compressed {
        /// The first byte.
        offset: u64,
        /// Bytes from there to the end of the last sector with some of it.
        length: u64,
    },
}

impl Cluster {
    /// Reads an entry, the first eight bytes of it where entries are extended.
    pub fn of(entry: u64, header: &Header) -> Self {
        if entry & COMPRESSED != 0 {
            let offset_bits = 62 - (header.cluster_bits - 8);
            let offset = entry & ((1 << offset_bits) - 1);
            let sectors = (entry & (COMPRESSED - 1)) >> offset_bits;
            return Self::Compressed { offset, length: (sectors + 1) * 512 - offset % 512 };
        }
        // With extended entries zero is said for parts of a cluster, in the other eight bytes.
        let is_zero = entry & 1 != 0 && header.version >= 3 && !header.features.has_extended_l2();
        match entry & OFFSET {
            0 if is_zero => Self::Zero,
            0 => Self::Unallocated,
            offset => Self::Data { offset, is_copied: entry & COPIED != 0, is_zero },
        }
    }
}

/// What is wrong with an entry of an L2 table by itself; `parts` is its other half where entries are extended, else zero: a
/// bit for each part of the cluster that has its place there, and above them one for each that is zero.
pub fn fault(entry: u64, parts: u64, header: &Header) -> Option<&'static str> {
    let allocated = parts & u64::from(u32::MAX);
    match Cluster::of(entry, header) {
        Cluster::Compressed { .. } if entry & COPIED != 0 => {
            Some("is compressed and said to be counted once")
        }
        Cluster::Compressed { .. } if parts != 0 => Some("is compressed and has parts"),
        Cluster::Compressed { .. } => None,
        _ if entry & L2_RESERVED != 0 => Some("has bits that have to be zero"),
        Cluster::Data { .. } if parts >> 32 & allocated != 0 => {
            Some("has parts with a place that are zero too")
        }
        Cluster::Unallocated if allocated != 0 => Some("has parts with a place and has none"),
        _ => None,
    }
}
