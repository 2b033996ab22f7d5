//! What a sequence parameter set says of the size of its pictures (ITU-T H.264, 7.3.2.1.1).

use crate::pictures::settings::MOST_SIDE;

/// Profiles whose sets tell of chroma and scaling.
const HIGH: [u32; 13] = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135];

/// Width and height in pixels of the pictures as they are shown; none where the unit is damaged.
pub(crate) fn size_of(unit: &[u8]) -> Option<(u32, u32)> {
    let mut bits = Reader { bytes: payload(unit.get(1..)?), at: 0 };
    let profile = bits.u(8)?;
    bits.u(16)?;
    bits.ue()?;
    let chroma = if HIGH.contains(&profile) { high(&mut bits)? } else { 1 };
    bits.ue()?;
    order(&mut bits)?;
    bits.ue()?;
    bits.u(1)?;
    let columns = bits.ue()?.checked_add(1)?;
    let rows = bits.ue()?.checked_add(1)?;
    // Rows of fields are pairs of macroblocks.
    let fields = 2 - bits.u(1)?;
    if fields == 2 {
        bits.u(1)?;
    }
    bits.u(1)?;
    let (unit_width, unit_height) = match chroma {
        1 => (2, 2 * fields),
        2 => (2, fields),
        _ => (1, fields),
    };
    let mut cut = [0; 4];
    if bits.u(1)? == 1 {
        for side in &mut cut {
            *side = bits.ue()?;
        }
    }
    let [left, right, top, bottom] = cut;
    let width = columns.checked_mul(16)?.checked_sub(left.checked_add(right)?.checked_mul(unit_width)?)?;
    let height =
        rows.checked_mul(16 * fields)?.checked_sub(top.checked_add(bottom)?.checked_mul(unit_height)?)?;
    let is_usual = |side: u32| side > 0 && side <= MOST_SIDE;
    (is_usual(width) && is_usual(height)).then_some((width, height))
}

/// Reads what the sets of high profiles have besides, and gives `chroma_format_idc`.
fn high(bits: &mut Reader) -> Option<u32> {
    let chroma = bits.ue()?;
    if chroma == 3 {
        bits.u(1)?;
    }
    bits.ue()?;
    bits.ue()?;
    bits.u(1)?;
    if bits.u(1)? == 1 {
        for list in 0..if chroma == 3 { 12 } else { 8 } {
            if bits.u(1)? == 1 {
                scaling(bits, if list < 6 { 16 } else { 64 })?;
            }
        }
    }
    Some(chroma)
}

fn scaling(bits: &mut Reader, count: u32) -> Option<()> {
    let (mut last, mut next) = (8_i32, 8_i32);
    for _ in 0..count {
        if next != 0 {
            next = last.checked_add(bits.se()?)?.rem_euclid(256);
        }
        last = if next == 0 { last } else { next };
    }
    Some(())
}

/// Reads in what order pictures are shown.
fn order(bits: &mut Reader) -> Option<()> {
    match bits.ue()? {
        0 => drop(bits.ue()?),
        1 => {
            bits.u(1)?;
            bits.se()?;
            bits.se()?;
            for _ in 0..bits.ue()?.min(255) {
                bits.se()?;
            }
        }
        _ => {}
    }
    Some(())
}

/// The bytes without those that keep start codes out (7.4.1).
fn payload(unit: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(unit.len());
    let mut zeros = 0;
    for &byte in unit {
        if zeros >= 2 && byte == 3 {
            zeros = 0;
            continue;
        }
        zeros = if byte == 0 { zeros + 1 } else { 0 };
        out.push(byte);
    }
    out
}

/// A string of bits from its beginning.
struct Reader {
    bytes: Vec<u8>,
    at: usize,
}

impl Reader {
    /// `u(n)`, at most 32.
    fn u(&mut self, count: u32) -> Option<u32> {
        (0..count).try_fold(0, |value, _| {
            let byte = self.bytes.get(self.at / 8)?;
            let bit = byte >> (7 - self.at % 8) & 1;
            self.at += 1;
            Some(value << 1 | u32::from(bit))
        })
    }

    /// `ue(v)`.
    fn ue(&mut self) -> Option<u32> {
        let mut zeros = 0;
        while self.u(1)? == 0 {
            zeros += 1;
        }
        if zeros > 31 {
            return None;
        }
        Some((1 << zeros) - 1 + self.u(zeros)?)
    }

    /// `se(v)`.
    fn se(&mut self) -> Option<i32> {
        let code = self.ue()?;
        let half = i32::try_from(code.div_ceil(2)).ok()?;
        Some(if code % 2 == 1 { half } else { -half })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// Sets as x264 writes them.
    const SETS: [(&str, (u32, u32)); 5] = [
        ("6742c028d9004403c797c044000003000400000300283c60c920", (1080, 1920)),
        ("67640028acd9404403c797c044000003000400000300283c60c658", (1080, 1920)),
        ("6742c00ad902c4ec044000000300400000030283c48992", (176, 144)),
        ("67640016acd940d83de6f0110000030001000003000a0f162d96", (854, 480)),
        ("67f4001f919b2808809bc4446022000003000200000300141e30632c", (1081, 601)),
    ];

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }

    #[test]
    fn a_set_tells_the_size_of_what_is_shown() {
        for (set, size) in SETS {
            assert_eq!(size_of(&bytes(set)), Some(size), "{set}");
        }
    }

    #[test]
    fn a_damaged_set_has_no_size_and_harms_nobody() {
        let set = bytes(SETS[1].0);
        for len in 0..9 {
            assert_eq!(size_of(&set[..len]), None);
        }
        assert_eq!(size_of(&[0x67, 0x42, 0, 10, 0, 0, 0, 0, 0, 0]), None);
        for at in 1..set.len() {
            for byte in 0..=255 {
                let mut other = set.clone();
                other[at] = byte;
                // Whatever it says, it says it without a panic.
                let _ = size_of(&other);
            }
        }
    }
}
