//! The clipboard (the selection CLIPBOARD of ICCCM 2), read and written.

mod owner;
mod peer;
mod read;

use std::sync::{Arc, Mutex};

use super::link::lock;
use crate::{Clip, DesktopError};
use owner::Owner;

/// The clipboard of one display; opened by the first write.
#[derive(Default)]
pub(crate) struct Clipboard {
    owner: Mutex<Option<Arc<Owner>>>,
}

impl Clipboard {
    pub(crate) fn read(&self, display: &str) -> Result<Clip, DesktopError> {
        read::read(display)
    }

    pub(crate) fn write(&self, display: &str, clip: &Clip) -> Result<(), DesktopError> {
        let owner = {
            let mut known = lock(&self.owner);
            match known.as_ref().filter(|owner| !owner.has_ended()) {
                Some(owner) => Arc::clone(owner),
                None => Arc::clone(known.insert(Owner::open(display)?)),
            }
        };
        owner.write(clip)
    }

    pub(crate) fn is_held(&self) -> bool {
        lock(&self.owner).as_ref().is_some_and(|owner| owner.holds())
    }

    pub(crate) fn close(&self) {
        if let Some(owner) = lock(&self.owner).take() {
            owner.close();
        }
    }
}
