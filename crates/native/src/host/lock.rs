//! A lock between processes on a file, for JavaScript, which has none of its own.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use napi_derive::napi;

use crate::platform;

/// A lock that is held (flock(2)); the kernel lets go of it when its holder ends, however that ends.
#[napi]
pub struct FileLock {
    path: PathBuf,
    file: Mutex<Option<File>>,
}

#[napi]
impl FileLock {
    /// Takes the lock on the file of this path, which is made (0600) where it is missing; null where another holds it.
    ///
    /// Fails where the file cannot be opened, is no regular file or belongs to another user, who could hold it for ever.
    #[napi(catch_unwind)]
    pub fn take(path: String) -> napi::Result<Option<FileLock>> {
        let path = PathBuf::from(path);
        let taken = held(&path).map_err(|error| napi::Error::from_reason(error.to_string()))?;
        Ok(taken.map(|file| FileLock { path, file: Mutex::new(Some(file)) }))
    }

    /// The number of its file descriptor, which a child process that is given it holds the lock through; null when it
    /// was released or left.
    #[napi(getter, catch_unwind)]
    pub fn descriptor(&self) -> Option<i32> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.as_ref().map(platform::descriptor)
    }

    /// Closes the file and leaves it: the lock stays with the child processes that were given the descriptor, and is
    /// free when there are none.
    #[napi(catch_unwind)]
    pub fn leave(&self) {
        drop(self.file.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Removes the file and lets go of the lock; releasing twice is fine.
    #[napi(catch_unwind)]
    pub fn release(&self) {
        if let Some(file) = self.file.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // While it is held nobody else can have put another file there. One that stays is taken again.
            let _ = fs::remove_file(&self.path);
            drop(file);
        }
    }
}

fn held(path: &PathBuf) -> Result<Option<File>, Error> {
    loop {
        let file = platform::owners(OpenOptions::new().read(true).write(true).create(true)).open(path)?;
        platform::check(&file)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // Its last holder may have removed it after it was opened here, and the next one locks another file.
        match platform::is_at(&file, path) {
            Ok(true) => return Ok(Some(file)),
            Ok(false) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}
