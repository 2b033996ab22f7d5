//! Cells of the sheets of LibreOffice: brought into view by the sheet's own scroll bars, which asks for no focus, no pointer
//! and no key, written where they take a number, and read.

use std::time::{Duration, Instant};

use desktop::Rect;

use crate::platform::bus::ask::{self, Ask, ObjectRef, Reply};
use crate::platform::bus::attributes::attributes;
use crate::platform::dbus::CallError;
use crate::platform::snapshot::Snapshot;
use crate::platform::tree::drawn;
use crate::platform::tree::objects;
use crate::platform::tree::walk::Walk;
use crate::state::{State, States};
use crate::{AxError, Cell, CellContent, Written, cell};

/// How long a number may take to appear in its cell.
const APPEARS: Duration = Duration::from_millis(1_000);
/// Most steps of a scroll bar between two looks.
const MANY_STEPS: i32 = 20;
/// Steps that are asked for without waiting.
const STEPS_AT_ONCE: i32 = 4;
/// Rows or columns that are gone one by one.
const FEW_LINES: i32 = 8;

/// Steps of a scroll bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Steps {
    /// The number of the bar's action: one line back or forth, one page back or forth.
    action: i32,
    count: i32,
}

/// A sheet around a cell.
struct Sheet {
    table: ObjectRef,
    frame: Rect,
    vertical: Option<ObjectRef>,
    horizontal: Option<ObjectRef>,
}

impl Snapshot {
    /// The row and column of a cell of a sheet; none for all else.
    pub(super) fn cell_of_sheet(&self, position: usize) -> Option<Cell> {
        Cell::named(&self.tree.nodes[position].label).filter(|_| drawn::is_cell(&self.tree, position))
    }

    /// What a cell of a sheet holds, and whether it is the chosen one; none for what is no such cell.
    pub fn cell(&self, index: u32, timeout: Duration) -> Result<Option<CellContent>, AxError> {
        let position = self.position(index)?;
        let Some(cell) = self.cell_of_sheet(position) else { return Ok(None) };
        let deadline = Instant::now() + timeout;
        let table = self.table_of(position);
        let object = &self.cell_again((index, position), cell, deadline)?;
        let replies = self.app.ask_all(
            &[
                Ask::plain(object, ask::ACCESSIBLE, "GetState"),
                // An end behind the text is answered with nothing.
                Ask::integers(object, (ask::TEXT, "GetText"), "ii", &[0, -1]),
                Ask::plain(object, ask::ACCESSIBLE, "GetAttributes"),
                Ask::property(table, ask::SELECTION, "NSelectedChildren"),
            ],
            deadline,
        );
        if let Err(error) = &replies[0] {
            return Err(self.failure(index, error, timeout));
        }
        let states = States(ask::states(&replies[0]).unwrap_or_default());
        // A click leaves the cursor in the cell, and chosen by the document's own programs it is marked.
        let is_marked = states.has(State::Selected) && ask::integer_property(&replies[3]) == Some(1);
        let formula = attributes(&replies[2]).into_iter().find(|(name, _)| name == "Formula");
        Ok(Some(CellContent {
            is_chosen: states.has(State::Focused) || is_marked,
            text: ask::text(&replies[1]).unwrap_or_default(),
            formula: formula.map(|(_, formula)| formula).filter(|formula| !formula.is_empty()),
        }))
    }

    /// The object that a sheet has for a cell now: that of a cell that was emptied says for ever what it held.
    fn cell_again(
        &self,
        (index, position): (u32, usize),
        cell: Cell,
        deadline: Instant,
    ) -> Result<ObjectRef, AxError> {
        let table = self.table_of(position);
        let ask = Ask::integers(table, (ask::TABLE, "GetAccessibleAt"), "ii", &[cell.row, cell.column]);
        let timeout = deadline.saturating_duration_since(Instant::now());
        let reply = self.app.ask(ask, deadline).map_err(|error| self.failure(index, &error, timeout))?;
        let found = objects::single(&reply).map(|(bus, path)| table.named(&bus, &path));
        found.ok_or_else(|| self.stale(index))
    }

