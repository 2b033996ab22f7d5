//! One cursor on the screen: where it is, where it goes, and when it is seen.

use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use desktop::Point;
use x11rb::connection::Connection;
use x11rb::errors::ReplyOrIdError;
use x11rb::protocol::xproto::{ConfigureWindowAux, ConnectionExt as _, StackMode, Window};

use super::link::Link;
use super::pixmaps::Pixmaps;
use crate::look::{Sprite, Surface};
use crate::{Glide, Pace, State};

/// Between two moves, and between two pictures of a click's ring, at the least.
const TICK: Duration = Duration::from_micros(16_667);

/// A click's ring keeps every picture for two moves.
const RING_TICK: Duration = Duration::from_micros(33_333);

/// How a cursor looks on either surface.
pub(crate) struct SurfaceSprites {
    pub(crate) blended: Sprite,
    pub(crate) cut: Sprite,
}

/// A way, and who waits for its end.
struct Way {
    glide: Glide,
    start: Instant,
    arrival: Option<SyncSender<bool>>,
}

pub(crate) struct OverlayCursor {
    pub(crate) window: Window,
    sprites: SurfaceSprites,
    pixmaps: Pixmaps,
    pub(crate) pace: Pace,
    position: Option<Point>,
    way: Option<Way>,
    ring: Option<Instant>,
    shown: usize,
    is_enabled: bool,
    pub(crate) is_mapped: bool,
    /// Until then it stays where it clicked.
    dwell_until: Instant,
    active: Instant,
}

impl OverlayCursor {
    pub(crate) fn create(
        link: &Link,
        name: &str,
        sprites: SurfaceSprites,
        surface: Surface,
        now: Instant,
    ) -> Result<Self, ReplyOrIdError> {
        let window = link.create_overlay(name, (1, 1))?;
        let pixmaps = Pixmaps::make(link, window, sprites.of(surface), surface)?;
        pixmaps.apply(link, window)?;
        let pace = Pace::default();
        Ok(Self {
            window,
            sprites,
            pixmaps,
            pace,
            position: None,
            way: None,
            ring: None,
            shown: 0,
            is_enabled: true,
            is_mapped: false,
            dwell_until: now,
            active: now,
        })
    }

    /// Shows something else from now on.
    pub(crate) fn set_style(
        &mut self,
        link: &Link,
        sprites: SurfaceSprites,
        surface: Surface,
    ) -> Result<(), ReplyOrIdError> {
        self.sprites = sprites;
        self.change(link, surface)
    }

    /// Shows what fits another surface.
    pub(crate) fn change(&mut self, link: &Link, surface: Surface) -> Result<(), ReplyOrIdError> {
        let pixmaps = Pixmaps::make(link, self.window, self.sprites.of(surface), surface)?;
        std::mem::replace(&mut self.pixmaps, pixmaps).discard(link)?;
        self.shown = 0;
        self.pixmaps.apply(link, self.window)?;
        if let Some(position) = self.position {
            self.stand(link, position)?;
        }
        Ok(())
    }

    /// Sets out for a point; answers through `arrival` whether it got there.
    pub(crate) fn glide(
        &mut self,
        link: &Link,
        to: Point,
        now: Instant,
        arrival: SyncSender<bool>,
    ) -> Result<(), ReplyOrIdError> {
        self.abandon();
        if !self.is_enabled {
            // Nobody reads it any more: then nobody waits either.
            let _ = arrival.try_send(false);
            return Ok(());
        }
        let from = self.position.map_or_else(|| link.middle(), Ok)?;
        self.stand(link, from)?;
        self.appear(link, now)?;
        let start = now.max(self.dwell_until);
        let glide = Glide::plan(from, to, &self.pace.motion);
        self.way = Some(Way { glide, start, arrival: Some(arrival) });
        Ok(())
    }

    /// Goes straight to a point from now on, in that time.
    pub(crate) fn travel(
        &mut self,
        link: &Link,
        to: Point,
        duration: Duration,
        now: Instant,
    ) -> Result<(), ReplyOrIdError> {
        self.abandon();
        if !self.is_enabled {
            return self.stand(link, to);
        }
        let from = self.position.unwrap_or(to);
        self.stand(link, from)?;
        self.appear(link, now)?;
        self.way = Some(Way { glide: Glide::straight(from, to, duration), start: now, arrival: None });
        Ok(())
    }

    /// Is at a point from now on, and seen there.
    pub(crate) fn place(&mut self, link: &Link, at: Point, now: Instant) -> Result<(), ReplyOrIdError> {
        self.abandon();
        self.stand(link, at)?;
        if self.is_enabled { self.appear(link, now) } else { Ok(()) }
    }

    /// Shows a click where it is, and stays for as long as it is told to.
    pub(crate) fn pulse(&mut self, link: &Link, now: Instant) -> Result<(), ReplyOrIdError> {
        if !self.is_enabled || self.position.is_none() {
            return Ok(());
        }
        self.appear(link, now)?;
        self.ring = Some(now);
        self.dwell_until = now + self.pace.dwell;
        Ok(())
    }

