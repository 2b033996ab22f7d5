//! The file of a film: played by others, finished or cut off anywhere.

use std::fs;
use std::path::Path;

use crate::support::{Take, ffmpeg};
use desktop::Rect;

const PAGE: Rect = Rect { x: 20, y: 20, width: 280, height: 200 };

/// Some seconds of a page that scrolls, with a rest.
fn filmed(pictures: u32) -> Take {
    let mut take = Take::new(320, 240);
    take.canvas.page(PAGE);
    for number in 0..pictures {
        if number % 3 == 0 && number % 60 < 40 {
            take.canvas.scroll(PAGE, (0, -8));
        }
        take.record();
    }
    take
}

#[test]
fn a_finished_film_says_what_it_is() {
    let film = filmed(200).finish();
    let facts = ffmpeg::probed(
        &film.path,
        "stream=codec_name,profile,pix_fmt,r_frame_rate,avg_frame_rate,color_range,color_space,nb_frames,\
         nb_read_packets,has_b_frames:format=duration",
    );
    for fact in [
        "codec_name=h264",
        "profile=Constrained Baseline",
        "pix_fmt=yuv420p",
        "r_frame_rate=30/1",
        "avg_frame_rate=30/1",
        "color_range=tv",
        "color_space=bt709",
        "has_b_frames=0",
        "nb_frames=200",
        "nb_read_packets=200",
        "duration=6.666667",
    ] {
        assert!(facts.lines().any(|line| line == fact), "{fact} is not in\n{facts}");
    }
    film.decodes();
}

#[test]
fn a_film_that_was_cut_anywhere_plays_to_its_last_whole_second() {
    let take = filmed(150);
    let bytes = fs::read(take.path()).unwrap();
    let size = take.shown[0].samples.len();
    let folder = test_support::Folder::new().unwrap();
    // Where fragments end: the boxes of the file, read here once more.
    let mut ends = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let length = u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize;
        if &bytes[at + 4..at + 8] == b"mdat" {
            ends.push(at + length);
        }
        at += length;
    }
    assert_eq!(ends.len(), 4);
    let mut cuts = Vec::new();
    for (fragments, end) in (1..).zip(&ends) {
        for after in [0, 5, 90, 1000] {
            let path = folder.path().join(format!("{fragments}-{after}.mp4"));
            fs::write(&path, &bytes[..(end + after).min(bytes.len())]).unwrap();
            cuts.push((fragments, after, path));
        }
    }
    let paths: Vec<&Path> = cuts.iter().map(|(_, _, path)| path.as_path()).collect();
    let (films, _) = ffmpeg::decoded_anyway(&paths);
    for (film, (fragments, after, _)) in films.iter().zip(&cuts) {
        let pictures = film.pictures.len() / size;
        assert!(
            pictures >= fragments * 30,
            "{pictures} pictures of {fragments} fragments, cut {after} after"
        );
        ffmpeg::same(&film.pictures[..fragments * 30 * size], &take.shown[..fragments * 30]);
    }
    take.finish().decodes();
}

#[test]
fn a_film_that_was_finished_but_for_its_last_step_plays() {
    let take = filmed(95);
    let open = take.path().to_owned();
    let folder = test_support::Folder::new().unwrap();
    let copy = folder.path().join("copy.mp4");
    let before = fs::read(&open).unwrap();
    let film = take.finish();
    let mut bytes = fs::read(&film.path).unwrap();
    // The head of the file as it was, the index already behind it.
    bytes[..before.len().min(64)].copy_from_slice(&before[..64]);
    fs::write(&copy, &bytes).unwrap();
    let (films, _) = ffmpeg::decoded_anyway(&[&copy]);
    ffmpeg::same(&films[0].pictures, &film.shown);
}

#[test]
fn a_folder_that_vanished_is_told() {
    let mut take = filmed(10);
    fs::remove_dir_all(take.path().parent().unwrap()).unwrap();
    let error = take.flush().unwrap_err();
    assert_eq!(error.code(), "film_not_written");
    assert!(error.to_string().contains("film.mp4"), "{error}");
}
