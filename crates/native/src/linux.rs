//! Linux: what a process and its files are to the kernel.

use std::ffi::c_void;
use std::fs::{File, OpenOptions, symlink_metadata};
use std::io::Error;
use std::ops::Range;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use rustix::fs::{MemfdFlags, OFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::mm::{Advice, madvise};
use rustix::process::{Signal, geteuid, getpid, set_child_subreaper, set_parent_process_death_signal};

#[path = "linux/holders.rs"]
pub mod holders;
#[path = "linux/landlock.rs"]
pub mod landlock;
#[path = "linux/sockets.rs"]
pub mod sockets;

/// Has the kernel send SIGUSR2 when the parent ends; whether it will.
pub fn signal_when_parent_ends() -> bool {
    set_parent_process_death_signal(Some(Signal::USR2)).is_ok()
}

/// Makes the command's process the one that orphans among its descendants become children of.
pub fn as_subreaper(command: &mut Command) -> &mut Command {
    // SAFETY: prctl and getpid are async-signal-safe and touch no memory of the parent.
    unsafe { command.pre_exec(|| set_child_subreaper(Some(getpid())).map_err(Into::into)) }
}

/// Asks the kernel to take back the pages of the executable's writable areas that are as in its file; bytes of the areas.
pub fn release_executable_data() -> u64 {
    let Ok(own) = std::fs::read_link("/proc/self/exe") else { return 0 };
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return 0 };
    let own = own.to_string_lossy();
    let areas = maps.lines().filter(|line| line.contains(" rw-p ") && path_in(line) == Some(&own));
    areas.filter_map(area).map(|area| release(&area)).sum()
}

/// The file that a line of `/proc/self/maps` names.
fn path_in(line: &str) -> Option<&str> {
    line.find('/').map(|at| &line[at..])
}

/// The addresses that a line of `/proc/self/maps` begins with.
fn area(line: &str) -> Option<Range<usize>> {
    let (first, end) = line.split_once(' ')?.0.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    Some(address(first)?..address(end)?)
}

fn release(area: &Range<usize>) -> u64 {
    // SAFETY: pages are written back or dropped where the kernel can bring them back as they are (madvise(2),
    // MADV_PAGEOUT); what is read there afterwards is what was there before.
    let released = unsafe { madvise(area.start as *mut c_void, area.len(), Advice::LinuxPageOut) };
    if released.is_ok() { area.len() as u64 } else { 0 }
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

/// A file in memory of so many bytes that can be sealed.
pub fn memory_file(bytes: u64) -> Result<File, Error> {
    let made = memfd_create("backlot-memory", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    ftruncate(&made, bytes)?;
    Ok(File::from(made))
}

/// Writes all of the bytes to that place of a file.
pub fn write_at(file: &File, offset: u64, bytes: &[u8]) -> Result<(), Error> {
    file.write_all_at(bytes, offset)
}

/// Has the kernel refuse every change of a file in memory, and of its seals.
pub fn seal(file: &File) -> Result<(), Error> {
    let all = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(file, all).map_err(Into::into)
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
