//! From the server's pixels to a PNG: scaling, colour order, compression, digest.

use std::hash::Hasher;

use desktop::Rect;
use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use twox_hash::XxHash3_64;

use crate::mark::crosshair;
use crate::zoom::{MAX_WIDTH, Zoomed, jpeg};

/// A finished picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// A PNG of 8-bit RGB; transparency is dropped, so a translucent window looks as it would over black.
    pub png: Vec<u8>,
    /// Width of the picture in pixels.
    pub width: u32,
    /// Height of the picture in pixels.
    pub height: u32,
    /// Picture pixels per window pixel, at most 1.
    pub scale: f64,
    /// True when these are not the pixels of now: the window is minimised, or did not draw a part that was covered.
    pub stale: bool,
}

/// Pixels as the X server gives them: four bytes each, blue, green, red, unused; rows without padding.
#[derive(Clone, Copy)]
pub(crate) struct Pixels<'p> {
    pub(crate) bytes: &'p [u8],
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// Turns pixels into pictures; its buffers are kept from one picture to the next.
#[derive(Default)]
pub(crate) struct Darkroom {
    resizer: Resizer,
    scaled: Vec<u8>,
    rgb: Vec<u8>,
}

impl Darkroom {
    /// A PNG no side of which is longer than `max_dimension` (0: no limit).
    pub(crate) fn develop(&mut self, pixels: Pixels<'_>, max_dimension: u32) -> Result<Picture, String> {
        let (width, height, scale) = self.fit(pixels, max_dimension)?;
        let png = encode(if scale < 1.0 { &self.scaled } else { pixels.bytes }, &mut self.rgb, width, height);
        Ok(Picture { png: png.map_err(|error| error.to_string())?, width, height, scale, stale: false })
    }

    /// The same picture with a red crosshair around a point, which is given in the pixels of the window.
    pub(crate) fn mark(
        &mut self,
        pixels: Pixels<'_>,
        (x, y): (u32, u32),
        max_dimension: u32,
    ) -> Result<Picture, String> {
        let (width, height, scale) = self.fit(pixels, max_dimension)?;
        if scale == 1.0 {
            self.scaled.clear();
            self.scaled.extend_from_slice(pixels.bytes);
        }
        let place = |at: u32, length: u32| ((f64::from(at) * scale) as u32).min(length - 1);
        crosshair(&mut self.scaled, width, place(x, width), place(y, height));
        let png = encode(&self.scaled, &mut self.rgb, width, height).map_err(|error| error.to_string())?;
        Ok(Picture { png, width, height, scale, stale: false })
    }

    /// A JPEG of `region`, which is what `pixels` hold.
    pub(crate) fn zoom(&mut self, pixels: Pixels<'_>, region: Rect) -> Result<Zoomed, String> {
        let scale = f64::min(1.0, f64::from(MAX_WIDTH) / f64::from(pixels.width));
        let (width, height) = (scaled(pixels.width, scale), scaled(pixels.height, scale));
        if scale < 1.0 {
            self.shrink(pixels, width, height)?;
        }
        let jpeg = jpeg(if scale < 1.0 { &self.scaled } else { pixels.bytes }, width, height)?;
        Ok(Zoomed { jpeg, width, height, region, scale, stale: false })
    }

    /// A hash of what the pixels show; equal for equal pictures of equal size.
    pub(crate) fn digest(&mut self, pixels: Pixels<'_>) -> String {
        // The unused byte of a pixel may change without anything to see.
        to_rgb(pixels.bytes, &mut self.rgb);
        let mut hash = XxHash3_64::with_seed(0);
        hash.write_u32(pixels.width);
        hash.write_u32(pixels.height);
        hash.write(&self.rgb);
        format!("{:016x}", hash.finish())
    }

