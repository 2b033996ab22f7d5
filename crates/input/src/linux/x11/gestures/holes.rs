//! Holes of one pixel in what covers a window, for the agent's pointer to reach through.

use desktop::{Point, Rect};
use x11rb::protocol::shape::{self, SK, SO};
use x11rb::protocol::xinput;
use x11rb::protocol::xproto::{AtomEnum, ClipOrdering, ConnectionExt as _, PropMode, Rectangle, Window};

use super::covers::{holds, input_regions, parts, whole_of};
use super::region::{area, difference, uncovered};
use crate::InputError;
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::devices::pair::Pair;
use crate::platform::x11::devices::parking::park;
use crate::platform::x11::devices::pointer;

/// Words of the note that stand for one hole: window, x, y, 1 for a window that had no shape of its own, and how many
/// pixels took input then.
const WORDS: usize = 5;
/// By how many pixels the input shape may differ from what was left of it, because of the holes of other agents; by more
/// it has been changed by its owner.
const HOLES_OF_OTHERS: u64 = 16;

/// A pixel that was taken out of a window's input shape.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hole {
    window: Window,
    /// From the window's origin, which lies inside its border.
    x: i16,
    y: i16,
    /// The window took input everywhere, so it had no shape.
    was_whole: bool,
    /// All of the window, with its border; nothing for the hole of a dead agent.
    whole: Rect,
    /// What was left of the input shape.
    left: ShapeWithHole,
    /// The point of the screen.
    at: Point,
}

/// What a window took input with when the hole was in it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ShapeWithHole {
    Parts(Vec<Rect>),
    /// Of the hole of a dead agent only the number of pixels is known.
    Area(u64),
}

/// The holes that are open at one time, in the order in which they were opened. They are noted on the agent's
/// device, so that a sweep closes what a dead agent left. To be opened and closed with the server grabbed.
#[derive(Debug, Default)]
pub struct Holes {
    open: Vec<Hole>,
    /// The child of the root window that they lead to.
    frame: Window,
}

/// What was found over a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// Nothing: the point is free.
    Nothing,
    /// Windows, which let the point through now.
    Windows,
    /// Windows, and the person's pointer on top of them: nothing was opened.
    Occupied,
}

impl Holes {
    /// True when nothing is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Opens what of the windows above `frame` lies over the point of the screen.
    pub fn open(
        &mut self,
        link: &Link,
        (own, person): (Pair, Pair),
        frame: Window,
        at: Point,
    ) -> Result<Opened, InputError> {
        if frame != self.frame && !self.open.is_empty() {
            // A hole that led to a lower window may be one in this.
            park(link)?;
            self.close(link, own)?;
        }
        self.frame = frame;
        let spot = Rect { x: at.x, y: at.y, width: 1, height: 1 };
        let mut new = Vec::new();
        for region in input_regions(link, frame, spot)? {
            let (x, y) = ((at.x - region.origin.0) as i16, (at.y - region.origin.1) as i16);
            if holds(&region.bounding, x, y) && holds(&region.input, x, y) {
                let window = region.window;
                let had_none = self.open.iter().any(|hole| hole.window == window && hole.was_whole);
                let was_whole = had_none || region.input == [region.whole];
                let left = ShapeWithHole::without((x, y), &region.input);
                new.push(Hole { window, x, y, was_whole, whole: region.whole, left, at });
            }
        }
        if new.is_empty() {
            return Ok(Opened::Nothing);
        }
        if pointer::position(link, person.pointer)? == at {
            return Ok(Opened::Occupied);
        }
        self.open.extend_from_slice(&new);
        self.note(link, own)?;
        new.iter().try_for_each(|hole| hole.change(link, SO::SUBTRACT))?;
        Ok(Opened::Windows)
    }

    /// Gives the windows back what was taken at other points, but to one that has another shape meanwhile.
    pub fn keep(&mut self, link: &Link, own: Pair, at: Point) -> Result<(), InputError> {
        let (kept, closed): (Vec<Hole>, Vec<Hole>) = self.open.drain(..).partition(|hole| hole.at == at);
        self.open = kept;
        if closed.is_empty() {
            return Ok(());
        }
        close(link, &closed)?;
        self.note(link, own)
    }

    /// Has windows that take input everywhere do so in the size that they have by now, but for the holes.
    pub fn fit(&mut self, link: &Link, own: Pair) -> Result<(), InputError> {
        let conn = &link.conn;
        let mut has_changed = false;
        for hole in self.open.iter_mut().filter(|hole| hole.was_whole) {
            let shape = shape::get_rectangles(conn, hole.window, SK::INPUT)?;
            let geometry = conn.get_geometry(hole.window)?;
            let (Ok(shape), Ok(geometry)) = (shape.reply(), geometry.reply()) else { continue };
            let whole = whole_of(&geometry);
            // Its owner may have given it another shape.
            if whole != hole.whole && hole.left.is(&parts(&shape.rectangles)) {
                shape::mask(conn, SO::SET, SK::INPUT, hole.window, 0, 0, x11rb::NONE)?.ignore_error();
                hole.change(link, SO::SUBTRACT)?;
                (hole.whole, hole.left) = (whole, ShapeWithHole::without((hole.x, hole.y), &[whole]));
                has_changed = true;
            }
        }
        if has_changed { self.note(link, own) } else { Ok(()) }
    }

