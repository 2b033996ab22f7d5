//! New disks: empty ones and overlays, which appear under their name whole or not at all.

use std::path::Path;

use crate::chain::{Format, MOST_BELOW, info_as, is_protocol, resolve, too_deep};
use crate::error::DiskError;
use crate::header::MOST_NAME_BYTES;
use crate::layout::{MOST_BYTES, plan};
use crate::steps::{Naming, Step, make};

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
pub fn create(path: &Path, size: u64, naming: Naming) -> Result<(), DiskError> {
    check_size(size)?;
    make(path, &plan(size, None), naming)
}

/// Makes a qcow2 disk that shows another's content until it is written to.
pub fn overlay(path: &Path, request: &Overlay, naming: Naming) -> Result<(), DiskError> {
    make(path, &plan_overlay(path, request)?, naming)
}

/// The steps that make an overlay, and what refuses it.
pub fn plan_overlay(path: &Path, request: &Overlay) -> Result<Vec<Step>, DiskError> {
    let name = written(&request.backing);
    let backing = resolve(path, &name)?;
    let below = info_as(&backing, Some(request.format))?;
    if below.below.len() >= MOST_BELOW {
        return Err(too_deep(path));
    }
    // A guest sees whole sectors.
    let least = below.top.virtual_size.next_multiple_of(512);
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
    Ok(plan(size, Some((&name, request.format.name()))))
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
