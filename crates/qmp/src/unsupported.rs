//! Other systems: no Unix sockets, so no connection.

use std::io;
use std::marker::PhantomData;
use std::path::Path;
use std::time::Instant;

use crate::error::QmpError;

/// Stands for an open file, of which there is none.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor<'fd>(PhantomData<&'fd ()>);

/// A connection that cannot be.
#[derive(Debug)]
pub enum Link {}

impl Link {
    /// Refuses.
    pub fn open(_: &Path, _: Instant) -> Result<Self, QmpError> {
        Err(QmpError::UnsupportedPlatform)
    }

    /// Never called.
    pub fn read(&self, _: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }

    /// Never called.
    pub fn send(&self, _: &[u8], _: &[Descriptor<'_>], _: Instant) -> io::Result<()> {
        match *self {}
    }

    /// Never called.
    pub fn shut(&self) {
        match *self {}
    }
}

/// There are none.
pub fn check_descriptors(_: &[Descriptor<'_>]) -> Result<(), QmpError> {
    Ok(())
}
