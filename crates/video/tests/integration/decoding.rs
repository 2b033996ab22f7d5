//! What the encoder says that a decoder shows, ffmpeg shows, bit by bit.

use crate::support::{Take, ffmpeg, luma_psnr};
use desktop::Rect;

fn rect(x: i32, y: i32, width: u32, height: u32) -> Rect {
    Rect { x, y, width, height }
}

#[test]
fn every_size_decodes() {
    let sizes = [(1, 1), (2, 2), (3, 5), (16, 16), (17, 31), (33, 16), (49, 97), (160, 90), (641, 359)];
    let films = sizes.map(|(width, height)| {
        let mut take = Take::new(width, height);
        take.canvas.page(rect(0, 0, width, height));
        take.record();
        for turn in 0..12 {
            let area = take.canvas.anywhere();
            match turn % 4 {
                0 => take.canvas.fill(area, 0x00ff_8000 + turn * 999),
                1 => take.canvas.page(area),
                2 => take.canvas.noise(area),
                _ => {}
            }
            take.record();
        }
        take.finish()
    });
    let even = |side: u32| side.next_multiple_of(2) as usize;
    for (film, (width, height)) in films.iter().zip(sizes) {
        assert_eq!((film.shown[0].width, film.shown[0].height), (even(width), even(height)));
    }
    ffmpeg::all_decode(&films);
}

#[test]
fn the_largest_usual_screen_decodes() {
    let mut take = Take::new(3840, 2160);
    take.canvas.page(rect(100, 100, 1500, 1200));
    take.canvas.gradient(rect(1700, 200, 900, 500), 0);
    take.record();
    take.canvas.scroll(rect(100, 100, 1500, 1200), (0, -48));
    take.record();
    take.canvas.letter(3800, 2140, 9, 0);
    take.record();
    take.finish().decodes();
}

#[test]
fn typing_costs_little_and_decodes() {
    let mut take = Take::new(1280, 720);
    take.canvas.page(rect(40, 40, 1000, 600));
    take.record();
    for index in 0..40 {
        let letter = take.canvas.random(64);
        take.canvas.letter(400 + index * 8, 660, letter, 0x0010_1010);
        take.record();
    }
    assert!(luma_psnr(&take.canvas, &take.shown[40]) > 44.0);
    let film = take.finish();
    assert!(film.sizes[1..].iter().all(|size| *size < 600), "{:?}", film.sizes);
    film.decodes();
}

#[test]
fn scrolling_copies_what_moved_and_decodes() {
    let view = rect(37, 51, 900, 600);
    let mut take = Take::new(1280, 720);
    take.canvas.page(view);
    take.record();
    for by in [(0, -16), (0, -16), (0, -3), (0, 40), (0, -1), (5, 0), (-11, 7), (0, -57), (0, -16)] {
        take.canvas.scroll(view, by);
        take.record();
    }
    let quality = luma_psnr(&take.canvas, &take.shown[9]);
    assert!(quality > 44.0, "{quality}");
    let film = take.finish();
    let whole = film.sizes[0];
    assert!(film.sizes[1..].iter().all(|size| *size < whole / 4), "{:?}", film.sizes);
    film.decodes();
}

#[test]
fn what_has_no_pattern_decodes() {
    let mut take = Take::with(video::Settings { width: 320, height: 240, fps: 30, qp: 12 });
    for turn in 0..6 {
        take.canvas.noise(rect(0, 0, 320, 240));
        take.canvas.gradient(rect(turn * 20, 30, 130, 130), turn * 3);
        take.record();
    }
    take.finish().decodes();
}

#[test]
fn damage_without_change_costs_nothing() {
    let mut take = Take::new(640, 480);
    take.canvas.page(rect(0, 0, 640, 480));
    take.record();
    for _ in 0..5 {
        take.canvas.touch(rect(0, 0, 640, 480));
        take.record();
    }
    let film = take.finish();
    assert!(film.sizes[1..].iter().all(|size| *size <= 20), "{:?}", film.sizes);
    film.decodes();
}

#[test]
fn pictures_to_begin_at_come_every_ten_seconds_of_change() {
    let mut take = Take::with(video::Settings { width: 160, height: 400, fps: 5, qp: 20 });
    take.canvas.page(rect(0, 0, 160, 400));
    // 20 seconds with a change in each, then a minute without one.
    for number in 0..400 {
        if number < 100 && number % 5 == 0 {
            take.canvas.fill(rect(8, 8, 3, 12), number * 77);
        }
        take.record();
    }
    let film = take.finish();
    let syncs: Vec<usize> = (0..400).filter(|number| film.syncs[*number]).collect();
    assert_eq!(syncs[..2], [0, 51]);
    assert!(syncs.windows(2).all(|pair| pair[1] - pair[0] <= 151), "{syncs:?}");
    film.decodes();
}

#[test]
fn the_last_picture_is_like_the_screen() {
    let mut take = Take::new(1280, 720);
    take.canvas.page(rect(0, 0, 1280, 720));
    take.canvas.gradient(rect(700, 100, 300, 300), 0);
    take.record();
    take.canvas.page(rect(200, 100, 600, 400));
    take.record();
    let quality = luma_psnr(&take.canvas, &take.shown[1]);
    assert!(quality > 44.0, "{quality}");
}
