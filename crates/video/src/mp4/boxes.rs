//! The boxes of an MP4 file (ISO/IEC 14496-12; 14496-15 for `avc1` and `avcC`).

use crate::pictures::encoder::Encoder;

/// Ticks that a picture lasts; a second has [`Track::scale`].
pub(crate) const TICKS: u32 = 1000;

/// `sample_flags` of a picture that needs no other, and of one that does.
const FLAGS_SYNC: u32 = 0x0200_0000;
const FLAGS_NEXT: u32 = 0x0101_0000;

/// What the boxes say about the film.
#[derive(Clone)]
pub(crate) struct Track {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) scale: u32,
    sets: [Vec<u8>; 2],
}

/// The samples of a finished file.
#[derive(Default)]
pub(crate) struct Index {
    /// Bytes of each sample.
    pub(crate) sizes: Vec<u32>,
    /// Numbers of those that need no other, from 1.
    pub(crate) syncs: Vec<u32>,
    /// Where runs of samples begin in the file, and how many each has.
    pub(crate) chunks: Vec<(u64, u32)>,
}

/// Appends a box.
fn put(out: &mut Vec<u8>, kind: &[u8; 4], content: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(kind);
    content(out);
    // Only `mdat` can be larger, and it is not made here.
    let size = (out.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&size.to_be_bytes());
}

/// Appends a box with a version and flags.
fn put_full(out: &mut Vec<u8>, kind: &[u8; 4], version: u8, flags: u32, content: impl FnOnce(&mut Vec<u8>)) {
    put(out, kind, |out| {
        put32(out, [u32::from(version) << 24 | flags]);
        content(out);
    });
}

fn put32(out: &mut Vec<u8>, values: impl IntoIterator<Item = u32>) {
    values.into_iter().for_each(|value| out.extend_from_slice(&value.to_be_bytes()));
}

fn put16(out: &mut Vec<u8>, values: impl IntoIterator<Item = u16>) {
    values.into_iter().for_each(|value| out.extend_from_slice(&value.to_be_bytes()));
}

/// The matrix that turns nothing.
const UNTURNED: [u32; 9] = [0x0001_0000, 0, 0, 0, 0x0001_0000, 0, 0, 0, 0x4000_0000];

/// What a file begins with: its kind, and a box of 16 bytes that later becomes another.
pub(crate) fn beginning() -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, b"ftyp", |out| {
        out.extend_from_slice(b"isom");
        put32(out, [0x200]);
        out.extend_from_slice(b"isomiso6avc1mp41");
    });
    put(&mut out, b"free", |out| out.extend_from_slice(&[0; 8]));
    out
}

/// The head of an `mdat` of any size.
pub(crate) fn large_mdat(size: u64) -> [u8; 16] {
    let mut head = [0, 0, 0, 1, b'm', b'd', b'a', b't', 0, 0, 0, 0, 0, 0, 0, 0];
    head[8..].copy_from_slice(&size.to_be_bytes());
    head
}

/// A fragment: its `moof` and the head of its `mdat`; the samples follow.
pub(crate) fn fragment(number: u32, start: u64, is_sync: bool, sizes: &[u32]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut offset = 0;
    put(&mut out, b"moof", |out| {
        put_full(out, b"mfhd", 0, 0, |out| put32(out, [number]));
        put(out, b"traf", |out| {
            // Offsets count from the `moof`; duration and flags are the same for all samples.
            put_full(out, b"tfhd", 0, 0x02_0028, |out| put32(out, [1, TICKS, FLAGS_NEXT]));
            put_full(out, b"tfdt", 1, 0, |out| out.extend_from_slice(&start.to_be_bytes()));
            put_full(out, b"trun", 0, 0x205, |out| {
                put32(out, [sizes.len() as u32]);
                offset = out.len();
                put32(out, [0, if is_sync { FLAGS_SYNC } else { FLAGS_NEXT }]);
                put32(out, sizes.iter().copied());
            });
        });
    });
    let samples = out.len() as u32 + 8;
    out[offset..offset + 4].copy_from_slice(&samples.to_be_bytes());
    put32(&mut out, [8 + sizes.iter().sum::<u32>()]);
    out.extend_from_slice(b"mdat");
    out
}

impl Track {
    pub(crate) fn of(encoder: &Encoder) -> Self {
        let settings = encoder.settings();
        let (width, height) = (settings.width.next_multiple_of(2), settings.height.next_multiple_of(2));
        Self::new(width, height, settings.fps, encoder.parameter_sets())
    }

    /// The parameter sets are that of the sequence, of at least four bytes, and that of pictures.
    pub(crate) fn new(width: u32, height: u32, fps: u32, sets: [Vec<u8>; 2]) -> Self {
        Self { width, height, scale: fps * TICKS, sets }
    }

