//! A film's pictures to H.264: what changed, what moved, and how fine it is written.

pub mod colour;
pub mod copies;
pub mod drafts;
pub mod encoder;
pub mod next;
pub mod rate_control;
pub mod scroll;
pub mod settings;
pub mod tiles;
