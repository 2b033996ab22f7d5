//! The crate against QEMU's programs.
#![allow(clippy::expect_used, clippy::panic, reason = "a test that fails panics")]

mod fuzz;
mod power_cuts;
mod sequences;
mod support;
