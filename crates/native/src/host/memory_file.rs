//! A file that lies in memory and that nobody writes to again once it is sealed, for JavaScript, which has none of its own.

use std::fs::File;
use std::io::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi_derive::napi;

use crate::failure::{Promise, promise};
use crate::platform;

/// A file without a name (memfd_create(2)); it is there as long as a process has it open or mapped.
#[napi]
pub struct MemoryFile {
    file: Arc<Mutex<Option<File>>>,
}

#[napi]
impl MemoryFile {
    /// Makes one of so many bytes, all zero, which take no memory until they are written. Fails where there is no such thing.
    #[napi(catch_unwind)]
    pub fn create(bytes: i64) -> napi::Result<MemoryFile> {
        let file = platform::memory_file(bytes.unsigned_abs());
        let file = file.map_err(|error| napi::Error::from_reason(error.to_string()))?;
        Ok(MemoryFile { file: Arc::new(Mutex::new(Some(file))) })
    }

    /// The number of its file descriptor; null when it was closed.
    #[napi(getter, catch_unwind)]
    pub fn descriptor(&self) -> Option<i32> {
        opened(&self.file).as_ref().map(platform::descriptor)
    }

    /// Fills it with the pages of the block of a memory that QEMU has saved at the path, and the other one with what a machine
    /// reads that has them already; afterwards the kernel lets nobody change what is in the two, whoever has them open and
    /// however. Rejects with `memory_unreadable`, and while a process has it mapped to write.
    #[napi(ts_return_type = "Promise<void>", catch_unwind)]
    pub fn fill_from(&self, saved: String, block: String, other: &MemoryFile) -> Promise<()> {
        let (pages, rest) = (Arc::clone(&self.file), Arc::clone(&other.file));
        promise(move || {
            let (pages, rest) = (opened(&pages), opened(&rest));
            let (Some(pages), Some(rest)) = (pages.as_ref(), rest.as_ref()) else { return Ok(()) };
            let unread = |error: Error| qmp::QmpError::SavedMemory { reason: error.to_string() };
            let saved = File::open(saved).map_err(unread)?;
            let bytes = pages.metadata().map_err(unread)?.len();
            let write = |offset, run: &[u8]| platform::write_at(pages, offset, run);
            qmp::separate(saved, &block, bytes, write, rest)?;
            platform::seal(pages).and_then(|()| platform::seal(rest)).map_err(unread)
        })
    }

    /// Closes it; closing twice is fine.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        drop(opened(&self.file).take());
    }
}

fn opened(file: &Mutex<Option<File>>) -> MutexGuard<'_, Option<File>> {
    file.lock().unwrap_or_else(PoisonError::into_inner)
}
