//! Films that ffmpeg decodes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

mod decoding;
mod file;
#[cfg(target_os = "linux")]
mod film;
mod patterns;
mod support;