    pub(crate) fn enable(
        &mut self,
        link: &Link,
        is_enabled: bool,
        now: Instant,
    ) -> Result<(), ReplyOrIdError> {
        self.is_enabled = is_enabled;
        if !is_enabled {
            return self.vanish(link);
        }
        if self.position.is_some() { self.appear(link, now) } else { Ok(()) }
    }

    pub(crate) fn leave(mut self, link: &Link) -> Result<(), ReplyOrIdError> {
        self.abandon();
        link.conn.destroy_window(self.window)?;
        self.pixmaps.discard(link)
    }

    pub(crate) fn state(&self, is_composited: bool) -> State {
        State {
            position: self.position,
            is_visible: self.is_mapped,
            is_composited,
            has_label: self.sprites.of(surface_of(is_composited)).has_label,
        }
    }

    /// Over all other windows.
    pub(crate) fn raise(&self, link: &Link) -> Result<(), ReplyOrIdError> {
        link.conn.configure_window(self.window, &ConfigureWindowAux::new().stack_mode(StackMode::ABOVE))?;
        Ok(())
    }

    /// Does what is due; answers when the next thing is.
    pub(crate) fn step(&mut self, link: &Link, now: Instant) -> Result<Option<Instant>, ReplyOrIdError> {
        let next_move = self.step_way(link, now)?;
        let next_ring = self.step_ring(link, now)?;
        let busy = next_move.into_iter().chain(next_ring).min();
        if busy.is_some() {
            self.active = now;
            return Ok(busy);
        }
        if !self.is_mapped || self.pace.idle_hide.is_zero() {
            return Ok(None);
        }
        let end = self.active + self.pace.idle_hide;
        if now < end {
            return Ok(Some(end));
        }
        self.vanish(link)?;
        Ok(None)
    }

    fn step_way(&mut self, link: &Link, now: Instant) -> Result<Option<Instant>, ReplyOrIdError> {
        let Some(way) = &self.way else { return Ok(None) };
        if now < way.start {
            return Ok(Some(way.start));
        }
        let elapsed = now - way.start;
        let (at, is_over) = (way.glide.at(elapsed), elapsed >= way.glide.duration());
        let end = way.start + way.glide.duration();
        self.stand(link, at)?;
        if !is_over {
            return Ok(Some(end.min(now + TICK)));
        }
        if let Some(way) = self.way.take() {
            // It is there when the server has it there.
            link.conn.flush()?;
            way.end(true);
        }
        Ok(None)
    }

    fn step_ring(&mut self, link: &Link, now: Instant) -> Result<Option<Instant>, ReplyOrIdError> {
        let Some(start) = self.ring else { return Ok(None) };
        let step = ((now - start).as_nanos() / RING_TICK.as_nanos()) as usize + 1;
        let index = if step < self.pixmaps.count() { step } else { 0 };
        if index != self.shown {
            self.pixmaps.show(link, self.window, index)?;
            self.shown = index;
        }
        if index == 0 {
            self.ring = None;
            return Ok(None);
        }
        Ok(Some(start + RING_TICK * step as u32))
    }

    fn stand(&mut self, link: &Link, at: Point) -> Result<(), ReplyOrIdError> {
        self.position = Some(at);
        let (x, y) = (at.x - self.pixmaps.hot.0, at.y - self.pixmaps.hot.1);
        link.conn.configure_window(self.window, &ConfigureWindowAux::new().x(x).y(y))?;
        Ok(())
    }

    fn appear(&mut self, link: &Link, now: Instant) -> Result<(), ReplyOrIdError> {
        self.active = now;
        self.raise(link)?;
        if !self.is_mapped {
            link.conn.map_window(self.window)?;
            self.is_mapped = true;
        }
        Ok(())
    }

    fn vanish(&mut self, link: &Link) -> Result<(), ReplyOrIdError> {
        self.abandon();
        self.ring = None;
        if self.is_mapped {
            link.conn.unmap_window(self.window)?;
            self.is_mapped = false;
        }
        if std::mem::take(&mut self.shown) != 0 {
            self.pixmaps.show(link, self.window, 0)?;
        }
        Ok(())
    }

    /// Whoever waits for the end of a way is told that it has none.
    fn abandon(&mut self) {
        if let Some(way) = self.way.take() {
            way.end(false);
        }
    }
}

impl Way {
    /// Tells who waits, if anybody does, whether it was gone to its end.
    fn end(self, is_there: bool) {
        if let Some(arrival) = self.arrival {
            let _ = arrival.try_send(is_there);
        }
    }
}

impl SurfaceSprites {
    fn of(&self, surface: Surface) -> &Sprite {
        if surface == Surface::Blended { &self.blended } else { &self.cut }
    }
}

pub(crate) fn surface_of(is_composited: bool) -> Surface {
    if is_composited { Surface::Blended } else { Surface::Cut }
}
