//! Disks of virtual machines: qcow2 files and raw ones are made, laid over each other, described, grown and checked.
//!
//! The format is that of QEMU's `docs/interop/qcow2.txt`, versions 2 and 3.

mod chain;
mod check;
mod contents;
mod create;
mod error;
mod header;
mod layout;
mod medium;
mod refcounts;
mod resize;
mod steps;
mod tables;

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "portable.rs")]
mod platform;

pub use chain::{Backing, DiskInfo, Format, Layer, info};
pub use check::{CheckReport, check, check_medium};
pub use contents::Contents;
pub use create::{Overlay, create, overlay, plan_overlay};
pub use error::DiskError;
pub use header::{Features, Header};
pub use layout::plan;
pub use medium::Medium;
pub use resize::{plan_resize, resize};
pub use steps::{Naming, Step, deliver};
