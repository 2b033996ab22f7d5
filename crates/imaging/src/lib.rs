//! Pictures shrunk and written as JPEG, and read from PNG and JPEG.
//!
//! The libraries below are generic: what uses them compiles them. This crate is compiled once; those that use it, which
//! change more often, are not slowed by it.

mod picture;

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{
    FilterType, ImageBufferError, PixelType, ResizeAlg, ResizeError, ResizeOptions, Resizer,
};
use jpeg_encoder::{ColorType, Encoder, EncodingError, SamplingFactor};
use thiserror::Error;

pub use picture::{Picture, cover, decode};

/// Why there is no picture.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImagingError {
    /// The bytes are not as many as the size says.
    #[error(transparent)]
    Size(#[from] ImageBufferError),
    /// The picture cannot be shrunk.
    #[error(transparent)]
    Shrink(#[from] ResizeError),
    /// The picture cannot be a JPEG.
    #[error(transparent)]
    Jpeg(#[from] EncodingError),
    /// The bytes are neither a PNG nor a JPEG.
    #[error("it is neither a PNG nor a JPEG")]
    UnknownFormat,
    /// The PNG cannot be read.
    #[error(transparent)]
    PngUnreadable(#[from] png::DecodingError),
    /// The JPEG cannot be read.
    #[error("{0}")]
    JpegUnreadable(#[from] zune_jpeg::errors::DecodeErrors),
    /// The picture has no pixels, or more than are read.
    #[error("a picture of {width}x{height} pixels is not read")]
    SizeNotRead {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// A JPEG has sides of at most 65535 pixels.
    #[error("{length} pixels are too many for a JPEG")]
    TooLong {
        /// The side's length in pixels.
        length: u32,
    },
}

/// A width and a height in pixels.
pub type Size = (u32, u32);

/// Shrinks pictures; its buffers are kept from one to the next.
#[derive(Default)]
pub struct Shrinker(Resizer);

impl Shrinker {
    /// Shrinks pixels of four bytes each to another size; `shrunk` then holds the result and nothing else.
    pub fn shrink(
        &mut self,
        pixels: &[u8],
        (width, height): Size,
        shrunk: &mut Vec<u8>,
        (to_width, to_height): Size,
    ) -> Result<(), ImagingError> {
        let source = ImageRef::new(width, height, pixels, PixelType::U8x4)?;
        shrunk.resize(to_width as usize * to_height as usize * 4, 0);
        let mut target = Image::from_slice_u8(to_width, to_height, shrunk, PixelType::U8x4)?;
        let convolution = ResizeAlg::Convolution(FilterType::CatmullRom);
        let options = ResizeOptions::new().use_alpha(false).resize_alg(convolution);
        Ok(self.0.resize(&source, &mut target, &options)?)
    }
}

/// A baseline JPEG without chroma subsampling of pixels (blue, green, red, unused); `quality` is 1 to 100.
pub fn jpeg(bgrx: &[u8], (width, height): Size, quality: u8) -> Result<Vec<u8>, ImagingError> {
    let side = |length: u32| u16::try_from(length).map_err(|_| ImagingError::TooLong { length });
    let mut bytes = Vec::with_capacity(bgrx.len() / 16);
    let mut encoder = Encoder::new(&mut bytes, quality);
    // Coloured text on a coloured ground would bleed.
    encoder.set_sampling_factor(SamplingFactor::F_1_1);
    encoder.encode(bgrx, side(width)?, side(height)?, ColorType::Bgra)?;
    Ok(bytes)
}
