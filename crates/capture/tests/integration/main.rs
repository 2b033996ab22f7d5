//! Pictures of real windows on private displays.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod changes;
mod covered;
mod hanging;
