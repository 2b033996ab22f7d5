//! The thread that shows all cursors of a display: it sleeps until it gets a command or something is due.

use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use desktop::{Point, WindowId};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use x11rb::connection::Connection;
use x11rb::errors::ReplyOrIdError;
use x11rb::protocol::Event;

use super::hidden_queue::HiddenQueue;
use super::link::Link;
use super::overlay_cursor::{OverlayCursor, SurfaceSprites, surface_of};
use super::preview::Preview;
use crate::{Pace, PreviewPlace, State};

/// How often cursors are put on top again within a second: another program may want the same for its own window.
const MOST_RAISES: usize = 5;

/// What the thread is told to do.
pub(crate) enum Command {
    SetStyle { id: String, sprites: Box<SurfaceSprites>, done: SyncSender<()> },
    Pace { id: String, pace: Pace, done: SyncSender<()> },
    Glide { id: String, to: Point, arrival: SyncSender<bool> },
    Travel { id: String, to: Point, duration: Duration, done: SyncSender<()> },
    Place { id: String, at: Point, done: SyncSender<()> },
    Pulse { id: String, done: SyncSender<()> },
    Enable { id: String, is_enabled: bool, done: SyncSender<()> },
    Remove { id: String, done: SyncSender<()> },
    State { id: String, answer: SyncSender<Option<State>> },
    Windows { answer: SyncSender<Vec<WindowId>> },
    Preview { window: WindowId, place: PreviewPlace, done: SyncSender<()> },
    End,
}

/// Where commands are left, and what wakes the thread.
pub(crate) struct CommandQueue {
    state: Mutex<CommandQueueState>,
    wakeup: OwnedFd,
}

#[derive(Default)]
struct CommandQueueState {
    commands: VecDeque<Command>,
    /// Why nobody reads commands any more.
    ended: Option<String>,
}

impl CommandQueue {
    pub(crate) fn new() -> Result<Self, std::io::Error> {
        let wakeup = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { state: Mutex::default(), wakeup })
    }

    /// Leaves a command; fails with the reason where nobody will read it.
    pub(crate) fn give(&self, command: Command) -> Result<(), String> {
        let mut state = self.lock();
        if let Some(reason) = &state.ended {
            return Err(reason.clone());
        }
        state.commands.push_back(command);
        // A full counter rings all the same.
        let _ = rustix::io::write(&self.wakeup, &1_u64.to_ne_bytes());
        Ok(())
    }

    /// Why nobody reads commands any more.
    pub(crate) fn why_ended(&self) -> String {
        self.lock().ended.clone().unwrap_or_else(|| "it was closed".to_owned())
    }

    fn take(&self) -> VecDeque<Command> {
        let _ = rustix::io::read(&self.wakeup, &mut [0_u8; 8]);
        std::mem::take(&mut self.lock().commands)
    }

    fn end(&self, reason: String) {
        let mut state = self.lock();
        state.ended.get_or_insert(reason);
        // Whoever waits for an answer is let go.
        state.commands.clear();
    }

    fn lock(&self) -> MutexGuard<'_, CommandQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct Overlay {
    link: Link,
    cursors: HashMap<String, OverlayCursor>,
    preview: Option<Preview>,
    is_composited: bool,
    follows: bool,
    raises: VecDeque<Instant>,
    /// Something lies over a cursor.
    is_covered: bool,
}

impl Overlay {
    pub(crate) fn new(link: Link) -> Result<Self, ReplyOrIdError> {
        let is_composited = link.is_composited()?;
        Ok(Self {
            link,
            cursors: HashMap::new(),
            preview: None,
            is_composited,
            follows: false,
            raises: VecDeque::new(),
            is_covered: false,
        })
    }

    /// Runs until it is told to end or the display is lost.
    pub(crate) fn run(mut self, commands: &CommandQueue, hidden_queue: &HiddenQueue) {
        let reason = match self.run_until_ended(commands, hidden_queue) {
            Ok(()) => "it was closed".to_owned(),
            Err(error) => error.to_string(),
        };
        commands.end(reason);
        hidden_queue.end();
    }

