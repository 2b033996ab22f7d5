//! The macroblocks of a picture that goes on from the one before: what is to be done with each, and doing it.

use crate::h264::cells::Vector;
use crate::h264::macroblock::SliceEncoder;
use crate::h264::planes::Planes;
use crate::pictures::copies;
use crate::pictures::drafts::Drafts;
use crate::pictures::rate_control::RateControl;

/// A macroblock that is not the same as before.
pub(crate) struct Task {
    pub(crate) index: usize,
    what: What,
    /// The quantiser that it is shown with afterwards.
    pub(crate) qp: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// It moved by one of the vectors by which parts of the picture moved.
    Moved,
    New,
    /// A draft that is made fine.
    Rested,
}

/// What there is to do for one picture.
pub(crate) struct Work<'a> {
    /// In the order of the picture.
    pub(crate) tasks: Vec<Task>,
    found: &'a [Vector],
}

impl<'a> Work<'a> {
    /// What changed from the picture before to the new one, of which parts moved by the vectors that were found.
    pub(crate) fn of([source, former]: [&Planes; 2], changed: &[usize], found: &'a [Vector]) -> Self {
        let has_moved = |index: usize| {
            found
                .iter()
                .any(|vector| source.holds(index, *vector) && source.same_luma(index, former, *vector))
        };
        let task = |index: &usize| Task {
            index: *index,
            what: if has_moved(*index) { What::Moved } else { What::New },
            qp: 0,
        };
        Self { tasks: changed.iter().map(task).collect(), found }
    }

    /// Adds drafts that have rested; those that changed as well are left as they are.
    pub(crate) fn add_rested(&mut self, rested: impl Iterator<Item = usize>) {
        let before = self.tasks.len();
        for index in rested {
            if self.tasks[..before].binary_search_by_key(&index, |task| task.index).is_err() {
                self.tasks.push(Task { index, what: What::Rested, qp: 0 });
            }
        }
        self.tasks.sort_unstable_by_key(|task| task.index);
    }

    /// How many macroblocks are new.
    pub(crate) fn new_ones(&self) -> usize {
        self.tasks.iter().filter(|task| task.what == What::New).count()
    }

    /// Writes the macroblocks up to the last one that is not skipped; answers how many are skipped after it.
    pub(crate) fn make(
        &mut self,
        mut slice_encoder: SliceEncoder<'_>,
        former: &Planes,
        drafts: &Drafts,
        rate_control: &mut RateControl,
    ) -> u32 {
        slice_encoder.cells.begin();
        slice_encoder.cells.begin_slice(0);
        let (source, finest, are_few) =
            (slice_encoder.source, slice_encoder.qp, self.new_ones() <= copies::MOST);
        let (columns, rows) = (source.columns, source.rows);
        let mut tried: Vec<Vector> = Vec::with_capacity(8);
        let mut tasks = self.tasks.iter_mut().peekable();
        for row in 0..rows {
            let end = (row + 1) * columns;
            if slice_encoder.cells.is_still_from(row.saturating_sub(1))
                && tasks.peek().is_none_or(|next| next.index >= end)
            {
                slice_encoder.run = slice_encoder.run.map(|run| run + columns as u32);
                continue;
            }
            for index in row * columns..end {
                let Some(task) = tasks.next_if(|task| task.index == index) else {
                    slice_encoder.still(index);
                    continue;
                };
                let (start, is_new) = (slice_encoder.bits.len(), task.what == What::New);
                slice_encoder.qp = if is_new { rate_control.qp() } else { finest };
                task.qp = slice_encoder.qp;
                if task.what == What::Rested {
                    slice_encoder.changed(index, &[(0, 0)]);
                    continue;
                }
                try_vectors(&mut tried, &slice_encoder, self.found, index);
                let moved = tried.iter().copied().find(|vector| source.same_luma(index, former, *vector));
                let moved = moved.or_else(|| are_few.then(|| copies::copy(source, former, index)).flatten());
                if let Some(vector) = moved {
                    write_moved(&mut slice_encoder, former, drafts, (task, vector));
                } else {
                    tried.push((0, 0));
                    slice_encoder.changed(index, &tried);
                }
                if is_new {
                    rate_control.spent(slice_encoder.bits.len() - start);
                }
            }
        }
        slice_encoder.run.unwrap_or_default()
    }
}

/// Writes a macroblock that moved by a vector; where it shows a draft, it is one too.
fn write_moved(
    slice_encoder: &mut SliceEncoder<'_>,
    former: &Planes,
    drafts: &Drafts,
    (task, vector): (&mut Task, Vector),
) {
    let (source, qp) = (slice_encoder.source, slice_encoder.qp);
    task.qp = drafts.under(task.index, vector).map_or(qp, |draft| draft.max(qp));
    let is_exact = is_even(vector) && source.same_chroma(task.index, former, vector);
    slice_encoder.moved(task.index, vector, is_exact);
}

/// True when both chroma planes move by whole samples too.
fn is_even((right, down): Vector) -> bool {
    right % 2 == 0 && down % 2 == 0
}

/// The vectors that a macroblock may have moved by: those of its neighbours, then those found in the picture.
fn try_vectors(tried: &mut Vec<Vector>, slice_encoder: &SliceEncoder<'_>, found: &[Vector], index: usize) {
    tried.clear();
    let near = slice_encoder.cells.near_vectors(index).into_iter().flatten();
    for vector in near.chain(found.iter().copied()) {
        if vector != (0, 0) && !tried.contains(&vector) && slice_encoder.source.holds(index, vector) {
            tried.push(vector);
        }
    }
}
