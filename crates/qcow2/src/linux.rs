//! Linux: files at offsets, names that appear whole, and the locks by which QEMU's programs notice each other.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};

/// Length of a file or a block device.
pub fn length(file: &File) -> io::Result<u64> {
    let known = file.metadata()?;
    if known.file_type().is_block_device() {
        return Ok(rustix::fs::seek(file, rustix::fs::SeekFrom::End(0))?);
    }
    Ok(known.len())
}

/// Reads at an offset; zero bytes at the end.
pub fn read_at(file: &File, offset: u64, into: &mut [u8]) -> io::Result<usize> {
    // Offsets are signed to the kernel, and no file has a byte there.
    if offset > i64::MAX as u64 {
        return Ok(0);
    }
    file.read_at(into, offset)
}

/// Writes all bytes at an offset.
pub fn write_all_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}

/// Opens without waiting for the other end of a pipe; what is neither a file nor a block device is refused.
pub fn open(path: &Path, writable: bool) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits() as i32;
    let file = OpenOptions::new().read(true).write(writable).custom_flags(flags).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() || kind.is_block_device() {
        return Ok(file);
    }
    Err(io::Error::other("it is neither a file nor a block device"))
}

/// Device and number of a file.
pub type Identity = (u64, u64);

/// What a file is by whatever name.
pub fn identity(_: &Path, file: &File) -> io::Result<Identity> {
    let known = file.metadata()?;
    Ok((known.dev(), known.ino()))
}

/// Makes for its owner alone.
pub fn owners(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// Bytes that the file takes on its file system.
pub fn allocated(known: &Metadata) -> u64 {
    known.blocks().saturating_mul(512)
}

/// Renames unless the new name is taken.
pub fn publish(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // File systems without this flag still have links, which replace nothing either.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            std::fs::hard_link(from, to)?;
            std::fs::remove_file(from)
        }
        other => Ok(other?),
    }
}

/// Returns when the names in a folder would survive a power cut.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// First byte of the locks that say what a user of an image does; bit `n` of QEMU's permissions is byte `n`.
const DOES: i64 = 100;
/// First byte of the locks that say what a user of an image lets no other do.
const FORBIDS: i64 = 200;
const READ: i64 = 0;
const WRITE: i64 = 1;
const RESIZE: i64 = 3;

/// Tells QEMU's programs that this file is being written, until it is closed; false when one of them has it open.
///
/// The bytes are those of QEMU's `block/file-posix.c`.
pub fn claim(file: &File) -> io::Result<bool> {
    for byte in [DOES + READ, DOES + WRITE, DOES + RESIZE, FORBIDS + WRITE, FORBIDS + RESIZE] {
        match fcntl(file, FcntlArg::F_OFD_SETLK(&lock(nix::libc::F_RDLCK, byte))) {
            Ok(_) => {}
            Err(Errno::EAGAIN | Errno::EACCES) => return Ok(false),
            // A file system without such locks: QEMU's programs do without them there too.
            Err(Errno::ENOLCK | Errno::EINVAL | Errno::EOPNOTSUPP) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
    for byte in [DOES + WRITE, DOES + RESIZE, FORBIDS + READ, FORBIDS + WRITE, FORBIDS + RESIZE] {
        let mut asked = lock(nix::libc::F_WRLCK, byte);
        fcntl(file, FcntlArg::F_OFD_GETLK(&mut asked))?;
        if i32::from(asked.l_type) != nix::libc::F_UNLCK {
            return Ok(false);
        }
    }
    Ok(true)
}

fn lock(kind: i32, byte: i64) -> nix::libc::flock {
    nix::libc::flock {
        l_type: kind as i16,
        l_whence: nix::libc::SEEK_SET as i16,
        l_start: byte,
        l_len: 1,
        l_pid: 0,
    }
}
