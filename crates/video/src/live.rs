//! The film of a display for viewers who look on now: a fragment of MP4 for each picture that differs from the one before.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use capture::{ScreenConnection, ScreenSource};
use desktop::Session;

use crate::VideoError;
use crate::film::{FilmOptions, look};
use crate::mp4::{LiveStart, Stream, Track};
use crate::pace::{HoldBack, Pace};
use crate::pictures::encoder::Encoder;
use crate::pictures::settings::Settings;

/// How long the screen is left alone before it is looked at again, once the next picture may be taken.
const GLANCE: Duration = Duration::from_millis(8);

/// Pictures that follow one that needs no other: players show their first picture when they have some.
const AFTER_SYNC: u32 = 3;

/// One picture of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivePart {
    /// The beginning that holds from this picture on, at first and when the screen has another size; the picture needs no other then.
    pub start: Option<LiveStart>,
    /// `moof` and `mdat`.
    pub fragment: Vec<u8>,
    /// Where in the fragment the picture itself begins: NAL units, each after its length in four bytes.
    pub picture_start: u32,
    /// True when the picture needs no other: viewers may begin with it.
    pub is_sync: bool,
    /// True when the picture is like the one before and no other goes by it: some players show a picture only when they have
    /// a later one, and others may leave it out.
    pub is_filler: bool,
}

/// A display that is filmed for as long as somebody asks for the next picture.
///
/// Pictures are numbered without gaps, each lasting `1 / fps` seconds: where nothing changes no time passes in the stream.
/// Whoever looks on plays it as fast as it comes.
pub struct Live {
    session: Session,
    options: FilmOptions,
    requests: Mutex<ViewerRequests>,
    /// Notified when it is closed.
    closed: Condvar,
    /// That of the recorder's source.
    connection: Mutex<ScreenConnection>,
    recorder: Mutex<Option<Recorder>>,
}

/// What the viewers want.
#[derive(Clone, Copy, Default)]
struct ViewerRequests {
    is_sync_wanted: bool,
    is_closed: bool,
}

struct Recorder {
    source: ScreenSource,
    encoder: Encoder,
    stream: Stream,
    pace: Pace,
    begun: Instant,
    has_begun: bool,
    is_after_sync: bool,
    /// Pictures that are to come whether anything changes or not.
    afterwards: u32,
    /// The last picture has a change and none came after it.
    is_filler_due: bool,
    /// When the next picture may be taken.
    due: Instant,
}

/// What the next picture is made for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// Somebody wants one that needs no other.
    Sync,
    /// Something changed, or is made fine.
    Change,
    /// Players wait for later pictures, of which others go by this one, or not.
    Afterwards,
    Filler,
}

impl Live {
    /// Opens a connection of its own to a display; nothing is filmed yet.
    ///
    /// Fails with `display_unavailable`, `invalid_argument` and `unsupported_platform`.
    pub fn open(session: &Session, options: FilmOptions) -> Result<Self, VideoError> {
        let (source, encoder) = opened(session, options)?;
        let connection = Mutex::new(source.connection());
        let recorder = Recorder {
            stream: Stream::of(Track::of(&encoder)),
            pace: Pace::new(options.fps),
            source,
            encoder,
            begun: Instant::now(),
            has_begun: false,
            is_after_sync: false,
            afterwards: 0,
            is_filler_due: false,
            due: Instant::now(),
        };
        Ok(Self {
            session: session.clone(),
            options,
            requests: Mutex::default(),
            closed: Condvar::new(),
            connection,
            recorder: Mutex::new(Some(recorder)),
        })
    }

    /// Has the next picture be one that needs no other, and taken also when nothing changes.
    pub fn refresh(&self) {
        self.lock().is_sync_wanted = true;
    }

