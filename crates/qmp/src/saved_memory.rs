//! A memory that QEMU's migration has saved, taken apart: the pages of one block of it, and everything else.
//!
//! The format is that of `migration/savevm.c` and `migration/ram.c` of QEMU, of which the streams have version 3: sections one
//! after the other, of which only `ram` comes in parts, and numbers with their highest byte first.

use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};

use crate::error::QmpError;

const MAGIC: u32 = 0x5145_564d;
const VERSION: u32 = 3;

/// What a section begins with, and what ends those that come in parts.
mod mark {
    pub const START: u8 = 0x01;
    pub const PART: u8 = 0x02;
    pub const END: u8 = 0x03;
    pub const CONFIGURATION: u8 = 0x07;
    pub const FOOTER: u8 = 0x7e;
}

/// What a record of the memory holds, in the bits of its number below those of a page's place.
mod record {
    pub const ZERO: u64 = 0x02;
    pub const SIZES: u64 = 0x04;
    pub const PAGE: u64 = 0x08;
    pub const END: u64 = 0x10;
    /// Beside one of the others: the page is of the block of the record before.
    pub const SAME_BLOCK: u64 = 0x20;
}

const PAGE: usize = 4096;
/// Pages that are written at a time.
const RUN: usize = 256;
const BUFFER: usize = 1 << 20;

/// Calls `page` for every run of pages of the block which are not all zero, with its place, and writes to `rest` a stream from
/// which a machine that has these pages already comes to all else. The block must be of so many bytes.
pub fn separate(
    saved: impl Read,
    block: &str,
    bytes: u64,
    page: impl FnMut(u64, &[u8]) -> io::Result<()>,
    rest: impl Write,
) -> Result<(), QmpError> {
    let mut separation = Separation {
        from: BufReader::with_capacity(BUFFER, saved),
        rest: BufWriter::with_capacity(BUFFER, rest),
        run: Run { write: page, begins: 0, bytes: Vec::with_capacity(RUN * PAGE) },
        block,
        seen: vec![false; usize::try_from(bytes / PAGE as u64).unwrap_or(0)],
        is_known: false,
        is_apart: false,
    };
    separation.all().map_err(|error| QmpError::SavedMemory { reason: error.to_string() })
}

/// Pages that follow each other, until they are written together.
struct Run<F> {
    write: F,
    begins: u64,
    bytes: Vec<u8>,
}

impl<F: FnMut(u64, &[u8]) -> io::Result<()>> Run<F> {
    /// Room for one more page, at that place.
    fn add(&mut self, offset: u64) -> io::Result<&mut [u8]> {
        let is_next = offset == self.begins + self.bytes.len() as u64;
        if !is_next || self.bytes.len() == RUN * PAGE {
            self.finish()?;
            self.begins = offset;
        }
        let end = self.bytes.len();
        self.bytes.resize(end + PAGE, 0);
        Ok(&mut self.bytes[end..])
    }

    fn finish(&mut self) -> io::Result<()> {
        if !self.bytes.is_empty() {
            (self.write)(self.begins, &self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }
}

struct Separation<'a, R: Read, W: Write, F> {
    from: BufReader<R>,
    rest: BufWriter<W>,
    run: Run<F>,
    block: &'a str,
    /// The pages of the block that were not zero.
    seen: Vec<bool>,
    /// Whether the stream has said that there is such a block.
    is_known: bool,
    /// Whether the page before was one of it: those that follow name their block no more, in the next part either.
    is_apart: bool,
}

fn wrong(what: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.into())
}

