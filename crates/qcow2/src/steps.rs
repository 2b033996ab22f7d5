//! What is done to a disk's file, as a list: planned as a whole, then done one after another, each of them perhaps the last.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::DiskError;
use crate::platform;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Bytes are written at an offset.
    Write {
        /// Where.
        offset: u64,
        /// What.
        bytes: Vec<u8>,
    },
    /// The file becomes this long; new bytes are zero.
    SetLength(u64),
    /// All that was written survives a power cut from here on.
    Sync,
}

impl Step {
    /// Does it.
    pub fn deliver(&self, file: &File) -> io::Result<()> {
        match self {
            Self::Write { offset, bytes } => platform::write_all_at(file, *offset, bytes),
            Self::SetLength(length) => file.set_len(*length),
            Self::Sync => file.sync_data(),
        }
    }
}

/// Does all of them in order.
pub fn deliver(steps: &[Step], file: &File) -> io::Result<()> {
    steps.iter().try_for_each(|step| step.deliver(file))
}

/// Whether the name of a new disk survives a power cut, as its content does in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// The folder is synced.
    Synced,
    /// Whoever makes the disk syncs the folder, or names the disk anew.
    LeftToCaller,
}

/// Makes a file by these steps, the last of which syncs it: under a hidden name first, then under its own, which nobody has.
pub fn make(path: &Path, steps: &[Step], naming: Naming) -> Result<(), DiskError> {
    // Told before any work; the name is taken at the end, where another may have come first.
    if fs::symlink_metadata(path).is_ok() {
        return Err(DiskError::Exists { path: path.to_owned() });
    }
    let temporary = beside(path);
    let done = fill(&temporary, steps).and_then(|()| platform::publish(&temporary, path));
    if done.is_err() {
        // It may not have been made.
        let _ = fs::remove_file(&temporary);
    }
    let named = done.and_then(|()| match naming {
        Naming::Synced => platform::sync_folder(folder(path)),
        Naming::LeftToCaller => Ok(()),
    });
    named.map_err(|error| DiskError::write(path, error))
}

fn fill(path: &Path, steps: &[Step]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    deliver(steps, &platform::owners(options.write(true).create_new(true)).open(path)?)
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A hidden name in the same folder that no other process or thread uses.
fn beside(path: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    folder(path).join(format!(".{name}.new-{}-{number}", std::process::id()))
}
