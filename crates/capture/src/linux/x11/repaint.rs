//! Makes a window draw what the server did not keep while it was covered.
//!
//! Redirection only keeps what is drawn from then on: a part that was covered at that moment is black.

use std::time::{Duration, Instant};

use desktop::Rect;
use desktop::x11::{Frame, Placed};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::damage::{ConnectionExt as _, Damage, ReportLevel};
use x11rb::protocol::xproto::{ConnectionExt as _, Window as Xid};

use super::link::{Link, ReadError};

/// How long a program may take to draw again.
const LIMIT: Duration = Duration::from_millis(500);

/// How long after its last stroke a window counts as drawn: two frames of a 60 Hz clock.
const QUIET: Duration = Duration::from_millis(34);

/// The parts of a window, in screen pixels, that something above it or the screen's edge hides.
pub(crate) fn hidden_parts(window: &Placed, stacking: &[Frame], screen: Rect) -> Vec<Rect> {
    let above = stacking.iter().skip_while(|frame| frame.id != window.frame_id).skip(1);
    let covers = above.filter(|frame| !frame.is_input_only);
    let mut hidden: Vec<Rect> = covers.filter_map(|frame| frame.rect.intersection(&window.bounds)).collect();
    if screen.intersection(&window.bounds) != Some(window.bounds) {
        hidden.push(window.bounds);
    }
    hidden
}

impl Link {
    /// Asks the window to draw these parts (screen pixels) and waits until it has; false when it did not.
    pub(crate) fn repaint(&mut self, window: &Placed, parts: &[Rect]) -> Result<bool, ReadError> {
        if !self.has_damage || parts.is_empty() {
            return Ok(parts.is_empty());
        }
        let damage = self.conn.generate_id()?;
        self.conn.damage_create(damage, window.frame_id, ReportLevel::RAW_RECTANGLES)?;
        for (id, inside) in self.surfaces(window)? {
            for part in parts.iter().filter_map(|part| part.intersection(&inside)) {
                let (x, y) = (part.x - inside.x, part.y - inside.y);
                // Within 16 bits: the part lies inside a window.
                self.conn.clear_area(true, id, x as i16, y as i16, part.width as u16, part.height as u16)?;
            }
        }
        // What this round trip brings is the damage of the clearing itself.
        self.conn.get_input_focus()?.reply()?;
        while self.conn.poll_for_event()?.is_some() {}
        let has_drawn = self.wait_until_drawn(damage)?;
        self.conn.damage_destroy(damage)?;
        self.conn.flush()?;
        Ok(has_drawn)
    }

    /// The window and everything inside it, with their places on the screen.
    fn surfaces(&self, window: &Placed) -> Result<Vec<(Xid, Rect)>, ReadError> {
        let mut found = vec![(window.window_id.xid(), window.bounds)];
        let mut level = found.clone();
        while !level.is_empty() {
            let trees = level
                .iter()
                .map(|(id, place)| Ok((*place, self.conn.query_tree(*id)?)))
                .collect::<Result<Vec<_>, ReadError>>()?;
            let mut asked = Vec::new();
            for (place, tree) in trees {
                for child in tree.reply().map(|tree| tree.children).unwrap_or_default() {
                    asked.push((child, place, self.conn.get_geometry(child)?));
                }
            }
            level = asked
                .into_iter()
                .filter_map(|(child, place, geometry)| {
                    let geometry = geometry.reply().ok()?;
                    let border = i32::from(geometry.border_width);
                    let inside = Rect {
                        x: place.x + i32::from(geometry.x) + border,
                        y: place.y + i32::from(geometry.y) + border,
                        width: geometry.width.into(),
                        height: geometry.height.into(),
                    };
                    Some((child, inside))
                })
                .collect();
            found.extend(&level);
        }
        Ok(found)
    }

    /// Of other windows the watches tell on the same connection.
    fn wait_until_drawn(&self, damage: Damage) -> Result<bool, ReadError> {
        let deadline = Instant::now() + LIMIT;
        let mut has_drawn = false;
        loop {
            while let Some(event) = self.conn.poll_for_event()? {
                has_drawn |= matches!(event, Event::DamageNotify(event) if event.damage == damage);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let wait = if has_drawn { left.min(QUIET) } else { left };
            if wait.is_zero() {
                return Ok(has_drawn);
            }
            let mut sockets = [PollFd::new(self.conn.stream(), PollFlags::IN)];
            let wait = Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() };
            match poll(&mut sockets, Some(&wait)) {
                Ok(0) => return Ok(has_drawn),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => return Ok(has_drawn),
            }
        }
    }
}
