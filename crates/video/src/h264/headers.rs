//! Parameter sets and slice headers (ITU-T H.264, 7.3.2, 7.3.3 and annex E).

use crate::h264::bits::Bits;

/// What a film is, for its headers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    /// Width in pixels, even.
    pub(crate) width: u32,
    /// Height in pixels, even.
    pub(crate) height: u32,
    pub(crate) fps: u32,
    pub(crate) qp: u8,
}

/// Levels with their limits of macroblocks a second and a picture (table A-1), from the first whose vectors reach ±512 on.
const LEVELS: [(u8, u32, u32); 9] = [
    (31, 108_000, 3_600),
    (32, 216_000, 5_120),
    (40, 245_760, 8_192),
    (42, 522_240, 8_704),
    (50, 589_824, 22_080),
    (51, 983_040, 36_864),
    (52, 2_073_600, 36_864),
    (60, 4_177_920, 139_264),
    (62, 16_711_680, 139_264),
];

/// `nal_ref_idc` 3 and the type, in the first byte of a unit.
pub(crate) const SEQUENCE: u8 = 0x67;
pub(crate) const PICTURE: u8 = 0x68;
const SLICE: u8 = 0x61;
/// `nal_ref_idc` 0: nothing goes by it.
const SLICE_OF_FILLER: u8 = 0x01;
const SLICE_OF_IDR: u8 = 0x65;

/// Bits of `frame_num`.
const FRAME_NUMBER: u32 = 8;

impl Format {
    pub(crate) fn columns(&self) -> u32 {
        self.width.div_ceil(16)
    }

    pub(crate) fn rows(&self) -> u32 {
        self.height.div_ceil(16)
    }

    /// `level_idc`; none when the picture is larger than any level's.
    pub(crate) fn level(&self) -> Option<u8> {
        let (columns, rows) = (self.columns(), self.rows());
        let number = columns * rows;
        let fits = |(_, rate, size): &&(u8, u32, u32)| {
            number <= *size && number * self.fps <= *rate && columns.max(rows).pow(2) <= 8 * size
        };
        LEVELS.iter().find(fits).map(|(level, ..)| *level)
    }

    /// The sequence parameter set, as a NAL unit.
    pub(crate) fn sequence(&self, level: u8) -> Vec<u8> {
        let mut bits = Bits::default();
        // Baseline, with the flags of set 0 and set 1: Constrained Baseline.
        bits.put(66, 8);
        bits.put(0b1100_0000, 8);
        bits.put(level.into(), 8);
        bits.ue(0);
        bits.ue(FRAME_NUMBER - 4);
        // Pictures are shown in the order in which they are coded.
        bits.ue(2);
        bits.ue(1);
        bits.flag(false);
        bits.ue(self.columns() - 1);
        bits.ue(self.rows() - 1);
        bits.flag(true);
        bits.flag(true);
        let cropped = [self.columns() * 16 - self.width, self.rows() * 16 - self.height];
        bits.flag(cropped != [0, 0]);
        if cropped != [0, 0] {
            for cut in [0, cropped[0] / 2, 0, cropped[1] / 2] {
                bits.ue(cut);
            }
        }
        bits.flag(true);
        self.usability(&mut bits);
        finished(&mut bits, SEQUENCE)
    }

    /// `vui_parameters`: colours as [`crate::pictures::colour`] makes them, a constant rate, nothing out of order.
    fn usability(&self, bits: &mut Bits) {
        // Square samples.
        bits.flag(true);
        bits.put(1, 8);
        bits.flag(false);
        // Any kind of video, limited range, then BT.709 three times.
        bits.flag(true);
        bits.put(5, 3);
        bits.flag(false);
        bits.flag(true);
        for _ in 0..3 {
            bits.put(1, 8);
        }
        // Chroma stands in the middle.
        bits.flag(true);
        bits.ue(1);
        bits.ue(1);
        // Two ticks a frame.
        bits.flag(true);
        bits.put(1, 32);
        bits.put(2 * self.fps, 32);
        bits.flag(true);
        bits.flag(false);
        bits.flag(false);
        bits.flag(false);
        bits.flag(true);
        bits.flag(true);
        for value in [0, 0, 13, 11, 0, 1] {
            bits.ue(value);
        }
    }

    /// The picture parameter set, as a NAL unit.
    pub(crate) fn picture(&self) -> Vec<u8> {
        let mut bits = Bits::default();
        bits.ue(0);
        bits.ue(0);
        // CAVLC, one slice group, one reference, no weights.
        bits.flag(false);
        bits.flag(false);
        bits.ue(0);
        bits.ue(0);
        bits.ue(0);
        bits.flag(false);
        bits.put(0, 2);
        bits.se(i32::from(self.qp) - 26);
        bits.se(0);
        bits.se(0);
        // Slices say whether they are deblocked.
        bits.flag(true);
        bits.flag(false);
        bits.flag(false);
        finished(&mut bits, PICTURE)
    }
}

/// A slice's place among the pictures.
#[derive(Clone, Copy)]
pub(crate) enum Slice {
    /// Of a picture that needs no other.
    Idr,
    /// Of a picture that goes on from the one before; how many came since the last IDR picture.
    Next(u32),
    /// Of a picture that goes on from the one before, and that no other goes on from; counted as `Next` is.
    Filler(u32),
}

impl Slice {
    /// The first byte of the NAL unit.
    pub(crate) fn header(self) -> u8 {
        match self {
            Self::Idr => SLICE_OF_IDR,
            Self::Next(_) => SLICE,
            Self::Filler(_) => SLICE_OF_FILLER,
        }
    }

    /// Begins the slice whose first macroblock is given.
    pub(crate) fn begin(self, bits: &mut Bits, first: usize) {
        bits.ue(first as u32);
        match self {
            Self::Idr => {
                bits.ue(7);
                bits.ue(0);
                bits.put(0, FRAME_NUMBER);
                // `idr_pic_id` only differs between IDR pictures that follow each other.
                bits.ue(0);
                bits.put(0, 2);
            }
            Self::Next(number) | Self::Filler(number) => {
                bits.ue(5);
                bits.ue(0);
                bits.put(number % (1 << FRAME_NUMBER), FRAME_NUMBER);
                bits.put(0, if matches!(self, Self::Filler(_)) { 2 } else { 3 });
            }
        }
        bits.se(0);
        // No deblocking: what was copied stays exact.
        bits.ue(1);
    }
}

fn finished(bits: &mut Bits, header: u8) -> Vec<u8> {
    let mut unit = Vec::new();
    bits.finish(header, &mut unit);
    unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_fits_the_size() {
        let level = |width, height| Format { width, height, fps: 30, qp: 20 }.level();
        assert_eq!(level(2, 2), Some(31));
        assert_eq!(level(1280, 720), Some(31));
        assert_eq!(level(1920, 1080), Some(40));
        assert_eq!(level(2560, 1440), Some(50));
        assert_eq!(level(3840, 2160), Some(51));
        assert_eq!(level(8192, 4320), Some(60));
        assert_eq!(level(16, 20_000), None);
    }
}
