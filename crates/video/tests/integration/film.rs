//! Films of real displays.

use std::path::Path;
use std::process::Command;

use crate::support::{ffmpeg, session};
use capture::ScreenSource;
use desktop::Rect;
use test_support::{TestDisplay, wait_for};
use video::{Film, FilmOptions};

fn started(display: &TestDisplay, path: &Path) -> Film {
    Film::start(&session(display.name()), path, FilmOptions::default()).unwrap()
}

/// Luma of the last picture of a film.
pub fn last_picture(path: &Path, width: usize, height: usize) -> Vec<u8> {
    let decoded = ffmpeg::decoded(path);
    let size = width * height * 3 / 2;
    decoded[decoded.len() - size..][..width * height].to_vec()
}

/// Luma of the screen now, as another program captures it.
pub fn screen(display: &TestDisplay) -> Vec<u8> {
    let output = Command::new("ffmpeg")
        .args(["-v", "error", "-f", "x11grab", "-video_size", "1280x800", "-i", display.name()])
        .args(["-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "bgra", "-"])
        .output()
        .unwrap();
    assert_eq!(output.stdout.len(), 1280 * 800 * 4, "{}", String::from_utf8_lossy(&output.stderr));
    let luma = |pixel: &[u8]| {
        let [blue, green, red] = [pixel[0], pixel[1], pixel[2]].map(f64::from);
        (16.0 + 219.0 / 255.0 * (0.0722 * blue + 0.7152 * green + 0.2126 * red)).round() as u8
    };
    output.stdout.chunks_exact(4).map(luma).collect()
}

pub fn psnr(one: &[u8], other: &[u8]) -> f64 {
    let error: f64 = one.iter().zip(other).map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2)).sum();
    10.0 * (255.0 * 255.0 * one.len() as f64 / error).log10()
}

#[test]
fn the_last_picture_is_the_screen_with_the_pointer() {
    let mut display = TestDisplay::bare().unwrap();
    let folder = test_support::Folder::new().unwrap();
    let path = folder.path().join("film.mp4");
    let film = started(&display, &path);
    let text = "for i in 1 2 3 4 5 6 7 8 9; do seq -s ' ' $i 400; done; exec cat";
    display.run("xterm", &["-geometry", "100x40+30+30", "-e", "sh", "-c", text]).unwrap();
    let mut source = ScreenSource::open(&session(display.name())).unwrap();
    source.changes().unwrap();
    // The terminal has drawn: half a second in which nothing changed, after something did.
    let mut quiet = 0;
    let mut seen = film.state().pictures;
    wait_for(|| {
        let now = film.state().pictures;
        if now == seen {
            return None;
        }
        seen = now;
        let is_still = source.changes().ok()?.is_empty();
        quiet = if is_still { quiet + 1 } else { 0 };
        (quiet > 20 && film.state().bytes > 60_000).then_some(())
    })
    .unwrap_or_else(|| panic!("the terminal did not come to rest: {:?}, quiet for {quiet}", film.state()));
    let moved = Command::new("xdotool")
        .args(["mousemove", "700", "333"])
        .env("DISPLAY", display.name())
        .status()
        .unwrap();
    assert!(moved.success());
    let after = film.state().pictures + 4;
    wait_for(|| (film.state().pictures > after).then_some(())).unwrap();
    let state = film.stop();
    assert_eq!(state.error, None);
    assert!(!state.is_running);
    assert_eq!((state.width, state.height), (1280, 800));
    let quality = psnr(&last_picture(&path, 1280, 800), &screen(&display));
    assert!(quality > 40.0, "{quality}");
    // The pointer is in the film: without it the picture is another.
    let mut pixels = source.read(Rect { x: 690, y: 320, width: 30, height: 30 }).unwrap().to_vec();
    source.changes().unwrap();
    let with = source.read(Rect { x: 690, y: 320, width: 30, height: 30 }).unwrap();
    pixels.iter_mut().zip(with).for_each(|(one, other)| *one ^= other);
    assert!(pixels.iter().any(|byte| *byte != 0));
}

#[test]
fn a_film_lasts_as_long_as_it_was_made() {
    let display = TestDisplay::bare().unwrap();
    let folder = test_support::Folder::new().unwrap();
    let path = folder.path().join("film.mp4");
    let begun = std::time::Instant::now();
    let film = started(&display, &path);
    wait_for(|| (film.state().pictures > 70).then_some(())).unwrap();
    let state = film.stop();
    let lasted = begun.elapsed().as_secs_f64();
    let facts = ffmpeg::probed(&path, "stream=nb_read_packets,r_frame_rate:format=duration");
    assert!(facts.contains("r_frame_rate=30/1"), "{facts}");
    let value = |key: &str| facts.lines().find_map(|line| line.strip_prefix(key)).unwrap().to_owned();
    let duration: f64 = value("duration=").parse().unwrap();
    let packets: f64 = value("nb_read_packets=").parse().unwrap();
    assert!((duration - packets / 30.0).abs() < 0.001);
    // What is measured here holds the opening and the closing too.
    assert!(duration <= lasted + 2.0 / 30.0, "{duration} of {lasted}");
    assert_eq!(state.error, None);
    // A still screen is a few bytes a picture.
    let first = std::fs::metadata(&path).unwrap().len();
    assert!(first < 70 * 40 + 4_000, "{first}");
}

#[test]
fn a_display_that_ends_ends_the_film_and_leaves_it_whole() {
    let mut display = TestDisplay::bare().unwrap();
    let folder = test_support::Folder::new().unwrap();
    let path = folder.path().join("film.mp4");
    let film = started(&display, &path);
    wait_for(|| (film.state().pictures > 35).then_some(())).unwrap();
    display.end_server();
    wait_for(|| (!film.state().is_running).then_some(())).unwrap();
    let state = film.stop();
    assert_eq!(state.error.map(|error| error.code()), Some("display_lost"));
    assert!(ffmpeg::decoded(&path).len() >= 35 * 1280 * 800 * 3 / 2);
    assert!(Film::start(&session(":9999"), &path, FilmOptions::default()).is_err());
}

#[test]
fn a_folder_that_vanishes_ends_the_film() {
    let display = TestDisplay::bare().unwrap();
    let folder = test_support::Folder::new().unwrap();
    let path = folder.path().join("film.mp4");
    let film = started(&display, &path);
    wait_for(|| (film.state().pictures > 5).then_some(())).unwrap();
    std::fs::remove_dir_all(folder.path()).unwrap();
    wait_for(|| (!film.state().is_running).then_some(())).unwrap();
    assert_eq!(film.stop().error.map(|error| error.code()), Some("film_not_written"));
}
