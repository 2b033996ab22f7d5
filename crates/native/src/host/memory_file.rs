//! A file that lies in memory and that nobody writes to again once it is sealed, for JavaScript, which has none of its own.

use std::fmt::{Display, Formatter};
use std::fs::File;
use std::io::Error;
use std::sync::{Arc, Mutex, PoisonError};

use napi::bindgen_prelude::{Env, PromiseRaw};
use napi_derive::napi;

use crate::failure::{Coded, promise};
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
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.as_ref().map(platform::descriptor)
    }

    /// Gives back the memory of pages that are all zero; afterwards the kernel lets nobody change what is in it, whoever has it
    /// open and however. Rejects while a process has it mapped to write.
    #[napi(ts_return_type = "Promise<void>", catch_unwind)]
    pub fn seal<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, ()>> {
        let file = Arc::clone(&self.file);
        promise(env, move || {
            let file = file.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(file) = file.as_ref() else { return Ok(()) };
            platform::give_back_zeros(file).and_then(|()| platform::seal(file)).map_err(NotSealed)
        })
    }

    /// Closes it; closing twice is fine.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        drop(self.file.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

struct NotSealed(Error);

impl Display for NotSealed {
    fn fmt(&self, to: &mut Formatter<'_>) -> std::fmt::Result {
        write!(to, "A file in memory cannot be sealed: {}. Try again when no program writes to it.", self.0)
    }
}

impl Coded for NotSealed {
    fn code(&self) -> &'static str {
        "internal"
    }
}
