//! H.264 of another encoder, a byte stream (ITU-T H.264, annex B), as fragments of MP4 like those of our own.

use crate::VideoError;
use crate::h264::sequence::size_of;
use crate::live::LivePart;
use crate::mp4::{Stream, Track};
use crate::pictures::encoder::Picture;

/// Kinds of NAL units (table 7-1).
const SLICE: u8 = 1;
const SLICE_OF_SYNC: u8 = 5;
const SEQUENCE_SET: u8 = 7;
const PICTURE_SET: u8 = 8;

/// Cuts a byte stream into pictures.
pub struct Remuxer {
    fps: u32,
    /// What no unit was made of yet, and how much of it holds no further start code.
    rest: Vec<u8>,
    searched: usize,
    /// The parameter sets that came last, and those that the stream began with.
    sets: [Vec<u8>; 2],
    begun: [Vec<u8>; 2],
    stream: Option<Stream>,
    /// The slices of the picture that is not whole yet, each after its length in four bytes.
    picture: Vec<u8>,
    is_sync: bool,
}

impl Remuxer {
    /// For a stream of so many pictures a second.
    pub fn new(fps: u32) -> Self {
        Self {
            fps,
            rest: Vec::new(),
            searched: 0,
            sets: Default::default(),
            begun: Default::default(),
            stream: None,
            picture: Vec::new(),
            is_sync: false,
        }
    }

    /// Takes the next bytes; the pictures that are whole now. Those before the first that needs no other are left out.
    ///
    /// Fails with `capture_failed` where a parameter set is damaged.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<LivePart>, VideoError> {
        self.rest.extend_from_slice(bytes);
        let mut parts = Vec::new();
        while let Some((start, after)) = start_code(&self.rest, self.searched) {
            let unit: Vec<u8> = self.rest.drain(..after).take(start).collect();
            self.searched = 0;
            parts.extend(self.take(&unit)?);
        }
        // A start code may have begun.
        self.searched = self.rest.len().saturating_sub(2);
        Ok(parts)
    }

    /// The pictures up to that of which the last bytes were the end, where the encoder is known to pause; fails as `feed` does.
    pub fn flush(&mut self) -> Result<Vec<LivePart>, VideoError> {
        self.searched = 0;
        let unit = std::mem::take(&mut self.rest);
        let before = self.take(&unit)?;
        Ok(before.into_iter().chain(self.finish()?).collect())
    }

    /// What follows are the first bytes of the encoder begun anew; what was not whole is left out.
    pub fn begin_anew(&mut self) {
        self.rest.clear();
        self.picture.clear();
        self.searched = 0;
    }

    fn take(&mut self, unit: &[u8]) -> Result<Option<LivePart>, VideoError> {
        // Zeros may follow a unit, and lead the next start code.
        let end = unit.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
        let unit = &unit[..end];
        let Some(kind) = unit.first().map(|header| header & 31) else { return Ok(None) };
        let is_slice = kind == SLICE || kind == SLICE_OF_SYNC;
        // The first macroblock of a slice is the first of its picture.
        let begins = !is_slice || unit.get(1).is_some_and(|byte| byte & 0x80 != 0);
        let part = if begins { self.finish()? } else { None };
        match kind {
            SEQUENCE_SET => self.sets[0] = unit.to_vec(),
            PICTURE_SET => self.sets[1] = unit.to_vec(),
            _ if is_slice => {
                self.is_sync = kind == SLICE_OF_SYNC;
                self.picture.extend_from_slice(&(unit.len() as u32).to_be_bytes());
                self.picture.extend_from_slice(unit);
            }
            // What else there is adds nothing to the picture.
            _ => {}
        }
        Ok(part)
    }

    fn finish(&mut self) -> Result<Option<LivePart>, VideoError> {
        let data = std::mem::take(&mut self.picture);
        let is_sync = self.is_sync;
        let has_sets = self.sets.iter().all(|set| !set.is_empty());
        if data.is_empty() || !has_sets {
            return Ok(None);
        }
        let mut start = None;
        if is_sync && self.begun != self.sets {
            let (width, height) = size_of(&self.sets[0]).ok_or(VideoError::SequenceSet)?;
            let track = Track::new(width, height, self.fps, self.sets.clone());
            let stream = self.stream.get_or_insert_with(|| Stream::of(track.clone()));
            stream.go_on_with(track);
            start = Some(stream.start());
            self.begun = self.sets.clone();
        }
        let Some(stream) = self.stream.as_mut() else { return Ok(None) };
        let fragment = stream.fragment(Picture { data: &data, is_sync });
        let picture_start = (fragment.len() - data.len()) as u32;
        Ok(Some(LivePart { start, fragment, picture_start, is_sync, is_filler: false }))
    }
}

