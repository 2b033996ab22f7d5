//! `film DISPLAY PATH`: films a display until a line comes in or standard input ends, then prints how many pictures there are.
//! It is what the bench measures: the recorder in a process of its own.

use std::error::Error;
use std::path::Path;

use desktop::Session;
use video::{Film, FilmOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(display), Some(path)) = (arguments.next(), arguments.next()) else {
        return Err("usage: film DISPLAY PATH".into());
    };
    let film = Film::start(&Session::of(Some(&display))?, Path::new(&path), FilmOptions::default())?;
    std::io::stdin().read_line(&mut String::new())?;
    let state = film.stop();
    println!("{}", state.pictures);
    match state.error {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}