    /// Writes a number into a cell, wherever that is; `value_not_supported` for all else, which keys write.
    pub(super) fn write_cell(&self, index: u32, value: &str, timeout: Duration) -> Result<Written, AxError> {
        let (role, label) = self.named(index);
        let read = || Ok::<_, AxError>(self.cell(index, timeout)?.unwrap_or_default());
        let content = read()?;
        if content.holds(value) {
            return Ok(Written { route: "none".to_owned(), confirmed: true, value: Some(content.text) });
        }
        let position = self.position(index)?;
        let is_editable = self.tree.nodes[position].states.has(State::Editable);
        let Some(number) = cell::number(value).filter(|_| is_editable) else {
            let why = if is_editable { "written by keys alone" } else { "protected from being written" };
            return Err(AxError::ValueNotSupported { index, role, label, why: why.to_owned() });
        };
        let object = &self.objects[position].object;
        let set = Ask::with(object, (ask::PROPERTIES, "Set"), "ssv", |writer| {
            writer.string(ask::VALUE).string("CurrentValue").double_variant(number);
        });
        if let Err(error @ (CallError::TimedOut | CallError::Closed(_))) =
            self.app.ask(set, Instant::now() + timeout)
        {
            return Err(self.failure(index, &error, timeout));
        }
        let deadline = Instant::now() + APPEARS.min(timeout);
        loop {
            let content = read()?;
            // Shown as a date or a share it is another than was meant.
            let confirmed = content.holds(value);
            if confirmed || Instant::now() >= deadline {
                return Ok(Written { route: "value".to_owned(), confirmed, value: Some(content.text) });
            }
            self.app.wait_for_change(deadline);
        }
    }

    /// Scrolls the sheet of a cell towards it; false where it is not in view and nothing moves.
    pub(super) fn scroll_sheet(
        &self,
        (index, position): (u32, usize),
        cell: Cell,
        timeout: Duration,
    ) -> Result<bool, AxError> {
        let mut walk = Walk::until(&self.app, Instant::now() + timeout);
        let Some(sheet) = self.sheet_around(&mut walk, position) else { return Ok(false) };
        let before = walk.visible_cells(&sheet.table, sheet.frame, true);
        let (rows, columns): (Vec<i32>, Vec<i32>) = before.iter().copied().unzip();
        let ways =
            [(&sheet.vertical, steps(&rows, cell.row)), (&sheet.horizontal, steps(&columns, cell.column))];
        let ways: Vec<(&ObjectRef, Steps)> =
            ways.into_iter().filter_map(|(bar, steps)| bar.as_ref().zip(steps)).collect();
        let enough = Instant::now() + timeout / 4;
        for (bar, steps) in &ways {
            take_steps(&mut walk, bar, *steps, enough)
                .map_err(|error| self.failure(index, &error, timeout))?;
        }
        let after = walk.visible_cells(&sheet.table, sheet.frame, true);
        let has_moved = !ways.is_empty() && after != before;
        Ok(has_moved || self.is_seen(&mut walk, &sheet.table, position))
    }

    /// The sheet that a cell lies in, with the scroll bars that move it.
    fn sheet_around(&self, walk: &mut Walk<'_>, position: usize) -> Option<Sheet> {
        let nodes = &self.tree.nodes;
        let bars_in = |around: usize| -> Vec<usize> {
            let is_bar =
                |at: &usize| nodes[*at].parent == Some(around) && nodes[*at].role.name() == "scroll bar";
            (0..nodes.len()).filter(is_bar).collect()
        };
        let parent = |at: &usize| nodes[*at].parent;
        let bars =
            std::iter::successors(parent(&position), parent).map(bars_in).find(|bars| !bars.is_empty())?;
        let table = self.table_of(position);
        let objects = std::iter::once(table).chain(bars.iter().map(|at| &self.objects[*at].object));
        let asks: Vec<Ask> = objects.map(|object| Ask::extents(object, walk.app.coordinates())).collect();
        let places: Vec<Option<Rect>> = walk.ask_all(&asks).iter().map(ask::rect).collect();
        let frame = places[0]?;
        // A divided sheet has a bar beside each part, and some of no size beside none.
        let beside = |way: State, is_beside: &dyn Fn(Rect) -> bool| {
            let fits = |(at, place): &(&usize, &Option<Rect>)| {
                nodes[**at].states.has(way) && place.is_some_and(is_beside)
            };
            let (at, _) = bars.iter().zip(&places[1..]).find(fits)?;
            Some(self.objects[*at].object.clone())
        };
        let within = |middle: i32, start: i32, length: u32| {
            length > 0 && (start..start.saturating_add_unsigned(length)).contains(&middle)
        };
        let (x, y) = (middle(frame.x, frame.width), middle(frame.y, frame.height));
        Some(Sheet {
            vertical: beside(State::Vertical, &|bar| within(y, bar.y, bar.height)),
            horizontal: beside(State::Horizontal, &|bar| within(x, bar.x, bar.width)),
            table: table.clone(),
            frame,
        })
    }

