//! A band of rows as DEFLATE blocks (RFC 1951) that end at a byte, so that bands can be put one behind another.

use super::bits::Bits;
use super::huffman::{self, MOST};
use super::near::Near;
use super::tokens::{LONGEST, Step, Token, steps};

/// End of block; the symbols of lengths follow it.
const END: usize = 256;
const DISTANCES: usize = 30;
/// Order in which the lengths of the code-length codes are sent (RFC 1951 §3.2.7).
const CODE_LENGTH_ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/// An empty stored block without its three bits: it fills up the byte.
const EMPTY: [u8; 4] = [0, 0, 0xff, 0xff];
/// Bytes that one stored block holds.
const STORED: usize = 65_535;
/// Bytes that the header of the codes takes at most, with what ends a band.
const HEAD: usize = 1024;
/// Of pixels told in a row one in so many is counted: their codes are as good, and counting takes as long as telling.
const COUNTED: usize = 4;
/// Bytes that a pixel told in a row takes at most: three codes of 15 bits.
const MOST_OF_PIXEL: usize = 6;

/// Symbol and number of extra bits of each length from 3 on.
const LENGTHS: [(u16, u8); 256] = lengths_table();

const fn lengths_table() -> [(u16, u8); 256] {
    let mut table = [(0, 0); 256];
    let mut index: usize = 0;
    while index < 256 {
        // From the ninth symbol on, each group of four has one extra bit more than the group before.
        let extra = if index < 8 { 0 } else { index.ilog2() - 2 };
        table[index] = (257 + 4 * extra as u16 + (index >> extra) as u16, extra as u8);
        index += 1;
    }
    // The longest has a symbol of its own.
    table[255] = (285, 0);
    table
}

/// Symbol, number of extra bits and their value of a distance.
fn distance_symbol(distance: u32) -> (usize, u32, u32) {
    let index = distance - 1;
    if index < 4 {
        return (index as usize, 0, 0);
    }
    let extra = index.ilog2() - 1;
    ((2 * extra + (index >> extra)) as usize, extra, index & ((1 << extra) - 1))
}

/// How a copy is told: so many times the longest, then one or two others; none of these is shorter than 3.
fn parts(len: u32) -> (u32, [u32; 2]) {
    let (whole, rest) = (len / LONGEST, len % LONGEST);
    match rest {
        1 | 2 if whole > 0 => (whole - 1, [LONGEST + rest - 4, 4]),
        _ => (whole, [rest, 0]),
    }
}

/// Writes blocks; its memory is used again for the next band.
#[derive(Default)]
pub(crate) struct Deflater {
    out: Bits,
}

struct Frequencies {
    literals: [u32; MOST],
    distances: [u32; DISTANCES],
    /// Pixels told in a row.
    in_rows: usize,
}

struct Codes {
    literal_lengths: [u8; MOST],
    literals: [u16; MOST],
    distance_lengths: [u8; DISTANCES],
    distances: [u16; DISTANCES],
}

impl Deflater {
    /// The blocks of a band's tokens; `pixels` are its filtered rows of `width`, for when they do not compress.
    pub(crate) fn band(&mut self, filter: u8, tokens: &[Token], pixels: &[u32], width: usize) -> Vec<u8> {
        let frequencies = count(filter, tokens, pixels);
        let codes = Codes::of(&frequencies);
        let raw = pixels.len() * 3 + pixels.len() / width;
        let bits = codes.cost(&frequencies);
        if bits / 8 >= raw {
            return stored(filter, pixels, width, raw);
        }
        let out = &mut self.out;
        out.begin(HEAD + bits / 8 + MOST_OF_PIXEL * frequencies.in_rows);
        out.put(0b100, 3);
        codes.send(out);
        codes.send_tokens(filter, tokens, pixels, frequencies.in_rows, out);
        // An empty stored block: three bits, then the rest of the byte.
        out.put(0, 3);
        out.align();
        // Codes that were guessed from a part may not fit the rest.
        if out.bytes().len() >= raw {
            stored(filter, pixels, width, raw)
        } else {
            [out.bytes(), &EMPTY].concat()
        }
    }
}

