//! What of a rectangle is left when others lie over it.

use desktop::{Point, Rect};

/// The parts of `whole` that none of the `covers` touches.
pub fn uncovered(whole: Rect, covers: &[Rect]) -> Vec<Rect> {
    let mut parts = vec![whole];
    for cover in covers {
        parts = parts.into_iter().flat_map(|part| without(part, *cover)).collect();
    }
    parts
}

/// The number of pixels in parts that do not overlap.
pub fn area(parts: &[Rect]) -> u64 {
    parts.iter().map(|part| u64::from(part.width) * u64::from(part.height)).sum()
}

/// The number of pixels that are in one of two regions and not in the other.
pub fn difference(one: &[Rect], other: &[Rect]) -> u64 {
    let both: Vec<Rect> =
        one.iter().flat_map(|part| other.iter().filter_map(|each| part.intersection(each))).collect();
    area(one) + area(other) - 2 * area(&both)
}

/// The middle of the largest part.
pub fn middle_of_largest(parts: &[Rect]) -> Option<Point> {
    let largest = parts.iter().max_by_key(|part| area(&[**part]))?;
    Some(Point { x: largest.x + (largest.width / 2) as i32, y: largest.y + (largest.height / 2) as i32 })
}

/// The corner of a rectangle, a little inside, that is farthest from a point.
pub fn farthest_corner(rect: Rect, from: Point) -> Point {
    let far = |low: i32, size: u32, from: i32| {
        let inset = (size / 4).min(4) as i32;
        let high = low + size.max(1) as i32 - 1;
        if from - low > high - from { low + inset } else { high - inset }
    };
    Point { x: far(rect.x, rect.width, from.x), y: far(rect.y, rect.height, from.y) }
}

fn without(part: Rect, cover: Rect) -> Vec<Rect> {
    let Some(hidden) = part.intersection(&cover) else { return vec![part] };
    let sides = [
        (part.x, part.y, right(part), hidden.y),
        (part.x, bottom(hidden), right(part), bottom(part)),
        (part.x, hidden.y, hidden.x, bottom(hidden)),
        (right(hidden), hidden.y, right(part), bottom(hidden)),
    ];
    let left = sides.into_iter().filter(|(left, top, right, bottom)| left < right && top < bottom);
    left.map(|(left, top, right, bottom)| span(left, top, right, bottom)).collect()
}

fn right(rect: Rect) -> i32 {
    rect.x.saturating_add_unsigned(rect.width)
}

fn bottom(rect: Rect) -> i32 {
    rect.y.saturating_add_unsigned(rect.height)
}

fn span(left: i32, top: i32, right: i32, bottom: i32) -> Rect {
    Rect { x: left, y: top, width: right.abs_diff(left), height: bottom.abs_diff(top) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails panics")]
mod tests {
    use super::*;

    fn rect(x: i32, y: i32, width: u32, height: u32) -> Rect {
        Rect { x, y, width, height }
    }

    #[test]
    fn a_hole_leaves_four_sides() {
        let parts = uncovered(rect(0, 0, 10, 10), &[rect(4, 4, 2, 2)]);
        assert_eq!(parts, [rect(0, 0, 10, 4), rect(0, 6, 10, 4), rect(0, 4, 4, 2), rect(6, 4, 4, 2)]);
    }

    #[test]
    fn what_is_covered_whole_has_no_part() {
        assert!(uncovered(rect(2, 2, 5, 5), &[rect(0, 0, 4, 20), rect(4, 0, 20, 20)]).is_empty());
        assert_eq!(middle_of_largest(&[]), None);
    }

    #[test]
    fn the_difference_counts_what_is_in_one_alone() {
        let whole = [rect(0, 0, 10, 10)];
        assert_eq!(difference(&whole, &uncovered(whole[0], &[rect(4, 4, 1, 1)])), 1);
        assert_eq!(difference(&whole, &[rect(0, 0, 10, 4), rect(0, 4, 5, 6)]), 30);
        assert_eq!(difference(&whole, &[rect(5, 0, 10, 10)]), 100);
    }

    #[test]
    fn the_farthest_corner_lies_inside() {
        let far = |x, y| farthest_corner(rect(100, 50, 40, 30), Point { x, y });
        assert_eq!(far(0, 0), Point { x: 135, y: 75 });
        assert_eq!(far(500, 60), Point { x: 104, y: 75 });
        assert_eq!(farthest_corner(rect(7, 9, 1, 1), Point { x: 0, y: 0 }), Point { x: 7, y: 9 });
    }

    #[test]
    fn the_middle_lies_in_the_largest_part() {
        let parts = uncovered(rect(0, 0, 100, 10), &[rect(0, 0, 20, 10)]);
        assert_eq!(middle_of_largest(&parts), Some(Point { x: 60, y: 5 }));
    }
}