    /// True when the middle of a cell shows that cell.
    fn is_seen(&self, walk: &mut Walk<'_>, table: &ObjectRef, position: usize) -> bool {
        let coordinates = walk.app.coordinates();
        let place = Ask::extents(&self.objects[position].object, coordinates);
        let place = ask::rect(&walk.ask_all(&[place])[0]).filter(|place| place.width > 0 && place.height > 0);
        let Some(place) = place else { return false };
        let there = Ask::with(table, (ask::COMPONENT, "GetAccessibleAtPoint"), "iiu", |writer| {
            let (x, y) = (middle(place.x, place.width), middle(place.y, place.height));
            writer.i32(x).i32(y).u32(coordinates);
        });
        let Some((bus, path)) = walk.ask_all(&[there])[0].as_ref().ok().and_then(objects::single) else {
            return false;
        };
        // A cell is another object each time it is asked for.
        let name = Ask::property(&table.named(&bus, &path), ask::ACCESSIBLE, "Name");
        let name: &Reply = &walk.ask_all(&[name])[0];
        ask::text_property(name).as_deref() == Some(&*self.tree.nodes[position].label)
    }

    fn table_of(&self, position: usize) -> &ObjectRef {
        let table = self.tree.nodes[position].parent.unwrap_or(position);
        &self.objects[table].object
    }
}

/// Takes steps of a scroll bar until there are enough or it is late, few at a time: those that nobody waits for any more
/// would move the sheet under a click.
fn take_steps(walk: &mut Walk<'_>, bar: &ObjectRef, steps: Steps, enough: Instant) -> Result<(), CallError> {
    let mut left = steps.count;
    while left > 0 {
        let now = left.min(STEPS_AT_ONCE);
        left -= now;
        let step = || Ask::integers(bar, (ask::ACTION, "DoAction"), "i", &[steps.action]);
        let asks: Vec<Ask> = (0..now).map(|_| step()).collect();
        let is_late = |error: &CallError| matches!(error, CallError::TimedOut | CallError::Closed(_));
        if let Some(error) = walk.ask_all(&asks).into_iter().filter_map(Reply::err).find(is_late) {
            return Err(error);
        }
        if Instant::now() >= enough {
            break;
        }
    }
    Ok(())
}

fn middle(start: i32, length: u32) -> i32 {
    start.saturating_add_unsigned(length / 2)
}

/// The steps towards a row or column from where these are seen; none when it is among them. Never so many that it would be
/// passed, and what is seen last may be cut off.
fn steps(seen: &[i32], wanted: i32) -> Option<Steps> {
    let (first, last) = (*seen.iter().min()?, *seen.iter().max()?);
    let whole = last.saturating_sub(1).max(first);
    let (gap, forth) = if wanted < first {
        (first - wanted, 0)
    } else if wanted > whole {
        (wanted - whole, 1)
    } else {
        return None;
    };
    if gap <= FEW_LINES {
        return Some(Steps { action: forth, count: gap });
    }
    let pages = gap / (last - first + 1);
    Some(Steps { action: 2 + forth, count: pages.clamp(1, MANY_STEPS) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_is_scrolled_by_lines_and_pages_towards_a_row() {
        let seen = [10, 30, 59];
        let steps = |wanted| super::steps(&seen, wanted).map(|steps| (steps.action, steps.count));
        assert_eq!((steps(10), steps(58)), (None, None));
        assert_eq!((steps(59), steps(9)), (Some((1, 1)), Some((0, 1))));
        assert_eq!((steps(100), steps(499)), (Some((3, 1)), Some((3, 8))));
        assert_eq!(steps(1_000_000), Some((3, MANY_STEPS)));
        assert_eq!(steps(0), Some((2, 1)));
    }

    #[test]
    fn a_row_that_fills_the_sheet_is_not_left() {
        assert_eq!(steps(&[7, 7], 7), None);
        assert_eq!(steps(&[], 7), None);
    }
}
