//! The accessibility tree of a window: read in bulk, printed, searched, and acted on element by element.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that fails may panic"))]
mod action;
mod cell;
mod changes;
mod elements;
mod error;
mod markdown;
mod menu;
mod offscreen;
mod request;
mod role;
mod state;
mod token;
mod tree;
mod value;

#[cfg_attr(all(target_os = "linux", not(unsupported)), path = "linux/mod.rs")]
#[cfg_attr(any(not(target_os = "linux"), unsupported), path = "unsupported.rs")]
mod platform;

pub use action::Action;
pub use cell::{Cell, CellContent};
pub use elements::Element;
pub use error::AxError;
pub use offscreen::Offscreen;
pub use platform::{Accessibility, Snapshot, round_trips};
pub use request::{Application, Cancel, Chosen, Inserted, Place, SnapshotRequest, Written};
pub use token::TokenMatch;
