//! Residual blocks as bits (ITU-T H.264, 7.3.5.3.2 and 9.2).

mod tables;

use crate::h264::bits::Bits;
use crate::h264::cavlc::tables::{RUNS, TOKENS, TOKENS_CHROMA, Word, ZEROS, ZEROS_CHROMA};

/// The largest magnitude of a level that has a code in this profile, with a margin.
pub(crate) const MOST_LEVEL: i32 = 2000;

/// Which table the number of coefficients is coded with.
#[derive(Clone, Copy)]
pub(crate) enum Context {
    /// A chroma DC block.
    ChromaDc,
    /// Another block, and how many coefficients its neighbours have (nC).
    Neighbours(u8),
}

/// Writes a block's levels, which come in the order of the scan; answers how many are not zero.
pub(crate) fn residual(bits: &mut Bits, levels: &[i16], context: Context) -> u8 {
    // The levels that are not zero, and before each how many zeros; the last of the scan first.
    let (mut found, mut runs) = ([0i32; 16], [0u8; 16]);
    let mut number = 0;
    let mut zeros = 0;
    for &level in levels.iter().rev() {
        if level != 0 {
            found[number] = level.into();
            number += 1;
        } else if number > 0 {
            runs[number - 1] += 1;
            zeros += 1;
        }
    }
    let found = &found[..number];
    let ones = found.iter().take(3).take_while(|level| level.abs() == 1).count();
    word(
        bits,
        match context {
            Context::ChromaDc => TOKENS_CHROMA[number][ones],
            Context::Neighbours(0..2) => TOKENS[0][number][ones],
            Context::Neighbours(2..4) => TOKENS[1][number][ones],
            Context::Neighbours(4..8) => TOKENS[2][number][ones],
            Context::Neighbours(_) => TOKENS[3][number][ones],
        },
    );
    if number == 0 {
        return 0;
    }
    for level in &found[..ones] {
        bits.flag(*level < 0);
    }
    put_levels(bits, found, ones);
    if number < levels.len() {
        let row = number - 1;
        word(bits, if levels.len() == 4 { ZEROS_CHROMA[row][zeros] } else { ZEROS[row][zeros] });
    }
    for &run in &runs[..number - 1] {
        if zeros == 0 {
            break;
        }
        word(bits, RUNS[zeros.min(7) - 1][usize::from(run)]);
        zeros -= usize::from(run);
    }
    number as u8
}

/// The levels after the first `ones`, which are written by their signs.
fn put_levels(bits: &mut Bits, found: &[i32], ones: usize) {
    let mut suffix = u32::from(found.len() > 10 && ones < 3);
    for (index, &level) in found.iter().enumerate().skip(ones) {
        let mut code = 2 * level.unsigned_abs() - if level > 0 { 2 } else { 1 };
        // The first one after fewer than three ones is not a one itself.
        if index == ones && ones < 3 {
            code -= 2;
        }
        put_level(bits, code, suffix);
        suffix = suffix.max(1);
        if level.unsigned_abs() > 3 << (suffix - 1) && suffix < 6 {
            suffix += 1;
        }
    }
}

fn word(bits: &mut Bits, Word { bits: value, len }: Word) {
    bits.put(value.into(), len.into());
}

/// `level_prefix` and `level_suffix` (9.2.2.1).
fn put_level(bits: &mut Bits, code: u32, suffix: u32) {
    let unary = |bits: &mut Bits, prefix: u32| bits.put(1, prefix + 1);
    match (suffix, code) {
        (0, 0..14) => unary(bits, code),
        (0, 14..30) => {
            unary(bits, 14);
            bits.put(code - 14, 4);
        }
        (0, _) => {
            unary(bits, 15);
            bits.put(code - 30, 12);
        }
        (_, _) if code < 15 << suffix => {
            unary(bits, code >> suffix);
            bits.put(code & ((1 << suffix) - 1), suffix);
        }
        (_, _) => {
            unary(bits, 15);
            bits.put(code - (15 << suffix), 12);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_block_has_its_known_bits() {
        // 0, 3, 0, 1, -1, -1, 0, 1, 0…: five coefficients, three trailing ones, three zeros.
        let levels = [0, 3, 0, 1, -1, -1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        let mut bits = Bits::default();
        assert_eq!(residual(&mut bits, &levels, Context::Neighbours(0)), 5);
        let mut out = Vec::new();
        bits.finish(0, &mut out);
        // 0000100 0 1 1 1 0010 111 10 1 101, and the stop bit.
        assert_eq!(out, [0, 0b0000_1000, 0b1110_0101, 0b1110_1101, 0b1000_0000]);
    }
}
