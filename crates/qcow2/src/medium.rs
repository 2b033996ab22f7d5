//! What the bytes of a disk are read from.

use std::fs::File;
use std::io;

use crate::platform;

/// A file, or bytes in memory.
pub trait Medium {
    /// Its length in bytes.
    fn length(&self) -> io::Result<u64>;
    /// Fills the buffer from an offset; what lies past the end is zero.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()>;
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
}

impl Medium for Vec<u8> {
    fn length(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let there = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or(&[]);
        let count = there.len().min(into.len());
        into[..count].copy_from_slice(&there[..count]);
        into[count..].fill(0);
        Ok(())
    }
}
