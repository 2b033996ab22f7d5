//! What a new image consists of, as bytes at offsets: header, refcount table, one refcount block and an empty L1 table.

use crate::header::{BACKING_FORMAT, MAGIC, MOST_L1_BYTES, V3_BYTES};
use crate::steps::Step;

/// Binary logarithm of the cluster size of new images.
pub const CLUSTER_BITS: u32 = 16;
const CLUSTER: u64 = 1 << CLUSTER_BITS;
/// Bytes of the guest's disk that one entry of the L1 table covers.
const L1_COVERAGE: u64 = CLUSTER / 8 * CLUSTER;
/// The largest disk that QEMU opens with this cluster size: 2 PiB.
pub const MOST_BYTES: u64 = MOST_L1_BYTES / 8 * L1_COVERAGE;

/// Plans an image of `size` bytes (at most [`MOST_BYTES`]), over a backing disk of this name and format if one is given.
pub fn plan(size: u64, backing: Option<(&str, &str)>) -> Vec<Step> {
    let l1_entries = size.div_ceil(L1_COVERAGE).max(1);
    let l1_clusters = (l1_entries * 8).div_ceil(CLUSTER);
    // Header, refcount table and block take a cluster each; a block counts 32,768 clusters, and these are 515 at most.
    let clusters = 3 + l1_clusters;
    let refcounts = (0..clusters).flat_map(|_| 1_u16.to_be_bytes()).collect();
    let write = |offset, bytes| Step::Write { offset, bytes };
    vec![
        write(0, header(size, l1_entries as u32, backing)),
        write(CLUSTER, (2 * CLUSTER).to_be_bytes().to_vec()),
        write(2 * CLUSTER, refcounts),
        Step::SetLength(clusters * CLUSTER),
        Step::Sync,
    ]
}

fn header(size: u64, l1_entries: u32, backing: Option<(&str, &str)>) -> Vec<u8> {
    let extension = backing.map_or_else(Vec::new, |(_, format)| extension(BACKING_FORMAT, format.as_bytes()));
    let name_at = (V3_BYTES + extension.len() + 8) as u64;
    let name = backing.map_or("", |(name, _)| name);
    let mut bytes = Vec::with_capacity(512);
    bytes.extend(MAGIC);
    bytes.extend(3_u32.to_be_bytes());
    bytes.extend(if name.is_empty() { 0 } else { name_at }.to_be_bytes());
    bytes.extend((name.len() as u32).to_be_bytes());
    bytes.extend(CLUSTER_BITS.to_be_bytes());
    bytes.extend(size.to_be_bytes());
    bytes.extend(0_u32.to_be_bytes()); // no encryption
    bytes.extend(l1_entries.to_be_bytes());
    bytes.extend((3 * CLUSTER).to_be_bytes()); // L1 table
    bytes.extend(CLUSTER.to_be_bytes()); // refcount table
    bytes.extend(1_u32.to_be_bytes()); // its clusters
    bytes.extend([0; 4 + 8]); // no snapshots
    bytes.extend([0; 3 * 8]); // no features
    bytes.extend(4_u32.to_be_bytes()); // refcounts of 16 bits
    bytes.extend((V3_BYTES as u32).to_be_bytes());
    bytes.extend(extension);
    bytes.extend([0; 8]); // the end of the extensions
    bytes.extend(name.as_bytes());
    bytes
}

fn extension(kind: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = kind.to_be_bytes().to_vec();
    bytes.extend((data.len() as u32).to_be_bytes());
    bytes.extend(data);
    bytes.resize(8 + data.len().next_multiple_of(8), 0);
    bytes
}
