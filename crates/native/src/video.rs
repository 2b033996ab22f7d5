//! Films of a display, for JavaScript.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use crate::desktop::Desktop;
use crate::failure::{Failure, Promise, failure, promise, promise_with};

/// How a film is made; what is absent is as the core has it.
#[napi(object, object_to_js = false)]
#[derive(Default)]
pub struct FilmOptions {
    /// Pictures a second, from 1 to 60; 30.
    pub fps: Option<u32>,
    /// The quantiser, from 12 (large and fine) to 40 (small and coarse); 14.
    pub qp: Option<u8>,
}

fn core_options(options: Option<FilmOptions>) -> video::FilmOptions {
    let FilmOptions { fps, qp } = options.unwrap_or_default();
    let usual = video::FilmOptions::default();
    video::FilmOptions { fps: fps.unwrap_or(usual.fps), qp: qp.unwrap_or(usual.qp) }
}

/// Why a film ended before it was stopped.
#[napi(object, object_from_js = false)]
pub struct FilmError {
    /// `display_lost`, `capture_failed` or `film_not_written`.
    pub code: String,
    /// What happened, and the next step.
    pub message: String,
}

/// What is known of a film.
#[napi(object, object_from_js = false)]
pub struct FilmState {
    /// Width in pixels, even.
    pub width: u32,
    /// Height in pixels, even.
    pub height: u32,
    /// Width that the screen had at most; what of it lay outside of the film is not in it.
    #[napi(js_name = "screen_width")]
    pub screen_width: u32,
    /// The same for its height.
    #[napi(js_name = "screen_height")]
    pub screen_height: u32,
    /// Pictures a second.
    pub fps: u32,
    /// Pictures so far.
    pub frames: f64,
    /// Bytes in the file.
    pub bytes: f64,
    /// How long the film is, in seconds.
    pub seconds: f64,
    /// When its first picture was taken, in milliseconds since 1970.
    #[napi(js_name = "started_at")]
    pub started_at: f64,
    /// True while it is being made.
    pub running: bool,
    /// Why it ended before it was stopped; what is in the file can be played.
    #[napi(ts_type = "FilmError | null")]
    pub error: Option<FilmError>,
}

impl From<video::FilmState> for FilmState {
    fn from(state: video::FilmState) -> Self {
        let started = state.started.duration_since(UNIX_EPOCH).unwrap_or_default();
        // Numbers of JavaScript hold all that a film can have.
        let frames = state.pictures as f64;
        Self {
            width: state.width,
            height: state.height,
            screen_width: state.screen.0,
            screen_height: state.screen.1,
            fps: state.fps,
            frames,
            bytes: state.bytes as f64,
            seconds: frames / f64::from(state.fps),
            started_at: started.as_secs_f64() * 1000.0,
            running: state.is_running,
            error: state
                .error
                .map(|error| FilmError { code: error.code().to_owned(), message: error.to_string() }),
        }
    }
}

/// A film of a whole display in the making: H.264 in an MP4 that plays whenever its making ends.
#[napi]
pub struct Film {
    film: Arc<video::Film>,
}

#[napi]
impl Film {
    /// Begins to film a display into a file, over one that is there; needs no ffmpeg. Rejects with `display_unavailable`,
    /// `invalid_argument`, `film_not_written` and `unsupported_platform`.
    #[napi(catch_unwind)]
    pub fn start(desktop: &Desktop, path: String, options: Option<FilmOptions>) -> Promise<Film> {
        let session = desktop.desktop.session().clone();
        let options = core_options(options);
        promise(move || {
            let film = video::Film::start(&session, &PathBuf::from(path), options)?;
            Ok::<_, video::VideoError>(Film { film: Arc::new(film) })
        })
    }

    /// What is known of it now.
    #[napi(catch_unwind)]
    pub fn state(&self) -> FilmState {
        self.film.state().into()
    }

    /// Ends it, gives the file its index, waits until the disk has it, and answers what it became; what went wrong is its
    /// `error`. Stopping twice is fine.
    #[napi(catch_unwind)]
    pub fn stop(&self) -> Promise<FilmState> {
        promise_with(&self.film, move |film| Ok::<_, video::VideoError>(FilmState::from(film.stop())))
    }
}

/// The beginning of a live film, before its first fragment.
#[napi(object, object_from_js = false)]
pub struct LiveFilmStart {
    /// Width in pixels, even.
    pub width: u32,
    /// Height in pixels, even.
    pub height: u32,
    /// The codec as RFC 6381 names it.
    pub codec: String,
    /// `ftyp` and `moov`.
    pub header: Buffer,
}