fn stored(filter: u8, pixels: &[u32], width: usize, raw: usize) -> Vec<u8> {
    let mut rows = Vec::with_capacity(raw);
    for row in pixels.chunks(width) {
        rows.push(filter);
        for pixel in row {
            rows.extend_from_slice(&pixel.to_be_bytes()[1..]);
        }
    }
    let mut blocks = Vec::with_capacity(raw + raw / 64);
    for part in rows.chunks(STORED) {
        // At most 16 bits.
        let len = part.len() as u16;
        blocks.push(0);
        blocks.extend_from_slice(&len.to_le_bytes());
        blocks.extend_from_slice(&(!len).to_le_bytes());
        blocks.extend_from_slice(part);
    }
    blocks
}

fn count(filter: u8, tokens: &[Token], pixels: &[u32]) -> Frequencies {
    let (mut red, mut green, mut blue) = ([0u32; 256], [0u32; 256], [0u32; 256]);
    let mut found = Frequencies { literals: [0; MOST], distances: [0; DISTANCES], in_rows: 0 };
    let add = |[red, green, blue]: [&mut [u32; 256]; 3], pixel: u32, times: u32| {
        red[(pixel >> 16 & 255) as usize] += times;
        green[(pixel >> 8 & 255) as usize] += times;
        blue[(pixel & 255) as usize] += times;
    };
    for step in steps(tokens) {
        match step {
            Step::Filter => red[usize::from(filter)] += 1,
            Step::Pixel(pixel) => add([&mut red, &mut green, &mut blue], pixel, 1),
            Step::Pixels { from, count } => {
                for pixel in pixels[from..from + count].iter().step_by(COUNTED) {
                    add([&mut red, &mut green, &mut blue], *pixel, COUNTED as u32);
                }
                found.in_rows += count;
            }
            Step::Copy { len, distance } => {
                let (whole, others) = parts(len);
                let mut copies = whole;
                found.literals[285] += whole;
                for len in others.into_iter().filter(|len| *len > 0) {
                    found.literals[usize::from(LENGTHS[len as usize - 3].0)] += 1;
                    copies += 1;
                }
                found.distances[distance_symbol(distance).0] += copies;
            }
        }
    }
    for (value, total) in found.literals.iter_mut().take(END).enumerate() {
        // What was not counted needs a code too.
        *total = red[value] + green[value] + blue[value] + u32::from(found.in_rows > 0);
    }
    found.literals[END] = 1;
    found
}

impl Codes {
    fn of(frequencies: &Frequencies) -> Self {
        let mut codes = Self {
            literal_lengths: [0; MOST],
            literals: [0; MOST],
            distance_lengths: [0; DISTANCES],
            distances: [0; DISTANCES],
        };
        huffman::lengths(&frequencies.literals, 15, &mut codes.literal_lengths);
        huffman::codes(&codes.literal_lengths, &mut codes.literals);
        huffman::lengths(&frequencies.distances, 15, &mut codes.distance_lengths);
        huffman::codes(&codes.distance_lengths, &mut codes.distances);
        codes
    }

    /// Bits of the tokens, without the header.
    fn cost(&self, frequencies: &Frequencies) -> usize {
        let literals = (0..).zip(frequencies.literals.iter().zip(&self.literal_lengths));
        let distances = (0..).zip(frequencies.distances.iter().zip(&self.distance_lengths));
        let literals = literals.map(|(symbol, (times, length)): (u32, _)| {
            let extra = if (265..285).contains(&symbol) { (symbol - 261) / 4 } else { 0 };
            *times as usize * (usize::from(*length) + extra as usize)
        });
        let distances = distances.map(|(symbol, (times, length)): (u32, _)| {
            *times as usize * (usize::from(*length) + (symbol / 2).saturating_sub(1) as usize)
        });
        literals.sum::<usize>() + distances.sum::<usize>()
    }