/// Where the next start code begins, and where it ends.
fn start_code(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let at = bytes[from..].windows(3).position(|three| three == [0, 0, 1])?;
    Some((from + at, from + at + 3))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::pictures::encoder::Encoder;
    use crate::pictures::settings::Settings;

    const SETTINGS: Settings = Settings { width: 64, height: 48, fps: 30, qp: 20 };

    /// Units after start codes of three and four bytes in turn.
    fn byte_stream(pictures: &[Vec<u8>], sets: &[Vec<u8>; 2]) -> Vec<u8> {
        let mut units: Vec<&[u8]> = sets.iter().map(Vec::as_slice).collect();
        for picture in pictures {
            let mut rest = picture.as_slice();
            while let Some((len, after)) = rest.split_first_chunk::<4>() {
                let (unit, next) = after.split_at(u32::from_be_bytes(*len) as usize);
                units.push(unit);
                rest = next;
            }
        }
        let codes: [&[u8]; 2] = [&[0, 0, 0, 1], &[0, 0, 1]];
        units.iter().zip(codes.iter().cycle()).flat_map(|(unit, code)| [*code, unit].concat()).collect()
    }

    fn filmed() -> (Vec<u8>, Vec<Vec<u8>>, Vec<u8>) {
        let mut encoder = Encoder::new(SETTINGS).unwrap();
        let pictures: Vec<_> = (0..5).map(|_| encoder.picture().data.to_vec()).collect();
        let header = Stream::of(Track::of(&encoder)).start().header;
        (byte_stream(&pictures, &encoder.parameter_sets()), pictures, header)
    }

    #[test]
    fn pictures_are_those_of_the_encoder_however_the_bytes_come() {
        let (stream, pictures, header) = filmed();
        for step in [1, 2, 3, 7, 1000, stream.len()] {
            let mut remuxer = Remuxer::new(30);
            let mut parts = Vec::new();
            for bytes in stream.chunks(step) {
                parts.extend(remuxer.feed(bytes).unwrap());
            }
            parts.extend(remuxer.flush().unwrap());
            let shown: Vec<_> =
                parts.iter().map(|part| part.fragment[part.picture_start as usize..].to_vec()).collect();
            assert_eq!(shown, pictures);
            assert_eq!(
                parts.iter().map(|part| part.is_sync).collect::<Vec<_>>(),
                [true, false, false, false, false]
            );
            let starts: Vec<_> = parts.iter().filter_map(|part| part.start.as_ref()).collect();
            assert_eq!(starts.len(), 1);
            assert_eq!((starts[0].width, starts[0].height, &starts[0].header), (64, 48, &header));
        }
    }

    #[test]
    fn a_pause_ends_a_picture_and_the_next_goes_on() {
        let (stream, pictures, _) = filmed();
        let mut remuxer = Remuxer::new(30);
        // The last start code has four bytes.
        let cut = stream.len() - pictures[4].len();
        let before = remuxer.feed(&stream[..cut]).unwrap().len() + remuxer.flush().unwrap().len();
        assert_eq!(before, 4);
        assert!(remuxer.flush().unwrap().is_empty());
        assert!(remuxer.feed(&stream[cut..]).unwrap().is_empty());
        let [last] = &remuxer.flush().unwrap()[..] else { panic!("one picture") };
        assert_eq!(last.fragment[last.picture_start as usize..], pictures[4]);
    }

    #[test]
    fn what_begins_in_the_middle_waits_for_a_picture_that_needs_no_other() {
        let (stream, _, _) = filmed();
        let mut remuxer = Remuxer::new(30);
        assert!(remuxer.feed(&[&[0, 0, 1, 0x41, 0xe0, 1], stream.as_slice()].concat()).unwrap()[0].is_sync);
    }

    #[test]
    fn an_encoder_begun_anew_goes_on_with_the_numbers_and_without_another_start() {
        let (stream, pictures, _) = filmed();
        let mut remuxer = Remuxer::new(30);
        let before = remuxer.feed(&stream).unwrap();
        remuxer.begin_anew();
        let after = remuxer.feed(&stream).unwrap();
        assert_eq!((before.len(), after.len()), (3, 3));
        assert!(after[0].is_sync && after[0].start.is_none());
        assert_eq!(after[0].fragment[after[0].picture_start as usize..], pictures[0]);
        // The number of a fragment stands in its first box.
        assert_eq!((before[2].fragment[23], after[0].fragment[23]), (3, 4));
    }

    #[test]
    fn a_damaged_sequence_set_is_told() {
        let mut remuxer = Remuxer::new(30);
        let units = [[0, 0, 1, 0x67, 0x42, 0xff], [0, 0, 1, 0x68, 0xff, 0xff], [0, 0, 1, 0x65, 0x80, 0xff]];
        assert!(remuxer.feed(&units.concat()).unwrap().is_empty());
        assert_eq!(remuxer.flush().unwrap_err().code(), "capture_failed");
    }
}
