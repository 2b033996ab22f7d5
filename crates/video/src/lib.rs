//! Films of a screen: H.264 made for screens, in an MP4 that can be played whenever its making ends.

mod error;
mod film;
mod h264;
mod live;
mod mp4;
mod pace;
mod pictures;
mod remux;

#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(not(target_arch = "x86_64"), path = "portable.rs")]
mod platform;

pub use error::VideoError;
pub use film::{Film, FilmOptions, FilmState};
pub use live::{Live, LivePart};
pub use mp4::{LiveStart, Mp4Writer};
pub use pictures::encoder::{Encoder, Picture, Shown};
pub use pictures::rate_control::Budget;
pub use pictures::settings::{MOST_SIDE, Settings};
pub use remux::Remuxer;
