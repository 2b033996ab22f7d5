//! What a film looks like.

/// The largest side of a picture.
pub const MOST_SIDE: u32 = 8192;

/// What a film looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Width of what is filmed, in pixels, from 1 to [`MOST_SIDE`]; an odd one is filmed with its last column twice.
    pub width: u32,
    /// Height of what is filmed, in pixels, from 1 to [`MOST_SIDE`]; an odd one is filmed with its last row twice.
    pub height: u32,
    /// Pictures a second, from 1 to 60.
    pub fps: u32,
    /// The quantiser, from 12 (large and fine) to 40 (small and coarse).
    pub qp: u8,
}
