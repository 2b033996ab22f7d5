//! Rectangles joined to few, each of whole macroblocks, none of them twice.

use desktop::Rect;

/// Rectangles at most; beyond, those of a row of macroblocks become one.
const MOST: usize = 48;

/// The rectangles, in pixels, of the macroblocks of a picture of that size that some others touch.
pub(crate) fn tiles(parts: &[Rect], width: u32, height: u32) -> Vec<Rect> {
    let picture = Rect { x: 0, y: 0, width, height };
    let (columns, rows) = (width.div_ceil(16) as usize, height.div_ceil(16) as usize);
    let mut touched = vec![false; columns * rows];
    for part in parts.iter().filter_map(|part| part.intersection(&picture)) {
        // Inside of the picture, so nothing is negative.
        let (left, top) = (part.x as usize / 16, part.y as usize / 16);
        let right = (part.x as usize + part.width as usize).div_ceil(16);
        let bottom = (part.y as usize + part.height as usize).div_ceil(16);
        for row in top..bottom {
            touched[row * columns + left..row * columns + right].fill(true);
        }
    }
    let found = joined(&touched, columns, runs);
    let found = if found.len() > MOST { joined(&touched, columns, span) } else { found };
    let pixels = |[left, top, right, bottom]: [usize; 4]| {
        let whole = Rect {
            x: left as i32 * 16,
            y: top as i32 * 16,
            width: (right - left) as u32 * 16,
            height: (bottom - top) as u32 * 16,
        };
        whole.intersection(&picture)
    };
    found.into_iter().filter_map(pixels).collect()
}

/// Runs of rows, joined with those of the row above that have the same ends.
fn joined(
    touched: &[bool],
    columns: usize,
    runs: impl Fn(&[bool]) -> Vec<(usize, usize)>,
) -> Vec<[usize; 4]> {
    let mut found: Vec<[usize; 4]> = Vec::new();
    for (y, row) in touched.chunks(columns).enumerate() {
        for (left, right) in runs(row) {
            let above = found.iter_mut().rev().take_while(|[.., bottom]| *bottom + 1 >= y);
            match above
                .filter(|[.., bottom]| *bottom == y)
                .find(|above| (above[0], above[2]) == (left, right))
            {
                Some(above) => above[3] += 1,
                None => found.push([left, y, right, y + 1]),
            }
        }
    }
    found
}

/// The runs of touched ones.
fn runs(row: &[bool]) -> Vec<(usize, usize)> {
    let mut start = 0;
    let mut runs = Vec::new();
    for run in row.chunk_by(|one, other| one == other) {
        if run[0] {
            runs.push((start, start + run.len()));
        }
        start += run.len();
    }
    runs
}

/// One run from the first touched one to the last.
fn span(row: &[bool]) -> Vec<(usize, usize)> {
    let first = row.iter().position(|touched| *touched);
    let last = row.iter().rposition(|touched| *touched);
    first.zip(last).map(|(first, last)| (first, last + 1)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(x: i32, y: i32, width: u32, height: u32) -> Rect {
        Rect { x, y, width, height }
    }

    #[test]
    fn parts_become_whole_macroblocks_inside_of_the_picture() {
        assert_eq!(tiles(&[], 100, 50), []);
        assert_eq!(tiles(&[rect(20, 20, 1, 1)], 100, 50), [rect(16, 16, 16, 16)]);
        assert_eq!(
            tiles(&[rect(-9, -9, 10, 10), rect(99, 49, 500, 500)], 100, 50),
            [rect(0, 0, 16, 16), rect(96, 48, 4, 2)]
        );
        assert_eq!(tiles(&[rect(0, 0, 65_535, 65_535)], 100, 50), [rect(0, 0, 100, 50)]);
        assert_eq!(tiles(&[rect(200, 0, 9, 9)], 100, 50), []);
    }

    #[test]
    fn nothing_comes_twice() {
        let parts = [rect(0, 0, 32, 32), rect(16, 16, 32, 32)];
        let found = tiles(&parts, 160, 160);
        let area: u32 = found.iter().map(|tile| tile.width * tile.height).sum();
        assert_eq!(area, 7 * 256);
        // A chessboard is read in rows.
        let chess: Vec<Rect> = (0..400)
            .filter(|at| (at % 20 + at / 20) % 2 == 0)
            .map(|at| rect(at % 20 * 16, at / 20 * 16, 16, 16))
            .collect();
        assert_eq!(tiles(&chess, 320, 320).len(), 20);
    }
}
