//! How often each cluster of a file is used: a table of blocks of counts.

use std::io;

use crate::header::Header;
use crate::medium::Medium;
use crate::tables::read_table;

/// Where the blocks of an image's refcounts lie.
#[derive(Clone, Debug)]
pub struct Refcounts {
    /// Offset of each block; zero where all of its counts are zero.
    pub blocks: Vec<u64>,
    order: u32,
    block_bytes: u64,
}

impl Refcounts {
    /// Reads the refcount table.
    pub fn read(medium: &dyn Medium, header: &Header) -> io::Result<Self> {
        let block_bytes = header.cluster_bytes();
        let entries = u64::from(header.refcount_table_clusters) * block_bytes / 8;
        // The low nine bits are reserved.
        let blocks = read_table(medium, header.refcount_table_offset, entries)?;
        Ok(Self { blocks, order: header.refcount_order, block_bytes })
    }

    /// The block of this number, zeros where the file has none.
    pub fn block(&self, medium: &dyn Medium, number: u64) -> io::Result<Block> {
        let mut bytes = vec![0; self.block_bytes as usize];
        match self.blocks.get(number as usize) {
            None | Some(0) => {}
            Some(&offset) => medium.read_at(offset, &mut bytes)?,
        }
        Ok(Block { bytes, order: self.order })
    }
}

/// The refcounts of consecutive clusters.
#[derive(Clone, Debug)]
pub struct Block {
    /// As they are in the file.
    pub bytes: Vec<u8>,
    order: u32,
}

impl Block {
    /// The refcount of the cluster at this place in the block.
    pub fn get(&self, at: u64) -> u64 {
        let bits = 1_usize << self.order;
        let at = at as usize;
        if bits < 8 {
            let per_byte = 8 / bits;
            let shift = at % per_byte * bits;
            return u64::from(self.bytes[at / per_byte] >> shift) & ((1 << bits) - 1);
        }
        let bytes = bits / 8;
        self.bytes[at * bytes..(at + 1) * bytes].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }

    /// Sets a refcount, which must fit the counts' width.
    pub fn set(&mut self, at: u64, count: u64) {
        let bits = 1_usize << self.order;
        let at = at as usize;
        if bits < 8 {
            let per_byte = 8 / bits;
            let shift = at % per_byte * bits;
            let mask = ((1_u16 << bits) - 1) as u8;
            let byte = &mut self.bytes[at / per_byte];
            *byte = *byte & !(mask << shift) | (count as u8 & mask) << shift;
            return;
        }
        let bytes = bits / 8;
        self.bytes[at * bytes..(at + 1) * bytes].copy_from_slice(&count.to_be_bytes()[8 - bytes..]);
    }
}
