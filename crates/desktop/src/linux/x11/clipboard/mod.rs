//! The clipboard (the selection CLIPBOARD of ICCCM 2), read and written.

mod owner;
mod peer;
mod read;

use std::sync::{Arc, Mutex};

use super::clipboard::owner::Owner;
use super::link::lock;
use super::session::Session;
use crate::{Clip, DesktopError};

/// The clipboard of one display; opened by the first write.
#[derive(Default)]
pub(crate) struct Clipboard {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    owner: Option<Arc<Owner>>,
    is_closed: bool,
}

impl Kept {
    fn living(&self) -> Option<Arc<Owner>> {
        self.owner.as_ref().filter(|owner| !owner.has_ended()).map(Arc::clone)
    }
}

impl Clipboard {
    pub(crate) fn read(&self, session: &Session) -> Result<Clip, DesktopError> {
        super::clipboard::read::read(session)
    }

    pub(crate) fn write(&self, session: &Session, clip: &Clip) -> Result<(), DesktopError> {
        let known = lock(&self.kept).living();
        let owner = match known {
            Some(owner) => owner,
            // Opened without the lock: while a server hangs, nobody else waits for it here.
            None => self.keep(session, Owner::open(session)?)?,
        };
        owner.write(clip)
    }

    pub(crate) fn is_held(&self) -> bool {
        lock(&self.kept).owner.as_ref().is_some_and(|owner| owner.holds())
    }

    pub(crate) fn close(&self) {
        let mut kept = lock(&self.kept);
        kept.is_closed = true;
        let owner = kept.owner.take();
        drop(kept);
        if let Some(owner) = owner {
            owner.close();
        }
    }

    /// Keeps what was opened, unless another was meanwhile, which is the one to use.
    fn keep(&self, session: &Session, opened: Arc<Owner>) -> Result<Arc<Owner>, DesktopError> {
        let mut kept = lock(&self.kept);
        let other = kept.living();
        if other.is_none() && !kept.is_closed {
            return Ok(Arc::clone(kept.owner.insert(opened)));
        }
        drop(kept);
        opened.close();
        other.ok_or_else(|| session.lost("it was closed"))
    }
}
