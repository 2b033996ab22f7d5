use std::io::Cursor;

use super::*;

fn encoded(bgrx: &[u8], width: u32, height: u32, compressor: &mut Compressor) -> Vec<u8> {
    let bands: Vec<Band> = bgrx
        .chunks(width as usize * 4 * BAND_ROWS as usize)
        .map(|rows| {
            compressor.load(rows, width);
            compressor.band(width)
        })
        .collect();
    assemble(width, height, bands.iter())
}

fn rgb(bgrx: &[u8]) -> Vec<u8> {
    bgrx.chunks_exact(4).flat_map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect()
}

/// Decodes with a decoder that checks every checksum, and its stream with another one.
fn decoded(png: &[u8], width: u32, height: u32) -> Vec<u8> {
    let mut decoder = png::Decoder::new(Cursor::new(png));
    decoder.ignore_checksums(false);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (width, height));
    reader.finish().unwrap();

    let idat = png.windows(4).position(|kind| kind == b"IDAT").unwrap();
    let len = u32::from_be_bytes(png[idat - 4..idat].try_into().unwrap()) as usize;
    let raw = miniz_oxide::inflate::decompress_to_vec_zlib(&png[idat + 4..][..len]).unwrap();
    let stride = width as usize * 3 + 1;
    assert_eq!(raw.len(), stride * height as usize);
    assert!(unfiltered(&raw, stride) == pixels, "the two decoders disagree");
    pixels
}

/// Takes filters None and Sub back (PNG §9.2).
fn unfiltered(raw: &[u8], stride: usize) -> Vec<u8> {
    let mut pixels = Vec::new();
    for row in raw.chunks(stride) {
        let start = pixels.len();
        for (at, byte) in row[1..].iter().enumerate() {
            let left = if row[0] == 1 && at >= 3 { pixels[start + at - 3] } else { 0 };
            assert!(row[0] <= 1);
            pixels.push(byte.wrapping_add(left));
        }
    }
    pixels
}

/// A generator of numbers that depends on nothing.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 32) % u64::from(limit)) as u32
    }
}

/// A frame of one of several kinds, from blank to noise.
fn frame(kind: u32, width: u32, height: u32, random: &mut Random) -> Vec<u8> {
    let (w, h) = (width as usize, height as usize);
    let mut pixels = vec![[255u8, 255, 255, 0]; w * h];
    match kind {
        0 => {}
        1 => pixels.iter_mut().for_each(|pixel| *pixel = random.below(u32::MAX).to_le_bytes()),
        2 => {
            for (at, pixel) in pixels.iter_mut().enumerate() {
                *pixel = [(at % w) as u8, (at / w) as u8, (at % w + at / w) as u8, 9];
            }
        }
        3 => {
            // Rectangles, as of windows and controls.
            for _ in 0..30 {
                let (x, y) = (random.below(width) as usize, random.below(height) as usize);
                let (right, bottom) =
                    (w.min(x + 1 + random.below(200) as usize), h.min(y + 1 + random.below(90) as usize));
                let colour = random.below(u32::MAX).to_le_bytes();
                for row in y..bottom {
                    pixels[row * w + x..row * w + right].fill(colour);
                }
            }
        }
        4 => {
            // Something like text: few glyphs, again and again.
            for line in 0..h / 12 {
                let mut x = 2;
                while x + 8 < w {
                    let glyph = random.below(20);
                    let mut shape = Random(u64::from(glyph) + 99);
                    for down in 0..10 {
                        for right in 0..6 {
                            let shade = (shape.below(5) * 63) as u8;
                            pixels[(line * 12 + down) * w + x + right] = [shade, shade, shade, down as u8];
                        }
                    }
                    x += 7;
                }
            }
        }
        _ => {
            pixels.iter_mut().for_each(|pixel| *pixel = if random.below(9) == 0 { [0; 4] } else { [250; 4] })
        }
    }
    pixels.concat()
}

#[test]
fn every_frame_decodes_to_its_pixels_in_two_decoders() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut compressor = Compressor::default();
    let sizes =
        [(1, 1), (1, 100), (100, 1), (2, 33), (3, 31), (7, 65), (86, 64), (87, 32), (640, 97), (333, 200)];
    for (width, height) in sizes {
        for kind in 0..6 {
            let bgrx = frame(kind, width, height, &mut random);
            let png = encoded(&bgrx, width, height, &mut compressor);
            assert!(decoded(&png, width, height) == rgb(&bgrx), "kind {kind} of {width}x{height}");
        }
    }
    // Rows that are longer than what a copy can reach back.
    let bgrx = frame(2, 11_000, 40, &mut random);
    let png = encoded(&bgrx, 11_000, 40, &mut compressor);
    assert!(decoded(&png, 11_000, 40) == rgb(&bgrx));
}

#[test]
fn random_frames_of_random_sizes_decode_to_their_pixels() {
    let mut random = Random(42);
    let mut compressor = Compressor::default();
    for round in 0..300 {
        let (width, height) = (1 + random.below(150), 1 + random.below(80));
        let kind = random.below(6);
        let mut bgrx = frame(kind, width, height, &mut random);
        if round % 3 == 0 {
            let other = frame(random.below(6), width, height, &mut random);
            let half = bgrx.len() / 8 * 4;
            bgrx[half..].copy_from_slice(&other[half..]);
        }
        let png = encoded(&bgrx, width, height, &mut compressor);
        assert!(decoded(&png, width, height) == rgb(&bgrx), "round {round}: kind {kind} of {width}x{height}");
    }
}

#[test]
fn noise_grows_by_next_to_nothing_and_a_blank_screen_shrinks_to_next_to_nothing() {
    let mut random = Random(5);
    let mut compressor = Compressor::default();
    let noise = frame(1, 500, 320, &mut random);
    assert!(encoded(&noise, 500, 320, &mut compressor).len() < 500 * 320 * 3 + 320 + 1000);
    let blank = frame(0, 1920, 1080, &mut random);
    assert!(encoded(&blank, 1920, 1080, &mut compressor).len() < 20_000);
    let gradient = frame(2, 1000, 600, &mut random);
    assert!(encoded(&gradient, 1000, 600, &mut compressor).len() < 1000 * 600 / 20);
    let text = frame(4, 1000, 600, &mut random);
    assert!(encoded(&text, 1000, 600, &mut compressor).len() < 1000 * 600 * 3 / 4);
}

#[test]
fn the_digest_is_of_what_is_seen() {
    let mut compressor = Compressor::default();
    let mut rows = frame(1, 64, 32, &mut Random(8));
    let first = compressor.load(&rows, 64);
    rows[3] ^= 255;
    assert_eq!(compressor.load(&rows, 64), first);
    rows[2] ^= 1;
    assert_ne!(compressor.load(&rows, 64), first);
    rows[2] ^= 1;
    assert_ne!(compressor.load(&rows, 32), first);
}
