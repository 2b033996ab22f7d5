//! From the server's pixels to a PNG: scaling, compression, digest.

use desktop::Rect;
use imaging::{Shrinker, jpeg};

use crate::banded_image::{BandedImage, Compressors, Purpose};
use crate::mark::crosshair;
use crate::zoom::{MAX_WIDTH, QUALITY, Zoomed};

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

/// A finished picture in another format than PNG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The file.
    pub bytes: Vec<u8>,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
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
pub(crate) struct PictureEncoder {
    shrinker: Shrinker,
    scaled: Vec<u8>,
    pub(crate) compressors: Compressors,
}

/// Width, height and scale of a picture of so many pixels, no side of which is longer than the limit (0: none).
pub(crate) fn fitted(width: u32, height: u32, max_dimension: u32) -> (u32, u32, f64) {
    let longest = width.max(height);
    if max_dimension == 0 || longest <= max_dimension {
        return (width, height, 1.0);
    }
    let scale = f64::from(max_dimension) / f64::from(longest);
    (scaled(width, scale), scaled(height, scale), scale)
}

impl PictureEncoder {
    /// Brings an image up to date with pixels, which are shrunk if the image is smaller; of others only what it wants is
    /// looked at.
    pub(crate) fn update(
        &mut self,
        image: &mut BandedImage,
        pixels: Pixels<'_>,
        purpose: Purpose,
    ) -> Result<(), String> {
        if (image.width, image.height) == (pixels.width, pixels.height) {
            image.update(&mut self.compressors, pixels.bytes, purpose);
            return Ok(());
        }
        self.shrink(pixels, image.width, image.height)?;
        image.update(&mut self.compressors, &self.scaled, purpose);
        Ok(())
    }

    /// A picture with a red crosshair around a point, which is given in the pixels of the window.
    pub(crate) fn mark(
        &mut self,
        pixels: Pixels<'_>,
        (x, y): (u32, u32),
        max_dimension: u32,
    ) -> Result<Picture, String> {
        let (width, height, scale) = fitted(pixels.width, pixels.height, max_dimension);
        if scale < 1.0 {
            self.shrink(pixels, width, height)?;
        } else {
            self.scaled.clear();
            self.scaled.extend_from_slice(pixels.bytes);
        }
        let place = |at: u32, length: u32| ((f64::from(at) * scale) as u32).min(length - 1);
        crosshair(&mut self.scaled, width, place(x, width), place(y, height));
        let mut image = BandedImage::new(width, height);
        image.update(&mut self.compressors, &self.scaled, Purpose::Picture);
        Ok(Picture { png: image.png(), width, height, scale, stale: false })
    }

    /// A JPEG of `region`, which is what `pixels` hold.
    pub(crate) fn zoom(&mut self, pixels: Pixels<'_>, region: Rect) -> Result<Zoomed, String> {
        let scale = f64::min(1.0, f64::from(MAX_WIDTH) / f64::from(pixels.width));
        let (width, height) = (scaled(pixels.width, scale), scaled(pixels.height, scale));
        if scale < 1.0 {
            self.shrink(pixels, width, height)?;
        }
        let shown = if scale < 1.0 { &self.scaled } else { pixels.bytes };
        let jpeg = jpeg(shown, (width, height), QUALITY).map_err(|error| error.to_string())?;
        Ok(Zoomed { jpeg, width, height, region, scale, stale: false })
    }

    /// A hash of what the pixels show; equal for equal pictures of equal size.
    pub(crate) fn digest(&mut self, pixels: Pixels<'_>) -> String {
        let mut image = BandedImage::new(pixels.width, pixels.height);
        image.update(&mut self.compressors, pixels.bytes, Purpose::Digest);
        image.digest()
    }

    fn shrink(&mut self, pixels: Pixels<'_>, width: u32, height: u32) -> Result<(), String> {
        self.shrinker
            .shrink(pixels.bytes, (pixels.width, pixels.height), &mut self.scaled, (width, height))
            .map_err(|error| error.to_string())
    }
}

fn scaled(length: u32, scale: f64) -> u32 {
    // At most the length itself, so it fits.
    ((f64::from(length) * scale).round() as u32).max(1)
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

    fn encoded(encoder: &mut PictureEncoder, pixels: Pixels<'_>, max_dimension: u32) -> (BandedImage, f64) {
        let (width, height, scale) = fitted(pixels.width, pixels.height, max_dimension);
        let mut image = BandedImage::new(width, height);
        encoder.update(&mut image, pixels, Purpose::Picture).unwrap();
        (image, scale)
    }

    #[test]
    fn a_picture_keeps_every_colour() {
        let bytes: Vec<u8> = (0..=255u8).flat_map(|n| [n, 255 - n, n ^ 0x5a, 77]).collect();
        let pixels = Pixels { bytes: &bytes, width: 32, height: 8 };
        let (image, scale) = encoded(&mut PictureEncoder::default(), pixels, 0);
        assert_eq!((image.width, image.height, scale), (32, 8, 1.0));
        let expected: Vec<u8> = (0..=255u8).flat_map(|n| [n ^ 0x5a, 255 - n, n]).collect();
        assert_eq!(decoded(&image.png()), expected);
    }

    #[test]
    fn the_longest_side_obeys_the_limit() {
        let bytes = [9, 9, 9, 0].repeat(400 * 100);
        let pixels = Pixels { bytes: &bytes, width: 400, height: 100 };
        let mut encoder = PictureEncoder::default();
        let (small, scale) = encoded(&mut encoder, pixels, 100);
        assert_eq!((small.width, small.height, scale), (100, 25, 0.25));
        assert!(decoded(&small.png()).iter().all(|value| *value == 9));
        assert_eq!(encoded(&mut encoder, pixels, 400).1, 1.0);
        assert_eq!(encoded(&mut encoder, pixels, 1).0.height, 1);
    }

    #[test]
    fn a_crosshair_stands_where_the_point_is_in_the_scaled_picture() {
        let bytes = [9, 9, 9, 0].repeat(400 * 100);
        let pixels = Pixels { bytes: &bytes, width: 400, height: 100 };
        let marked = PictureEncoder::default().mark(pixels, (200, 50), 200).unwrap();
        let rgb = decoded(&marked.png);
        assert_eq!((marked.width, marked.height, marked.scale), (200, 50, 0.5));
        assert_eq!(rgb[(25 * 200 + 100) * 3..][..3], [255, 0, 0]);
    }

    #[test]
    fn a_digest_ignores_the_unused_byte_and_nothing_else() {
        let mut encoder = PictureEncoder::default();
        let mut digest = |bytes: &[u8]| encoder.digest(Pixels { bytes, width: 2, height: 1 });
        let first = digest(&[1, 2, 3, 0, 4, 5, 6, 0]);
        assert_eq!(digest(&[1, 2, 3, 9, 4, 5, 6, 255]), first);
        assert_ne!(digest(&[1, 2, 3, 0, 4, 5, 7, 0]), first);
    }
}