    /// Waits for the next picture that is worth sending; none when it is closed.
    ///
    /// Fails with `display_lost` and `capture_failed`, and is over then.
    pub fn next(&self) -> Result<Option<LivePart>, VideoError> {
        let mut recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner);
        let mut part = match recorder.as_mut() {
            Some(recorder) => self.film(recorder),
            None => Ok(None),
        };
        if part.is_err() && self.lock().is_closed {
            // Closing ended the connection in the middle of an answer.
            part = Ok(None);
        }
        if !matches!(part, Ok(Some(_))) {
            *recorder = None;
        }
        part
    }

    /// Ends whoever waits and gives the connection back; closing twice is fine.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.closed.notify_all();
        // The server may stand still while the recorder waits for it.
        self.connection().end();
        *self.recorder.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn connection(&self) -> MutexGuard<'_, ScreenConnection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, ViewerRequests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a moment, or until it is closed; the requests then.
    fn requests_at(&self, moment: Instant) -> ViewerRequests {
        let mut requests = self.lock();
        loop {
            let left = moment.saturating_duration_since(Instant::now());
            if requests.is_closed || left.is_zero() {
                return *requests;
            }
            requests = self.closed.wait_timeout(requests, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn film(&self, recorder: &mut Recorder) -> Result<Option<LivePart>, VideoError> {
        let mut moment = recorder.due;
        loop {
            let requests = self.requests_at(moment);
            if requests.is_closed {
                return Ok(None);
            }
            look(&mut recorder.source, &mut recorder.encoder)?;
            if recorder.is_screen_of_other_size() {
                (recorder.source, recorder.encoder) = opened(&self.session, self.options)?;
                *self.connection() = recorder.source.connection();
                recorder.stream.go_on_with(Track::of(&recorder.encoder));
                recorder.has_begun = false;
                recorder.is_after_sync = false;
                continue;
            }
            let now = recorder.begun.elapsed();
            let is_sync_wanted = requests.is_sync_wanted || !recorder.has_begun;
            if let Some(reason) = recorder.reason(now, is_sync_wanted) {
                if reason == Reason::Sync {
                    self.lock().is_sync_wanted = false;
                }
                return Ok(Some(recorder.record(now, reason)));
            }
            moment = Instant::now() + GLANCE.max(recorder.pace.wait(now));
        }
    }
}

impl Recorder {
    fn is_screen_of_other_size(&self) -> bool {
        let (screen, filmed) = (self.source.screen(), self.encoder.settings());
        (screen.width, screen.height) != (filmed.width, filmed.height)
    }

    /// What a picture is worth taking for now.
    fn reason(&self, now: Duration, is_sync_wanted: bool) -> Option<Reason> {
        // Two that need no other may not follow each other under the same number.
        if is_sync_wanted && !self.is_after_sync {
            return Some(Reason::Sync);
        }
        let may_go_on = self.pace.wait(now).is_zero();
        let is_change =
            may_go_on && self.encoder.has_changed() || self.encoder.has_rested(self.pace.budget(now).rested);
        if is_change {
            Some(Reason::Change)
        } else if self.afterwards > 0 || is_sync_wanted {
            Some(Reason::Afterwards)
        } else {
            self.is_filler_due.then_some(Reason::Filler)
        }
    }

    fn record(&mut self, now: Duration, reason: Reason) -> LivePart {
        if reason == Reason::Sync {
            self.encoder.refresh_next();
        }
        let start = (!self.has_begun).then(|| self.stream.start());
        let budget = self.pace.budget(now);
        let held_back = match (self.encoder.has_changed(), self.encoder.has_rested(budget.rested)) {
            (false, _) => HoldBack::Nothing,
            (true, true) => HoldBack::Little,
            (true, false) => HoldBack::Whole,
        };
        let is_filler = reason == Reason::Filler;
        let picture = if is_filler { self.encoder.filler() } else { self.encoder.picture_within(&budget) };
        self.pace.spent(now, picture.data.len(), held_back);
        let (is_sync, bytes) = (picture.is_sync, picture.data.len());
        let fragment = self.stream.fragment(picture);
        // Only the boxes, which are small, lie before it.
        let picture_start = (fragment.len() - bytes) as u32;
        self.has_begun = true;
        self.is_after_sync = is_sync;
        self.afterwards = if is_sync { AFTER_SYNC } else { self.afterwards.saturating_sub(1) };
        self.is_filler_due = reason == Reason::Change && !is_sync;
        let lasts = Duration::from_nanos(1_000_000_000 / u64::from(self.encoder.settings().fps));
        // A machine that was too busy does not make up for it.
        self.due = (self.due + lasts).max(Instant::now());
        LivePart { start, fragment, picture_start, is_sync, is_filler }
    }
}

fn opened(session: &Session, options: FilmOptions) -> Result<(ScreenSource, Encoder), VideoError> {
    let source = ScreenSource::open(session)?;
    let screen = source.screen();
    let FilmOptions { fps, qp } = options;
    let encoder = Encoder::new(Settings { width: screen.width, height: screen.height, fps, qp })?;
    Ok((source, encoder))
}
