//! The agent's devices on private desktops with real applications.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

mod chromium;
mod core_pointer;
mod core_remains;
mod core_text;
mod covered;
mod gtk3;
mod holding;
mod leading;
mod lists;
mod meanwhile;
mod parking;
mod qt5;
mod qt_keys;
mod reach;
mod remains;
mod servers;
mod test_desktop;
mod xterm;
