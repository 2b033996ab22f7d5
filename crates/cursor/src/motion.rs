//! How a cursor travels: along a cubic Bézier curve, driven by a damped spring that ends it.

use std::time::Duration;

use desktop::Point;

/// What shapes a glide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Length of the curve's handle at the start, as a part of the distance: 0 to 1.
    pub start_handle: f64,
    /// Length of the curve's handle at the end, as a part of the distance: 0 to 1.
    pub end_handle: f64,
    /// How far the handles stand off the straight line, as a part of the distance: 0 to 1.
    pub arc_size: f64,
    /// Where the arc bulges: -1 at the start, 0 in the middle, 1 at the destination.
    pub arc_flow: f64,
    /// Damping of the spring: 0.3 swings over the destination and back, 1 never passes it.
    pub spring: f64,
    /// How long a glide takes, the spring included.
    pub duration: Duration,
}

impl Default for Motion {
    fn default() -> Self {
        Self {
            start_handle: 0.3,
            end_handle: 0.3,
            arc_size: 0.25,
            arc_flow: 0.0,
            spring: 0.72,
            duration: Duration::from_millis(160),
        }
    }
}

/// The root of `(1 + y) * exp(-y) = 0.002`: damping times time after which a spring has that part of its way left at
/// most, and is put on its destination.
const SETTLED: f64 = 8.461_879;

/// One way from a point to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glide {
    curve: [(f64, f64); 4],
    to: Point,
    /// Damping of the spring; none: the pace is even.
    spring: Option<f64>,
    duration: Duration,
}

impl Glide {
    /// Plans the way; the arc lies above a way across the screen, and left of one straight up or down.
    pub fn plan(from: Point, to: Point, motion: &Motion) -> Self {
        let start = (f64::from(from.x), f64::from(from.y));
        let end = (f64::from(to.x), f64::from(to.y));
        let (along_x, along_y) = (end.0 - start.0, end.1 - start.1);
        // Across the way, and as long as it.
        let (across_x, across_y) = if along_x > 0.0 || (along_x == 0.0 && along_y < 0.0) {
            (along_y, -along_x)
        } else {
            (-along_y, along_x)
        };
        let handle = |(x, y): (f64, f64), along: f64, arc: f64| {
            (x + along_x * along + across_x * arc, y + along_y * along + across_y * arc)
        };
        let first = handle(start, motion.start_handle, motion.arc_size * (1.0 - motion.arc_flow));
        let second = handle(end, -motion.end_handle, motion.arc_size * (1.0 + motion.arc_flow));
        Self {
            curve: [start, first, second, end],
            to,
            spring: Some(motion.spring),
            duration: motion.duration,
        }
    }

    /// Plans a straight way at an even pace, as a pointer goes that drags something.
    pub fn straight(from: Point, to: Point, duration: Duration) -> Self {
        let between = |part: f64| {
            let on = |a: i32, b: i32| f64::from(a) + (f64::from(b) - f64::from(a)) * part;
            (on(from.x, to.x), on(from.y, to.y))
        };
        // With its handles on the thirds the curve's parameter is the part of the way.
        let curve = [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0].map(between);
        Self { curve, to, spring: None, duration }
    }

    /// Where the cursor is after this time; from the duration on at its destination exactly.
    pub fn at(&self, elapsed: Duration) -> Point {
        if elapsed >= self.duration {
            return self.to;
        }
        let time = elapsed.as_secs_f64() / self.duration.as_secs_f64();
        let (x, y) = self.on_curve(self.spring.map_or(time, |spring| progress(time, spring)));
        Point { x: x.round() as i32, y: y.round() as i32 }
    }

    /// How long it takes.
    pub fn duration(&self) -> Duration {
        self.duration
    }

    fn on_curve(&self, part: f64) -> (f64, f64) {
        let [start, first, second, end] = self.curve;
        if part > 1.0 {
            // Past the end the way goes on straight, as it arrived; with no handle there, as it set out.
            let toward = |at: (f64, f64)| (end.0 - at.0, end.1 - at.1);
            let tangent = [second, first, start].map(toward).into_iter().find(|(x, y)| x.hypot(*y) > 0.0);
            let (x, y) = tangent.unwrap_or_default();
            let over = (part - 1.0) * toward(start).0.hypot(toward(start).1) / x.hypot(y).max(f64::EPSILON);
            return (end.0 + x * over, end.1 + y * over);
        }
        let rest = 1.0 - part;
        let weights = [rest.powi(3), 3.0 * rest * rest * part, 3.0 * rest * part * part, part.powi(3)];
        let sum = |of: fn(&(f64, f64)) -> f64| {
            [start, first, second, end].iter().zip(weights).map(|(point, weight)| of(point) * weight).sum()
        };
        (sum(|point| point.0), sum(|point| point.1))
    }
}

