//! ffmpeg and ffprobe as the witnesses of what a film shows.

use std::path::Path;
use std::process::Command;

use video::Shown;

fn output(program: &str, before: &[&str], path: &Path, after: &[&str]) -> (Vec<u8>, String) {
    let output = Command::new(program).args(before).arg(path).args(after).output().unwrap();
    (output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// All pictures of a film, one after the other, as planes; any complaint of the decoder is a failure.
pub fn decoded(path: &Path) -> Vec<u8> {
    let (pictures, complaints) = decoded_anyway(path);
    assert_eq!(complaints, "");
    pictures
}

/// The same for a film that was cut, and what the decoder complained about.
pub fn decoded_anyway(path: &Path) -> (Vec<u8>, String) {
    let before = ["-v", "error", "-i"];
    let after = ["-f", "rawvideo", "-pix_fmt", "yuv420p", "-fps_mode", "passthrough", "-"];
    output("ffmpeg", &before, path, &after)
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
    let (facts, complaints) = output("ffprobe", &before, path, &[]);
    assert_eq!(complaints, "");
    String::from_utf8(facts).unwrap()
}
