//! Screens that are drawn here, filmed, and decoded by ffmpeg.

pub mod canvas;
pub mod ffmpeg;

use std::path::{Path, PathBuf};

use desktop::{Rect, Session};
use video::{Budget, Encoder, Mp4Writer, Picture, Settings, Shown, VideoError};

use canvas::Canvas;

/// The session of a display by its name.
pub fn session(display: &str) -> Session {
    Session::of(Some(display)).unwrap()
}

/// A film in the making, and what a decoder has to show of it.
pub struct Take {
    pub canvas: Canvas,
    pub encoder: Encoder,
    writer: Mp4Writer,
    path: PathBuf,
    /// Every picture as it has to be decoded.
    pub shown: Vec<Shown>,
    pub sizes: Vec<usize>,
    pub syncs: Vec<bool>,
    /// The last one is a picture that no other goes by; another has to come between it and the next such.
    pub is_filled: bool,
    folder: test_support::Folder,
}

/// A finished film.
pub struct Film {
    pub path: PathBuf,
    pub shown: Vec<Shown>,
    pub sizes: Vec<usize>,
    pub syncs: Vec<bool>,
    _folder: test_support::Folder,
}

impl Take {
    pub fn new(width: u32, height: u32) -> Self {
        Self::with(Settings { width, height, fps: 30, qp: 20 })
    }

    pub fn with(settings: Settings) -> Self {
        let folder = test_support::Folder::new().unwrap();
        let path = folder.path().join("film.mp4");
        let encoder = Encoder::new(settings).unwrap();
        let writer = Mp4Writer::create(&path, &encoder).unwrap();
        let canvas = Canvas::new(settings.width, settings.height);
        let (shown, sizes, syncs) = (Vec::new(), Vec::new(), Vec::new());
        let mut take = Self { canvas, encoder, writer, path, shown, sizes, syncs, is_filled: false, folder };
        take.canvas.touch(Rect { x: 0, y: 0, width: settings.width, height: settings.height });
        take
    }

    /// Films the canvas as it is now.
    pub fn record(&mut self) {
        self.paint();
        self.keep(|encoder| encoder.picture());
    }

    /// The same for somebody who waits for it.
    pub fn shoot_on(&mut self, budget: &Budget) {
        self.paint();
        self.keep(|encoder| encoder.picture_within(budget));
    }

    /// Films the last picture again, as one that no other goes by.
    pub fn fill(&mut self) {
        self.keep(|encoder| encoder.filler());
        self.is_filled = true;
    }

    fn keep(&mut self, make: impl FnOnce(&mut Encoder) -> Picture<'_>) {
        self.is_filled = false;
        let picture = make(&mut self.encoder);
        self.sizes.push(picture.data.len());
        self.syncs.push(picture.is_sync);
        self.writer.add(picture).unwrap();
        self.shown.push(self.encoder.shown());
    }

    fn paint(&mut self) {
        for area in std::mem::take(&mut self.canvas.damage) {
            if let Some(area) = self.encoder.paintable(area) {
                self.encoder.paint(area, &self.canvas.cut(area)).unwrap();
            }
        }
    }

    /// The file as it is when the process is killed now.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes what was added so far.
    pub fn flush(&mut self) -> Result<(), VideoError> {
        self.writer.flush()
    }

    pub fn finish(self) -> Film {
        self.writer.finish().unwrap();
        let Self { path, shown, sizes, syncs, folder, .. } = self;
        Film { path, shown, sizes, syncs, _folder: folder }
    }
}

impl Film {
    /// Asserts that ffmpeg shows exactly the pictures that the encoder says a decoder shows.
    pub fn decodes(self) {
        ffmpeg::all_decode(&[self]);
    }
}

/// Luma of the canvas against luma that is shown, in decibels; infinite when equal.
pub fn luma_psnr(canvas: &Canvas, shown: &Shown) -> f64 {
    let width = canvas.width as usize;
    let pairs = canvas.pixels.chunks_exact(4).enumerate().map(|(at, pixel)| {
        let [blue, green, red] = [pixel[0], pixel[1], pixel[2]].map(f64::from);
        let luma = 16.0 + 219.0 / 255.0 * (0.0722 * blue + 0.7152 * green + 0.2126 * red);
        luma - f64::from(shown.samples[at / width * shown.width + at % width])
    });
    let error =
        pairs.map(|difference| difference * difference).sum::<f64>() / (canvas.pixels.len() / 4) as f64;
    10.0 * (255.0 * 255.0 / error).log10()
}
