//! An MP4 file that can be played whenever its making ends: fragments of a second, and at the end an index of the whole.

mod boxes;
mod stream;

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::VideoError;
pub(crate) use crate::mp4::boxes::Track;
pub use crate::mp4::stream::LiveStart;
pub(crate) use crate::mp4::stream::Stream;
use crate::pictures::encoder::{Encoder, Picture};

use crate::mp4::boxes::{Index, TICKS, beginning, fragment, large_mdat};

/// A film's file while it is made.
///
/// What was added more than a second ago is in the file and can be played, even when the process is killed.
pub struct Mp4Writer {
    path: PathBuf,
    file: File,
    track: Track,
    fps: usize,
    /// Where the box of 16 bytes is that becomes the head of all that follows it.
    room: u64,
    /// Bytes that are whole.
    end: u64,
    index: Index,
    /// The samples of the fragment that is not written yet.
    data: Vec<u8>,
    sizes: Vec<u32>,
    is_sync: bool,
}

impl Mp4Writer {
    /// Makes the file for an encoder's pictures, over one that is there. Fails with `film_not_written`.
    pub fn create(path: &Path, encoder: &Encoder) -> Result<Self, VideoError> {
        let track = Track::of(encoder);
        let start = beginning();
        let room = start.len() as u64 - 16;
        let head = [start, track.movie(None)].concat();
        let made = File::create(path).and_then(|mut file| file.write_all(&head).map(|()| file));
        let file = made.map_err(|error| failed(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            track,
            fps: encoder.settings().fps as usize,
            room,
            end: head.len() as u64,
            index: Index::default(),
            data: Vec::new(),
            sizes: Vec::new(),
            is_sync: false,
        })
    }

    /// Pictures so far.
    pub fn pictures(&self) -> u64 {
        (self.index.sizes.len() + self.sizes.len()) as u64
    }

    /// Bytes that are in the file.
    pub fn bytes(&self) -> u64 {
        self.end
    }

    /// Adds the next picture. Fails with `film_not_written`; what is in the file stays playable.
    pub fn add(&mut self, picture: Picture<'_>) -> Result<(), VideoError> {
        if picture.is_sync || self.sizes.len() >= self.fps {
            self.flush()?;
        }
        if self.sizes.is_empty() {
            self.is_sync = picture.is_sync;
        }
        self.sizes.push(picture.data.len() as u32);
        self.data.extend_from_slice(picture.data);
        Ok(())
    }

    /// Writes what was added. Fails with `film_not_written`, also when the file is no longer at its path; what was not
    /// written then is lost.
    pub fn flush(&mut self) -> Result<(), VideoError> {
        if self.sizes.is_empty() {
            return Ok(());
        }
        let before = self.index.sizes.len();
        let number = self.index.chunks.len() as u32 + 1;
        let mut fragment = fragment(number, before as u64 * u64::from(TICKS), self.is_sync, &self.sizes);
        let samples = self.end + fragment.len() as u64;
        fragment.append(&mut self.data);
        let sizes = std::mem::take(&mut self.sizes);
        self.append(&fragment)?;
        if self.is_sync {
            self.index.syncs.push(before as u32 + 1);
        }
        self.index.chunks.push((samples, sizes.len() as u32));
        self.index.sizes.extend(sizes);
        // Whoever removed the folder removed the film, and writing on would not tell.
        std::fs::metadata(&self.path).map_err(|error| failed(&self.path, &error))?;
        Ok(())
    }

    /// Writes what is left and the index of the whole film, and waits until the disk has it.
    ///
    /// Fails with `film_not_written`; the film is then still one of fragments.
    pub fn finish(mut self) -> Result<u64, VideoError> {
        self.flush()?;
        let size = self.end - self.room;
        self.append(&self.track.movie(Some(&self.index)))?;
        let room = self.room;
        let sealed = self.file.sync_data().and_then(|()| {
            // From here on the fragments are the samples of the index; one write of 16 bytes makes it so.
            self.file.seek(SeekFrom::Start(room))?;
            self.file.write_all(&large_mdat(size))?;
            self.file.sync_all()
        });
        sealed.map_err(|error| failed(&self.path, &error))?;
        Ok(self.end)
    }

    /// Appends bytes, all or none of them.
    fn append(&mut self, bytes: &[u8]) -> Result<(), VideoError> {
        if let Err(error) = self.file.write_all(bytes) {
            // Half a box would be an error to some players.
            let _ = self.file.set_len(self.end).and_then(|()| self.file.seek(SeekFrom::Start(self.end)));
            return Err(failed(&self.path, &error));
        }
        self.end += bytes.len() as u64;
        Ok(())
    }
}

fn failed(path: &Path, error: &std::io::Error) -> VideoError {
    VideoError::Write { path: path.display().to_string(), reason: error.to_string() }
}
