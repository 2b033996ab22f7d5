//! The header of a qcow2 file and the extensions behind it.

use std::path::Path;

use crate::error::DiskError;
use crate::medium::Medium;

/// The first four bytes of every qcow2 file.
pub const MAGIC: [u8; 4] = *b"QFI\xfb";
/// Bytes of a version 3 header without extensions.
pub const V3_BYTES: usize = 104;
/// The extension that names the backing disk's format.
pub const BACKING_FORMAT: u32 = 0xe279_2aca;
/// QEMU opens no image whose L1 table is larger.
pub const MOST_L1_BYTES: u64 = 32 << 20;
/// QEMU opens no image whose refcount table is larger.
pub const MOST_REFCOUNT_TABLE_BYTES: u64 = 8 << 20;
/// QEMU takes no longer name of a backing disk.
pub const MOST_NAME_BYTES: usize = 1023;
/// QEMU opens no image with more snapshots.
const MOST_SNAPSHOTS: u32 = 65536;
const BITMAPS: u32 = 0x2385_2875;
const ENCRYPTION: u32 = 0x0537_be77;

/// Incompatible feature bits: whoever does not know one of them must not open the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features(pub u64);

impl Features {
    /// Refcounts may be wrong: the last writer did not close the image.
    pub fn is_dirty(self) -> bool {
        self.0 & 1 != 0
    }

    /// QEMU found damage and marked it.
    pub fn is_corrupt(self) -> bool {
        self.0 & 2 != 0
    }

    /// The guest's bytes lie in another file.
    pub fn has_data_file(self) -> bool {
        self.0 & 4 != 0
    }

    /// Compressed clusters may be of another kind than deflate.
    pub fn has_compression_type(self) -> bool {
        self.0 & 8 != 0
    }

    /// L2 entries are 16 bytes and tell of parts of clusters.
    pub fn has_extended_l2(self) -> bool {
        self.0 & 16 != 0
    }

    /// Bits that version 3 does not define.
    pub fn unknown(self) -> u64 {
        self.0 & !0x1f
    }
}

/// What the header of a qcow2 file says, checked for what the format allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// 2 or 3.
    pub version: u32,
    /// Binary logarithm of the cluster size, 9 to 21.
    pub cluster_bits: u32,
    /// Bytes that the guest sees.
    pub size: u64,
    /// 0 none, 1 AES, 2 LUKS.
    pub encryption: u32,
    /// Entries of the L1 table.
    pub l1_entries: u32,
    /// Where the L1 table starts.
    pub l1_offset: u64,
    /// Where the refcount table starts.
    pub refcount_table_offset: u64,
    /// Clusters of the refcount table.
    pub refcount_table_clusters: u32,
    /// Number of internal snapshots.
    pub snapshots: u32,
    /// Where the snapshot table starts.
    pub snapshots_offset: u64,
    /// Incompatible features.
    pub features: Features,
    /// Features that whoever does not know them may overlook.
    pub compatible: u64,
    /// Features that a writer clears when it does not know them.
    pub autoclear: u64,
    /// Binary logarithm of the bits of a refcount, 0 to 6.
    pub refcount_order: u32,
    /// 0 deflate, 1 Zstandard.
    pub compression: u8,
    /// Name of the backing disk as it is written, relative to the folder of this one.
    pub backing: Option<String>,
    /// Format of the backing disk as it is written.
    pub backing_format: Option<String>,
    /// True with persistent bitmaps.
    pub has_bitmaps: bool,
    /// Where the encryption's own header lies: offset and length.
    pub encryption_header: Option<(u64, u64)>,
}

impl Header {
    /// Reads and checks the header; `None` where the file is no qcow2.
    pub fn read(path: &Path, medium: &dyn Medium) -> Result<Option<Self>, DiskError> {
        let mut bytes = vec![0; 512];
        medium.read_at(0, &mut bytes).map_err(|error| DiskError::read(path, error))?;
        if bytes[..4] != MAGIC {
            return Ok(None);
        }
        let cluster_bits = u32_at(&bytes, 20);
        if !(9..=21).contains(&cluster_bits) {
            return Err(DiskError::corrupt(path, format!("clusters of 2^{cluster_bits} bytes do not exist")));
        }
        // Extensions and the name of the backing disk end within the first cluster.
        bytes.resize(1 << cluster_bits, 0);
        medium.read_at(0, &mut bytes).map_err(|error| DiskError::read(path, error))?;
        let header = Self::parse(&bytes).map_err(|what| DiskError::corrupt(path, what))?;
        Ok(Some(header))
    }

