//! Pictures read from files, and fitted to a screen.

use std::io::Cursor;

use png::{ColorType, Transformations};
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

use crate::{ImagingError, Shrinker, Size};

/// Most pixels of a picture that is read: what is compressed well may be larger than any memory.
const MOST: u64 = 100_000_000;

/// A picture in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels (blue, green, red, unused), the rows from the top without gaps.
    pub bgrx: Vec<u8>,
    /// Width and height.
    pub size: Size,
}

/// Reads a PNG or a JPEG; what is transparent lies on black.
pub fn decode(bytes: &[u8]) -> Result<Picture, ImagingError> {
    if bytes.starts_with(b"\x89PNG") {
        decode_png(bytes)
    } else if bytes.starts_with(b"\xff\xd8") {
        decode_jpeg(bytes)
    } else {
        Err(ImagingError::UnknownFormat)
    }
}

/// The pixels of the picture scaled to cover a size without distortion; what stands over is cut off on both sides alike.
pub fn cover(picture: &Picture, (width, height): Size) -> Result<Vec<u8>, ImagingError> {
    check((width, height))?;
    let (has_width, has_height) = picture.size;
    // The largest part with the proportions that are asked for.
    let fitted = |has: u32, by: u32, of: u32| (u64::from(has) * u64::from(by) / u64::from(of)).max(1) as u32;
    let cut_width = has_width.min(fitted(has_height, width, height));
    let cut_height = has_height.min(fitted(has_width, height, width));
    let (left, top) = ((has_width - cut_width) / 2, (has_height - cut_height) / 2);
    let row = has_width as usize * 4;
    let from = left as usize * 4;
    let rows = picture.bgrx.chunks_exact(row).skip(top as usize).take(cut_height as usize);
    let cut: Vec<u8> = rows.flat_map(|row| &row[from..from + cut_width as usize * 4]).copied().collect();
    let mut covering = Vec::new();
    Shrinker::default().shrink(&cut, (cut_width, cut_height), &mut covering, (width, height))?;
    Ok(covering)
}

fn check((width, height): Size) -> Result<(), ImagingError> {
    let count = u64::from(width) * u64::from(height);
    if count == 0 || count > MOST { Err(ImagingError::SizeNotRead { width, height }) } else { Ok(()) }
}

fn decode_png(bytes: &[u8]) -> Result<Picture, ImagingError> {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(Transformations::normalize_to_color8() | Transformations::ALPHA);
    let mut reader = decoder.read_info()?;
    let size = reader.info().size();
    check(size)?;
    let mut pixels = vec![0; reader.output_buffer_size().unwrap_or_default()];
    let frame = reader.next_frame(&mut pixels)?;
    pixels.truncate(frame.buffer_size());
    let on_black = |value: u8, alpha: u8| (u16::from(value) * u16::from(alpha) / 255) as u8;
    let bgrx = match frame.color_type {
        ColorType::GrayscaleAlpha => {
            let pixel = |pixel: &[u8]| {
                let grey = on_black(pixel[0], pixel[1]);
                [grey, grey, grey, 0]
            };
            pixels.chunks_exact(2).flat_map(pixel).collect()
        }
        ColorType::Rgba => {
            let pixel = |pixel: &[u8]| {
                let alpha = pixel[3];
                [on_black(pixel[2], alpha), on_black(pixel[1], alpha), on_black(pixel[0], alpha), 0]
            };
            pixels.chunks_exact(4).flat_map(pixel).collect()
        }
        // The transformations give no other.
        _ => return Err(ImagingError::UnknownFormat),
    };
    Ok(Picture { bgrx, size })
}

fn decode_jpeg(bytes: &[u8]) -> Result<Picture, ImagingError> {
    let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers()?;
    let (width, height) = decoder.dimensions().unwrap_or_default();
    let size = (u32::try_from(width).unwrap_or(u32::MAX), u32::try_from(height).unwrap_or(u32::MAX));
    check(size)?;
    let pixels = decoder.decode()?;
    let bgrx = pixels.chunks_exact(3).flat_map(|pixel| [pixel[2], pixel[1], pixel[0], 0]).collect();
    Ok(Picture { bgrx, size })
}
