//! Pictures that are made within a budget: coarse while much moves, fine once it rests, and decoded by ffmpeg bit by bit.

use std::time::Duration;

use crate::support::{Take, luma_psnr};
use desktop::Rect;
use video::{Budget, Settings};

const SCREEN: Rect = Rect { x: 0, y: 0, width: 1280, height: 720 };

/// A budget of which nothing rests, and that leaves little.
const MOVING: Budget =
    Budget { now: Duration::from_secs(1), rested: Duration::ZERO, free: 0, usual: 3_000, most: 10_000 };

/// The budget of a later time at which all that was drafted has rested.
const RESTED: Budget = Budget {
    now: Duration::from_secs(9),
    rested: Duration::from_secs(5),
    free: 0,
    usual: 3_000,
    most: 10_000,
};

fn take() -> Take {
    Take::with(Settings { width: SCREEN.width, height: SCREEN.height, fps: 30, qp: 14 })
}

/// How near a page comes to the screen that is made fine at once.
fn fine_at_once(draw: impl Fn(&mut Take)) -> (f64, usize) {
    let mut take = take();
    take.record();
    draw(&mut take);
    take.record();
    (luma_psnr(&take.canvas, &take.shown[1]), take.sizes[1])
}

#[test]
fn a_draft_is_small_and_becomes_as_fine_as_what_was_fine_at_once() {
    let draw = |take: &mut Take| {
        take.canvas.page(SCREEN);
        take.canvas.gradient(Rect { x: 700, y: 100, width: 300, height: 300 }, 0);
        take.canvas.noise(Rect { x: 100, y: 300, width: 64, height: 64 });
    };
    let (wanted, bytes) = fine_at_once(draw);
    assert!(wanted > 48.0, "{wanted}");
    let mut take = take();
    take.record();
    draw(&mut take);
    take.shoot_on(&MOVING);
    assert!(take.sizes[1] < bytes / 6, "{} of {bytes}", take.sizes[1]);
    let draft = luma_psnr(&take.canvas, &take.shown[1]);
    assert!(draft < 40.0, "{draft}");
    assert!(take.encoder.has_rested(RESTED.rested) && !take.encoder.has_rested(MOVING.rested));
    take.shoot_on(&RESTED);
    let settled = luma_psnr(&take.canvas, &take.shown[2]);
    assert!(settled > wanted - 0.2, "{settled} {wanted}");
    assert!(!take.encoder.has_rested(RESTED.rested));
    // Then there is nothing more to do.
    take.shoot_on(&RESTED);
    assert!(take.sizes[3] < 20);
    take.finish().decodes();
}

#[test]
fn what_moves_away_from_a_draft_is_made_fine_where_it_rests() {
    let view = Rect { x: 37, y: 51, width: 900, height: 600 };
    let mut take = take();
    take.canvas.page(SCREEN);
    take.shoot_on(&MOVING);
    for by in [(0, -16), (0, -3), (0, 40), (5, 0), (-11, 7)] {
        take.canvas.scroll(view, by);
        take.shoot_on(&MOVING);
        take.fill();
    }
    let moving = luma_psnr(&take.canvas, take.shown.last().unwrap());
    take.shoot_on(&RESTED);
    let settled = luma_psnr(&take.canvas, take.shown.last().unwrap());
    assert!(moving < 40.0 && settled > 48.0, "{moving} {settled}");
    // A letter alone is fine at once, whatever the budget.
    take.canvas.letter(600, 400, 7, 0);
    take.shoot_on(&MOVING);
    assert!(!take.encoder.has_rested(MOVING.now));
    take.finish().decodes();
}

#[test]
fn words_that_were_typed_before_cost_next_to_nothing() {
    let mut take = take();
    take.canvas.page(Rect { height: 300, ..SCREEN });
    take.record();
    for turn in 0..6 {
        for letter in 0..8 {
            take.canvas.letter(40 + turn * 70 + letter * 8, 500, letter.cast_unsigned(), 0x0010_1010);
        }
        take.shoot_on(&MOVING);
    }
    assert!(take.sizes[3..].iter().all(|size| *size < 60), "{:?}", take.sizes);
    let film = take.finish();
    film.decodes();
}

#[test]
fn one_that_needs_no_other_is_drafted_and_made_fine_too() {
    let mut take = take();
    take.canvas.page(SCREEN);
    take.shoot_on(&MOVING);
    take.shoot_on(&MOVING);
    take.encoder.refresh_next();
    take.shoot_on(&MOVING);
    assert_eq!(take.syncs, [true, false, true]);
    take.fill();
    take.shoot_on(&RESTED);
    take.encoder.refresh_next();
    take.shoot_on(&RESTED);
    take.shoot_on(&Budget { now: Duration::from_secs(20), rested: Duration::from_secs(19), ..RESTED });
    let settled = luma_psnr(&take.canvas, take.shown.last().unwrap());
    assert!(settled > 48.0, "{settled}");
    take.finish().decodes();
}
