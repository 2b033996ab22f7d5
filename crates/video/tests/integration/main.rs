//! Films that ffmpeg decodes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

mod decoding;
mod drafts;
mod file;
#[cfg(target_os = "linux")]
mod film;
#[cfg(target_os = "linux")]
mod hanging;
#[cfg(target_os = "linux")]
mod live;
mod patterns;
mod support;
