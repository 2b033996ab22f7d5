//! ffmpeg and ffprobe as the witnesses of what a film shows.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::Film;
use video::Shown;

/// What ffmpeg shows of a film.
pub struct Decoded {
    /// Width and height, as ffmpeg says.
    pub size: (usize, usize),
    /// All pictures, one after the other, as planes.
    pub pictures: Vec<u8>,
}

impl Decoded {
    /// Of the bytes of a YUV4MPEG2 file: a line about the film, and the line `FRAME` before each picture.
    fn of(file: &[u8]) -> Self {
        let end = file.iter().position(|byte| *byte == b'\n').unwrap_or(file.len());
        let head = String::from_utf8_lossy(&file[..end]).into_owned();
        let side = |name: char| {
            head.split(' ').find_map(|part| part.strip_prefix(name)?.parse().ok()).unwrap_or(0usize)
        };
        let size = (side('W'), side('H'));
        let (line, bytes) = (b"FRAME\n".len(), size.0 * size.1 * 3 / 2);
        let frames = file.get(end + 1..).unwrap_or_default().chunks(line + bytes);
        Self { size, pictures: frames.map(|frame| &frame[line..]).collect::<Vec<_>>().concat() }
    }
}

/// All pictures of a film, one after the other, as planes; any complaint of the decoder is a failure.
pub fn decoded(path: &Path) -> Vec<u8> {
    let (mut films, complaints) = decoded_anyway(&[path]);
    assert_eq!(complaints, "");
    films.remove(0).pictures
}

/// What one process of ffmpeg, which takes long to start, shows of films that may be cut, and what it complained about.
pub fn decoded_anyway(paths: &[&Path]) -> (Vec<Decoded>, String) {
    let folder = test_support::Folder::new().unwrap();
    let of_film = |number: usize| folder.path().join(number.to_string());
    let mut command = Command::new("ffmpeg");
    command.args(["-v", "error"]).stdin(Stdio::null());
    for path in paths {
        command.args(["-threads", "1", "-i"]).arg(path);
    }
    for number in 0..paths.len() {
        command.args(["-map", &format!("{number}:v"), "-f", "yuv4mpegpipe", "-pix_fmt", "yuv420p"]);
        command.args(["-fps_mode", "passthrough"]).arg(of_film(number));
    }
    let complaints = String::from_utf8(command.output().unwrap().stderr).unwrap();
    let films =
        (0..paths.len()).map(|number| Decoded::of(&std::fs::read(of_film(number)).unwrap_or_default()));
    (films.collect(), complaints)
}

/// Asserts that ffmpeg shows exactly the pictures that the encoder says a decoder shows.
pub fn all_decode(films: &[Film]) {
    let paths: Vec<&Path> = films.iter().map(|film| film.path.as_path()).collect();
    let (decoded, complaints) = decoded_anyway(&paths);
    assert_eq!(complaints, "");
    for (number, (decoded, film)) in decoded.iter().zip(films).enumerate() {
        let Shown { width, height, .. } = film.shown[0];
        assert_eq!(decoded.size, (width, height), "film {number}");
        println!("film {number} of {width}x{height}");
        same(&decoded.pictures, &film.shown);
    }
}

/// Asserts that the decoded pictures are the ones that were to be shown.
pub fn same(decoded: &[u8], shown: &[Shown]) {
    let size = shown[0].samples.len();
    assert_eq!(decoded.len() / size, shown.len(), "pictures");
    for (number, (picture, shown)) in decoded.chunks(size).zip(shown).enumerate() {
        if let Some(at) = picture.iter().zip(&shown.samples).position(|(one, other)| one != other) {
            let luma = shown.width * shown.height;
            panic!(
                "picture {number} differs first at {at}, {:?} of {}x{}",
                if at < luma { (at % shown.width, at / shown.width) } else { (0, 0) },
                shown.width,
                shown.height
            );
        }
    }
}

/// What ffprobe says about the film's one stream, `key=value` in lines.
pub fn probed(path: &Path, entries: &str) -> String {
    let before =
        ["-v", "error", "-count_packets", "-show_entries", entries, "-of", "default=noprint_wrappers=1"];
    let output = Command::new("ffprobe").args(before).arg(path).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap()
}