    /// Sends both codes, as their lengths (RFC 1951 §3.2.7).
    fn send(&self, out: &mut Bits) {
        let used = |lengths: &[u8], least: usize| {
            lengths.iter().rposition(|length| *length > 0).map_or(0, |last| last + 1).max(least)
        };
        let (literals, distances) = (used(&self.literal_lengths, 257), used(&self.distance_lengths, 1));
        let mut all = [0u8; MOST + DISTANCES];
        all[..literals].copy_from_slice(&self.literal_lengths[..literals]);
        all[literals..literals + distances].copy_from_slice(&self.distance_lengths[..distances]);
        let mut runs = [(0u8, 0u8, 0u8); MOST + DISTANCES];
        let runs = shortened(&all[..literals + distances], &mut runs);
        let mut frequencies = [0; 19];
        for (symbol, _, _) in runs.iter() {
            frequencies[usize::from(*symbol)] += 1;
        }
        let (mut lengths, mut codes) = ([0; 19], [0; 19]);
        huffman::lengths(&frequencies, 7, &mut lengths);
        huffman::codes(&lengths, &mut codes);
        let sent = CODE_LENGTH_ORDER
            .iter()
            .rposition(|symbol| lengths[*symbol] > 0)
            .map_or(4, |last| (last + 1).max(4));
        out.put(literals as u64 - 257, 5);
        out.put(distances as u64 - 1, 5);
        out.put(sent as u64 - 4, 4);
        for symbol in &CODE_LENGTH_ORDER[..sent] {
            out.put(u64::from(lengths[*symbol]), 3);
        }
        for (symbol, extra, value) in runs.iter() {
            out.put(u64::from(codes[usize::from(*symbol)]), lengths[usize::from(*symbol)].into());
            out.put(u64::from(*value), (*extra).into());
        }
    }

    fn send_tokens(&self, filter: u8, tokens: &[Token], pixels: &[u32], in_rows: usize, out: &mut Bits) {
        // A literal's code and its length beside each other: one look for each byte.
        let mut table = [(0u16, 0u16); 256];
        for (value, entry) in table.iter_mut().enumerate() {
            *entry = (self.literals[value], self.literal_lengths[value].into());
        }
        let told = |pixel: u32| {
            let (red, red_bits) = table[(pixel >> 16 & 255) as usize];
            let (green, green_bits) = table[(pixel >> 8 & 255) as usize];
            let (blue, blue_bits) = table[(pixel & 255) as usize];
            let code =
                u64::from(red) | u64::from(green) << red_bits | u64::from(blue) << (red_bits + green_bits);
            (code, u32::from(red_bits + green_bits + blue_bits))
        };
        let near = Near::of(in_rows, told);
        for step in steps(tokens) {
            match step {
                Step::Filter => {
                    let (code, bits) = table[usize::from(filter)];
                    out.put(code.into(), bits.into());
                }
                Step::Pixel(pixel) => {
                    let (code, bits) = told(pixel);
                    out.put(code, bits);
                }
                Step::Pixels { from, count } => {
                    let (fours, rest) = pixels[from..from + count].as_chunks();
                    for four in fours {
                        match near.find(four) {
                            Some((code, bits)) => out.put(code, bits),
                            None => four
                                .iter()
                                .map(|pixel| told(*pixel))
                                .for_each(|(code, bits)| out.put(code, bits)),
                        }
                    }
                    rest.iter().map(|pixel| told(*pixel)).for_each(|(code, bits)| out.put(code, bits));
                }
                Step::Copy { len, distance } => self.send_copy(len, distance, out),
            }
        }
        out.put(self.literals[END].into(), self.literal_lengths[END].into());
    }

    fn send_copy(&self, len: u32, distance: u32, out: &mut Bits) {
        let back = self.distance(distance);
        let (whole, others) = parts(len);
        if whole > 0 {
            let (code, bits) = self.copy(LONGEST, back);
            for _ in 0..whole {
                out.put(code, bits);
            }
        }
        for len in others.into_iter().filter(|len| *len > 0) {
            let (code, bits) = self.copy(len, back);
            out.put(code, bits);
        }
    }

