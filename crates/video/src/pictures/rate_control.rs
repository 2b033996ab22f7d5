//! Which quantiser the next macroblock gets, so that a picture has about as many bytes as it may have.

use std::time::Duration;

/// The quantiser of the coarsest drafts.
pub(crate) const COARSEST_DRAFT: u8 = 48;

/// The quantiser of drafts that are good to look at: a picture rather comes later than coarser.
const GOOD_DRAFT: u8 = 32;

/// Steps of the quantiser that halve a macroblock's bits, about.
const HALVING: f32 = 9.0;

/// Bits of a new macroblock at a fine quantiser before any was seen: those of text.
const FIRST_GUESS: f32 = 500.0;

/// The least and the most that are expected of a new macroblock: some have no pattern, and those after them may.
const EXPECTED: (f32, f32) = (100.0, 3_000.0);

/// How much of what is known of macroblocks the last one is.
const NEWEST: f32 = 1.0 / 48.0;

/// Macroblocks after which the quantiser is chosen anew.
const STRETCH: usize = 12;

/// What a picture may cost that is made for somebody who waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The time, on a clock that never goes back.
    pub now: Duration,
    /// Drafts that did not change after this moment are made fine.
    pub rested: Duration,
    /// Bytes that what changed may have in any case.
    pub free: usize,
    /// Bytes of one picture among many.
    pub usual: usize,
    /// Bytes of one that would be too coarse with fewer.
    pub most: usize,
}

/// What is known of the costs of macroblocks, and what is left for those of this picture.
pub(crate) struct RateControl {
    finest: u8,
    /// Bits of a new macroblock at the finest quantiser.
    known: f32,
    left_bits: f32,
    left: usize,
    qp: u8,
    until_next: usize,
}

impl RateControl {
    pub(crate) fn new(finest: u8) -> Self {
        Self { finest, known: FIRST_GUESS, left_bits: f32::MAX, left: 0, qp: finest, until_next: 0 }
    }

    /// Begins a picture with so many new macroblocks; without a budget all are fine.
    pub(crate) fn begin(&mut self, number: usize, budget: Option<&Budget>) {
        self.left = number;
        self.until_next = 0;
        let bits = |bytes: usize| bytes as f32 * 8.0;
        self.left_bits = budget.map_or(f32::MAX, |budget| {
            let good = number as f32 * self.known / self.saved(GOOD_DRAFT);
            bits(budget.free).max(good.clamp(bits(budget.usual), bits(budget.most)))
        });
    }

    /// How many times fewer bits a quantiser takes than the finest.
    fn saved(&self, qp: u8) -> f32 {
        ((f32::from(qp) - f32::from(self.finest)) / HALVING).exp2()
    }

    /// The quantiser for the next new macroblock.
    pub(crate) fn qp(&mut self) -> u8 {
        if self.until_next == 0 {
            self.until_next = STRETCH;
            let each = (self.left_bits / self.left.max(1) as f32).max(1.0);
            let steps = (self.known / each).log2() * HALVING;
            // Between the finest and the coarsest, so it fits.
            let coarsest = f32::from(COARSEST_DRAFT.max(self.finest));
            self.qp = (f32::from(self.finest) + steps.max(0.0)).min(coarsest).round() as u8;
        }
        self.until_next -= 1;
        self.qp
    }

    /// Notes what a new macroblock took.
    pub(crate) fn spent(&mut self, bits: usize) {
        let bits = bits as f32;
        self.left_bits -= bits;
        self.left = self.left.saturating_sub(1);
        let fine = bits * self.saved(self.qp);
        self.known = (self.known + (fine - self.known) * NEWEST).clamp(EXPECTED.0, EXPECTED.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Budget =
        Budget { now: Duration::ZERO, rested: Duration::ZERO, free: 0, usual: 3_000, most: 10_000 };

    /// Bits of a picture whose macroblocks have that many at quantiser 14, and the last quantiser.
    fn made(
        rate_control: &mut RateControl,
        number: usize,
        fine: f32,
        budget: Option<&Budget>,
    ) -> (usize, u8) {
        rate_control.begin(number, budget);
        let mut sum = 0;
        for _ in 0..number {
            let qp = rate_control.qp();
            // Another slope than the one that is expected.
            let bits = (fine / ((f32::from(qp) - 14.0) / 7.0).exp2()) as usize;
            rate_control.spent(bits);
            sum += bits;
        }
        (sum, rate_control.qp)
    }

    #[test]
    fn a_picture_has_about_the_bytes_that_it_may_have() {
        let mut rate_control = RateControl::new(14);
        assert_eq!(made(&mut rate_control, 2_000, 700.0, None), (1_400_000, 14));
        for (number, fine) in [(500, 600.0), (500, 100.0), (300, 800.0), (1_000, 300.0), (4_000, 200.0)] {
            let (bits, qp) = made(&mut rate_control, number, fine, Some(&BUDGET));
            assert!(bits <= 11_000 * 8 && (bits > 2_000 * 8 || qp == 14), "{number} {fine}: {bits} {qp}");
        }
        let (bits, qp) = made(&mut rate_control, 100, 600.0, Some(&Budget { free: 20_000, ..BUDGET }));
        assert_eq!((bits, qp), (60_000, 14));
    }

    #[test]
    fn few_macroblocks_are_fine_however_little_is_left() {
        let mut rate_control = RateControl::new(14);
        assert_eq!(made(&mut rate_control, 10, 700.0, Some(&BUDGET)).1, 14);
    }
}
