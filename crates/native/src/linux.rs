//! Linux: what a process and its files are to the kernel.

use std::fs::{File, OpenOptions, symlink_metadata};
use std::io::Error;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Signal, geteuid, set_parent_process_death_signal};

/// Has the kernel send SIGUSR2 when the parent ends; whether it will.
pub fn signal_when_parent_ends() -> bool {
    set_parent_process_death_signal(Some(Signal::USR2)).is_ok()
}

/// Makes for its owner alone, and opens through no symbolic link and without waiting.
pub fn owners(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
}

/// Fails unless it is a regular file of this user.
pub fn check(file: &File) -> Result<(), Error> {
    let known = file.metadata()?;
    if known.is_file() && known.uid() == geteuid().as_raw() {
        return Ok(());
    }
    Err(Error::other("it is no file of this user"))
}

/// The number by which a child process can be given the file.
pub fn descriptor(file: &File) -> i32 {
    std::os::fd::AsRawFd::as_raw_fd(file)
}

/// True when this file is the one at the path.
pub fn is_at(file: &File, path: &Path) -> Result<bool, Error> {
    let (held, there) = (file.metadata()?, symlink_metadata(path)?);
    Ok((held.dev(), held.ino()) == (there.dev(), there.ino()))
}

/// Opens again what these numbers stand for in this process; an error is a number that stands for nothing.
pub fn duplicates(fds: &[RawFd]) -> Result<Vec<OwnedFd>, RawFd> {
    let duplicate = |fd: &RawFd| {
        // The one number that is never a file, and that must not be borrowed.
        if *fd < 0 {
            return Err(*fd);
        }
        // SAFETY: the borrow lasts for one call, which fails where the number stands for no open file.
        let borrowed = unsafe { BorrowedFd::borrow_raw(*fd) };
        fcntl_dupfd_cloexec(borrowed, 0).map_err(|_| *fd)
    };
    fds.iter().map(duplicate).collect()
}

/// The files as they are sent to a hypervisor.
pub fn borrowed(files: &[OwnedFd]) -> Vec<qmp::Descriptor<'_>> {
    files.iter().map(|file| file.as_fd()).collect()
}
