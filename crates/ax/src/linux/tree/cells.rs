//! Reads the cells of tables that make them on demand.

use std::ops::Range;

use desktop::Rect;

use super::drawn;
use super::objects::{self, Objects};
use super::walk::{SOME_CHILDREN, Walk};
use crate::Cell;
use crate::platform::bus::ask::{self, Ask, ObjectRef, Reply};
use crate::platform::bus::toolkit::Toolkit;

/// A table with no more columns is read in its whole width.
const FEW_COLUMNS: i32 = 16;
/// Most cells in view that are read of a table.
const MANY_CELLS: usize = 2_000;
/// A table with more cells is not read beyond the view.
const WHOLE_TABLE: i32 = 20_000;
/// No sheet lies deeper in its window.
const MANY_AROUND: usize = 100;

impl Walk<'_> {
    /// The calls that fetch the cells of a table: those in view, or all where the rest is wanted and not endless. Of a
    /// sheet also the one that is asked for by its name.
    pub(super) fn cells(&mut self, objects: &Objects, position: usize) -> Vec<Ask> {
        let table = &objects.all[position].object;
        let size = self.ask_all(&[
            Ask::extents(table, self.app.coordinates()),
            Ask::property(table, ask::TABLE, "NRows"),
            Ask::property(table, ask::TABLE, "NColumns"),
        ]);
        let (Some(all_rows), Some(all_columns)) =
            (ask::integer_property(&size[1]), ask::integer_property(&size[2]))
        else {
            return Vec::new();
        };
        let (all_rows, all_columns) = (all_rows.max(0), all_columns.max(0));
        let endless = all_rows.saturating_mul(all_columns) > WHOLE_TABLE;
        let is_sheet = endless && self.is_sheet(objects, position);
        let (rows, columns) = if self.offscreen && !endless {
            (0..all_rows, 0..all_columns)
        } else {
            let frame = ask::rect(&size[0]);
            let seen = frame.map(|frame| self.visible_cells(table, frame, is_sheet)).unwrap_or_default();
            visible_range(&seen, all_rows, all_columns)
        };
        let most = if self.offscreen && !endless { usize::MAX } else { MANY_CELLS };
        let cells = rows.clone().flat_map(|row| columns.clone().map(move |column| [row, column])).take(most);
        let header = |column| Ask::integers(table, (ask::TABLE, "GetColumnHeader"), "i", &[column]);
        let mut asks: Vec<Ask> = columns.clone().map(header).collect();
        let headers = asks.len();
        asks.extend(cells.map(|cell| Ask::integers(table, (ask::TABLE, "GetAccessibleAt"), "ii", &cell)));
        let read = asks.len() - headers;
        if endless {
            self.note_endless_table(read, [all_rows, all_columns], is_sheet);
            let is_unread = |cell: &Cell| {
                let is_there = cell.row < all_rows && cell.column < all_columns;
                is_there && !(rows.contains(&cell.row) && columns.contains(&cell.column))
            };
            if let Some(cell) = self.cell.filter(|cell| is_sheet && is_unread(cell)) {
                let place = [cell.row, cell.column];
                let ask = Ask::integers(table, (ask::TABLE, "GetAccessibleAt"), "ii", &place);
                // What stands before the cells in view is above them.
                asks.insert(if cell.row < rows.start { headers } else { asks.len() }, ask);
            }
        } else {
            let count = |cells: i32| u32::try_from(cells).unwrap_or(0);
            let all = count(all_rows * all_columns);
            let above = count(rows.start * all_columns);
            let unread = all.saturating_sub(u32::try_from(read).unwrap_or(u32::MAX));
            self.unread.add(above.min(unread), unread.saturating_sub(above));
        }
        asks
    }

    /// Notes that of a table without an end only the cells in view were read.
    fn note_endless_table(&mut self, read: usize, [rows, columns]: [i32; 2], is_sheet: bool) {
        let others = if is_sheet {
            "what the others hold is not searched; query the name of one, such as \"B500\", to get it"
        } else {
            "scroll to the others"
        };
        self.unread.at_least = true;
        self.left_out.push(format!(
            "only the {read} cells in view of a table of {rows} rows and {columns} columns were read: {others}"
        ));
    }

    /// Rows and columns of the cells that are hit by points spread over the table; headers and empty parts hit none.
    pub fn visible_cells(&mut self, table: &ObjectRef, frame: Rect, is_sheet: bool) -> Vec<(i32, i32)> {
        let size = |pixels: u32| i32::try_from(pixels).unwrap_or(i32::MAX);
        let (width, height) = (size(frame.width), size(frame.height));
        // Headers lie along the edges, so the first and last cells are looked for a little inside as well.
        let spread = |length: i32| [8, 48, 96, length / 2, length - 48, length - 8];
        let points = spread(height).into_iter().flat_map(|y| spread(width).map(|x| (x, y)));
        let asks: Vec<Ask> = points
            .map(|(x, y)| {
                Ask::with(table, (ask::COMPONENT, "GetAccessibleAtPoint"), "iiu", |writer| {
                    writer.i32(frame.x + x).i32(frame.y + y).u32(self.app.coordinates());
                })
            })
            .collect();
        let mut hit: Vec<(String, String)> =
            self.ask_all(&asks).iter().flatten().filter_map(objects::single).collect();
        hit.sort();
        hit.dedup();
        if is_sheet {
            // Beyond row 131,072 the number of a cell among all is larger than the bus can say.
            let name = |(bus, path): &(String, String)| {
                Ask::property(&table.named(bus, path), ask::ACCESSIBLE, "Name")
            };
            let names = self.ask_all(&hit.iter().map(name).collect::<Vec<Ask>>());
            let cells: Vec<(i32, i32)> = names
                .iter()
                .filter_map(|name| Cell::named(&ask::text_property(name)?))
                .map(|cell| (cell.row, cell.column))
                .collect();
            if !cells.is_empty() {
                return cells;
            }
        }
        let asks: Vec<Ask> = hit
            .iter()
            .map(|(bus, path)| Ask::plain(&table.named(bus, path), ask::ACCESSIBLE, "GetIndexInParent"))
            .collect();
        let asks: Vec<Ask> = self
            .ask_all(&asks)
            .iter()
            .filter_map(ask::integer)
            .flat_map(|index| ["GetRowAtIndex", "GetColumnAtIndex"].map(|member| (member, index)))
            .map(|(member, index)| Ask::integers(table, (ask::TABLE, member), "i", &[index]))
            .collect();
        let places = self.ask_all(&asks);
        let place = |pair: &[Reply]| Some((ask::integer(&pair[0])?, ask::integer(&pair[1])?));
        places.chunks(2).filter_map(place).filter(|(row, column)| *row >= 0 && *column >= 0).collect()
    }

    /// True for a sheet of LibreOffice, whose cells have the names of their places.
    fn is_sheet(&self, objects: &Objects, position: usize) -> bool {
        let above = |at: &usize| objects.above(*at).filter(|above| above != at);
        self.app.toolkit == Toolkit::Gtk3
            && std::iter::successors(Some(position), above)
                .take(MANY_AROUND)
                .any(|at| drawn::is_drawn(objects.all[at].role.name()))
    }
}

/// Rows and columns between the cells that were seen; the first rows when none was.
fn visible_range(seen: &[(i32, i32)], rows: i32, columns: i32) -> (Range<i32>, Range<i32>) {
    let range = |places: &[i32], all: i32| {
        let (first, last) = (places.iter().min()?, places.iter().max()?);
        // What was hit is not quite the edge: one more costs nothing.
        Some(first.saturating_sub(1).max(0)..last.saturating_add(2).min(all))
    };
    let (seen_rows, seen_columns): (Vec<i32>, Vec<i32>) = seen.iter().copied().unzip();
    let every_column = columns <= FEW_COLUMNS;
    let columns = columns.min(SOME_CHILDREN);
    let columns = if every_column { 0..columns } else { range(&seen_columns, columns).unwrap_or(0..columns) };
    let fallback = 0..rows.min(SOME_CHILDREN / (columns.end - columns.start).max(1));
    (range(&seen_rows, rows).unwrap_or(fallback), columns)
}