    fn run_until_ended(
        &mut self,
        commands: &CommandQueue,
        hidden_queue: &HiddenQueue,
    ) -> Result<(), ReplyOrIdError> {
        loop {
            for command in commands.take() {
                if let Command::End = command {
                    return Ok(());
                }
                self.execute(command)?;
            }
            self.read_events()?;
            let now = Instant::now();
            let mut next = None;
            for (id, cursor) in &mut self.cursors {
                let was_seen = cursor.is_mapped;
                next = [next, cursor.step(&self.link, now)?].into_iter().flatten().min();
                if was_seen && !cursor.is_mapped {
                    hidden_queue.hid(id);
                }
            }
            if let Some(preview) = &mut self.preview {
                next = [next, preview.step(&self.link, now)?].into_iter().flatten().min();
            }
            self.follow_windows()?;
            next = [next, self.raise(now)?].into_iter().flatten().min();
            self.link.conn.flush()?;
            // Events that came with the answers to what was asked meanwhile lie where waiting does not see them.
            if !self.read_events()? {
                self.wait(commands, next)?;
            }
        }
    }

    fn execute(&mut self, command: Command) -> Result<(), ReplyOrIdError> {
        let now = Instant::now();
        let link = &self.link;
        // A cursor that is not there has nothing to do, and nobody to wait for: a dropped sender answers.
        match command {
            Command::SetStyle { id, sprites, done } => {
                self.set_style(id, *sprites, now)?;
                finish(&self.link, &done)
            }
            Command::Pace { id, pace, done } => self.direct(&id, &done, |cursor, _| {
                cursor.pace = pace;
                Ok(())
            }),
            Command::Glide { id, to, arrival } => self.glide(&id, to, now, arrival),
            Command::Travel { id, to, duration, done } => {
                self.direct(&id, &done, |cursor, link| cursor.travel(link, to, duration, now))
            }
            Command::Place { id, at, done } => {
                self.direct(&id, &done, |cursor, link| cursor.place(link, at, now))
            }
            Command::Pulse { id, done } => self.direct(&id, &done, |cursor, link| cursor.pulse(link, now)),
            Command::Enable { id, is_enabled, done } => {
                self.direct(&id, &done, |cursor, link| cursor.enable(link, is_enabled, now))
            }
            Command::Remove { id, done } => {
                if let Some(cursor) = self.cursors.remove(&id) {
                    cursor.leave(link)?;
                }
                finish(link, &done)
            }
            Command::State { id, answer } => {
                let state = self.cursors.get(&id).map(|cursor| cursor.state(self.is_composited));
                let _ = answer.try_send(state);
                Ok(())
            }
            Command::Windows { answer } => {
                let _ = answer.try_send(self.mapped());
                Ok(())
            }
            Command::Preview { window, place, done } => {
                self.show_preview(window, &place)?;
                finish(&self.link, &done)
            }
            Command::End => Ok(()),
        }
    }

    /// Gives a cursor its looks; one that is not there enters.
    fn set_style(&mut self, id: String, sprites: SurfaceSprites, now: Instant) -> Result<(), ReplyOrIdError> {
        let surface = surface_of(self.is_composited);
        match self.cursors.get_mut(&id) {
            Some(cursor) => cursor.set_style(&self.link, sprites, surface),
            None => {
                let cursor =
                    OverlayCursor::create(&self.link, "Backlot agent cursor", sprites, surface, now)?;
                self.cursors.insert(id, cursor);
                Ok(())
            }
        }
    }

    /// Has a cursor glide to a place; of one that is not there it is said at once that it did not arrive.
    fn glide(
        &mut self,
        id: &str,
        to: Point,
        now: Instant,
        arrival: SyncSender<bool>,
    ) -> Result<(), ReplyOrIdError> {
        match self.cursors.get_mut(id) {
            Some(cursor) => cursor.glide(&self.link, to, now, arrival),
            None => {
                let _ = arrival.try_send(false);
                Ok(())
            }
        }
    }

    /// Shows the live picture of a window, opened at a place if there is none.
    fn show_preview(&mut self, window: WindowId, place: &PreviewPlace) -> Result<(), ReplyOrIdError> {
        if self.preview.is_none() {
            self.preview = Some(Preview::open(&self.link, place)?);
        }
        match &mut self.preview {
            Some(preview) => preview.show(&self.link, window.xid()),
            None => Ok(()),
        }
    }

    /// Has a cursor do something, if it is there.
    fn direct(
        &mut self,
        id: &str,
        done: &SyncSender<()>,
        act: impl FnOnce(&mut OverlayCursor, &Link) -> Result<(), ReplyOrIdError>,
    ) -> Result<(), ReplyOrIdError> {
        if let Some(cursor) = self.cursors.get_mut(id) {
            act(cursor, &self.link)?;
        }
        finish(&self.link, done)
    }

