//! Live films of real displays.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread;

use crate::film::{last_picture, psnr, screen};
use crate::support::{ffmpeg, session};
use test_support::{TestDisplay, wait_for};
use video::{FilmOptions, Live, LivePart};

/// Pictures until one that needs no other, which is the last of them.
fn until_sync(live: &Live) -> Vec<LivePart> {
    let mut parts = Vec::new();
    loop {
        let part = live.next().unwrap().unwrap();
        let is_sync = part.is_sync;
        parts.push(part);
        if is_sync {
            return parts;
        }
    }
}

/// How many pictures of 1280x800 ffmpeg shows without a complaint.
fn decoded(path: &Path, pieces: &[&[u8]]) -> usize {
    std::fs::write(path, pieces.concat()).unwrap();
    ffmpeg::decoded(path).len() / (1280 * 800 * 3 / 2)
}

#[test]
fn a_viewer_begins_anywhere_that_a_picture_needs_no_other() {
    let mut display = TestDisplay::bare().unwrap();
    let folder = test_support::Folder::new().unwrap();
    let path = folder.path().join("live.mp4");
    let live = Live::open(&session(display.name()), FilmOptions::default()).unwrap();
    let first = live.next().unwrap().unwrap();
    assert!(first.is_sync);
    let start = first.start.clone().unwrap();
    assert_eq!((start.width, start.height), (1280, 800));
    assert!(start.codec.starts_with("avc1.42c0"), "{}", start.codec);
    let text = "while :; do seq -s ' ' 400; done";
    display.run("xterm", &["-geometry", "100x40+30+30", "-e", "sh", "-c", text]).unwrap();
    let mut parts = vec![first];
    while parts.len() < 20 {
        parts.push(live.next().unwrap().unwrap());
    }
    // Asked for twice, it comes twice, and never one after another.
    let mut begins = Vec::new();
    for _ in 0..2 {
        live.refresh();
        parts.append(&mut until_sync(&live));
        begins.push(parts.len() - 1);
    }
    assert!(begins[1] > begins[0] + 1, "{begins:?}");
    for _ in 0..10 {
        parts.push(live.next().unwrap().unwrap());
    }
    assert!(parts[1..].iter().all(|part| part.start.is_none()));
    for begin in [0, begins[0], begins[1]] {
        let mut pieces: Vec<&[u8]> = vec![&start.header];
        pieces.extend(parts[begin..].iter().map(|part| part.fragment.as_slice()));
        assert_eq!(decoded(&path, &pieces), parts.len() - begin);
    }
}

#[test]
fn a_screen_that_stands_still_is_not_sent_until_somebody_asks() {
    let display = TestDisplay::bare().unwrap();
    let live = Arc::new(Live::open(&session(display.name()), FilmOptions::default()).unwrap());
    let theirs = Arc::clone(&live);
    let (send, parts) = std::sync::mpsc::channel();
    let worker = thread::spawn(move || {
        while let Some(part) = theirs.next().unwrap() {
            send.send(part).unwrap();
        }
    });
    // The first one, and those that follow a change.
    let first: Vec<LivePart> = (0..4).map(|_| parts.recv().unwrap()).collect();
    assert!(first[0].is_sync);
    let folder = test_support::Folder::new().unwrap();
    let film =
        video::Film::start(&session(display.name()), &folder.path().join("film.mp4"), FilmOptions::default())
            .unwrap();
    // A second of another film passes.
    let pass = || {
        let after = film.state().pictures + 30;
        wait_for(|| (film.state().pictures > after).then_some(())).unwrap();
    };
    // What was coarse at first is fine then, and nothing more comes.
    pass();
    parts.try_iter().for_each(drop);
    pass();
    pass();
    assert!(parts.try_recv().is_err());
    // Nor is what is drawn as it is already.
    let draw = || {
        let mut program = Command::new("xsetroot");
        program.args(["-solid", "red"]).env("DISPLAY", display.name());
        assert!(program.status().unwrap().success());
        pass();
    };
    draw();
    assert!(parts.try_iter().count() > 0);
    for _ in 0..3 {
        draw();
    }
    assert_eq!(parts.try_iter().count(), 0);
    live.refresh();
    assert!(parts.recv().unwrap().is_sync);
    assert!((0..3).all(|_| !parts.recv().unwrap().is_sync));
    live.close();
    live.close();
    worker.join().unwrap();
    assert_eq!(live.next(), Ok(None));
}

#[test]
fn what_moved_fast_is_like_the_screen_once_it_rests() {
    let mut display = TestDisplay::bare().unwrap();
    let folder = test_support::Folder::new().unwrap();
    let live = Arc::new(Live::open(&session(display.name()), FilmOptions::default()).unwrap());
    let theirs = Arc::clone(&live);
    let (send, parts) = std::sync::mpsc::channel();
    let worker = thread::spawn(move || {
        while let Some(part) = theirs.next().unwrap() {
            send.send(part).unwrap();
        }
    });
    let ended = folder.path().join("ended");
    let text =
        format!("base64 -w 190 /dev/urandom | head -c 2000000; touch '{}'; exec sleep 1000", ended.display());
    display.run("xterm", &["-geometry", "190x55+10+10", "-e", "sh", "-c", &text]).unwrap();
    let first = parts.recv().unwrap();
    let mut pieces = vec![first.start.unwrap().header, first.fragment];
    wait_for(|| ended.exists().then_some(())).unwrap();
    let clock =
        video::Film::start(&session(display.name()), &folder.path().join("film.mp4"), FilmOptions::default())
            .unwrap();
    loop {
        let before = pieces.len();
        let after = clock.state().pictures + 60;
        wait_for(|| (clock.state().pictures > after).then_some(())).unwrap();
        pieces.extend(parts.try_iter().map(|part| part.fragment));
        // All is fine when nothing came in two seconds of another film.
        if pieces.len() == before {
            break;
        }
    }
    let path = folder.path().join("live.mp4");
    let last = pieces.iter().map(Vec::len).rev().find(|bytes| *bytes > 1_000).unwrap();
    assert!(pieces.len() > 10 && last > 100_000, "{last} of {}", pieces.len());
    std::fs::write(&path, pieces.concat()).unwrap();
    let quality = psnr(&last_picture(&path, 1280, 800), &screen(&display));
    assert!(quality > 45.0, "{quality}");
    live.close();
    worker.join().unwrap();
}

#[test]
fn a_display_that_ends_ends_the_live_film() {
    let mut display = TestDisplay::bare().unwrap();
    let live = Live::open(&session(display.name()), FilmOptions::default()).unwrap();
    live.next().unwrap().unwrap();
    display.end_server();
    let code = loop {
        match live.next() {
            Ok(Some(_)) => {}
            Ok(None) => break None,
            Err(error) => break Some(error.code()),
        }
    };
    assert_eq!(code, Some("display_lost"));
    assert_eq!(live.next(), Ok(None));
    assert!(Live::open(&session(":9999"), FilmOptions::default()).is_err());
}
