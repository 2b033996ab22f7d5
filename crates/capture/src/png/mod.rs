//! A PNG of screen content (PNG third edition, RFC 1950, RFC 1951), made of bands of rows that can be kept.
//!
//! Each band is compressed alone and ends at a byte, so bands are made side by side, and one that has not changed is
//! used again.

mod adler;
mod bits;
mod deflate;
mod huffman;
mod near;
mod skim;
mod tokens;

use std::hash::Hasher;

use twox_hash::XxHash3_64;

use adler::Sums;
use deflate::Deflater;
use tokens::Finder;

/// Rows of a band; the last of a picture may have fewer.
pub(crate) const BAND_ROWS: u32 = 32;

const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n'];
/// zlib: deflate with a window of 32 KiB, the fastest level.
const ZLIB_HEAD: [u8; 2] = [0x78, 0x01];
/// A last block that holds nothing.
const LAST_BLOCK: [u8; 2] = [0x03, 0x00];
/// Bits a channel 8, colour type 2 (red, green, blue), deflate, filters of method 0, not interlaced.
const FORM: [u8; 5] = [8, 2, 0, 0, 0];
/// Filter types (PNG §9.2): the pixels themselves, or their differences to the left.
const NONE: u8 = 0;
const SUB: u8 = 1;
const MASK: u32 = 0x00ff_ffff;

/// Compressed rows, and the checksum of what they were.
#[derive(Debug)]
pub(crate) struct Band {
    blocks: Vec<u8>,
    sums: Sums,
}

impl Band {
    /// Bytes that it takes.
    pub(crate) fn len(&self) -> usize {
        self.blocks.len()
    }
}

/// Makes one band after another; its memory is used again for the next.
#[derive(Default)]
pub(crate) struct Compressor {
    pixels: Vec<u32>,
    differences: Vec<u32>,
    finder: Finder,
    deflater: Deflater,
}

impl Compressor {
    /// Takes rows of `width` pixels as the X server gives them, and gives the digest of what they show.
    pub(crate) fn load(&mut self, bgrx: &[u8], width: u32) -> u64 {
        let (pixels, _) = bgrx.as_chunks::<4>();
        self.pixels.resize(pixels.len(), 0);
        let mut hash = XxHash3_64::with_seed(u64::from(width));
        let width = width as usize;
        for (clean, row) in self.pixels.chunks_mut(width).zip(pixels.chunks(width)) {
            for (clean, pixel) in clean.iter_mut().zip(row) {
                *clean = u32::from_le_bytes(*pixel) & MASK;
            }
        }
        hash.write(as_bytes(&self.pixels));
        hash.finish()
    }

    /// Compresses what was loaded last, rows of `width` pixels.
    pub(crate) fn band(&mut self, width: u32) -> Band {
        let width = width as usize;
        let (filter, pixels) = if is_smooth(&self.pixels, width) {
            self.differences.resize(self.pixels.len(), 0);
            for (row, told) in self.pixels.chunks(width).zip(self.differences.chunks_mut(width)) {
                differences(row, told);
            }
            (SUB, &self.differences)
        } else {
            (NONE, &self.pixels)
        };
        let mut sums = Sums::default();
        let mut above: Option<(&[u32], Sums)> = None;
        for row in pixels.chunks(width) {
            let of_row = match above {
                Some((same, of_same)) if same == row => of_same,
                _ => Sums::of_row(filter, row),
            };
            sums = sums.then(of_row);
            above = Some((row, of_row));
        }
        let finder = &mut self.finder;
        let is_gentle = filter == SUB && is_gentle(pixels, width);
        let tokens = if is_gentle { finder.skim(pixels, width) } else { finder.find(pixels, width) };
        Band { blocks: self.deflater.band(filter, tokens, pixels, width), sums }
    }
}

