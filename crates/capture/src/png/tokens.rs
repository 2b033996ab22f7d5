//! What a band of rows consists of: pixels told one by one, and copies of what stands before (LZ77 over pixels).
//!
//! Screens repeat the pixel to the left, the row above and, in text, pairs of pixels; only these three are looked for.

use std::iter::repeat_n;

/// Bytes of the longest copy that DEFLATE knows.
pub(crate) const LONGEST: u32 = 258;

/// Bytes that a copy may reach back.
pub(super) const WINDOW: usize = 32_768;

/// Bytes that one token can copy.
const MOST_BYTES: usize = 65_535;

/// A run to the left of so many pixels is cheap enough to leave a longer copy from above for later.
const LONG_RUN: usize = 172;

/// A copy shorter than this is worth a look at where the pair of pixels stood last.
const SHORT: usize = 6;

const HASH_BITS: u32 = 12;

/// One step of the bytes of a band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The filter byte that begins a row.
    Filter,
    /// One pixel, `0x00RRGGBB`.
    Pixel(u32),
    /// So many pixels of the band, from this one on.
    Pixels { from: usize, count: usize },
    /// So many bytes, from so many bytes back.
    Copy { len: u32, distance: u32 },
}

/// A step in 32 bits, or half of one that needs more.
#[derive(Clone, Copy)]
pub(crate) struct Token(u32);

const COPY: u32 = 1 << 31;
const PIXELS: u32 = 1 << 30;
const FILTER: u32 = 1 << 24;

impl Token {
    fn copy(len: usize, distance: usize) -> Self {
        // At most 16 and 15 bits.
        Self(COPY | (len as u32) << 15 | (distance as u32 - 1))
    }
}

/// The steps that tokens stand for, in order.
pub(crate) fn steps(tokens: &[Token]) -> impl Iterator<Item = Step> {
    let mut tokens = tokens.iter().map(|token| token.0);
    std::iter::from_fn(move || {
        let token = tokens.next()?;
        Some(if token & COPY != 0 {
            Step::Copy { len: token >> 15 & 0xffff, distance: (token & 0x7fff) + 1 }
        } else if token & PIXELS != 0 {
            Step::Pixels { from: tokens.next()? as usize, count: (token & !PIXELS) as usize }
        } else if token == FILTER {
            Step::Filter
        } else {
            Step::Pixel(token)
        })
    })
}

/// Finds the tokens of a band; its memory is used again for the next.
pub(crate) struct Finder {
    tokens: Vec<Token>,
    /// By the hash of a pair of pixels, one more than the index of the first of them.
    last: Vec<u32>,
}

impl Default for Finder {
    fn default() -> Self {
        Self { tokens: Vec::new(), last: vec![0; 1 << HASH_BITS] }
    }
}

impl Finder {
    /// No tokens yet, for another band.
    pub(super) fn clear(&mut self) {
        self.tokens.clear();
    }

    /// The tokens found so far.
    pub(super) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The filter byte that begins a row.
    pub(super) fn push_filter(&mut self) {
        self.tokens.push(Token(FILTER));
    }

    /// Pixels of the band that are told one by one.
    pub(super) fn push_pixels(&mut self, from: usize, count: usize) {
        // A band has at most 32 rows of 16 bits each.
        self.tokens.extend([Token(PIXELS | count as u32), Token(from as u32)]);
    }

    /// The tokens of whole rows of `width` pixels.
    pub(crate) fn find(&mut self, pixels: &[u32], width: usize) -> &[Token] {
        self.tokens.clear();
        self.last.fill(0);
        let stride = 3 * width + 1;
        let reaches_up = stride <= WINDOW;
        let mut at = 0;
        let mut column = 0;
        while at < pixels.len() {
            if column == 0 {
                let count = self.begin_row(pixels, at, width, reaches_up);
                (at, column) = (at + count, count % width);
                continue;
            }
            let left_in_row = width - column;
            let run = same(&pixels[at..at + left_in_row], pixels[at - 1]);
            let mut best = (run, 3);
            if run < LONG_RUN {
                let above = if at >= width && reaches_up { shared(pixels, at, at - width) } else { 0 };
                if above > run.max(1) {
                    best = (above, stride);
                }
                if best.0 < SHORT && left_in_row > 1 {
                    let pair = self.pair(pixels, at, column, width);
                    if pair.0 > best.0 + usize::from(best.0 > 0) {
                        best = pair;
                    }
                }
            }
            let (length, distance) = best;
            if length == 0 {
                self.tokens.push(Token(pixels[at]));
                (at, column) = (at + 1, (column + 1) % width);
            } else {
                // A copy that goes on into further rows copies their filter bytes too.
                self.push_copy(3 * length + (column + length - 1) / width, distance);
                at += length;
                column = (column + length) % width;
            }
        }
        &self.tokens
    }

    /// The tokens of the first pixels of a row, and of how many.
    fn begin_row(&mut self, pixels: &[u32], at: usize, width: usize, reaches_up: bool) -> usize {
        let run = same(&pixels[at + 1..at + width], pixels[at]);
        let above = if at > 0 && reaches_up && run < LONG_RUN { shared(pixels, at, at - width) } else { 0 };
        if above > run.max(1) {
            // The filter byte is that of the row above too.
            self.push_copy(1 + 3 * above + (above - 1) / width, 3 * width + 1);
            return above;
        }
        self.push_filter();
        self.note(pixels, at, width);
        self.tokens.push(Token(pixels[at]));
        1
    }

