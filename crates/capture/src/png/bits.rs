//! Bits into bytes, the first bit lowest (RFC 1951 §3.1.1).

/// Where bits are put together; its memory is used again for the next band.
#[derive(Default)]
pub(crate) struct Bits {
    bytes: Vec<u8>,
    at: usize,
    held: u64,
    count: u32,
}

impl Bits {
    /// Empty, with room for so many bytes; what is put beyond them is lost.
    pub(crate) fn begin(&mut self, room: usize) {
        // The last store writes eight bytes.
        let room = room + 8;
        if self.bytes.len() < room {
            self.bytes.resize(room, 0);
        }
        (self.at, self.held, self.count) = (0, 0, 0);
    }

    /// Puts at most 56 bits.
    #[inline]
    pub(crate) fn put(&mut self, bits: u64, count: u32) {
        self.held |= bits << self.count;
        self.count += count;
        if let Some(place) = self.bytes.get_mut(self.at..self.at + 8) {
            place.copy_from_slice(&self.held.to_le_bytes());
        }
        let whole = self.count >> 3;
        self.at += whole as usize;
        self.held >>= whole * 8;
        self.count &= 7;
    }

    /// Fills up the byte that was begun.
    pub(crate) fn align(&mut self) {
        if self.count > 0 {
            self.put(0, 8 - self.count);
        }
    }

    /// The whole bytes that were put.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.at).unwrap_or_default()
    }
}