    /// Bits of a distance, extra ones included, and how many.
    fn distance(&self, distance: u32) -> (u64, u32) {
        let (symbol, extra, value) = distance_symbol(distance);
        let bits = u32::from(self.distance_lengths[symbol]);
        (u64::from(self.distances[symbol]) | u64::from(value) << bits, bits + extra)
    }

    /// Bits of a whole copy, at most 48, and how many.
    fn copy(&self, len: u32, (back, back_bits): (u64, u32)) -> (u64, u32) {
        let (symbol, extra) = LENGTHS[len as usize - 3];
        let value = u64::from(len - 3) & ((1 << extra) - 1);
        let value = if len == LONGEST { 0 } else { value };
        let bits = u32::from(self.literal_lengths[usize::from(symbol)]);
        let code = u64::from(self.literals[usize::from(symbol)]) | value << bits;
        (code | back << (bits + u32::from(extra)), bits + u32::from(extra) + back_bits)
    }
}

/// Lengths with their repetitions told shortly: symbol, number of extra bits, their value.
fn shortened<'r>(lengths: &[u8], runs: &'r mut [(u8, u8, u8)]) -> &'r [(u8, u8, u8)] {
    let (mut at, mut count) = (0, 0);
    let mut push = |run| {
        runs[count] = run;
        count += 1;
    };
    while at < lengths.len() {
        let length = lengths[at];
        let run = lengths[at..].iter().take_while(|other| **other == length).count();
        let step = match (length, run) {
            (0, 11..) => {
                let step = run.min(138);
                push((18, 7, step as u8 - 11));
                step
            }
            (0, 3..) => {
                push((17, 3, run as u8 - 3));
                run
            }
            (1.., 4..) => {
                let step = (run - 1).min(6);
                push((length, 0, 0));
                push((16, 2, step as u8 - 3));
                step + 1
            }
            _ => {
                push((length, 0, 0));
                1
            }
        };
        at += step;
    }
    &runs[..count]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_distances_have_the_symbols_of_the_specification() {
        // Rows of the tables of RFC 1951 §3.2.5.
        for (len, symbol, extra) in [
            (3, 257, 0),
            (10, 264, 0),
            (11, 265, 1),
            (18, 268, 1),
            (19, 269, 2),
            (131, 281, 5),
            (257, 284, 5),
            (258, 285, 0),
        ] {
            assert_eq!(LENGTHS[len - 3], (symbol, extra), "length {len}");
        }
        for (distance, symbol, extra) in [
            (1, 0, 0),
            (4, 3, 0),
            (5, 4, 1),
            (8, 5, 1),
            (9, 6, 2),
            (4096, 23, 10),
            (4097, 24, 11),
            (32_768, 29, 13),
        ] {
            let (found, bits, _) = distance_symbol(distance);
            assert_eq!((found, bits), (symbol, extra), "distance {distance}");
        }
    }

    #[test]
    fn a_copy_of_any_length_is_told_in_parts_that_exist() {
        for len in 3..2000 {
            let (whole, others) = parts(len);
            assert_eq!(whole * LONGEST + others[0] + others[1], len);
            assert!(others.iter().all(|part| *part == 0 || (3..=LONGEST).contains(part)), "{len}");
        }
    }

    #[test]
    fn repeated_lengths_are_told_shortly() {
        let lengths = [[5u8; 9].as_slice(), &[0; 150], &[7, 7, 0, 0, 0, 4]].concat();
        let mut runs = [(0, 0, 0); 300];
        let told = shortened(&lengths, &mut runs);
        let mut back: Vec<u8> = Vec::new();
        for (symbol, _, value) in told {
            match symbol {
                16 => back.extend(vec![*back.last().unwrap_or(&0); usize::from(*value) + 3]),
                17 => back.extend(vec![0; usize::from(*value) + 3]),
                18 => back.extend(vec![0; usize::from(*value) + 11]),
                length => back.push(*length),
            }
        }
        assert_eq!(back, lengths);
        assert!(told.len() < 15);
    }
}
