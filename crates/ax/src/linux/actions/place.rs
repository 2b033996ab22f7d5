//! Where an element is, what shows it, and bringing it into view.

use std::time::{Duration, Instant};

use desktop::Rect;

use crate::platform::bus::ask::{self, Ask};
use crate::platform::bus::toolkit::Toolkit;
use crate::platform::dbus::CallError;
use crate::platform::snapshot::Snapshot;
use crate::platform::tree::coordinates::{origin, origin_asks, relative_to, unwrapped};
use crate::platform::tree::walk::Walk;
use crate::platform::tree::{drawn, window};
use crate::{AxError, Place};

/// `ATSPI_SCROLL_ANYWHERE`: as far as is needed.
const ANYWHERE: u32 = 6;
/// Of more neighbours only some are asked where they are.
const MANY_BESIDE: usize = 400;
/// Most objects around an element that are asked where they are.
const MANY_AROUND: usize = 40;

impl Snapshot {
    /// Where an element is now, and the part of the window that shows what lies in what it lies in: of a page the document,
    /// of other windows all that the element lies in.
    pub fn place(&self, index: u32, timeout: Duration) -> Result<Place, AxError> {
        let position = self.position(index)?;
        let parent = |at: &usize| self.tree.nodes[*at].parent;
        let around = std::iter::successors(parent(&position), parent).take(MANY_AROUND);
        let is_page = self.app.toolkit.is_read_in_part();
        let shows = |at: &usize| !is_page || self.tree.nodes[*at].role.name().starts_with("document");
        let around: Vec<usize> = around.filter(shows).collect();
        let own = &self.objects[position].object;
        let mut walk = Walk::until(&self.app, Instant::now() + timeout);
        let now = drawn::shift_now(&mut walk, &self.tree, &self.objects, position);
        let shift = |at: usize| match now {
            Some((root, shift)) if at >= root => shift,
            _ => self.objects[at].shift,
        };
        let mut asks: Vec<Ask> = origin_asks(self.window.as_ref().unwrap_or(own)).into();
        asks.push(Ask::plain(own, ask::ACCESSIBLE, "GetState"));
        let all = || std::iter::once(&position).chain(&around);
        asks.extend(all().map(|at| Ask::extents(&self.objects[*at].object, self.app.coordinates())));
        let replies = walk.ask_all(&asks);
        if let Err(error @ (CallError::TimedOut | CallError::Remote { .. })) = &replies[2] {
            return Err(self.failure(index, error, timeout));
        }
        let (x, y) = relative_to(&walk, origin(self, &replies[..2]));
        let mut frames = all().zip(&replies[3..]).map(|(at, reply)| {
            let frame = unwrapped(self.app.toolkit, ask::rect(reply)?);
            let frame = Rect { x: frame.x.saturating_sub(x), y: frame.y.saturating_sub(y), ..frame };
            Some(drawn::shifted(frame, shift(*at)))
        });
        let own = frames.next().flatten();
        let edge =
            ask::rect(&replies[1]).map(window::at_origin).filter(|edge| edge.width > 0 && edge.height > 0);
        let area = shown(frames.flatten(), edge);
        let has_place = |frame: &Rect| frame.width > 0 || frame.height > 0;
        if let Some(frame) = own.filter(has_place) {
            return Ok(Place { frame, area, estimated: false });
        }
        // The snapshot has few of a sheet's cells: their number says nothing of how far they are.
        let is_reckoned = self.app.toolkit == Toolkit::Gtk3 && !drawn::is_cell(&self.tree, position);
        let estimate = if is_reckoned { self.estimate(&mut walk, position, (x, y)) } else { None };
        Ok(Place { frame: estimate.unwrap_or_default(), area, estimated: estimate.is_some() })
    }

    /// Where an element that is scrolled away would be, by the places of its neighbours in view: GTK 3 does not tell.
    fn estimate(&self, walk: &mut Walk<'_>, position: usize, (x, y): (i32, i32)) -> Option<Rect> {
        let nodes = &self.tree.nodes;
        let mut at = position;
        loop {
            let parent = nodes[at].parent?;
            // A table's headers stay where they are.
            let alike =
                |other: &usize| nodes[*other].parent == Some(parent) && nodes[*other].role == nodes[at].role;
            let siblings: Vec<usize> = (0..nodes.len()).filter(alike).collect();
            let own = siblings.iter().position(|other| *other == at)?;
            let step = siblings.len().div_ceil(MANY_BESIDE).max(1);
            let some = (0..siblings.len()).step_by(step).collect();
            let mut seen = self.places_of(walk, &siblings, some);
            if seen.len() < 2 && step > 1 {
                seen = self.places_of(walk, &siblings, (0..siblings.len()).collect());
            }
            if let Some(frame) = between(&seen, own) {
                return Some(Rect { x: frame.x.saturating_sub(x), y: frame.y.saturating_sub(y), ..frame });
            }
            at = parent;
        }
    }

