//! QEMU's machine protocol, as its `docs/interop/qmp-spec.txt` has it: commands with time limits, events, jobs, file
//! descriptors; and the memories that it saves.

mod client;
mod error;
mod jobs;
mod message;
mod reader;
mod saved_memory;
mod shared;

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(not(unix), path = "unsupported.rs")]
mod platform;

pub use client::Client;
pub use error::QmpError;
pub use jobs::{JobProgress, JobState};
pub use message::{Event, arguments};
pub use platform::Descriptor;
pub use reader::{Listener, MOST_LINE_BYTES};
pub use saved_memory::separate;
