//! The film of a display: a thread that films what changes until it is stopped, or cannot go on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use capture::{ScreenConnection, ScreenSource};
use desktop::Session;

use crate::VideoError;
use crate::mp4::Mp4Writer;
use crate::pictures::encoder::Encoder;
use crate::pictures::settings::Settings;
use crate::pictures::tiles::tiles;

/// How long a film that is to stop may wait for the server.
const STOP_LIMIT: Duration = Duration::from_secs(10);

/// How a film is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilmOptions {
    /// Pictures a second, from 1 to 60.
    pub fps: u32,
    /// The quantiser, from 12 (large and fine) to 40 (small and coarse).
    pub qp: u8,
}

impl Default for FilmOptions {
    fn default() -> Self {
        Self { fps: 30, qp: 14 }
    }
}

/// What is known of a film.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilmState {
    /// Width in pixels, even.
    pub width: u32,
    /// Height in pixels, even.
    pub height: u32,
    /// Width and height that the screen had at most; what of it lay outside of the film is not in it.
    pub screen: (u32, u32),
    /// Pictures a second.
    pub fps: u32,
    /// Pictures so far.
    pub pictures: u64,
    /// Bytes in the file.
    pub bytes: u64,
    /// When its first picture was taken.
    pub started: SystemTime,
    /// True while it is being made.
    pub is_running: bool,
    /// Why it ended before it was stopped; what is in the file can be played.
    pub error: Option<VideoError>,
}

/// A film of a whole display in the making.
///
/// Its rate is constant: what did not change is filmed again at no cost, and a moment in which the machine was too busy is
/// filled with the picture before it. Its size stays that of the screen it began with: of a smaller screen the rest is black,
/// and of a larger one what lies outside is not filmed. Dropped, it is stopped.
pub struct Film {
    shared: Arc<Shared>,
    connection: ScreenConnection,
    worker: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    state: Mutex<(FilmState, bool)>,
    /// Notified when it is to stop, and when it has ended.
    changed: Condvar,
}

impl Film {
    /// Begins to film a display into a file, over one that is there.
    ///
    /// Fails with `display_unavailable`, `invalid_argument`, `film_not_written` and `unsupported_platform`.
    pub fn start(session: &Session, path: &Path, options: FilmOptions) -> Result<Self, VideoError> {
        let source = ScreenSource::open(session)?;
        let (screen, connection) = (source.screen(), source.connection());
        let FilmOptions { fps, qp } = options;
        let settings = Settings { width: screen.width, height: screen.height, fps, qp };
        let encoder = Encoder::new(settings)?;
        let writer = Mp4Writer::create(path, &encoder)?;
        let state = FilmState {
            width: settings.width.next_multiple_of(2),
            height: settings.height.next_multiple_of(2),
            screen: (screen.width, screen.height),
            fps,
            pictures: 0,
            bytes: writer.bytes(),
            started: SystemTime::now(),
            is_running: true,
            error: None,
        };
        let shared = Arc::new(Shared { state: Mutex::new((state, false)), changed: Condvar::new() });
        let (theirs, film) = (Arc::clone(&shared), path.display().to_string());
        let work = move || {
            let mut recorder = Recorder { source, encoder, begun: Instant::now(), pictures: 0 };
            let made = catch_unwind(AssertUnwindSafe(|| recorder.film(writer, &theirs)));
            let made = made.unwrap_or_else(|_| {
                Err(VideoError::Write { path: film, reason: "the encoder panicked".to_owned() })
            });
            let mut state = theirs.lock();
            state.0.is_running = false;
            state.0.error = made.err();
            theirs.changed.notify_all();
        };
        let worker = std::thread::Builder::new().name("film".to_owned()).spawn(work).map_err(|error| {
            VideoError::Write { path: path.display().to_string(), reason: error.to_string() }
        })?;
        Ok(Self { shared, connection, worker: Mutex::new(Some(worker)) })
    }

    /// What is known of it now.
    pub fn state(&self) -> FilmState {
        self.shared.lock().0.clone()
    }

    /// Ends the film, gives the file its index, and waits until the disk has it. Stopping twice is fine.
    ///
    /// One whose server stands still ends after ten seconds, with `display_lost`.
    pub fn stop(&self) -> FilmState {
        let Shared { changed, .. } = &*self.shared;
        let mut state = self.shared.lock();
        state.1 = true;
        changed.notify_all();
        let ended = changed.wait_timeout_while(state, STOP_LIMIT, |state| state.0.is_running);
        if ended.unwrap_or_else(PoisonError::into_inner).1.timed_out() {
            self.connection.end();
        }
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(worker) = worker {
            // It does not panic.
            let _ = worker.join();
        }
        self.state()
    }
}

impl Drop for Film {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, (FilmState, bool)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a moment, or less when the film is to stop; true when it is.
    fn is_stopped_by(&self, moment: Instant) -> bool {
        let mut state = self.lock();
        loop {
            let left = moment.saturating_duration_since(Instant::now());
            if state.1 || left.is_zero() {
                return state.1;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// What films.
struct Recorder {
    source: ScreenSource,
    encoder: Encoder,
    begun: Instant,
    pictures: u64,
}

impl Recorder {
    /// Films until it is to stop; whatever went wrong, the file is finished as far as can be.
    fn film(&mut self, mut writer: Mp4Writer, shared: &Shared) -> Result<(), VideoError> {
        let filmed = self.pictures_of(&mut writer, shared);
        // The last ones, which were missed, among them.
        shared.lock().0.pictures = self.pictures;
        let finished = writer.finish();
        if let Ok(bytes) = finished {
            shared.lock().0.bytes = bytes;
        }
        filmed.and(finished.map(|_| ()))
    }

    fn pictures_of(&mut self, writer: &mut Mp4Writer, shared: &Shared) -> Result<(), VideoError> {
        let fps = self.encoder.settings().fps;
        loop {
            let due = Duration::from_nanos(self.pictures * 1_000_000_000 / u64::from(fps));
            let is_stopped = shared.is_stopped_by(self.begun + due);
            // Pictures that began before now.
            let elapsed = self.begun.elapsed().as_nanos() * u128::from(fps);
            let wanted = if is_stopped {
                ((elapsed + 500_000_000) / 1_000_000_000) as u64
            } else {
                (elapsed / 1_000_000_000) as u64
            };
            // Those that were missed show what was seen last.
            while self.pictures > 0 && self.pictures < wanted {
                self.add(writer)?;
            }
            if is_stopped && self.pictures > 0 {
                return Ok(());
            }
            look(&mut self.source, &mut self.encoder)?;
            self.add(writer)?;
            let mut state = shared.lock();
            if self.pictures == 1 {
                state.0.started = SystemTime::now();
            }
            (state.0.pictures, state.0.bytes) = (self.pictures, writer.bytes());
            let screen = self.source.screen();
            let (width, height) = state.0.screen;
            state.0.screen = (screen.width.max(width), screen.height.max(height));
        }
    }

    fn add(&mut self, writer: &mut Mp4Writer) -> Result<(), VideoError> {
        self.pictures += 1;
        writer.add(self.encoder.picture())
    }
}

/// Paints what may have changed on the display.
pub(crate) fn look(source: &mut ScreenSource, encoder: &mut Encoder) -> Result<(), VideoError> {
    let changes = source.changes()?;
    let Settings { width, height, .. } = encoder.settings();
    for tile in tiles(&changes, width, height) {
        encoder.paint(tile, source.read(tile)?)?;
    }
    Ok(())
}
