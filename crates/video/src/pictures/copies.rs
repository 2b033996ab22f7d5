//! Finds where in the picture before a macroblock looks exactly as it does now: letters that were typed before, for one.

use crate::h264::cells::Vector;
use crate::h264::planes::Planes;

/// Samples of a line of a macroblock.
const LINE: usize = 16;

/// Lines up and down in which a macroblock is looked for; across it is looked for in the whole picture.
const REACH: i32 = 64;

/// How far a vector reaches to the sides (A.3.1).
const REACH_ASIDE: i32 = 2047;

/// New macroblocks of a picture at most for which a search is worth it: of more, whole parts of the picture are new.
pub(crate) const MOST: usize = 32;

/// The vector from a macroblock to its nearest copy in another picture; none where it has none, or no pattern.
pub(crate) fn copy(new: &Planes, old: &Planes, index: usize) -> Option<Vector> {
    let (column, row) = new.place(index);
    let (x, y) = (column * 16, row * 16);
    let line = |at: usize| -> [u8; LINE] { std::array::from_fn(|along| new.luma.row(x, y + at)[along]) };
    let edges = |samples: &[u8; LINE]| samples.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let (at, samples) = (0..16).map(|at| (at, line(at))).max_by_key(|(_, samples)| edges(samples))?;
    if edges(&samples) == 0 {
        return None;
    }
    let wanted = u128::from_le_bytes(samples);
    // Lines above and below, the nearest first.
    let lines = (0..=2 * REACH).map(|turn| if turn % 2 == 0 { turn / 2 } else { -(turn + 1) / 2 });
    lines.into_iter().find_map(|down| {
        let last = (new.rows as i32 - 1) * 16;
        let top = y as i32 + down;
        if !(0..=last).contains(&top) {
            return None;
        }
        let row = &old.luma.row(0, top as usize + at)[..old.columns * 16];
        let places = row.array_windows::<LINE>().enumerate();
        let found = places.filter(|(_, samples)| u128::from_le_bytes(**samples) == wanted);
        let vectors = found.map(|(place, _)| (place as i32 - x as i32, down));
        let vectors = vectors.filter(|vector| vector.0.abs() <= REACH_ASIDE);
        let mut vectors: Vec<Vector> = vectors.filter(|vector| *vector != (0, 0)).collect();
        vectors.sort_by_key(|vector| vector.0.abs());
        vectors.into_iter().find(|vector| new.same_luma(index, old, *vector))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of 160x160 with a mark of its own at some places.
    fn picture(places: &[(usize, usize)]) -> Planes {
        let mut planes = Planes::new(10, 10);
        for (x, y) in places {
            for (line, along) in (0..12).flat_map(|line| (0..9).map(move |along| (line, along))) {
                planes.luma.bytes[(y + line) * 160 + x + along] = (line * 17 + along * 31) as u8;
            }
        }
        planes
    }

    #[test]
    fn the_nearest_copy_is_found() {
        let new = picture(&[(82, 82)]);
        let old = |places: &[(usize, usize)]| copy(&new, &picture(places), 5 * 10 + 5);
        assert_eq!(old(&[(49, 82), (122, 82), (82, 60)]), Some((-33, 0)));
        assert_eq!(old(&[(82, 101), (30, 71)]), Some((-52, -11)));
        assert_eq!(old(&[(82, 20), (82, 146)]), Some((0, -62)));
        assert_eq!(old(&[(82, 12)]), None);
        assert_eq!(old(&[]), None);
        assert_eq!(copy(&picture(&[]), &picture(&[]), 55), None);
    }
}