/// True for rows in which most pixels are neither the left nor the upper neighbour again, as in gradients and photos.
fn is_smooth(pixels: &[u32], width: usize) -> bool {
    let (mut new, mut seen) = (0, 0);
    // One pair of rows in three: whatever repeats every eight or sixteen rows, as lines of text do, is met everywhere.
    for rows in pixels.chunks_exact(2 * width).step_by(3) {
        let (above, row) = rows.split_at(width);
        let others = row.windows(2).zip(&above[1..]);
        new += others.filter(|(pair, above)| pair[1] != pair[0] && pair[1] != **above).count();
        seen += width;
    }
    new * 4 > seen
}

/// True for differences that are nearly all small, so that a few values of their channels come again and again.
fn is_gentle(differences: &[u32], width: usize) -> bool {
    let (mut small, mut seen) = (0, 0);
    for row in differences.chunks(width).step_by(4) {
        // Sixteen more makes each channel from -16 to 15 less than 32; the upper bits are added apart, without carrying.
        let moved = |pixel: &u32| ((pixel & 0x007f_7f7f) + 0x0010_1010) ^ (pixel & 0x0080_8080);
        small += row.iter().filter(|pixel| moved(pixel) & 0x00e0_e0e0 == 0).count();
        seen += width;
    }
    small * 4 > seen * 3
}

/// Tells each pixel of a row but the first as how its channels differ from those of its left neighbour, modulo 256.
fn differences(row: &[u32], told: &mut [u32]) {
    told[0] = row[0];
    for ((told, pixel), left) in told[1..].iter_mut().zip(&row[1..]).zip(row) {
        // The channels stand apart, so that none borrows from the next.
        let even = (pixel & 0x00ff_00ff | 0x0100_0100).wrapping_sub(left & 0x00ff_00ff) & 0x00ff_00ff;
        let odd = (pixel & 0x0000_ff00 | 0x0001_0000).wrapping_sub(left & 0x0000_ff00) & 0x0000_ff00;
        *told = even | odd;
    }
}

fn as_bytes(pixels: &[u32]) -> &[u8] {
    // SAFETY: a u32 has no padding and any of its bytes is a u8; the length in bytes is that of the slice.
    unsafe { std::slice::from_raw_parts(pixels.as_ptr().cast(), size_of_val(pixels)) }
}

/// Puts the bands of a whole picture together.
pub(crate) fn assemble<'b>(
    width: u32,
    height: u32,
    bands: impl Iterator<Item = &'b Band> + Clone,
) -> Vec<u8> {
    let blocks: usize = bands.clone().map(Band::len).sum();
    let data = ZLIB_HEAD.len() + blocks + LAST_BLOCK.len() + 4;
    let mut png = Vec::with_capacity(data + 64);
    png.extend_from_slice(&SIGNATURE);
    chunk(&mut png, b"IHDR", 13, |png| {
        png.extend_from_slice(&width.to_be_bytes());
        png.extend_from_slice(&height.to_be_bytes());
        png.extend_from_slice(&FORM);
    });
    chunk(&mut png, b"IDAT", data, |png| {
        png.extend_from_slice(&ZLIB_HEAD);
        let mut sums = Sums::default();
        for band in bands {
            png.extend_from_slice(&band.blocks);
            sums = sums.then(band.sums);
        }
        png.extend_from_slice(&LAST_BLOCK);
        png.extend_from_slice(&sums.adler32().to_be_bytes());
    });
    chunk(&mut png, b"IEND", 0, |_| {});
    png
}

fn chunk(png: &mut Vec<u8>, kind: &[u8; 4], len: usize, write: impl FnOnce(&mut Vec<u8>)) {
    // A picture of 2 GiB does not fit on an X screen.
    png.extend_from_slice(&(len as u32).to_be_bytes());
    let start = png.len();
    png.extend_from_slice(kind);
    write(png);
    let crc = crc32fast::hash(&png[start..]);
    png.extend_from_slice(&crc.to_be_bytes());
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
