//! Other systems: files through a shared position, and no locks that QEMU's programs would notice.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// Length of a file.
pub fn length(file: &File) -> io::Result<u64> {
    Ok(file.metadata()?.len())
}

/// Reads at an offset; zero bytes at the end.
pub fn read_at(mut file: &File, offset: u64, into: &mut [u8]) -> io::Result<usize> {
    file.seek(SeekFrom::Start(offset))?;
    file.read(into)
}

/// Writes all bytes at an offset.
pub fn write_all_at(mut file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

/// Opens a file; what is none is refused.
pub fn open(path: &Path, writable: bool) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(writable).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::other("it is no file"))
}

/// The path of a file without links.
pub type Identity = PathBuf;

/// What a file is by whatever name.
pub fn identity(path: &Path, _: &File) -> io::Result<Identity> {
    path.canonicalize()
}

/// As any file is made.
pub fn owners(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Length of the file: what it takes is not asked.
pub fn allocated(known: &Metadata) -> u64 {
    known.len()
}

/// Renames unless the new name is taken.
pub fn publish(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::hard_link(from, to)?;
    std::fs::remove_file(from)
}

/// Returns when the names in a folder would survive a power cut, where a folder can be synced at all.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder) {
        Ok(file) => file.sync_all(),
        Err(_) => Ok(()),
    }
}

/// True: nobody is asked.
pub fn claim(_: &File) -> io::Result<bool> {
    Ok(true)
}