    /// The places of those of these nodes that have one, by their numbers.
    fn places_of(&self, walk: &mut Walk<'_>, nodes: &[usize], numbers: Vec<usize>) -> Vec<(usize, Rect)> {
        let place =
            |number: &usize| Ask::extents(&self.objects[nodes[*number]].object, self.app.coordinates());
        let asks: Vec<Ask> = numbers.iter().map(place).collect();
        let replies = walk.ask_all(&asks);
        let placed = numbers
            .into_iter()
            .zip(&replies)
            .filter_map(|(number, reply)| Some((number, unwrapped(self.app.toolkit, ask::rect(reply)?))));
        placed.filter(|(_, frame)| frame.width > 1 && frame.height > 1).collect()
    }

    /// Asks the toolkit to bring an element into view; false where it cannot. A cell of a sheet may be far away: it is
    /// brought nearer, and further by being asked for again.
    pub fn scroll_to(&self, index: u32, timeout: Duration) -> Result<bool, AxError> {
        let position = self.position(index)?;
        if let Some(cell) = self.cell_of_sheet(position) {
            return self.scroll_sheet((index, position), cell, timeout);
        }
        let scroll = Ask::with(&self.objects[position].object, (ask::COMPONENT, "ScrollTo"), "u", |writer| {
            writer.u32(ANYWHERE);
        });
        let reply = self.app.ask(scroll, Instant::now() + timeout);
        match &reply {
            Ok(_) => Ok(ask::boolean(&reply) == Some(true)),
            // A toolkit without the call answers with an error, which says nothing about the element.
            Err(CallError::Remote { .. }) => Ok(false),
            Err(error) => Err(self.failure(index, error, timeout)),
        }
    }
}

/// The place of the neighbour of that number, as those that are seen stand one after another.
fn between(seen: &[(usize, Rect)], own: usize) -> Option<Rect> {
    let (first, last) = (seen.first()?, seen.last()?);
    if first.0 == last.0 {
        return None;
    }
    let whole = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let count = whole(last.0) - whole(first.0);
    let at = |from: i32, to: i32| {
        let moved = i64::from(to) - i64::from(from);
        let place = i64::from(from) + moved * (whole(own) - whole(first.0)) / count;
        i32::try_from(place).unwrap_or(if place > 0 { i32::MAX / 2 } else { i32::MIN / 2 })
    };
    Some(Rect { x: first.1.x, y: at(first.1.y, last.1.y), ..first.1 })
}

/// The part of a window of that size that shows what lies in all of these.
fn shown(around: impl Iterator<Item = Rect>, edge: Option<Rect>) -> Rect {
    let area = around
        .filter(|around| around.width > 1 && around.height > 1)
        // What is larger than its window is scrolled itself.
        .filter(|around| edge.is_none_or(|edge| around.width <= edge.width && around.height <= edge.height))
        .fold(None, |area: Option<Rect>, around| Some(area.map_or(around, |area| common(area, around))));
    area.or(edge).unwrap_or_default()
}

/// What both have; without a size where they have nothing.
fn common(a: Rect, b: Rect) -> Rect {
    let right = |rect: Rect| rect.x.saturating_add_unsigned(rect.width);
    let bottom = |rect: Rect| rect.y.saturating_add_unsigned(rect.height);
    let (x, y) = (a.x.max(b.x), a.y.max(b.y));
    let size = |end: i32, start: i32| u32::try_from(end.saturating_sub(start)).unwrap_or(0);
    Rect { x, y, width: size(right(a).min(right(b)), x), height: size(bottom(a).min(bottom(b)), y) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_scrolled_away_stands_in_line_with_its_neighbours() {
        let row = |number, y| (number, Rect { x: 5, y, width: 100, height: 20 });
        let frame = between(&[row(10, 100), row(11, 120), row(12, 140)], 100);
        assert_eq!(frame, Some(Rect { x: 5, y: 1_900, width: 100, height: 20 }));
        assert_eq!(between(&[row(10, 140), row(12, 100)], 13).map(|frame| frame.y), Some(80));
        assert_eq!(between(&[row(3, 0)], 4), None);
    }

    #[test]
    fn places_of_gtk_3_do_not_wrap() {
        let place = |y| Rect { x: 5, y, width: 300, height: 30 };
        assert_eq!(unwrapped(Toolkit::Gtk3, place(65_580)), place(44));
        assert_eq!(unwrapped(Toolkit::Gtk3, place(31_830)), place(-33_706));
        assert_eq!(unwrapped(Toolkit::Chromium, place(31_830)), place(31_830));
    }

    #[test]
    fn places_have_in_common_what_lies_in_both() {
        let view = Rect { x: 0, y: 40, width: 100, height: 60 };
        let list = Rect { x: 10, y: 0, width: 200, height: 5_000 };
        assert_eq!(common(view, list), Rect { x: 10, y: 40, width: 90, height: 60 });
        let far = Rect { x: 500, y: 500, width: 5, height: 5 };
        assert_eq!((common(view, far).width, common(view, far).height), (0, 0));
    }
}
