//! Cursors from image files: PNG, JPEG, SVG and ICO.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use resvg::tiny_skia::{FilterQuality, IntSize, Pixmap, PixmapPaint, Transform};
use resvg::usvg::{ImageKind, Options, Tree};

use super::label;
use crate::CursorError;

/// Bytes of a file that are read at most.
const MOST_BYTES: u64 = 8 << 20;

/// Longest side of an image in its own pixels.
const LONGEST_SIDE: f32 = 4096.0;

/// How many of an image's pixels go into one of the cursor's at most, along each side.
const MOST_SAMPLES: u32 = 8;

/// An image that was read: its file is not needed any more.
#[derive(Clone)]
pub struct Image {
    drawing: Drawing,
    /// The point of it that it shows, as a part of its width and height.
    pub(crate) hot: (f32, f32),
}

#[derive(Clone)]
enum Drawing {
    Tree(Arc<Tree>),
    Pixels(Arc<Pixmap>),
}

impl Image {
    /// Reads an image file, whose kind its first bytes tell. Fails with `cursor_image_unreadable`.
    ///
    /// It shows the point at its top left corner; a CUR file says itself which.
    pub fn open(path: &Path) -> Result<Self, CursorError> {
        let refuse =
            |reason: String| CursorError::ImageUnreadable { path: path.display().to_string(), reason };
        let bytes = read(path).map_err(refuse)?;
        let image = Self::decode(bytes).map_err(refuse)?;
        let shown = image.draw(32).ok_or_else(|| refuse("cannot be drawn".to_owned()))?;
        if shown.pixels().iter().all(|pixel| pixel.alpha() == 0) {
            return Err(refuse("shows nothing".to_owned()));
        }
        Ok(image)
    }

    fn decode(bytes: Vec<u8>) -> Result<Self, String> {
        if bytes.starts_with(&[0, 0, 1, 0]) || bytes.starts_with(&[0, 0, 2, 0]) {
            return icon(&bytes);
        }
        let is_png = bytes.starts_with(b"\x89PNG\r\n\x1a\n");
        let is_jpeg = bytes.starts_with(&[0xff, 0xd8, 0xff]);
        let tree = if is_png || is_jpeg {
            framed(Arc::new(bytes), is_png)
        } else {
            let text = std::str::from_utf8(&bytes).map_err(|_| "is of none of these kinds".to_owned())?;
            Tree::from_str(text, &label::options())
        };
        let tree = tree.map_err(|error| format!("cannot be read: {error}"))?;
        let (width, height) = (tree.size().width(), tree.size().height());
        if width.max(height) > LONGEST_SIDE || width.min(height) <= 0.0 {
            return Err(format!("has {width}x{height} pixels"));
        }
        Ok(Self { drawing: Drawing::Tree(Arc::new(tree)), hot: (0.0, 0.0) })
    }

    fn size(&self) -> (f32, f32) {
        match &self.drawing {
            Drawing::Tree(tree) => (tree.size().width(), tree.size().height()),
            Drawing::Pixels(pixels) => (pixels.width() as f32, pixels.height() as f32),
        }
    }

    /// The image in a box whose longer side has so many pixels.
    pub(crate) fn draw(&self, side: u32) -> Option<Pixmap> {
        let (width, height) = self.size();
        let scale = side as f32 / width.max(height);
        let (columns, rows) =
            ((width * scale).round().max(1.0) as u32, (height * scale).round().max(1.0) as u32);
        // Averaging is what makes a small cursor of a large image.
        let samples = ((1.0 / scale).ceil() as u32).clamp(1, MOST_SAMPLES);
        let mut fine = Pixmap::new(columns * samples, rows * samples)?;
        let fit = Transform::from_scale(fine.width() as f32 / width, fine.height() as f32 / height);
        match &self.drawing {
            Drawing::Tree(tree) => resvg::render(tree, fit, &mut fine.as_mut()),
            Drawing::Pixels(pixels) => {
                let paint = PixmapPaint { quality: FilterQuality::Bilinear, ..PixmapPaint::default() };
                fine.draw_pixmap(0, 0, pixels.as_ref().as_ref(), &paint, fit, None);
            }
        }
        averaged(&fine, samples)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let cannot = |error: std::io::Error| format!("cannot be read: {error}");
    let file = File::open(path).map_err(cannot)?;
    let about = file.metadata().map_err(cannot)?;
    if !about.is_file() {
        return Err("is no file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err("is larger than 8 MB".to_owned());
    }
    Ok(bytes)
}

/// A drawing that holds nothing but a picture.
fn framed(bytes: Arc<Vec<u8>>, is_png: bool) -> Result<Tree, resvg::usvg::Error> {
    let mut options: Options<'_> = Options::default();
    options.image_href_resolver.resolve_string = Box::new(move |_, _| {
        Some(if is_png { ImageKind::PNG(Arc::clone(&bytes)) } else { ImageKind::JPEG(Arc::clone(&bytes)) })
    });
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">\
               <image xlink:href=\"picture\"/></svg>";
    Tree::from_str(svg, &options)
}

/// The largest picture of an ICO or CUR file.
fn icon(bytes: &[u8]) -> Result<Image, String> {
    let broken = |error: std::io::Error| format!("cannot be read: {error}");
    let folder = ico::IconDir::read(Cursor::new(bytes)).map_err(broken)?;
    let largest = folder.entries().iter().max_by_key(|entry| (entry.width(), entry.bits_per_pixel()));
    let entry = largest.ok_or_else(|| "holds no picture".to_owned())?;
    // A PNG inside may be larger than the directory can say.
    if entry.width().max(entry.height()) > LONGEST_SIDE as u32 {
        return Err(format!("has {}x{} pixels", entry.width(), entry.height()));
    }
    let decoded = entry.decode().map_err(broken)?;
    let (width, height) = (decoded.width(), decoded.height());
    let hot = decoded
        .cursor_hotspot()
        .map_or((0.0, 0.0), |(x, y)| (f32::from(x) / width as f32, f32::from(y) / height as f32));
    let mut bytes = decoded.into_rgba_data();
    for pixel in bytes.chunks_exact_mut(4) {
        let alpha = u16::from(pixel[3]);
        for part in &mut pixel[..3] {
            // At most 255.
            *part = ((u16::from(*part) * alpha + 127) / 255) as u8;
        }
    }
    let size = IntSize::from_wh(width, height).ok_or_else(|| "holds no pixels".to_owned())?;
    let pixels = Pixmap::from_vec(bytes, size).ok_or_else(|| "holds too few pixels".to_owned())?;
    Ok(Image { drawing: Drawing::Pixels(Arc::new(pixels)), hot })
}

/// A picture with each square of pixels made one.
fn averaged(fine: &Pixmap, samples: u32) -> Option<Pixmap> {
    let (width, height) = (fine.width() / samples, fine.height() / samples);
    let mut coarse = Pixmap::new(width, height)?;
    let (from, count) = (fine.data(), samples * samples);
    for (index, pixel) in (0..width * height).zip(coarse.data_mut().chunks_exact_mut(4)) {
        let (left, top) = (index % width * samples, index / width * samples);
        for (part, value) in pixel.iter_mut().enumerate() {
            let square = (0..count).map(|at| (left + at % samples) + (top + at / samples) * fine.width());
            let sum: u32 = square.map(|at| u32::from(from[at as usize * 4 + part])).sum();
            *value = ((sum + count / 2) / count) as u8;
        }
    }
    Some(coarse)
}
