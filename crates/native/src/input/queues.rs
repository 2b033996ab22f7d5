//! What applications have still to handle, for JavaScript.

use std::sync::Arc;
use std::time::Duration;

use desktop::WindowId;
use napi_derive::napi;

use crate::desktop::Desktop;
use crate::failure::{Promise, promise_with};

/// Asks the applications of a display whether they have handled what was sent to them.
#[napi]
pub struct AppQueues {
    queues: Arc<input::AppQueues>,
}

#[napi]
impl AppQueues {
    /// Of the desktop's display; nothing is connected before the first question.
    #[napi(factory, catch_unwind)]
    pub fn of(desktop: &Desktop) -> AppQueues {
        AppQueues { queues: Arc::new(input::AppQueues::new(desktop.desktop.session())) }
    }

    /// Waits until the application that owns the window has handled every event that it was sent before; false when it had
    /// not within the time, null where nothing can prove it. Rejects with `display_lost`.
    #[napi(catch_unwind)]
    pub fn handled(&self, window_id: u32, timeout_ms: u32) -> Promise<Option<bool>> {
        promise_with(&self.queues, move |queues| {
            queues.handled(WindowId::from_wire(window_id), Duration::from_millis(timeout_ms.into()))
        })
    }

    /// Ends the connections; closing twice is fine.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.queues.close();
    }
}