    /// Gives the windows back all that was taken.
    pub fn close(&mut self, link: &Link, own: Pair) -> Result<(), InputError> {
        if self.open.is_empty() {
            return Ok(());
        }
        close(link, &std::mem::take(&mut self.open))?;
        self.note(link, own)
    }

    fn note(&self, link: &Link, own: Pair) -> Result<(), InputError> {
        let words = self.open.iter().flat_map(|hole| {
            let (x, y) = (u32::from(hole.x as u16), u32::from(hole.y as u16));
            let area = u32::try_from(hole.left.area()).unwrap_or(u32::MAX);
            [hole.window, x, y, u32::from(hole.was_whole), area]
        });
        let words: Vec<u32> = words.collect();
        let (name, kind) = (link.atoms._BACKLOT_HOLES, AtomEnum::CARDINAL.into());
        let count = words.len() as u32;
        let note = xinput::XIChangePropertyAux::Data32(words);
        xinput::xi_change_property(&link.conn, own.pointer, PropMode::REPLACE, name, kind, count, &note)?
            .ignore_error();
        Ok(())
    }
}

/// Closes the holes that a dead agent's device notes.
pub fn close_of(link: &Link, pointer: u16) -> Result<(), InputError> {
    let name = link.atoms._BACKLOT_HOLES;
    let note =
        xinput::xi_get_property(&link.conn, pointer, false, name, AtomEnum::ANY.into(), 0, 4096)?.reply()?;
    let xinput::XIGetPropertyItems::Data32(words) = note.items else { return Ok(()) };
    let (holes, _) = words.as_chunks::<WORDS>();
    let holes: Vec<Hole> = holes
        .iter()
        .map(|[window, x, y, was_whole, area]| Hole {
            window: *window,
            x: *x as i16,
            y: *y as i16,
            was_whole: *was_whole == 1,
            whole: Rect::default(),
            left: ShapeWithHole::Area((*area).into()),
            at: Point::default(),
        })
        .collect();
    link.alone(|| close(link, &holes))
}

/// Closes holes with the server grabbed; not those in windows whose owner gave them another shape meanwhile.
fn close(link: &Link, holes: &[Hole]) -> Result<(), InputError> {
    let conn = &link.conn;
    let mut asked = Vec::new();
    for hole in holes {
        asked.push((hole, shape::get_rectangles(conn, hole.window, SK::INPUT)?));
    }
    let mut closed = Vec::new();
    for (hole, before) in asked {
        // A window that went away meanwhile took its shape with it.
        let Ok(before) = before.reply() else { continue };
        let before = parts(&before.rectangles);
        if holds(&before, hole.x, hole.y) || !hole.left.is(&before) {
            continue;
        }
        hole.change(link, SO::UNION)?;
        let after = shape::get_rectangles(conn, hole.window, SK::INPUT)?;
        closed.push((hole, after, conn.get_geometry(hole.window)?));
    }
    for (hole, after, geometry) in closed {
        let (Ok(after), Ok(geometry)) = (after.reply(), geometry.reply()) else { continue };
        let after = parts(&after.rectangles);
        // Without a shape of its own a window takes input everywhere also when its size changes.
        if after.len() == 1 && hole.was_whole || after == [whole_of(&geometry)] {
            shape::mask(conn, SO::SET, SK::INPUT, hole.window, 0, 0, x11rb::NONE)?.ignore_error();
        }
    }
    Ok(())
}

impl ShapeWithHole {
    fn without((x, y): (i16, i16), input: &[Rect]) -> Self {
        let pixel = Rect { x: x.into(), y: y.into(), width: 1, height: 1 };
        Self::Parts(input.iter().flat_map(|part| uncovered(*part, &[pixel])).collect())
    }

    fn area(&self) -> u64 {
        match self {
            Self::Parts(parts) => area(parts),
            Self::Area(area) => *area,
        }
    }

    /// True when this is the shape still, but for holes.
    fn is(&self, now: &[Rect]) -> bool {
        let differing = match self {
            Self::Parts(parts) => difference(parts, now),
            Self::Area(before) => before.abs_diff(area(now)),
        };
        differing <= HOLES_OF_OTHERS
    }
}

impl Hole {
    fn change(&self, link: &Link, operation: SO) -> Result<(), InputError> {
        let pixel = [Rectangle { x: self.x, y: self.y, width: 1, height: 1 }];
        let unsorted = ClipOrdering::UNSORTED;
        shape::rectangles(&link.conn, operation, SK::INPUT, unsorted, self.window, 0, 0, &pixel)?
            .ignore_error();
        Ok(())
    }
}
