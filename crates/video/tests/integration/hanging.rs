//! An X server that stands still.

use std::process::Command;
use std::sync::Arc;
use std::thread;

use crate::support::{ffmpeg, session};
use test_support::{Folder, TestDisplay, wait_for};
use video::{Film, FilmOptions, Live};

#[test]
fn films_of_a_server_that_stands_still_end() {
    let display = TestDisplay::bare().unwrap();
    let folder = Folder::new().unwrap();
    let path = folder.path().join("film.mp4");
    let session = session(display.name());
    let film = Arc::new(Film::start(&session, &path, FilmOptions::default()).unwrap());
    let live = Arc::new(Live::open(&session, FilmOptions::default()).unwrap());
    let viewing = {
        let live = Arc::clone(&live);
        thread::spawn(move || while live.next().unwrap().is_some() {})
    };
    wait_for(|| (film.state().pictures > 5).then_some(())).unwrap();
    let tell = |signal: &str| Command::new("kill").args([signal, &display.server_pid().to_string()]).status();
    tell("-STOP").unwrap();
    // Once this gave up, both others wait for an answer.
    assert!(Live::open(&session, FilmOptions::default()).is_err());
    let stopping = {
        let film = Arc::clone(&film);
        thread::spawn(move || film.stop())
    };
    let closing = {
        let live = Arc::clone(&live);
        thread::spawn(move || live.close())
    };
    let ended = wait_for(|| {
        let is_ended = stopping.is_finished() && closing.is_finished() && viewing.is_finished();
        is_ended.then_some(())
    });
    tell("-CONT").unwrap();
    ended.unwrap();
    viewing.join().unwrap();
    assert_eq!(stopping.join().unwrap().error.map(|error| error.code()), Some("display_lost"));
    assert!(ffmpeg::decoded(&path).len() >= 5 * 1280 * 800 * 3 / 2);
}