    /// The windows that are seen now.
    fn mapped(&self) -> Vec<WindowId> {
        let cursors = self.cursors.values().filter(|cursor| cursor.is_mapped);
        let preview = self.preview.iter().filter(|preview| preview.is_mapped);
        let windows = cursors.map(|cursor| cursor.window).chain(preview.map(|preview| preview.window));
        windows.map(WindowId::of_xid).collect()
    }

    /// Does what the events ask for that came so far; false when there were none.
    fn read_events(&mut self) -> Result<bool, ReplyOrIdError> {
        let mut has_read = false;
        while let Some(event) = self.link.conn.poll_for_event()? {
            has_read = true;
            let preview = self.preview.as_ref().map(|preview| preview.window);
            let own = |window: u32| {
                Some(window) == preview || self.cursors.values().any(|cursor| cursor.window == window)
            };
            match event {
                Event::MapNotify(event) => self.is_covered |= !own(event.window),
                Event::ConfigureNotify(event) => {
                    self.is_covered |= own(event.above_sibling) && !own(event.window);
                }
                Event::CirculateNotify(event) => self.is_covered |= !own(event.window),
                Event::XfixesSelectionNotify(event) if self.link.is_compositor(event.selection) => {
                    self.is_composited = self.link.is_composited()?;
                    for cursor in self.cursors.values_mut() {
                        cursor.change(&self.link, surface_of(self.is_composited))?;
                    }
                }
                Event::DamageNotify(event) => {
                    self.preview.iter_mut().for_each(|preview| preview.note_damage(event.damage));
                }
                Event::DestroyNotify(event) => {
                    self.preview
                        .iter_mut()
                        .try_for_each(|preview| preview.note_gone(&self.link, event.window))?;
                }
                Event::UnmapNotify(event) => {
                    self.preview
                        .iter_mut()
                        .try_for_each(|preview| preview.note_gone(&self.link, event.window))?;
                }
                _ => {}
            }
        }
        Ok(has_read)
    }

    /// Puts the cursors on top where something covers one; answers when it has to be tried again.
    fn raise(&mut self, now: Instant) -> Result<Option<Instant>, ReplyOrIdError> {
        if !self.is_covered {
            return Ok(None);
        }
        let second = Duration::from_secs(1);
        self.raises.retain(|raised| now - *raised < second);
        if self.raises.len() >= MOST_RAISES {
            return Ok(self.raises.front().map(|first| *first + second));
        }
        self.raises.push_back(now);
        self.is_covered = false;
        // Cursors go over the live picture.
        self.preview
            .iter()
            .filter(|preview| preview.is_mapped)
            .try_for_each(|preview| preview.raise(&self.link))?;
        for cursor in self.cursors.values().filter(|cursor| cursor.is_mapped) {
            cursor.raise(&self.link)?;
        }
        Ok(None)
    }

    /// Other windows matter while a cursor is seen, and wake nobody while none is.
    fn follow_windows(&mut self) -> Result<(), ReplyOrIdError> {
        let is_seen = self.preview.is_some() || self.cursors.values().any(|cursor| cursor.is_mapped);
        if self.follows != is_seen {
            self.link.follow_windows(is_seen)?;
            self.follows = is_seen;
            // What came before that was heard of.
            self.is_covered = is_seen;
        }
        Ok(())
    }

    fn wait(&self, commands: &CommandQueue, next: Option<Instant>) -> Result<(), ReplyOrIdError> {
        let left = next.map(|next| next.saturating_duration_since(Instant::now()));
        let limit = left.map(|left| Timespec {
            tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        });
        let mut sources = [
            PollFd::new(self.link.conn.stream(), PollFlags::IN),
            PollFd::new(&commands.wakeup, PollFlags::IN),
        ];
        match poll(&mut sources, limit.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => {
                let error = std::io::Error::from(error);
                Err(ReplyOrIdError::ConnectionError(x11rb::errors::ConnectionError::IoError(error)))
            }
        }
    }
}

/// Tells that a command was followed, once the server has done what it asks for.
fn finish(link: &Link, done: &SyncSender<()>) -> Result<(), ReplyOrIdError> {
    x11rb::wrapper::ConnectionExt::sync(&link.conn)?;
    let _ = done.try_send(());
    Ok(())
}
