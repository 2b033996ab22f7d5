//! The tests of the crate on private desktops with real applications.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

mod ending;
mod gtk3;
mod mirror;
mod round_trips;
mod support;
mod toolkits;
