//! Finds by which vectors parts of a picture moved: scrolling, and windows that are dragged.

use crate::h264::cells::Vector;
use crate::h264::planes::{Plane, Planes};

/// Spots of the new picture that are looked for in the old one, at most.
const MOST_SPOTS: usize = 96;

/// Samples of a spot, in a row.
const SPOT: usize = 16;

/// Places at which a spot may be found before it says nothing.
const MOST_PLACES: usize = 24;

/// The vectors that are tried on macroblocks, at most.
const MOST_VECTORS: usize = 4;

/// How far a vector reaches to the sides, and down and up (A.3.1).
const REACH: Vector = (2047, 511);

/// Macroblocks that change at least before a search is worth it.
const WORTH: usize = 6;

/// A row of samples that looks like no other.
struct Spot {
    x: usize,
    y: usize,
    samples: [u8; SPOT],
}

/// What searches; it remembers what it found last.
#[derive(Default)]
pub(crate) struct Search {
    last: Vec<Vector>,
}

impl Search {
    /// The vectors by which some of the macroblocks moved, from the new picture to the old; the most frequent first.
    pub(crate) fn vectors(&mut self, new: &Planes, old: &Planes, changed: &[usize]) -> &[Vector] {
        if changed.len() < WORTH {
            self.last.clear();
            return &self.last;
        }
        let spots = spots(new, changed);
        let wanted = spots.len().div_ceil(2);
        let mut votes = Votes::default();
        for &vector in &self.last {
            votes.add(vector, spots.iter().filter(|spot| spot.is_at(&old.luma, vector)).count());
        }
        if votes.most() < wanted {
            straight(&spots, &old.luma, area(new, changed), &mut votes);
        }
        if votes.most() < wanted {
            anywhere(&spots, &old.luma, area(new, changed), &mut votes);
        }
        self.last = votes.best();
        &self.last
    }
}

/// How often each vector was seen.
#[derive(Default)]
struct Votes(Vec<(Vector, usize)>);

impl Votes {
    fn add(&mut self, vector: Vector, number: usize) {
        match self.0.iter_mut().find(|(known, _)| *known == vector) {
            Some((_, votes)) => *votes = number.max(*votes + number.min(1)),
            None => self.0.push((vector, number)),
        }
    }

    fn most(&self) -> usize {
        self.0.iter().map(|(_, votes)| *votes).max().unwrap_or(0)
    }

    fn best(mut self) -> Vec<Vector> {
        let reaches = |vector: &Vector| vector.0.abs() <= REACH.0 && vector.1.abs() <= REACH.1;
        self.0.retain(|(vector, votes)| *votes > 1 && *vector != (0, 0) && reaches(vector));
        self.0.sort_by_key(|(_, votes)| std::cmp::Reverse(*votes));
        self.0.truncate(MOST_VECTORS);
        self.0.into_iter().map(|(vector, _)| vector).collect()
    }
}

impl Spot {
    fn is_at(&self, old: &Plane, vector: Vector) -> bool {
        let (x, y) = (self.x as i32 + vector.0, self.y as i32 + vector.1);
        let rows = old.bytes.len() / old.stride;
        let inside = x >= 0 && y >= 0 && x as usize + SPOT <= old.stride && (y as usize) < rows;
        inside && old.row(x as usize, y as usize)[..SPOT] == self.samples
    }
}

/// The rectangle in samples, right and lower edge excluded, around some macroblocks.
fn area(planes: &Planes, changed: &[usize]) -> [usize; 4] {
    changed.iter().fold([usize::MAX, usize::MAX, 0, 0], |area, index| {
        let (x, y) = planes.place(*index);
        [area[0].min(x * 16), area[1].min(y * 16), area[2].max(x * 16 + 16), area[3].max(y * 16 + 16)]
    })
}

/// Spots spread over what changed; those with many edges, which are seldom repeated.
fn spots(new: &Planes, changed: &[usize]) -> Vec<Spot> {
    let step = changed.len().div_ceil(MOST_SPOTS * 2).max(1);
    let mut spots = Vec::with_capacity(MOST_SPOTS);
    for index in changed.iter().step_by(step) {
        let (column, row) = new.place(*index);
        let best = (1..16)
            .step_by(3)
            .map(|line| {
                let samples: [u8; SPOT] =
                    std::array::from_fn(|at| new.luma.row(column * 16, row * 16 + line)[at]);
                let edges = samples.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) > 8).count();
                (edges, Spot { x: column * 16, y: row * 16 + line, samples })
            })
            .max_by_key(|(edges, _)| *edges);
        if let Some((edges, spot)) = best
            && edges >= 4
            && spots.len() < MOST_SPOTS
        {
            spots.push(spot);
        }
    }
    spots
}

