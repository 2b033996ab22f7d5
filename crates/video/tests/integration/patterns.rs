//! Random pictures of random sizes: what the encoder says that a decoder shows, ffmpeg shows, bit by bit.

use std::time::Duration;

use crate::support::{Film, Take, canvas::Canvas, ffmpeg};
use desktop::Rect;
use video::{Budget, Settings};

/// Pixels that a film of the short test has in all its pictures, and one of the long test.
const MOST_PIXELS: (u32, u32) = (2_000_000, 60_000_000);

/// The largest screen that is tried.
const LARGEST: (u32, u32) = (3840, 2160);

/// A side between 1 and the most, any of them or a small one, and odd three times of four.
fn side(chance: &mut Canvas, most: u32) -> u32 {
    let limit = if chance.random(3) == 0 { most.min(50) } else { most };
    let side = chance.random(limit) + 1;
    if chance.random(4) == 0 { side } else { (side | 1).min(most) }
}

/// A vector, mostly short and mostly straight.
fn vector(chance: &mut Canvas) -> (i32, i32) {
    let mut part = |most: u32| chance.random(2 * most + 1).cast_signed() - most.cast_signed();
    match part(3) {
        -3 => (part(40), part(40)),
        -2 => (part(300), 0),
        -1 => (0, part(700)),
        _ => (0, part(24)),
    }
}

/// Changes something, or says so of what did not change.
fn change(canvas: &mut Canvas) {
    let area = canvas.anywhere();
    let colour = canvas.random(1 << 24);
    match canvas.random(12) {
        0 | 1 => canvas.fill(area, colour),
        2 => canvas.page(area),
        3 => canvas.noise(area),
        4 => {
            let turn = colour.cast_signed() >> 8;
            canvas.gradient(area, turn);
        }
        5 | 6 => {
            let by = vector(canvas);
            canvas.scroll(area, by);
        }
        7 | 8 => canvas.letter(area.x, area.y, colour, colour),
        9 => canvas.touch(area),
        10 => canvas.touch(Rect { x: area.x - 70, y: area.y - 70, ..area }),
        _ => {
            for _ in 0..canvas.random(60) {
                let (x, y) = (canvas.random(canvas.width), canvas.random(canvas.height));
                let dot = Rect { x: x.cast_signed(), y: y.cast_signed(), width: 3, height: 2 };
                canvas.fill(dot, colour);
            }
        }
    }
}

/// Films the canvas, mostly within a budget under which much is drafted; what was drafted some pictures ago has rested.
fn record(take: &mut Take) {
    let picture = |number: usize| Duration::from_secs(number as u64);
    let number = take.shown.len();
    match take.canvas.random(8) {
        0 => take.record(),
        1 if number > 0 && !take.is_filled => take.fill(),
        kind => take.shoot_on(&Budget {
            now: picture(number),
            rested: picture(number.saturating_sub(3)),
            free: if kind == 2 { 20_000 } else { 0 },
            usual: 300,
            most: 1_000,
        }),
    }
}

/// Films changes that a seed tells, of at most so many pixels in all.
fn film(seed: u64, largest: (u32, u32), most_pixels: u32) -> (Settings, Film) {
    let mut chance = Canvas::seeded(1, 1, seed);
    let (width, height) = (side(&mut chance, largest.0), side(&mut chance, largest.1));
    let (fps, qp) = (chance.random(60) + 1, chance.random(29) as u8 + 12);
    let settings = Settings { width, height, fps, qp };
    println!("seed {seed}: {settings:?}");
    let mut take = Take::with(settings);
    take.canvas.seed(seed);
    let pictures = (most_pixels / (width * height)).clamp(3, 90);
    for _ in 0..pictures {
        // A part of them is like the one before.
        let changes = [0, 0, 1, 1, 2, 5][take.canvas.random(6) as usize];
        (0..changes).for_each(|_| change(&mut take.canvas));
        record(&mut take);
    }
    (settings, take.finish())
}

/// `tests/soak/patterns.test.ts` names the first seed and how many there are; then they are as large as screens are.
#[test]
fn random_changes_of_random_sizes_decode() {
    if let Some(count) = number("PATTERNS") {
        return large_films(number("PATTERNS_FROM").unwrap_or(1_000), count);
    }
    let films: Vec<Film> = (1..=24).map(|seed| film(seed, (1000, 700), MOST_PIXELS.0).1).collect();
    ffmpeg::all_decode(&films);
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap())
}

#[test]
fn the_smallest_and_the_oddest_sizes_decode() {
    let sizes = [(1, 1), (1, 2160), (3840, 1), (3839, 3), (15, 17), (17, 15), (1919, 1079)];
    let films = (0..).zip(sizes).map(|(number, (width, height))| {
        let mut take = Take::new(width, height);
        take.canvas.seed(number + 77);
        for _ in 0..10 {
            change(&mut take.canvas);
            take.record();
        }
        take.finish()
    });
    ffmpeg::all_decode(&films.collect::<Vec<_>>());
}

fn large_films(first: u64, count: u64) {
    let (mut odd, mut large) = (0, 0);
    for seed in first..first + count {
        let (Settings { width, height, .. }, film) = film(seed, LARGEST, MOST_PIXELS.1);
        film.decodes();
        odd += u32::from(width % 2 == 1 || height % 2 == 1);
        large += u32::from(width * height > 1920 * 1080);
    }
    let mut take = Take::new(LARGEST.0, LARGEST.1);
    take.canvas.seed(first);
    for _ in 0..8 {
        change(&mut take.canvas);
        take.record();
    }
    take.finish().decodes();
    println!(
        "{count} films decoded as they should; {odd} had an odd side, {large} were larger than 1920x1080"
    );
}
