//! What a guest reads of a disk, through all that it lies on.

use std::fs::File;
use std::path::Path;

use miniz_oxide::inflate::decompress_to_vec_with_limit;

use crate::chain::{Layer, info, open};
use crate::error::DiskError;
use crate::header::Header;
use crate::medium::Medium as _;
use crate::tables::{Cluster, L1Entry, read_table};

/// A disk that is open for reading, with its chain.
#[derive(Debug)]
pub struct Contents {
    layers: Vec<Open>,
}

/// One disk of the chain: the one that the guest has first.
#[derive(Debug)]
struct Open {
    file: File,
    layer: Layer,
    /// The L1 table of a qcow2.
    l1: Vec<L1Entry>,
    /// Offset and entries of the L2 table that was read last.
    l2: Option<(u64, Vec<u64>)>,
}

impl Contents {
    /// Opens a disk and all that it lies on; while a hypervisor writes to it, what is read need not fit together.
    pub fn open(path: &Path) -> Result<Self, DiskError> {
        let chain = info(path)?;
        let layers = std::iter::once(chain.top).chain(chain.below).map(|layer| Open::new(&layer));
        Ok(Self { layers: layers.collect::<Result<_, _>>()? })
    }

    /// Bytes that the guest sees.
    pub fn size(&self) -> u64 {
        self.layers[0].layer.virtual_size
    }

    /// Reads what the guest has at an offset; past the end it is zero.
    pub fn read_at(&mut self, offset: u64, into: &mut [u8]) -> Result<(), DiskError> {
        read(&mut self.layers, offset, into)
    }
}

/// Reads from the first of the layers, or where it has nothing from those below.
fn read(layers: &mut [Open], offset: u64, into: &mut [u8]) -> Result<(), DiskError> {
    let Some((first, below)) = layers.split_first_mut() else {
        into.fill(0);
        return Ok(());
    };
    let inside = first.layer.virtual_size.saturating_sub(offset).min(into.len() as u64);
    let (mut into, outside) = into.split_at_mut(inside as usize);
    outside.fill(0);
    let path = first.layer.path.clone();
    let failed = |error| DiskError::read(&path, error);
    let Some(header) = first.layer.header.clone() else {
        return first.file.read_at(offset, into).map_err(failed);
    };
    let cluster = header.cluster_bytes();
    let mut offset = offset;
    while !into.is_empty() {
        let within = offset % cluster;
        let (piece, rest) = into.split_at_mut((cluster - within).min(into.len() as u64) as usize);
        match first.cluster(&header, offset)? {
            Cluster::Unallocated => read(below, offset, piece)?,
            Cluster::Zero | Cluster::Data { is_zero: true, .. } => piece.fill(0),
            Cluster::Data { offset, .. } => {
                first.file.read_at(offset + within, piece).map_err(failed)?;
            }
            Cluster::Compressed { offset, length } => {
                let bytes = first.decompressed(&header, offset, length)?;
                piece.copy_from_slice(&bytes[within as usize..][..piece.len()]);
            }
        }
        offset += piece.len() as u64;
        into = rest;
    }
    Ok(())
}

impl Open {
    fn new(layer: &Layer) -> Result<Self, DiskError> {
        let (file, layer) = open(&layer.path, Some(layer.format))?;
        let Some(header) = &layer.header else { return Ok(Self { file, layer, l1: Vec::new(), l2: None }) };
        let reasons = [
            (header.features.has_data_file(), "keeps its content in another file"),
            (header.features.has_extended_l2(), "has extended L2 tables"),
            (header.features.unknown() != 0, "has features of a later version"),
            (header.encryption != 0, "is encrypted"),
        ];
        if let Some((_, what)) = reasons.into_iter().find(|(applies, _)| *applies) {
            return Err(DiskError::unsupported(&layer.path, what));
        }
        let l1 = read_table(&file, header.l1_offset, header.l1_entries_for(header.size))
            .map_err(|error| DiskError::read(&layer.path, error))?;
        Ok(Self { file, l1: l1.into_iter().map(L1Entry).collect(), layer, l2: None })
    }

    fn cluster(&mut self, header: &Header, offset: u64) -> Result<Cluster, DiskError> {
        let entry = self.l1.get((offset / header.l1_coverage()) as usize);
        let Some(table) = entry.and_then(|entry| entry.offset()) else { return Ok(Cluster::Unallocated) };
        let entries = match self.l2.take() {
            Some((known, entries)) if known == table => entries,
            _ => read_table(&self.file, table, header.cluster_bytes() / 8)
                .map_err(|error| DiskError::read(&self.layer.path, error))?,
        };
        let at = offset % header.l1_coverage() / header.cluster_bytes();
        let cluster = Cluster::of(entries[at as usize], header);
        self.l2 = Some((table, entries));
        Ok(cluster)
    }

    fn decompressed(&self, header: &Header, offset: u64, length: u64) -> Result<Vec<u8>, DiskError> {
        let path = &self.layer.path;
        if header.compression != 0 {
            return Err(DiskError::unsupported(path, "is compressed by Zstandard"));
        }
        let mut packed = vec![0; length as usize];
        self.file.read_at(offset, &mut packed).map_err(|error| DiskError::read(path, error))?;
        let cluster = header.cluster_bytes() as usize;
        match decompress_to_vec_with_limit(&packed, cluster) {
            Ok(bytes) if bytes.len() == cluster => Ok(bytes),
            _ => Err(DiskError::corrupt(path, format!("the compressed cluster at {offset} is damaged"))),
        }
    }
}
