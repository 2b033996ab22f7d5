//! A folder of a test's own.

use std::fs::DirBuilder;
use std::io::{Error, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::wait_for;

static MADE: AtomicU32 = AtomicU32::new(0);

/// A new empty folder; it is removed with all that is in it when it is dropped.
pub struct Folder(PathBuf);

impl Folder {
    /// Makes a folder where the system keeps temporary files.
    pub fn new() -> Result<Self, Error> {
        Self::below(&std::env::temp_dir())
    }

    /// Makes a folder in another one.
    pub fn below(parent: &Path) -> Result<Self, Error> {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("backlot-test-{}-{number}", std::process::id()));
        // As the folder of a session has to be.
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A program that was killed may have children that still write there.
        wait_for(|| match std::fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != ErrorKind::NotFound => None,
            _ => Some(()),
        });
    }
}
