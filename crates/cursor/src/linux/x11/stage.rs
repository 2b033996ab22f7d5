//! The thread that shows all cursors of a display: it sleeps until it is told something or something is due.

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

use super::actor::{Actor, Wardrobe, surface_of};
use super::link::Link;
use super::preview::Preview;
use super::tidings::Tidings;
use crate::{Pace, PreviewPlace, State};

/// How often cursors are put on top again within a second: another program may want the same for its own window.
const MOST_RAISES: usize = 5;

/// What the thread is told.
pub(crate) enum Cue {
    Dress { id: String, wardrobe: Box<Wardrobe>, done: SyncSender<()> },
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

/// Where cues are left, and what wakes the thread.
pub(crate) struct Prompt {
    notes: Mutex<Notes>,
    bell: OwnedFd,
}

#[derive(Default)]
struct Notes {
    cues: VecDeque<Cue>,
    /// Why nobody reads cues any more.
    ended: Option<String>,
}

impl Prompt {
    pub(crate) fn new() -> Result<Self, std::io::Error> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { notes: Mutex::default(), bell })
    }

    /// Leaves a cue; fails with the reason where nobody will read it.
    pub(crate) fn give(&self, cue: Cue) -> Result<(), String> {
        let mut notes = self.lock();
        if let Some(reason) = &notes.ended {
            return Err(reason.clone());
        }
        notes.cues.push_back(cue);
        // A full counter rings all the same.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
        Ok(())
    }

    /// Why nobody reads cues any more.
    pub(crate) fn why_ended(&self) -> String {
        self.lock().ended.clone().unwrap_or_else(|| "it was closed".to_owned())
    }

    fn take(&self) -> VecDeque<Cue> {
        let _ = rustix::io::read(&self.bell, &mut [0_u8; 8]);
        std::mem::take(&mut self.lock().cues)
    }

    fn end(&self, reason: String) {
        let mut notes = self.lock();
        notes.ended.get_or_insert(reason);
        // Whoever waits for an answer is let go.
        notes.cues.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct Stage {
    link: Link,
    actors: HashMap<String, Actor>,
    preview: Option<Preview>,
    is_composited: bool,
    follows: bool,
    raises: VecDeque<Instant>,
    /// Something lies over a cursor.
    is_covered: bool,
}

impl Stage {
    pub(crate) fn new(link: Link) -> Result<Self, ReplyOrIdError> {
        let is_composited = link.is_composited()?;
        Ok(Self {
            link,
            actors: HashMap::new(),
            preview: None,
            is_composited,
            follows: false,
            raises: VecDeque::new(),
            is_covered: false,
        })
    }

    /// Plays until it is told to end or the display is lost.
    pub(crate) fn play(mut self, prompt: &Prompt, tidings: &Tidings) {
        let reason = match self.perform(prompt, tidings) {
            Ok(()) => "it was closed".to_owned(),
            Err(error) => error.to_string(),
        };
        prompt.end(reason);
        tidings.end();
    }

    fn perform(&mut self, prompt: &Prompt, tidings: &Tidings) -> Result<(), ReplyOrIdError> {
        loop {
            for cue in prompt.take() {
                if let Cue::End = cue {
                    return Ok(());
                }
                self.follow_cue(cue)?;
            }
            self.read_events()?;
            let now = Instant::now();
            let mut next = None;
            for (id, actor) in &mut self.actors {
                let was_seen = actor.is_mapped;
                next = [next, actor.step(&self.link, now)?].into_iter().flatten().min();
                if was_seen && !actor.is_mapped {
                    tidings.hid(id);
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
                self.wait(prompt, next)?;
            }
        }
    }

    fn follow_cue(&mut self, cue: Cue) -> Result<(), ReplyOrIdError> {
        let now = Instant::now();
        let link = &self.link;
        // A cursor that is not there has nothing to do, and nobody to wait for: a dropped sender answers.
        match cue {
            Cue::Dress { id, wardrobe, done } => {
                self.dress(id, *wardrobe, now)?;
                finish(&self.link, &done)
            }
            Cue::Pace { id, pace, done } => self.direct(&id, &done, |actor, _| {
                actor.pace = pace;
                Ok(())
            }),
            Cue::Glide { id, to, arrival } => match self.actors.get_mut(&id) {
                Some(actor) => actor.glide(link, to, now, arrival),
                None => {
                    let _ = arrival.try_send(false);
                    Ok(())
                }
            },
            Cue::Travel { id, to, duration, done } => {
                self.direct(&id, &done, |actor, link| actor.travel(link, to, duration, now))
            }
            Cue::Place { id, at, done } => self.direct(&id, &done, |actor, link| actor.place(link, at, now)),
            Cue::Pulse { id, done } => self.direct(&id, &done, |actor, link| actor.pulse(link, now)),
            Cue::Enable { id, is_enabled, done } => {
                self.direct(&id, &done, |actor, link| actor.enable(link, is_enabled, now))
            }
            Cue::Remove { id, done } => {
                if let Some(actor) = self.actors.remove(&id) {
                    actor.leave(link)?;
                }
                finish(link, &done)
            }
            Cue::State { id, answer } => {
                let state = self.actors.get(&id).map(|actor| actor.state(self.is_composited));
                let _ = answer.try_send(state);
                Ok(())
            }
            Cue::Windows { answer } => {
                let _ = answer.try_send(self.mapped());
                Ok(())
            }
            Cue::Preview { window, place, done } => {
                self.show_preview(window, &place)?;
                finish(&self.link, &done)
            }
            Cue::End => Ok(()),
        }
    }

    /// Gives a cursor its looks; one that is not there enters.
    fn dress(&mut self, id: String, wardrobe: Wardrobe, now: Instant) -> Result<(), ReplyOrIdError> {
        let surface = surface_of(self.is_composited);
        match self.actors.get_mut(&id) {
            Some(actor) => actor.dress(&self.link, wardrobe, surface),
            None => {
                let actor = Actor::enter(&self.link, "Backlot agent cursor", wardrobe, surface, now)?;
                self.actors.insert(id, actor);
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
        act: impl FnOnce(&mut Actor, &Link) -> Result<(), ReplyOrIdError>,
    ) -> Result<(), ReplyOrIdError> {
        if let Some(actor) = self.actors.get_mut(id) {
            act(actor, &self.link)?;
        }
        finish(&self.link, done)
    }

    /// The windows that are seen now.
    fn mapped(&self) -> Vec<WindowId> {
        let actors = self.actors.values().filter(|actor| actor.is_mapped);
        let preview = self.preview.iter().filter(|preview| preview.is_mapped);
        let windows = actors.map(|actor| actor.window).chain(preview.map(|preview| preview.window));
        windows.map(WindowId::of_xid).collect()
    }

    /// Does what the events ask for that came so far; false when there were none.
    fn read_events(&mut self) -> Result<bool, ReplyOrIdError> {
        let mut has_read = false;
        while let Some(event) = self.link.conn.poll_for_event()? {
            has_read = true;
            let preview = self.preview.as_ref().map(|preview| preview.window);
            let own = |window: u32| {
                Some(window) == preview || self.actors.values().any(|actor| actor.window == window)
            };
            match event {
                Event::MapNotify(event) => self.is_covered |= !own(event.window),
                Event::ConfigureNotify(event) => {
                    self.is_covered |= own(event.above_sibling) && !own(event.window);
                }
                Event::CirculateNotify(event) => self.is_covered |= !own(event.window),
                Event::XfixesSelectionNotify(event) if self.link.is_compositor(event.selection) => {
                    self.is_composited = self.link.is_composited()?;
                    for actor in self.actors.values_mut() {
                        actor.change(&self.link, surface_of(self.is_composited))?;
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
        for actor in self.actors.values().filter(|actor| actor.is_mapped) {
            actor.raise(&self.link)?;
        }
        Ok(None)
    }

    /// Other windows matter while a cursor is seen, and wake nobody while none is.
    fn follow_windows(&mut self) -> Result<(), ReplyOrIdError> {
        let is_seen = self.preview.is_some() || self.actors.values().any(|actor| actor.is_mapped);
        if self.follows != is_seen {
            self.link.follow_windows(is_seen)?;
            self.follows = is_seen;
            // What came before that was heard of.
            self.is_covered = is_seen;
        }
        Ok(())
    }

    fn wait(&self, prompt: &Prompt, next: Option<Instant>) -> Result<(), ReplyOrIdError> {
        let left = next.map(|next| next.saturating_duration_since(Instant::now()));
        let limit = left.map(|left| Timespec {
            tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        });
        let mut sources =
            [PollFd::new(self.link.conn.stream(), PollFlags::IN), PollFd::new(&prompt.bell, PollFlags::IN)];
        match poll(&mut sources, limit.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => {
                let error = std::io::Error::from(error);
                Err(ReplyOrIdError::ConnectionError(x11rb::errors::ConnectionError::IoError(error)))
            }
        }
    }
}

/// Tells that a cue was followed, once the server has done what it asks for.
fn finish(link: &Link, done: &SyncSender<()>) -> Result<(), ReplyOrIdError> {
    x11rb::wrapper::ConnectionExt::sync(&link.conn)?;
    let _ = done.try_send(());
    Ok(())
}
