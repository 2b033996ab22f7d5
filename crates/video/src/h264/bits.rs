//! Bits, and the NAL units that they are put into (ITU-T H.264, 7.2, 7.3.1, 9.1).

/// A string of bits that grows at its end.
#[derive(Clone, Default)]
pub(crate) struct Bits {
    bytes: Vec<u8>,
    /// What did not fill a byte yet, in the lowest bits.
    rest: u64,
    held: u32,
}

/// A place in a string of bits, to go back to.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    bytes: usize,
    rest: u64,
    held: u32,
}

impl Bits {
    /// Forgets everything and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        (self.rest, self.held) = (0, 0);
    }

    /// `u(len)`: the lowest `len` bits of a value, of which the others are zero; at most 32.
    #[inline(always)]
    pub(crate) fn put(&mut self, value: u32, len: u32) {
        self.rest = self.rest << len | u64::from(value);
        self.held += len;
        if self.held >= 32 {
            self.held -= 32;
            // The low half: what lies above it was written before.
            self.bytes.extend_from_slice(&((self.rest >> self.held) as u32).to_be_bytes());
        }
    }

    /// `u(1)`.
    pub(crate) fn flag(&mut self, value: bool) {
        self.put(u32::from(value), 1);
    }

    /// `ue(v)`.
    #[inline(always)]
    pub(crate) fn ue(&mut self, value: u32) {
        let code = value + 1;
        let len = code.ilog2();
        if len >= 16 {
            self.put(0, len);
            self.put(code, len + 1);
        } else {
            self.put(code, 2 * len + 1);
        }
    }

    /// `se(v)`.
    pub(crate) fn se(&mut self, value: i32) {
        self.ue(if value > 0 { 2 * value.unsigned_abs() - 1 } else { 2 * value.unsigned_abs() });
    }

    /// Zeros up to the next whole byte, then bytes as they are.
    pub(crate) fn aligned(&mut self, bytes: impl IntoIterator<Item = u8>) {
        self.put(0, (8 - self.held % 8) % 8);
        for byte in bytes {
            self.put(byte.into(), 8);
        }
    }

    /// How many bits there are.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() * 8 + self.held as usize
    }

    pub(crate) fn place(&self) -> Place {
        Place { bytes: self.bytes.len(), rest: self.rest, held: self.held }
    }

    /// Forgets what was put since.
    pub(crate) fn go_back(&mut self, place: Place) {
        self.bytes.truncate(place.bytes);
        (self.rest, self.held) = (place.rest, place.held);
    }

    /// Ends the string with `rbsp_trailing_bits` and appends it to `out` as a NAL unit.
    pub(crate) fn finish(&mut self, header: u8, out: &mut Vec<u8>) {
        self.put(1, 1);
        self.aligned([]);
        while self.held > 0 {
            self.held -= 8;
            self.bytes.push((self.rest >> self.held) as u8);
        }
        out.push(header);
        let mut zeros = 0;
        for &byte in &self.bytes {
            if zeros >= 2 && byte <= 3 {
                out.push(3);
                zeros = 0;
            }
            zeros = if byte == 0 { zeros + 1 } else { 0 };
            out.push(byte);
        }
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Bits)) -> Vec<u8> {
        let mut bits = Bits::default();
        write(&mut bits);
        let mut out = Vec::new();
        bits.finish(0x67, &mut out);
        out
    }

    #[test]
    fn numbers_have_the_codes_of_the_standard() {
        // 1, 010, 011, 00100, then se: 010 011 00100, and the stop bit.
        let codes = written(|bits| {
            (0..4).for_each(|value| bits.ue(value));
            [1, -1, 2].into_iter().for_each(|value| bits.se(value));
        });
        assert_eq!(codes, [0x67, 0b1010_0110, 0b0100_0100, 0b1100_1001]);
    }

    #[test]
    fn long_numbers_are_whole() {
        let codes = written(|bits| bits.ue(0x0012_3456));
        // 20 zeros, then 0x123457 in 21 bits, then the stop bit.
        assert_eq!(codes, [0x67, 0, 0, 0x09, 0x1a, 0x2b, 0xc0]);
    }

    #[test]
    fn no_start_code_appears_in_a_unit() {
        let unit = written(|bits| bits.aligned([0, 0, 0, 0, 0, 1, 0, 0, 3, 0, 0, 4]));
        assert_eq!(unit, [0x67, 0, 0, 3, 0, 0, 3, 0, 1, 0, 0, 3, 3, 0, 0, 4, 0x80]);
    }

    #[test]
    fn one_can_go_back() {
        let mut bits = Bits::default();
        bits.put(0b101, 3);
        let place = bits.place();
        (0..50).for_each(|value| bits.ue(value));
        bits.go_back(place);
        assert_eq!(bits.len(), 3);
        let mut out = Vec::new();
        bits.finish(1, &mut out);
        assert_eq!(out, [1, 0b1011_0000]);
    }
}