    /// The codec as RFC 6381 names it: profile, constraints and level of the sequence parameter set.
    pub(crate) fn codec(&self) -> String {
        let [sequence, _] = &self.sets;
        format!("avc1.{}", sequence[1..4].iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    }

    /// `moov`: of a file in fragments, or with the index of a finished one.
    pub(crate) fn movie(&self, index: Option<&Index>) -> Vec<u8> {
        let empty = Index::default();
        let samples = index.unwrap_or(&empty);
        let duration = samples.sizes.len() as u64 * u64::from(TICKS);
        let mut out = Vec::new();
        put(&mut out, b"moov", |out| {
            put_full(out, b"mvhd", 1, 0, |out| {
                put32(out, [0; 4]);
                put32(out, [self.scale]);
                out.extend_from_slice(&duration.to_be_bytes());
                put32(out, [0x0001_0000, 0x0100_0000, 0, 0]);
                put32(out, UNTURNED);
                put32(out, [0, 0, 0, 0, 0, 0, 2]);
            });
            put(out, b"trak", |out| self.track(out, samples, duration));
            if index.is_none() {
                put(out, b"mvex", |out| {
                    put_full(out, b"trex", 0, 0, |out| put32(out, [1, 1, TICKS, 0, FLAGS_NEXT]));
                });
            }
        });
        out
    }

    fn track(&self, out: &mut Vec<u8>, samples: &Index, duration: u64) {
        put_full(out, b"tkhd", 1, 3, |out| {
            put32(out, [0, 0, 0, 0, 1, 0]);
            out.extend_from_slice(&duration.to_be_bytes());
            put32(out, [0; 4]);
            put32(out, UNTURNED);
            put32(out, [self.width << 16, self.height << 16]);
        });
        put(out, b"mdia", |out| {
            put_full(out, b"mdhd", 1, 0, |out| {
                put32(out, [0; 4]);
                put32(out, [self.scale]);
                out.extend_from_slice(&duration.to_be_bytes());
                // The language `und`.
                put16(out, [0x55c4, 0]);
            });
            put_full(out, b"hdlr", 0, 0, |out| {
                put32(out, [0]);
                out.extend_from_slice(b"vide");
                put32(out, [0; 3]);
                out.extend_from_slice(b"screen\0");
            });
            put(out, b"minf", |out| {
                put_full(out, b"vmhd", 0, 1, |out| put32(out, [0; 2]));
                put(out, b"dinf", |out| {
                    put_full(out, b"dref", 0, 0, |out| {
                        put32(out, [1]);
                        put_full(out, b"url ", 0, 1, |_| {});
                    });
                });
                put(out, b"stbl", |out| self.table(out, samples));
            });
        });
    }

    fn table(&self, out: &mut Vec<u8>, samples: &Index) {
        put_full(out, b"stsd", 0, 0, |out| {
            put32(out, [1]);
            put(out, b"avc1", |out| self.entry(out));
        });
        let number = samples.sizes.len() as u32;
        put_full(out, b"stts", 0, 0, |out| {
            put32(out, [u32::from(number > 0)]);
            if number > 0 {
                put32(out, [number, TICKS]);
            }
        });
        if !samples.syncs.is_empty() {
            put_full(out, b"stss", 0, 0, |out| {
                put32(out, [samples.syncs.len() as u32]);
                put32(out, samples.syncs.iter().copied());
            });
        }
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for (chunk, (_, number)) in (1..).zip(&samples.chunks) {
            if runs.last().is_none_or(|(_, last)| last != number) {
                runs.push((chunk, *number));
            }
        }
        put_full(out, b"stsc", 0, 0, |out| {
            put32(out, [runs.len() as u32]);
            runs.iter().for_each(|(chunk, number)| put32(out, [*chunk, *number, 1]));
        });
        put_full(out, b"stsz", 0, 0, |out| {
            put32(out, [0, number]);
            put32(out, samples.sizes.iter().copied());
        });
        put_full(out, b"co64", 0, 0, |out| {
            put32(out, [samples.chunks.len() as u32]);
            samples.chunks.iter().for_each(|(offset, _)| out.extend_from_slice(&offset.to_be_bytes()));
        });
    }

    fn entry(&self, out: &mut Vec<u8>) {
        put32(out, [0, 1]);
        put32(out, [0; 4]);
        // Both sides are at most 8192.
        put16(out, [self.width as u16, self.height as u16]);
        put32(out, [0x0048_0000, 0x0048_0000, 0]);
        put16(out, [1]);
        out.extend_from_slice(&[0; 32]);
        put16(out, [24, 0xffff]);
        let [sequence, picture] = &self.sets;
        put(out, b"avcC", |out| {
            out.push(1);
            out.extend_from_slice(&sequence[1..4]);
            // Lengths of four bytes, one set of each kind.
            out.extend_from_slice(&[0xff, 0xe1]);
            put16(out, [sequence.len() as u16]);
            out.extend_from_slice(sequence);
            out.push(1);
            put16(out, [picture.len() as u16]);
            out.extend_from_slice(picture);
        });
        put(out, b"colr", |out| {
            out.extend_from_slice(b"nclx");
            put16(out, [1, 1, 1]);
            out.push(0);
        });
    }
}
