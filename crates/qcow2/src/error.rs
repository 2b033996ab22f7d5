//! What can go wrong with a disk.

use std::io;
use std::path::{Path, PathBuf};

/// A failure of this crate; [`DiskError::code`] is stable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiskError {
    /// No file has that path.
    #[error("There is no disk \"{}\". Check the path, and that the folder's file system is mounted.", path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// A file has the path of a disk that is to be made.
    #[error("The disk \"{}\" is not made: a file of that name exists. Delete it or choose another name.", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be opened or read.
    #[error("The disk \"{}\" cannot be read: {reason}. Check the rights of its file and the health of its drive.", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The file cannot be made or written.
    #[error("The disk \"{}\" cannot be written: {reason}. It is as it was before; make room or check the rights of its folder, and try again.", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The file contradicts itself or its format.
    #[error("The disk \"{}\" is damaged: {what}. Look with `qemu-img check`, and take it from a backup or its image again.", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The file is sound but uses what this crate does not do.
    #[error("The disk \"{}\" {what}, which is not supported here. Convert it with `qemu-img convert -O qcow2`.", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it does, as the rest of the sentence.
        what: String,
    },
    /// A hypervisor or a tool has the disk open.
    #[error("The disk \"{}\" is in use. Stop the VM or the program that has it open, and try again.", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A disk is to be smaller than it is, or an overlay smaller than what it lies on.
    #[error("The disk \"{}\" of {size} bytes cannot shrink to {wanted} bytes. Pass a size that is not smaller.", path.display())]
    Smaller {
        /// The file.
        path: PathBuf,
        /// Its size, or that of its backing disk.
        size: u64,
        /// The size that was asked for.
        wanted: u64,
    },
    /// An argument is out of range.
    #[error("{what}")]
    Argument {
        /// The whole text.
        what: String,
    },
}

impl DiskError {
    /// The stable snake_case code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "disk_not_found",
            Self::Exists { .. } => "disk_exists",
            Self::Read { .. } => "disk_unreadable",
            Self::Write { .. } => "disk_not_written",
            Self::Corrupt { .. } => "disk_corrupt",
            Self::Unsupported { .. } => "disk_unsupported",
            Self::InUse { .. } => "disk_in_use",
            Self::Smaller { .. } => "disk_not_shrunk",
            Self::Argument { .. } => "invalid_argument",
        }
    }

    pub(crate) fn read(path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            _ => Self::Read { path, reason: error.to_string() },
        }
    }

    pub(crate) fn write(path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::AlreadyExists => Self::Exists { path },
            _ => Self::Write { path, reason: error.to_string() },
        }
    }

    pub(crate) fn corrupt(path: &Path, what: impl Into<String>) -> Self {
        Self::Corrupt { path: path.to_owned(), what: what.into() }
    }

    pub(crate) fn unsupported(path: &Path, what: impl Into<String>) -> Self {
        Self::Unsupported { path: path.to_owned(), what: what.into() }
    }
}