    /// Size and scale of a picture that obeys the limit; one that had to be shrunk stands in `scaled`.
    fn fit(&mut self, pixels: Pixels<'_>, max_dimension: u32) -> Result<(u32, u32, f64), String> {
        let longest = pixels.width.max(pixels.height);
        if max_dimension == 0 || longest <= max_dimension {
            return Ok((pixels.width, pixels.height, 1.0));
        }
        let scale = f64::from(max_dimension) / f64::from(longest);
        let (width, height) = (scaled(pixels.width, scale), scaled(pixels.height, scale));
        self.shrink(pixels, width, height)?;
        Ok((width, height, scale))
    }

    fn shrink(&mut self, pixels: Pixels<'_>, width: u32, height: u32) -> Result<(), String> {
        let source = ImageRef::new(pixels.width, pixels.height, pixels.bytes, PixelType::U8x4)
            .map_err(|error| error.to_string())?;
        self.scaled.resize(width as usize * height as usize * 4, 0);
        let mut target = Image::from_slice_u8(width, height, &mut self.scaled, PixelType::U8x4)
            .map_err(|error| error.to_string())?;
        let options =
            ResizeOptions::new().use_alpha(false).resize_alg(ResizeAlg::Convolution(FilterType::CatmullRom));
        self.resizer.resize(&source, &mut target, &options).map_err(|error| error.to_string())
    }
}

fn scaled(length: u32, scale: f64) -> u32 {
    // At most the length itself, so it fits.
    ((f64::from(length) * scale).round() as u32).max(1)
}

fn to_rgb(bgrx: &[u8], rgb: &mut Vec<u8>) {
    rgb.resize(bgrx.len() / 4 * 3, 0);
    for (to, from) in rgb.chunks_exact_mut(3).zip(bgrx.chunks_exact(4)) {
        to.copy_from_slice(&[from[2], from[1], from[0]]);
    }
}

fn encode(bgrx: &[u8], rgb: &mut Vec<u8>, width: u32, height: u32) -> Result<Vec<u8>, png::EncodingError> {
    to_rgb(bgrx, rgb);
    let mut bytes = Vec::with_capacity(rgb.len() / 4);
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    encoder.write_header()?.write_image_data(rgb)?;
    Ok(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn decoded(png: &[u8]) -> Vec<u8> {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut rgb).unwrap();
        rgb
    }

    #[test]
    fn a_picture_keeps_every_colour() {
        let bytes: Vec<u8> = (0..=255u8).flat_map(|n| [n, 255 - n, n ^ 0x5a, 77]).collect();
        let pixels = Pixels { bytes: &bytes, width: 32, height: 8 };
        let picture = Darkroom::default().develop(pixels, 0).unwrap();
        assert_eq!((picture.width, picture.height, picture.scale), (32, 8, 1.0));
        let expected: Vec<u8> = (0..=255u8).flat_map(|n| [n ^ 0x5a, 255 - n, n]).collect();
        assert_eq!(decoded(&picture.png), expected);
    }

    #[test]
    fn the_longest_side_obeys_the_limit() {
        let bytes = [9, 9, 9, 0].repeat(400 * 100);
        let pixels = Pixels { bytes: &bytes, width: 400, height: 100 };
        let mut darkroom = Darkroom::default();
        let small = darkroom.develop(pixels, 100).unwrap();
        assert_eq!((small.width, small.height, small.scale), (100, 25, 0.25));
        assert!(decoded(&small.png).iter().all(|value| *value == 9));
        assert_eq!(darkroom.develop(pixels, 400).unwrap().scale, 1.0);
        assert_eq!(darkroom.develop(pixels, 1).unwrap().height, 1);
    }

    #[test]
    fn a_digest_ignores_the_unused_byte_and_nothing_else() {
        let mut darkroom = Darkroom::default();
        let mut digest = |bytes: &[u8]| darkroom.digest(Pixels { bytes, width: 2, height: 1 });
        let first = digest(&[1, 2, 3, 0, 4, 5, 6, 0]);
        assert_eq!(digest(&[1, 2, 3, 9, 4, 5, 6, 255]), first);
        assert_ne!(digest(&[1, 2, 3, 0, 4, 5, 7, 0]), first);
    }
}
