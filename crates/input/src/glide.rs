//! The steps of motions along a path and of evenly spaced detents, worked out before anything is sent.

use std::time::Duration;

use desktop::Point;

use crate::path::{Direction, between};
use crate::plan::{Button, Step};

/// Time between two motions.
const FRAME: Duration = Duration::from_millis(8);
/// Time between two detents, and what all of one call take at most.
const DETENT: Duration = Duration::from_millis(8);
const ALL_DETENTS: Duration = Duration::from_millis(400);

/// The steps that take the pointer from the first point of a path along the others in `duration`; each point is met.
pub fn travel(path: &[Point], duration: Duration) -> Vec<Step> {
    let points = motions(path, duration);
    let pause = duration / u32::try_from(points.len()).unwrap_or(u32::MAX).max(1);
    points.into_iter().flat_map(|point| [Step::Pause(pause), Step::Move(point)]).collect()
}

/// The steps that press at the first point of a path and release at the last, with the motions of `duration` in between
/// and the keys of modifiers held around all.
pub fn drag(path: &[Point], button: Button, duration: Duration, held: &[u8]) -> Vec<Step> {
    let (Some(first), Some(last)) = (path.first(), path.last()) else { return Vec::new() };
    let mut points = motions(path, duration);
    if points.is_empty() {
        points.push(*last);
    }
    // The last pause lies between the last motion and the release: who drops asks what is under the pointer.
    let pause = Step::Pause(duration / u32::try_from(points.len() + 1).unwrap_or(u32::MAX));
    let mut steps = vec![Step::Move(*first)];
    steps.extend(held.iter().map(|keycode| Step::Key(*keycode, true)));
    steps.push(Step::Button(button.number(), true));
    steps.extend(points.into_iter().flat_map(|point| [pause, Step::Move(point)]));
    steps.extend([pause, Step::Button(button.number(), false)]);
    steps.extend(held.iter().rev().map(|keycode| Step::Key(*keycode, false)));
    steps
}

/// The steps that turn the wheel where the pointer is.
pub fn turns(right: i32, down: i32, held: &[u8]) -> Vec<Step> {
    let across = if right < 0 { Direction::Left } else { Direction::Right };
    let along = if down < 0 { Direction::Up } else { Direction::Down };
    let count = right.unsigned_abs().saturating_add(down.unsigned_abs());
    let pause = Step::Pause(DETENT.min(ALL_DETENTS / count.max(1)));
    let mut steps: Vec<Step> = held.iter().map(|keycode| Step::Key(*keycode, true)).collect();
    for (direction, detents) in [(along, down), (across, right)] {
        for _ in 0..detents.unsigned_abs() {
            let button = direction.button();
            steps.extend([Step::Button(button, true), Step::Button(button, false), pause]);
        }
    }
    steps.extend(held.iter().rev().map(|keycode| Step::Key(*keycode, false)));
    steps
}

/// The points after the first, those in between added: as many in all as there are frames, shared by length.
fn motions(path: &[Point], duration: Duration) -> Vec<Point> {
    let legs: Vec<(Point, Point)> =
        path.windows(2).filter_map(|leg| Some((*leg.first()?, *leg.last()?))).collect();
    let length = |(from, to): &(Point, Point)| {
        f64::from(to.x.saturating_sub(from.x)).hypot(f64::from(to.y.saturating_sub(from.y)))
    };
    let whole: f64 = legs.iter().map(length).sum();
    let frames = (duration.as_millis() / FRAME.as_millis()) as f64;
    let mut points = Vec::new();
    for leg in &legs {
        let share = if whole > 0.0 { (frames * length(leg) / whole).round() } else { 0.0 };
        // There are no more motions than pixels on the way.
        let count = share.min(length(leg)).max(1.0) as u32;
        points.extend((1..=count).map(|nth| between(leg.0, leg.1, nth, count)));
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(steps: &[Step]) -> Vec<(i32, i32)> {
        let place = |step: &Step| if let Step::Move(at) = step { Some((at.x, at.y)) } else { None };
        steps.iter().filter_map(place).collect()
    }

    fn time(steps: &[Step]) -> Duration {
        steps.iter().filter_map(|step| if let Step::Pause(time) = step { Some(*time) } else { None }).sum()
    }

    const fn at(x: i32, y: i32) -> Point {
        Point { x, y }
    }

    #[test]
    fn a_way_is_gone_in_even_steps_and_every_corner_is_met() {
        let steps = travel(&[at(0, 0), at(30, 0), at(30, 10)], Duration::from_millis(32));
        assert_eq!(places(&steps), [(10, 0), (20, 0), (30, 0), (30, 10)]);
        assert_eq!(time(&steps), Duration::from_millis(32));
    }

    #[test]
    fn a_motion_without_time_is_one() {
        assert_eq!(places(&travel(&[at(0, 0), at(700, 500)], Duration::ZERO)), [(700, 500)]);
        assert_eq!(places(&travel(&[at(5, 5), at(5, 5)], Duration::from_secs(1))), [(5, 5)]);
    }

    #[test]
    fn a_drag_presses_once_and_releases_once_at_its_ends() {
        let steps = drag(&[at(1, 1), at(9, 1), at(9, 9)], Button::Left, Duration::from_millis(100), &[50]);
        assert_eq!(steps[..3], [Step::Move(at(1, 1)), Step::Key(50, true), Step::Button(1, true)]);
        assert_eq!(steps[steps.len() - 2..], [Step::Button(1, false), Step::Key(50, false)]);
        assert_eq!(steps.iter().filter(|step| matches!(step, Step::Button(..))).count(), 2);
        assert_eq!(places(&steps).last(), Some(&(9, 9)));
        assert!(places(&steps).contains(&(9, 1)));
        assert!(time(&steps).abs_diff(Duration::from_millis(100)) < Duration::from_millis(1));
    }

    #[test]
    fn a_drag_to_where_it_began_still_moves() {
        let steps = drag(&[at(4, 4)], Button::Right, Duration::ZERO, &[]);
        assert_eq!(places(&steps), [(4, 4), (4, 4)]);
    }

    #[test]
    fn detents_have_the_buttons_of_their_signs() {
        let buttons = |right, down| -> Vec<u8> {
            let steps = turns(right, down, &[]);
            let press =
                |step: &Step| if let Step::Button(button, true) = step { Some(*button) } else { None };
            steps.iter().filter_map(press).collect()
        };
        assert_eq!(buttons(0, 3), [5, 5, 5]);
        assert_eq!(buttons(0, -2), [4, 4]);
        assert_eq!(buttons(2, -1), [4, 7, 7]);
        assert_eq!(buttons(-1, 0), [6]);
        assert_eq!(buttons(0, 0), [] as [u8; 0]);
        assert!(time(&turns(0, 1000, &[])) <= ALL_DETENTS);
    }
}
