//! The person's stop key, for JavaScript.

use std::sync::Arc;
use std::time::Duration;

use napi_derive::napi;

use crate::desktop::Desktop;
use crate::failure::{Promise, promise, promise_with};

/// Watches for one key combination of the person's, whichever window has the focus.
#[napi]
pub struct StopKey {
    watch: Arc<input::StopKey>,
}

#[napi]
impl StopKey {
    /// Begins to watch for a combination such as `ctrl+alt+escape`. Rejects with `invalid_argument`,
    /// `unknown_key`, `unknown_modifier`, and with `input_unavailable` where the X server lacks what it needs.
    #[napi(catch_unwind)]
    pub fn watch(desktop: &Desktop, combination: String) -> Promise<StopKey> {
        let session = desktop.desktop.session().clone();
        promise(move || {
            let keys: Vec<&str> = combination.split('+').map(str::trim).collect();
            input::StopKey::watch(&session, &keys).map(|watch| StopKey { watch: Arc::new(watch) })
        })
    }

    /// Waits for a press; false when none came within the time or the watch was closed. Rejects with `display_lost`.
    #[napi(catch_unwind)]
    pub fn pressed(&self, timeout_ms: u32) -> Promise<bool> {
        promise_with(&self.watch, move |watch| watch.pressed(Duration::from_millis(timeout_ms.into())))
    }

    /// Ends the watch and whoever waits; closing twice is fine.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.watch.close();
    }
}
