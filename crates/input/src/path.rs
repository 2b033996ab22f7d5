//! The steps of drags and of the wheel, worked out before anything is sent.

use std::time::Duration;

use desktop::Point;

use crate::plan::{Button, Step};

/// A way in which the wheel turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Away from the person: what is above comes into view.
    Up,
    /// Towards the person: what is below comes into view.
    Down,
    /// What is on the left comes into view.
    Left,
    /// What is on the right comes into view.
    Right,
}

impl Direction {
    /// The button of the X protocol that stands for one detent.
    pub fn button(self) -> u8 {
        match self {
            Self::Up => 4,
            Self::Down => 5,
            Self::Left => 6,
            Self::Right => 7,
        }
    }
}

/// The steps that press at one point of the screen and release at another, with `count` motions in between that
/// take `duration`, and the keys of modifiers held around all.
pub fn drag(
    from: Point,
    to: Point,
    button: Button,
    duration: Duration,
    count: u32,
    held: &[u8],
) -> Vec<Step> {
    let count = count.max(1);
    // The last pause lies between the last motion and the release: who drops asks what is under the pointer.
    let pause = Step::Pause(duration / (count + 1));
    let mut steps = vec![Step::Move(from)];
    steps.extend(held.iter().map(|keycode| Step::Key(*keycode, true)));
    steps.push(Step::Button(button.number(), true));
    for nth in 1..=count {
        steps.extend([pause, Step::Move(between(from, to, nth, count))]);
    }
    steps.extend([pause, Step::Button(button.number(), false)]);
    steps.extend(held.iter().rev().map(|keycode| Step::Key(*keycode, false)));
    steps
}

/// The steps that turn the wheel by `amount` detents over a point of the screen.
pub fn wheel(at: Point, direction: Direction, amount: u32, held: &[u8]) -> Vec<Step> {
    let mut steps = vec![Step::Move(at)];
    steps.extend(held.iter().map(|keycode| Step::Key(*keycode, true)));
    for _ in 0..amount {
        steps.extend([Step::Button(direction.button(), true), Step::Button(direction.button(), false)]);
    }
    steps.extend(held.iter().rev().map(|keycode| Step::Key(*keycode, false)));
    steps
}

/// The point that many parts of the way from one point to another.
pub fn between(from: Point, to: Point, nth: u32, count: u32) -> Point {
    let part = |from: i32, to: i32| {
        let (nth, count) = (i64::from(nth), i64::from(count));
        // Both ends are pixels, and so is everything in between.
        (i64::from(from) + (i64::from(to) - i64::from(from)) * nth / count) as i32
    };
    Point { x: part(from.x, to.x), y: part(from.y, to.y) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: Point = Point { x: 10, y: 100 };

    #[test]
    fn a_drag_goes_in_even_steps_and_takes_its_time() {
        let to = Point { x: 50, y: 20 };
        let steps = drag(FROM, to, Button::Left, Duration::from_millis(500), 4, &[50]);
        let motions: Vec<Point> = steps
            .iter()
            .filter_map(|step| if let Step::Move(at) = step { Some(*at) } else { None })
            .collect();
        assert_eq!(
            motions.iter().map(|at| (at.x, at.y)).collect::<Vec<_>>(),
            [(10, 100), (20, 80), (30, 60), (40, 40), (50, 20)]
        );
        let pauses: Duration = steps
            .iter()
            .filter_map(|step| if let Step::Pause(time) = step { Some(*time) } else { None })
            .sum();
        assert_eq!(pauses, Duration::from_millis(500));
        assert_eq!(steps[1..3], [Step::Key(50, true), Step::Button(1, true)]);
        assert_eq!(steps[steps.len() - 2..], [Step::Button(1, false), Step::Key(50, false)]);
    }

    #[test]
    fn a_drag_has_a_motion_even_when_none_is_asked_for() {
        let to = Point { x: i32::MAX, y: i32::MIN };
        let steps = drag(FROM, to, Button::Middle, Duration::ZERO, 0, &[]);
        assert!(steps.contains(&Step::Move(to)) && steps.contains(&Step::Button(2, false)));
    }

    #[test]
    fn a_detent_of_the_wheel_is_a_button() {
        let steps = wheel(FROM, Direction::Left, 2, &[37]);
        let turn = [Step::Button(6, true), Step::Button(6, false)];
        assert_eq!(steps[2..4], turn);
        assert_eq!(steps[4..6], turn);
        assert_eq!(steps.len(), 7);
    }
}