/// One picture of a live film.
#[napi(object, object_from_js = false)]
pub struct LiveFilmPart {
    /// The beginning that holds from this picture on: at first, and when the screen has another size.
    #[napi(ts_type = "LiveFilmStart | null")]
    pub start: Option<LiveFilmStart>,
    /// `moof` and `mdat`.
    pub fragment: Buffer,
    /// Where in the fragment the picture itself begins: NAL units, each after its length in four bytes.
    #[napi(js_name = "picture_start")]
    pub picture_start: u32,
    /// True when the picture needs no other: viewers may begin with it.
    pub sync: bool,
    /// True when the picture is like the one before and no other goes by it: some players show a picture only when they have
    /// a later one, and others may leave it out.
    pub filler: bool,
}

impl From<video::LivePart> for LiveFilmPart {
    fn from(part: video::LivePart) -> Self {
        Self {
            start: part.start.map(|start| LiveFilmStart {
                width: start.width,
                height: start.height,
                codec: start.codec,
                header: start.header.into(),
            }),
            fragment: part.fragment.into(),
            picture_start: part.picture_start,
            sync: part.is_sync,
            filler: part.is_filler,
        }
    }
}

/// A display that is filmed for as long as somebody asks for the next picture; where nothing changes no time passes in it.
#[napi]
pub struct LiveFilm {
    live: Arc<video::Live>,
}

#[napi]
impl LiveFilm {
    /// Opens a connection of its own to a display; nothing is filmed yet. Rejects with `display_unavailable`,
    /// `invalid_argument` and `unsupported_platform`.
    #[napi(catch_unwind)]
    pub fn open(desktop: &Desktop, options: Option<FilmOptions>) -> Promise<LiveFilm> {
        let session = desktop.desktop.session().clone();
        let options = core_options(options);
        promise(move || video::Live::open(&session, options).map(|live| LiveFilm { live: Arc::new(live) }))
    }

    /// Waits for the next picture that is worth sending; null when it is closed. Rejects with `display_lost` and
    /// `capture_failed`, and is over then.
    #[napi(catch_unwind, ts_return_type = "Promise<LiveFilmPart | null>")]
    pub fn next(&self) -> Promise<Option<LiveFilmPart>> {
        promise_with(&self.live, move |live| live.next().map(|part| part.map(LiveFilmPart::from)))
    }

    /// Has the next picture be one that needs no other, and taken also when nothing changes.
    #[napi(catch_unwind)]
    pub fn refresh(&self) {
        self.live.refresh();
    }

    /// Ends who waits for a picture, and gives the connection back; closing twice is fine.
    #[napi(catch_unwind)]
    pub fn close(&self) -> Promise<()> {
        promise_with(&self.live, move |live| {
            live.close();
            Ok::<_, Infallible>(())
        })
    }
}

/// H.264 of another encoder, a byte stream (ITU-T H.264, annex B), as the parts of a live film.
#[napi]
pub struct Remuxer {
    remuxer: video::Remuxer,
}

#[napi]
impl Remuxer {
    /// For a film of so many pictures a second.
    #[napi(constructor, catch_unwind)]
    pub fn new(fps: u32) -> Self {
        Self { remuxer: video::Remuxer::new(fps) }
    }

    /// Takes the next bytes, some hundred thousand at most; gives the pictures that are whole now. Throws `capture_failed`.
    #[napi(catch_unwind)]
    pub fn feed(&mut self, bytes: Buffer) -> Result<Vec<LiveFilmPart>, Failure> {
        parts(self.remuxer.feed(&bytes))
    }

    /// What follows are the first bytes of the encoder begun anew; what was not whole is left out.
    #[napi(js_name = "begin_anew", catch_unwind)]
    pub fn begin_anew(&mut self) {
        self.remuxer.begin_anew();
    }

    /// The pictures up to that of which the last bytes were the end, where the encoder is known to pause. Throws `capture_failed`.
    #[napi(catch_unwind)]
    pub fn flush(&mut self) -> Result<Vec<LiveFilmPart>, Failure> {
        parts(self.remuxer.flush())
    }
}

fn parts(made: Result<Vec<video::LivePart>, video::VideoError>) -> Result<Vec<LiveFilmPart>, Failure> {
    made.map(|parts| parts.into_iter().map(LiveFilmPart::from).collect()).map_err(failure)
}