/// The step response of a damped spring that is at rest before time 0 and, nearly, at time 1.
fn progress(time: f64, damping: f64) -> f64 {
    let decay = SETTLED * time;
    let frequency = SETTLED / damping;
    let swing = frequency * (1.0 - damping * damping).max(0.0).sqrt() * time;
    // For full damping the limit of sin(swing) / swing, which is 1.
    let sine = if swing.abs() < 1e-9 { decay } else { decay * swing.sin() / swing };
    1.0 - (-decay).exp() * (swing.cos() + sine)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: Point = Point { x: 100, y: 400 };
    const TO: Point = Point { x: 700, y: 400 };

    fn way(motion: Motion) -> Vec<(i32, i32)> {
        let glide = Glide::plan(FROM, TO, &motion);
        (0..=8).map(|step| glide.at(Duration::from_millis(20 * step))).map(|at| (at.x, at.y)).collect()
    }

    #[test]
    fn a_five_hundredth_of_the_way_is_left_to_the_end() {
        assert!(((1.0 + SETTLED) * (-SETTLED).exp() - 0.002).abs() < 1e-5);
    }

    #[test]
    fn the_ways_of_the_golden_file_are_the_ways_that_are_taken() {
        let full = Motion { spring: 1.0, ..Motion::default() };
        let ways = [
            ("default", Motion::default()),
            ("spring 1", full),
            ("spring 0.3", Motion { spring: 0.3, ..full }),
            ("straight", Motion { arc_size: 0.0, ..full }),
            ("flow 1", Motion { arc_flow: 1.0, ..full }),
            ("flow -1", Motion { arc_flow: -1.0, ..full }),
            ("no handles", Motion { start_handle: 0.0, end_handle: 0.0, arc_size: 0.0, ..full }),
            ("long handles", Motion { start_handle: 1.0, end_handle: 1.0, arc_size: 1.0, ..full }),
        ];
        let text: String = ways.map(|(name, motion)| format!("{name}: {:?}\n", way(motion))).concat();
        assert_eq!(text, include_str!("../tests/golden/ways.txt"));
    }

    #[test]
    fn a_spring_that_is_fully_damped_never_passes_its_destination() {
        let motion = Motion { spring: 1.0, ..Motion::default() };
        let glide = Glide::plan(FROM, TO, &motion);
        for step in 0..=160 {
            assert!(glide.at(Duration::from_millis(step)).x <= TO.x);
        }
        let loose = Glide::plan(FROM, TO, &Motion { spring: 0.3, ..motion });
        assert!((0..=160).any(|step| loose.at(Duration::from_millis(step)).x > TO.x));
    }

    #[test]
    fn the_arc_is_as_high_as_the_handles_make_it_and_bulges_where_the_flow_says() {
        let middle = |arc_flow| {
            let motion = Motion { arc_flow, ..Motion::default() };
            let glide = Glide::plan(FROM, TO, &motion);
            let points: Vec<(f64, f64)> =
                (0..=1000).map(|step| glide.on_curve(f64::from(step) / 1000.0)).collect();
            points.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).map_or((0.0, 0.0), |point| point)
        };
        let (x, y) = middle(0.0);
        assert!((x - 400.0).abs() < 1.0, "the top of the arc is at {x}");
        // Three quarters of the handles' height, which is a quarter of 600.
        assert!((y - (400.0 - 112.5)).abs() < 0.5, "the arc reaches {y}");
        assert!(middle(1.0).0 > 400.0);
        assert!(middle(-1.0).0 < 400.0);
    }

    #[test]
    fn a_straight_way_is_gone_at_an_even_pace() {
        let glide = Glide::straight(FROM, Point { x: 500, y: 300 }, Duration::from_millis(400));
        let at = |time| glide.at(Duration::from_millis(time));
        let points = [0, 100, 200, 300, 400, 500].map(at).map(|point| (point.x, point.y));
        assert_eq!(points, [(100, 400), (200, 375), (300, 350), (400, 325), (500, 300), (500, 300)]);
        assert_eq!(Glide::straight(FROM, TO, Duration::ZERO).at(Duration::ZERO), TO);
    }

    #[test]
    fn every_glide_begins_and_ends_where_it_should() {
        for (from, to) in [(FROM, TO), (TO, FROM), (FROM, FROM), (FROM, Point { x: 100, y: 10 })] {
            let glide = Glide::plan(from, to, &Motion::default());
            assert_eq!(glide.at(Duration::ZERO), from);
            assert_eq!(glide.at(glide.duration()), to);
            assert_eq!(glide.at(Duration::from_secs(9)), to);
        }
    }
}
