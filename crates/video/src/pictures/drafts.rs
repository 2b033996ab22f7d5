//! Which macroblocks are shown coarser than the film is to be, until they are made again.

use std::time::Duration;

use crate::h264::cells::Vector;

/// How each macroblock is shown.
pub(crate) struct Drafts {
    columns: usize,
    /// The quantiser of each that is coarse, with when it changed.
    found: Vec<Option<(u8, Duration)>>,
    number: usize,
}

impl Drafts {
    /// All are as fine as the film.
    pub(crate) fn new(columns: usize, rows: usize) -> Self {
        Self { columns, found: vec![None; columns * rows], number: 0 }
    }

    /// Notes how a macroblock is shown from now on; none for as fine as the film.
    pub(crate) fn set(&mut self, index: usize, draft: Option<(u8, Duration)>) {
        let former = std::mem::replace(&mut self.found[index], draft);
        self.number = self.number + usize::from(draft.is_some()) - usize::from(former.is_some());
    }

    /// Those that did not change after a moment, in their order.
    pub(crate) fn rested(&self, moment: Duration) -> impl Iterator<Item = usize> {
        let found = if self.number > 0 { self.found.as_slice() } else { &[] };
        let is_rested = move |draft: &Option<(u8, Duration)>| draft.is_some_and(|(_, at)| at <= moment);
        found.iter().enumerate().filter(move |(_, draft)| is_rested(draft)).map(|(index, _)| index)
    }

    /// The coarsest of those that a macroblock, moved, lies over; none when all are fine. It lies inside the picture.
    pub(crate) fn under(&self, index: usize, vector: Vector) -> Option<u8> {
        if self.number == 0 {
            return None;
        }
        let (x, y) = (index % self.columns * 16, index / self.columns * 16);
        let touched = |at: usize, by: i32| {
            let start = (at as i32 + by) as usize;
            start / 16..(start + 16).div_ceil(16)
        };
        let columns = touched(x, vector.0);
        let all = touched(y, vector.1).flat_map(|row| columns.clone().map(move |column| (row, column)));
        all.filter_map(|(row, column)| self.found[row * self.columns + column].map(|(qp, _)| qp)).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_macroblock_is_as_coarse_as_what_it_was_copied_from() {
        let mut drafts = Drafts::new(4, 3);
        assert_eq!(drafts.under(5, (1, 1)), None);
        drafts.set(5, Some((30, Duration::ZERO)));
        drafts.set(10, Some((40, Duration::from_secs(2))));
        assert_eq!(drafts.under(5, (0, 0)), Some(30));
        assert_eq!(drafts.under(5, (1, 1)), Some(40));
        assert_eq!(drafts.under(0, (15, 0)), None);
        assert_eq!(drafts.under(0, (1, 1)), Some(30));
        assert_eq!(drafts.rested(Duration::from_secs(1)).collect::<Vec<_>>(), [5]);
        drafts.set(5, None);
        drafts.set(5, None);
        assert_eq!(drafts.rested(Duration::from_secs(2)).collect::<Vec<_>>(), [10]);
        drafts.set(10, None);
        assert_eq!(drafts.rested(Duration::from_secs(9)).count(), 0);
    }
}
