//! An MP4 without an end, a fragment for each picture, as players take it from a connection.

use crate::mp4::boxes::{TICKS, Track, beginning, fragment};
use crate::pictures::encoder::Picture;

/// The beginning of a stream, before its first fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveStart {
    /// Width in pixels, even.
    pub width: u32,
    /// Height in pixels, even.
    pub height: u32,
    /// The codec as RFC 6381 names it.
    pub codec: String,
    /// `ftyp` and `moov`.
    pub header: Vec<u8>,
}

/// A stream in the making.
pub(crate) struct Stream {
    track: Track,
    pictures: u64,
}

impl Stream {
    pub(crate) fn of(track: Track) -> Self {
        Self { track, pictures: 0 }
    }

    /// The next pictures are those of another encoder of the same rate; players need its beginning first.
    pub(crate) fn go_on_with(&mut self, track: Track) {
        self.track = track;
    }

    /// The beginning, as it is now.
    pub(crate) fn start(&self) -> LiveStart {
        LiveStart {
            width: self.track.width,
            height: self.track.height,
            codec: self.track.codec(),
            header: [beginning(), self.track.movie(None)].concat(),
        }
    }

    /// The next picture, as a fragment.
    pub(crate) fn fragment(&mut self, picture: Picture<'_>) -> Vec<u8> {
        let number = self.pictures;
        self.pictures += 1;
        // Numbers of fragments may begin again.
        let sizes = [picture.data.len() as u32];
        let mut bytes = fragment(self.pictures as u32, number * u64::from(TICKS), picture.is_sync, &sizes);
        bytes.extend_from_slice(picture.data);
        bytes
    }
}
