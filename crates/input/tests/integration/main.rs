//! The agent's devices on private desktops with real applications.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

mod chromium;
mod covered;
mod gtk3;
mod holding;
mod leading;
mod qt5;
mod qt_keys;
mod reach;
mod remains;
mod stage;
mod xterm;