impl<R: Read, W: Write, F: FnMut(u64, &[u8]) -> io::Result<()>> Separation<'_, R, W, F> {
    fn all(&mut self) -> io::Result<()> {
        if (self.copy_u32()?, self.copy_u32()?) != (MAGIC, VERSION) {
            return Err(wrong("it is no migration of the version that is known here"));
        }
        let mut memory = None;
        loop {
            let mark = self.copy_u8()?;
            match mark {
                mark::CONFIGURATION => {
                    let length = self.copy_u32()?;
                    self.copy(u64::from(length))?;
                }
                mark::START => {
                    let id = self.copy_u32()?;
                    let name = self.copy_name()?;
                    if name != "ram" {
                        return Err(wrong(format!("it has a section \"{name}\" in parts")));
                    }
                    memory = Some(id);
                    // Its instance and its version.
                    self.copy(8)?;
                    self.part(id)?;
                }
                mark::PART | mark::END => {
                    let id = self.copy_u32()?;
                    if memory != Some(id) {
                        return Err(wrong(format!("it has a part of an unknown section {id}")));
                    }
                    self.part(id)?;
                    if mark == mark::END {
                        break;
                    }
                }
                other => return Err(wrong(format!("it has an unknown section of kind {other}"))),
            }
        }
        if !self.is_known {
            return Err(wrong(format!("it has no block \"{}\" of that size", self.block)));
        }
        self.run.finish()?;
        io::copy(&mut self.from, &mut self.rest)?;
        self.rest.flush()
    }

    /// The records of the memory until one says that it is the last of its part, and what stands behind that.
    fn part(&mut self, id: u32) -> io::Result<()> {
        loop {
            let number = self.read_u64()?;
            let (place, flags) = (number & !(PAGE as u64 - 1), number & (PAGE as u64 - 1));
            match flags & !record::SAME_BLOCK {
                record::END => {
                    self.rest.write_all(&number.to_be_bytes())?;
                    break;
                }
                record::SIZES => {
                    self.rest.write_all(&number.to_be_bytes())?;
                    self.sizes(place)?;
                }
                kind @ (record::PAGE | record::ZERO) => {
                    let length = if kind == record::PAGE { PAGE as u64 } else { 1 };
                    if flags & record::SAME_BLOCK == 0 {
                        let name = self.read_name()?;
                        self.is_apart = name == self.block;
                        if !self.is_apart {
                            self.rest.write_all(&number.to_be_bytes())?;
                            self.write_name(&name)?;
                            self.copy(length)?;
                            continue;
                        }
                    }
                    if self.is_apart {
                        self.page(place, kind)?;
                    } else {
                        self.rest.write_all(&number.to_be_bytes())?;
                        self.copy(length)?;
                    }
                }
                _ => return Err(wrong(format!("it has a record of kind {flags:#x}"))),
            }
        }
        if (self.copy_u8()?, self.copy_u32()?) != (mark::FOOTER, id) {
            return Err(wrong("a part of its memory does not end as it should"));
        }
        Ok(())
    }

    /// The names and sizes of all blocks, which are so many bytes together.
    fn sizes(&mut self, all: u64) -> io::Result<()> {
        let mut left = all;
        while left > 0 {
            let name = self.copy_name()?;
            let length = self.read_u64()?;
            self.rest.write_all(&length.to_be_bytes())?;
            self.is_known |= name == self.block && length == (self.seen.len() * PAGE) as u64;
            left = left.checked_sub(length).ok_or_else(|| wrong("its blocks are more than all"))?;
        }
        Ok(())
    }

    fn page(&mut self, place: u64, kind: u64) -> io::Result<()> {
        let index = usize::try_from(place).map_or(usize::MAX, |place| place / PAGE);
        let Some(seen) = self.seen.get_mut(index) else { return Err(wrong("a page is beyond its block")) };
        if kind == record::PAGE {
            *seen = true;
            return self.from.read_exact(self.run.add(place)?);
        }
        let mut fill = [0];
        self.from.read_exact(&mut fill)?;
        // Nothing was written there unless the page came before.
        if fill != [0] || *seen {
            self.run.add(place)?.fill(fill[0]);
            *seen = true;
        }
        Ok(())
    }

    fn copy(&mut self, length: u64) -> io::Result<()> {
        let copied = io::copy(&mut (&mut self.from).take(length), &mut self.rest)?;
        if copied == length { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
    }

    fn read<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn copied<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let bytes = self.read()?;
        self.rest.write_all(&bytes)?;
        Ok(bytes)
    }

    fn copy_u8(&mut self) -> io::Result<u8> {
        self.copied().map(u8::from_be_bytes)
    }

    fn copy_u32(&mut self) -> io::Result<u32> {
        self.copied().map(u32::from_be_bytes)
    }

    fn read_u64(&mut self) -> io::Result<u64> {
        self.read().map(u64::from_be_bytes)
    }

    fn read_name(&mut self) -> io::Result<String> {
        let [length] = self.read()?;
        let mut bytes = vec![0; length.into()];
        self.from.read_exact(&mut bytes)?;
        String::from_utf8(bytes).map_err(|_| wrong("a name is no text"))
    }

    fn write_name(&mut self, name: &str) -> io::Result<()> {
        // It was read with a length of one byte.
        self.rest.write_all(&[name.len() as u8])?;
        self.rest.write_all(name.as_bytes())
    }

    fn copy_name(&mut self) -> io::Result<String> {
        let name = self.read_name()?;
        self.write_name(&name)?;
        Ok(name)
    }
}
