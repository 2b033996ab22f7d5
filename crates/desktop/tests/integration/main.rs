//! The crate on private displays with real programs.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod clipboard;
mod hanging;
mod launch;
mod placing;
mod resetting;
mod states;
mod wallpaper;
mod windows;