    /// So many bytes, three at least, from so many bytes back.
    pub(super) fn push_copy(&mut self, len: usize, distance: usize) {
        // What is left over must be long enough for a copy of its own.
        let whole = if len > MOST_BYTES { (len - 3) / (MOST_BYTES - 3) } else { 0 };
        self.tokens.extend(repeat_n(Token::copy(MOST_BYTES - 3, distance), whole));
        self.tokens.push(Token::copy(len - whole * (MOST_BYTES - 3), distance));
    }

    /// Notes the pair of pixels that begins here, and gives where it stood before, plus one.
    fn note(&mut self, pixels: &[u32], at: usize, width: usize) -> u32 {
        if width < 2 {
            return 0;
        }
        let pair = u64::from(pixels[at]) << 24 ^ u64::from(pixels[at + 1]);
        let slot = (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - HASH_BITS)) as usize;
        std::mem::replace(&mut self.last[slot], at as u32 + 1)
    }

    /// How many pixels repeat from where the pair stood last, without leaving either row, and from how far back.
    fn pair(&mut self, pixels: &[u32], at: usize, column: usize, width: usize) -> (usize, usize) {
        let before = self.note(pixels, at, width) as usize;
        if before == 0 {
            return (0, 0);
        }
        let back = at + 1 - before;
        let rows = if back <= column { 0 } else { (back - column).div_ceil(width) };
        let distance = 3 * back + rows;
        if distance > WINDOW {
            return (0, 0);
        }
        let before = before - 1;
        let end = at + width - column.max(before % width);
        let length = shared(&pixels[..end], at, before);
        if length < 2 { (0, 0) } else { (length, distance) }
    }
}

/// How many pixels in front have this colour.
#[inline]
fn same(pixels: &[u32], colour: u32) -> usize {
    // Most of the time none has.
    if pixels.first() == Some(&colour) { same_run(pixels, colour) } else { 0 }
}

#[inline(never)]
fn same_run(pixels: &[u32], colour: u32) -> usize {
    let (chunks, _) = pixels.as_chunks::<8>();
    let whole =
        chunks.iter().take_while(|chunk| chunk.iter().fold(0, |or, pixel| or | pixel ^ colour) == 0).count()
            * 8;
    whole + pixels[whole..].iter().take_while(|pixel| **pixel == colour).count()
}

/// How many pixels from `at` on equal those from `before` on; two at least, or 0.
#[inline]
fn shared(pixels: &[u32], at: usize, before: usize) -> usize {
    let starts = |new: usize| pixels.get(new..new + 2);
    if starts(at).is_some() && starts(at) == starts(before) { shared_run(pixels, at, before) } else { 0 }
}

#[inline(never)]
fn shared_run(pixels: &[u32], at: usize, before: usize) -> usize {
    let (new, old) = (&pixels[at..], &pixels[before..]);
    let differ = |(a, b): (&[u32; 8], &[u32; 8])| a.iter().zip(b).fold(0, |or, (a, b)| or | a ^ b) != 0;
    let pairs = new.as_chunks::<8>().0.iter().zip(old.as_chunks::<8>().0);
    let whole = pairs.take_while(|pair| !differ(*pair)).count() * 8;
    whole + new[whole..].iter().zip(&old[whole..]).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that the tokens of a band stand for.
    fn bytes(tokens: &[Token], pixels: &[u32]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for step in steps(tokens) {
            match step {
                Step::Filter => bytes.push(0),
                Step::Pixel(pixel) => bytes.extend(&pixel.to_be_bytes()[1..]),
                Step::Pixels { from, count } => {
                    bytes.extend(
                        pixels[from..from + count].iter().flat_map(|p| p.to_be_bytes()[1..].to_vec()),
                    );
                }
                Step::Copy { len, distance } => {
                    assert!(len >= 3 && distance as usize <= WINDOW);
                    for _ in 0..len {
                        bytes.push(bytes[bytes.len() - distance as usize]);
                    }
                }
            }
        }
        bytes
    }

    fn rows(pixels: &[u32], width: usize) -> Vec<u8> {
        let row = |row: &[u32]| {
            [vec![0], row.iter().flat_map(|p| p.to_be_bytes()[1..].to_vec()).collect()].concat()
        };
        pixels.chunks(width).flat_map(row).collect()
    }

    #[test]
    fn tokens_stand_for_the_bytes_of_the_rows() {
        let mut finder = Finder::default();
        let mut seed = 7u32;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % below
        };
        for width in [1, 2, 3, 5, 8, 40, 173, 500, 11_000] {
            for colours in [1, 2, 3, 5, 200] {
                for height in [1, 2, 9] {
                    let mut pixels: Vec<u32> =
                        (0..width * height).map(|_| random(colours) * 0x01_0203).collect();
                    if height > 4 {
                        pixels.copy_within(width..3 * width, 4 * width);
                    }
                    for is_thorough in [true, false] {
                        let found = if is_thorough {
                            finder.find(&pixels, width)
                        } else {
                            finder.skim(&pixels, width)
                        };
                        let found = bytes(found, &pixels);
                        assert!(found == rows(&pixels, width), "{width}x{height} in {colours} colours");
                    }
                }
            }
        }
    }

    #[test]
    fn a_blank_band_is_a_few_tokens() {
        let mut finder = Finder::default();
        assert!(finder.find(&vec![0xffffff; 1920 * 32], 1920).len() <= 3 * 32);
        // More bytes than one token can copy.
        let striped: Vec<u32> = (0..100 * 1000).map(|at| (at % 100) as u32).collect();
        let tokens = finder.find(&striped, 100);
        assert!(tokens.len() < 120);
        assert_eq!(bytes(tokens, &striped), rows(&striped, 100));
    }
}
