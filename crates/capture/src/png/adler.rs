//! Adler-32 (RFC 1950 §8.2) of PNG rows, worked out from pixels, and put together from parts.

const MODULUS: u64 = 65_521;

/// Pixels that are summed up before the sums are reduced; small enough for 32 bits.
const BLOCK: usize = 1024;

/// Pixels that are summed up side by side.
const LANES: usize = 8;

/// The two sums over a run of bytes, of which the first starts at 0, and how many bytes they are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    low: u64,
    high: u64,
    len: u64,
}

impl Sums {
    /// A PNG row: the filter byte, then red, green and blue of each pixel (`0x00RRGGBB`).
    pub(crate) fn of_row(filter: u8, pixels: &[u32]) -> Self {
        let filter = Self { low: filter.into(), high: filter.into(), len: 1 };
        pixels.chunks(BLOCK).map(of_pixels).fold(filter, Self::then)
    }

    /// This run with another one behind it.
    pub(crate) fn then(self, next: Self) -> Self {
        Self {
            low: (self.low + next.low) % MODULUS,
            high: (self.high + next.len % MODULUS * self.low + next.high) % MODULUS,
            len: self.len + next.len,
        }
    }

    /// The checksum of the run.
    pub(crate) fn adler32(self) -> u32 {
        let low = (1 + self.low) % MODULUS;
        let high = (self.len + self.high) % MODULUS;
        // Both are below the modulus, which has 16 bits.
        (high << 16 | low) as u32
    }
}

fn of_pixels(pixels: &[u32]) -> Sums {
    let (chunks, rest) = pixels.as_chunks::<LANES>();
    let (mut sum, mut of_sums) = ([0u32; LANES], [0u32; LANES]);
    let (mut green, mut blue) = ([0u32; LANES], [0u32; LANES]);
    for chunk in chunks {
        for lane in 0..LANES {
            let (r, g, b) = (chunk[lane] >> 16 & 255, chunk[lane] >> 8 & 255, chunk[lane] & 255);
            sum[lane] += r + g + b;
            of_sums[lane] += sum[lane];
            green[lane] += g;
            blue[lane] += b;
        }
    }
    let total = |lanes: &[u32; LANES]| lanes.iter().map(|value| u64::from(*value)).sum::<u64>();
    let late: u64 = (0u64..).zip(&sum).map(|(lane, value)| lane * u64::from(*value)).sum();
    let pixels_weighted = LANES as u64 * total(&of_sums) - late;
    let front = Sums {
        low: total(&sum) % MODULUS,
        high: (3 * pixels_weighted - total(&green) - 2 * total(&blue)) % MODULUS,
        len: 3 * LANES as u64 * chunks.len() as u64,
    };
    rest.iter().fold(front, |sums, pixel| {
        let [_, r, g, b] = pixel.to_be_bytes().map(u64::from);
        sums.then(Sums { low: r + g + b, high: 3 * r + 2 * g + b, len: 3 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(bytes: &[u8]) -> u32 {
        let (mut a, mut b) = (1u32, 0u32);
        for byte in bytes {
            a = (a + u32::from(*byte)) % 65_521;
            b = (b + a) % 65_521;
        }
        b << 16 | a
    }

    #[test]
    fn it_is_the_checksum_of_the_bytes() {
        assert_eq!(Sums::default().adler32(), 1);
        let mut seed = 1u32;
        let mut whole = Sums::default();
        let mut bytes = Vec::new();
        for width in [1, 2, 7, 8, 9, 63, 1023, 1024, 1025, 5000] {
            let row: Vec<u32> = (0..width)
                .map(|_| {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    if width == 5000 { 0xff_ffff } else { seed >> 8 }
                })
                .collect();
            whole = whole.then(Sums::of_row((width % 2) as u8, &row));
            bytes.push((width % 2) as u8);
            bytes.extend(row.iter().flat_map(|pixel| pixel.to_be_bytes()[1..].to_vec()));
            assert_eq!(whole.adler32(), plain(&bytes), "after a row of {width}");
        }
    }
}
