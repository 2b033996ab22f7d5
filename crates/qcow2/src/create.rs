//! New disks: empty ones and overlays, which appear under their name whole or not at all.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::chain::{Format, is_protocol, resolve, size_of};
use crate::error::DiskError;
use crate::header::MOST_NAME_BYTES;
use crate::layout::{MOST_BYTES, Plan, plan};
use crate::medium::Medium;
use crate::platform;

/// What an overlay lies on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlay {
    /// The backing disk's path as it is to be written: absolute, or relative to the overlay's folder.
    pub backing: String,
    /// The backing disk's format.
    pub format: Format,
    /// Bytes that the guest sees; those of the backing disk when absent.
    pub size: Option<u64>,
}

/// Makes an empty qcow2 disk of `size` bytes, a multiple of 512, which returns when it would survive a power cut.
pub fn create(path: &Path, size: u64) -> Result<(), DiskError> {
    check_size(size)?;
    write(path, &plan(size, None))
}

/// Makes a qcow2 disk that shows another's content until it is written to.
pub fn overlay(path: &Path, request: &Overlay) -> Result<(), DiskError> {
    let name = written(&request.backing);
    let backing = resolve(path, &name)?;
    let below = size_of(&backing, request.format)?;
    // A raw file of odd length shows the guest whole sectors.
    let least = below.next_multiple_of(512);
    let size = request.size.unwrap_or(least);
    check_size(size)?;
    if size < least {
        return Err(DiskError::Smaller { path: path.to_owned(), size: least, wanted: size });
    }
    if name.len() > MOST_NAME_BYTES {
        let what = format!(
            "The path \"{name}\" of a backing disk has {} bytes, and {MOST_NAME_BYTES} fit. Pass a shorter one.",
            name.len()
        );
        return Err(DiskError::Argument { what });
    }
    write(path, &plan(size, Some((&name, request.format.name()))))
}

/// The name of a file as QEMU takes it for one.
fn written(name: &str) -> String {
    if is_protocol(name) { format!("./{name}") } else { name.to_owned() }
}

fn check_size(size: u64) -> Result<(), DiskError> {
    if size.is_multiple_of(512) && (512..=MOST_BYTES).contains(&size) {
        return Ok(());
    }
    let what = format!(
        "A disk of {size} bytes cannot be made. Pass a multiple of 512 bytes, at least 512 and at most {MOST_BYTES}."
    );
    Err(DiskError::Argument { what })
}

fn write(path: &Path, plan: &Plan) -> Result<(), DiskError> {
    // Told before any work; the name is taken at the end, where another may have come first.
    if fs::symlink_metadata(path).is_ok() {
        return Err(DiskError::Exists { path: path.to_owned() });
    }
    let temporary = beside(path);
    let done = fill(&temporary, plan).and_then(|()| platform::publish(&temporary, path));
    if done.is_err() {
        // What was not made has no name of its own either.
        let _ = fs::remove_file(&temporary);
    }
    done.and_then(|()| platform::sync_folder(folder(path))).map_err(|error| DiskError::write(path, error))
}

fn fill(path: &Path, plan: &Plan) -> io::Result<()> {
    let file = platform::owners(OpenOptions::new().read(true).write(true).create_new(true)).open(path)?;
    write_plan(&file, plan)
}

/// Writes a new image and waits until it would survive a power cut.
pub fn write_plan(medium: &dyn Medium, plan: &Plan) -> io::Result<()> {
    for (offset, bytes) in &plan.writes {
        medium.write_at(*offset, bytes)?;
    }
    medium.set_length(plan.length)?;
    medium.sync()
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
