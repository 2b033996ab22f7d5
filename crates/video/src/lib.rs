//! Films of a screen: H.264 made for screens, in an MP4 that can be played whenever its making ends.

mod bits;
mod cavlc;
mod cells;
mod colour;
mod copies;
mod drafts;
mod encoder;
mod error;
mod film;
mod headers;
mod inter;
mod intra;
mod live;
mod macroblock;
mod mp4;
mod next;
mod pace;
mod planes;
mod quality;
mod residue;
mod scroll;
mod thrift;
mod tiles;
mod transform;

#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(not(target_arch = "x86_64"), path = "portable.rs")]
mod platform;

pub use encoder::{Encoder, MOST_SIDE, Picture, Settings, Shown};
pub use error::VideoError;
pub use film::{Film, FilmOptions, FilmState};
pub use live::{Live, LivePart};
pub use mp4::{LiveStart, Movie};
pub use thrift::Terms;