    /// Reads a header from the first cluster of a file; an error says what is wrong.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() < 512 || bytes[..4] != MAGIC {
            return Err("it does not begin as a qcow2 file".to_owned());
        }
        let version = u32_at(bytes, 4);
        let is_v3 = match version {
            2 => false,
            3 => true,
            other => return Err(format!("its version is {other}, not 2 or 3")),
        };
        let header_bytes = if is_v3 { u32_at(bytes, 100) as usize } else { 72 };
        if is_v3 && (header_bytes < V3_BYTES || header_bytes > bytes.len()) {
            return Err(format!("its header claims {header_bytes} bytes"));
        }
        let later = |at: usize| if is_v3 { u64_at(bytes, at) } else { 0 };
        let features = Features(later(72));
        let compression = if is_v3 && header_bytes > V3_BYTES { bytes[V3_BYTES] } else { 0 };
        let mut header = Self {
            version,
            cluster_bits: u32_at(bytes, 20),
            size: u64_at(bytes, 24),
            encryption: u32_at(bytes, 32),
            l1_entries: u32_at(bytes, 36),
            l1_offset: u64_at(bytes, 40),
            refcount_table_offset: u64_at(bytes, 48),
            refcount_table_clusters: u32_at(bytes, 56),
            snapshots: u32_at(bytes, 60),
            snapshots_offset: u64_at(bytes, 64),
            features,
            compatible: later(80),
            autoclear: later(88),
            refcount_order: if is_v3 { u32_at(bytes, 96) } else { 4 },
            compression: if features.has_compression_type() { compression } else { 0 },
            backing: None,
            backing_format: None,
            has_bitmaps: false,
            encryption_header: None,
        };
        header.check()?;
        header.backing = backing_name(bytes, header_bytes)?;
        // The extensions end at the latest where the name begins.
        let name_at = u64_at(bytes, 8) as usize;
        let end = if header.backing.is_some() { name_at.max(header_bytes) } else { bytes.len() };
        header.read_extensions(&bytes[..end], header_bytes)?;
        Ok(header)
    }

    fn read_extensions(&mut self, bytes: &[u8], mut at: usize) -> Result<(), String> {
        while at + 8 <= bytes.len() {
            let (kind, length) = (u32_at(bytes, at), u32_at(bytes, at + 4) as usize);
            if kind == 0 {
                break;
            }
            let Some(data) = bytes.get(at + 8..(at + 8).saturating_add(length)) else {
                return Err("an extension of its header does not end where it may".to_owned());
            };
            match kind {
                BACKING_FORMAT => {
                    let text = std::str::from_utf8(data).map_err(|_| "its backing format is no text")?;
                    self.backing_format = Some(text.to_owned());
                }
                BITMAPS => self.has_bitmaps = true,
                ENCRYPTION if length >= 16 => {
                    self.encryption_header = Some((u64_at(data, 0), u64_at(data, 8)));
                }
                _ => {}
            }
            at += 8 + length.next_multiple_of(8);
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        if !(9..=21).contains(&self.cluster_bits) {
            return Err(format!("clusters of 2^{} bytes do not exist", self.cluster_bits));
        }
        if self.refcount_order > 6 {
            return Err(format!("refcounts of 2^{} bits do not exist", self.refcount_order));
        }
        if self.encryption > 2 {
            return Err(format!("encryption {} does not exist", self.encryption));
        }
        if self.size > i64::MAX as u64 {
            return Err("its size is beyond any disk".to_owned());
        }
        if self.snapshots > MOST_SNAPSHOTS {
            return Err(format!("it claims {} snapshots", self.snapshots));
        }
        let l1_bytes = u64::from(self.l1_entries) * 8;
        if l1_bytes > MOST_L1_BYTES || u64::from(self.l1_entries) < self.l1_entries_for(self.size) {
            return Err(format!("its L1 table has {} entries", self.l1_entries));
        }
        let refcount_bytes = u64::from(self.refcount_table_clusters) << self.cluster_bits;
        if refcount_bytes > MOST_REFCOUNT_TABLE_BYTES || refcount_bytes == 0 {
            return Err(format!("its refcount table has {} clusters", self.refcount_table_clusters));
        }
        let tables = [
            ("L1 table", self.l1_offset, l1_bytes),
            ("refcount table", self.refcount_table_offset, refcount_bytes),
            ("snapshot table", self.snapshots_offset, u64::from(self.snapshots)),
        ];
        for (name, offset, bytes) in tables {
            let ends = offset.checked_add(bytes).is_some_and(|end| end <= i64::MAX as u64);
            if bytes > 0 && (!offset.is_multiple_of(self.cluster_bytes()) || !ends || offset == 0) {
                return Err(format!("its {name} lies at offset {offset}"));
            }
        }
        Ok(())
    }

    /// Bytes of a cluster.
    pub fn cluster_bytes(&self) -> u64 {
        1 << self.cluster_bits
    }

    /// Bytes of an entry of an L2 table.
    pub fn l2_entry_bytes(&self) -> u64 {
        if self.features.has_extended_l2() { 16 } else { 8 }
    }

    /// Bytes of the guest's disk that one entry of the L1 table covers.
    pub fn l1_coverage(&self) -> u64 {
        (self.cluster_bytes() / self.l2_entry_bytes()) << self.cluster_bits
    }

    /// Entries that the L1 table of a disk of this size needs.
    pub fn l1_entries_for(&self, size: u64) -> u64 {
        size.div_ceil(self.l1_coverage())
    }

    /// How many refcounts one block of them holds.
    pub fn refcounts_per_block(&self) -> u64 {
        (self.cluster_bytes() * 8) >> self.refcount_order
    }
}

/// The big-endian number at an offset of a buffer that is long enough.
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_be_bytes(four)
}

/// The big-endian number at an offset of a buffer that is long enough.
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_be_bytes(eight)
}

/// The name of the backing disk in the first cluster of a file, if it has one.
fn backing_name(bytes: &[u8], header_bytes: usize) -> Result<Option<String>, String> {
    let (name_at, name_bytes) = (u64_at(bytes, 8), u32_at(bytes, 16) as usize);
    if name_at == 0 || name_bytes == 0 {
        return Ok(None);
    }
    let start = usize::try_from(name_at).unwrap_or(usize::MAX);
    if start < header_bytes {
        // A change of its size would change the name.
        return Err("the name of its backing disk lies within its header's own fields".to_owned());
    }
    let name = bytes.get(start..start.saturating_add(name_bytes));
    let Some(name) = name.filter(|name| name.len() <= MOST_NAME_BYTES) else {
        return Err("the name of its backing disk lies outside of its first cluster".to_owned());
    };
    let name = std::str::from_utf8(name).map_err(|_| "the name of its backing disk is no text")?;
    Ok(Some(name.to_owned()))
}
