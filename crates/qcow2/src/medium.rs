//! What the bytes of a disk lie on.

use std::fs::File;
use std::io;

use crate::platform;

/// A file, or what stands for one: every write of this crate goes through here.
pub trait Medium {
    /// Its length in bytes.
    fn length(&self) -> io::Result<u64>;
    /// Fills the buffer from an offset; what lies past the end is zero.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()>;
    /// Writes all of the bytes at an offset.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Sets the length; new bytes are zero.
    fn set_length(&self, length: u64) -> io::Result<()>;
    /// Returns when everything written before would survive a power cut.
    fn sync(&self) -> io::Result<()>;
}

impl Medium for File {
    fn length(&self) -> io::Result<u64> {
        platform::length(self)
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let mut done = 0;
        while done < into.len() {
            match platform::read_at(self, offset.saturating_add(done as u64), &mut into[done..]) {
                Ok(0) => {
                    into[done..].fill(0);
                    return Ok(());
                }
                Ok(more) => done += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        platform::write_all_at(self, offset, bytes)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}
