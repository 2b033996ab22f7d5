//! The quantisers between which a film chooses.

use crate::h264::transform::{Quantiser, chroma_qp};

/// The quantiser of the coarsest macroblocks that the standard knows.
pub(crate) const COARSEST: u8 = 51;

/// How many levels of a block drafts have from a quantiser on, in the order of the scan.
const KEPT: [(u8, usize); 4] = [(35, 10), (38, 6), (41, 3), (44, 1)];

/// One quantiser, for luma and chroma.
pub(crate) struct Quality {
    pub(crate) luma: Quantiser,
    pub(crate) chroma: Quantiser,
    /// Absolute differences that weigh as much as a bit.
    pub(crate) bit: u32,
}

impl Quality {
    fn of(qp: u8, quantiser: impl Fn(u8) -> Quantiser) -> Self {
        let bit = 2f64.powf((f64::from(qp) - 12.0) / 6.0).round() as u32;
        Self { luma: quantiser(qp), chroma: quantiser(chroma_qp(qp)), bit: bit.max(1) }
    }

    /// One for drafts: the coarser, the fewer of the high frequencies there are, which letters have many of.
    fn draft(qp: u8) -> Self {
        let (_, kept) = KEPT.into_iter().rfind(|(from, _)| qp >= *from).unwrap_or((0, 16));
        Self::of(qp, |qp| Quantiser::draft(qp, kept))
    }
}

/// All of them from the finest that a film has to [`COARSEST`].
pub(crate) struct Qualities {
    pub(crate) finest: u8,
    all: Vec<Quality>,
}

impl Qualities {
    pub(crate) fn from(finest: u8) -> Self {
        let finest_of_all = Quality::of(finest, Quantiser::new);
        let drafts = (finest + 1..=COARSEST).map(Quality::draft);
        Self { finest, all: std::iter::once(finest_of_all).chain(drafts).collect() }
    }

    /// The one of a quantiser that is not finer than the finest.
    pub(crate) fn of(&self, qp: u8) -> &Quality {
        &self.all[usize::from(qp - self.finest)]
    }
}

/// `mb_qp_delta` from one quantiser to another: it counts round, and is from -26 to 25 (ITU-T H.264, 7.4.5).
pub(crate) fn step(from: u8, to: u8) -> i32 {
    (i32::from(to) - i32::from(from) + 26).rem_euclid(52) - 26
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_lead_from_each_quantiser_to_each_other() {
        for (from, to) in (0..=COARSEST).flat_map(|from| (0..=COARSEST).map(move |to| (from, to))) {
            let step = step(from, to);
            assert!((-26..=25).contains(&step));
            assert_eq!((i32::from(from) + step + 52) % 52, i32::from(to));
        }
    }
}