/// Looks for the spots straight above, below, and to the sides.
fn straight(spots: &[Spot], old: &Plane, [left, top, right, bottom]: [usize; 4], votes: &mut Votes) {
    for spot in spots {
        let rows = top.max(spot.y.saturating_sub(REACH.1 as usize))..bottom.min(spot.y + REACH.1 as usize);
        let down = rows.filter(|y| old.row(spot.x, *y)[..SPOT] == spot.samples);
        let down = down.map(|y| (0, y as i32 - spot.y as i32));
        let line = &old.row(0, spot.y)[left..right];
        let aside = line.windows(SPOT).enumerate().filter(|(_, samples)| *samples == spot.samples);
        let aside = aside.map(|(x, _)| ((left + x) as i32 - spot.x as i32, 0));
        let found: Vec<Vector> = down.chain(aside).take(MOST_PLACES + 1).collect();
        if found.len() <= MOST_PLACES {
            found.into_iter().for_each(|vector| votes.add(vector, 1));
        }
    }
}

/// Looks for the spots at every place.
fn anywhere(spots: &[Spot], old: &Plane, [left, top, right, bottom]: [usize; 4], votes: &mut Votes) {
    const SLOTS: usize = 4096;
    let slot = |samples: &[u8]| {
        let start = u64::from_le_bytes(std::array::from_fn(|at| samples[at + 4]));
        (start.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize
    };
    let mut wanted = [0u8; SLOTS];
    for (number, spot) in (1..).zip(spots) {
        wanted[slot(&spot.samples)] = number;
    }
    let mut found = vec![Vec::new(); spots.len()];
    for y in top..bottom {
        for (x, samples) in old.row(0, y)[left..right].array_windows::<SPOT>().enumerate() {
            let number = wanted[slot(samples)];
            if number == 0 {
                continue;
            }
            let (spot, places) = (&spots[usize::from(number) - 1], &mut found[usize::from(number) - 1]);
            let vector = ((left + x) as i32 - spot.x as i32, y as i32 - spot.y as i32);
            if spot.samples == *samples && places.len() <= MOST_PLACES {
                places.push(vector);
            }
        }
    }
    for places in found.iter().filter(|places| places.len() <= MOST_PLACES) {
        places.iter().for_each(|vector| votes.add(*vector, 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(sample: impl Fn(i32, i32) -> u8) -> Planes {
        let mut planes = Planes::new(20, 15);
        for y in 0..240 {
            for x in 0..320 {
                planes.luma.bytes[y * 320 + x] = sample(x as i32, y as i32);
            }
        }
        planes
    }

    fn noise(x: i32, y: i32) -> u8 {
        let mixed = (x.wrapping_mul(73_856_093) ^ y.wrapping_mul(19_349_663)).cast_unsigned();
        let mixed = (mixed ^ mixed >> 15).wrapping_mul(0x2c1b_3c6d);
        (mixed ^ mixed >> 12) as u8
    }

    #[test]
    fn moves_are_found_in_every_direction() {
        let old = picture(noise);
        let changed: Vec<usize> = (0..300).collect();
        for by in [(0, 3), (0, -48), (7, 0), (-33, 0), (5, -9), (-60, 41)] {
            let new = picture(|x, y| noise(x + by.0, y + by.1));
            assert_eq!(Search::default().vectors(&new, &old, &changed).first(), Some(&by));
        }
    }

    #[test]
    fn what_is_new_moved_by_nothing() {
        let (old, new) = (picture(noise), picture(|x, y| noise(x + 1000, y + 1000)));
        assert_eq!(Search::default().vectors(&new, &old, &(0..300).collect::<Vec<_>>()), []);
        let plain = picture(|_, _| 7);
        assert_eq!(Search::default().vectors(&plain, &plain, &(0..300).collect::<Vec<_>>()), []);
    }
}
