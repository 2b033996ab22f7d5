//! Other systems: what Linux says of processes and files is not asked.

use std::fs::{File, OpenOptions};
use std::io::Error;
use std::path::Path;
use std::process::Command;

/// No signal comes.
pub fn signal_when_parent_ends() -> bool {
    false
}

/// A child like any other.
pub fn as_subreaper(command: &mut Command) -> &mut Command {
    command
}

/// Nothing is given back.
pub fn release_executable_data() -> u64 {
    0
}

/// As any file is made and opened.
pub fn owners(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Every file will do.
pub fn check(_: &File) -> Result<(), Error> {
    Ok(())
}

/// Fails: there is none that can be sealed.
pub fn memory_file(_: u64) -> Result<File, Error> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Fails.
pub fn write_at(_: &File, _: u64, _: &[u8]) -> Result<(), Error> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Fails.
pub fn seal(_: &File) -> Result<(), Error> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// No number that means a file.
pub fn descriptor(_: &File) -> i32 {
    -1
}

/// True: a file that is open is taken to stay.
pub fn is_at(_: &File, _: &Path) -> Result<bool, Error> {
    Ok(true)
}

/// Refuses the first number: files are not sent.
pub fn duplicates(fds: &[i32]) -> Result<Vec<()>, i32> {
    fds.first().map_or(Ok(Vec::new()), |fd| Err(*fd))
}

/// None, because there are none.
pub fn borrowed(_: &[()]) -> Vec<qmp::Descriptor<'_>> {
    Vec::new()
}

/// Which sockets others have is not told.
pub mod sockets {
    /// A socket of another program.
    pub struct CallerSocket {
        pub cookie: u64,
        pub inode: u32,
        pub uid: u32,
    }

    /// Fails.
    pub fn of_callers(_: std::net::SocketAddr, _: u16) -> Result<Vec<Option<CallerSocket>>, std::io::Error> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

/// Who has a socket open is not told.
pub mod holders {
    /// True: it may be anybody.
    pub fn may_hold(_: u32, _: u32, _: &[u32], _: &[String]) -> bool {
        true
    }
}

/// There is no Landlock.
pub mod landlock {
    use std::collections::HashMap;

    /// What would be left to a program.
    #[derive(Default)]
    pub struct Rules {
        pub readable: Vec<String>,
        pub writable: Vec<String>,
        pub ports: Vec<u16>,
    }

    /// Why it is kept to nothing.
    pub type Error = std::io::Error;

    /// Refuses.
    pub fn restrict(_: &Rules) -> Result<(), Error> {
        Err(Error::from(std::io::ErrorKind::Unsupported))
    }

    /// Refuses.
    pub fn become_program(_: &Rules, _: &str, _: &[String], _: &str, _: HashMap<String, String>) -> Error {
        Error::from(std::io::ErrorKind::Unsupported)
    }
}
