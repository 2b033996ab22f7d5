//! The person's stop key, for JavaScript.

use std::sync::Arc;
use std::time::Duration;

use napi::Env;
use napi::bindgen_prelude::PromiseRaw;
use napi_derive::napi;

use crate::desktop::Desktop;
use crate::failure::promise;

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
    pub fn watch<'env>(
        env: &'env Env,
        desktop: &Desktop,
        combination: String,
    ) -> napi::Result<PromiseRaw<'env, StopKey>> {
        let session = desktop.desktop.session().clone();
        promise(env, move || {
            let keys: Vec<&str> = combination.split('+').map(str::trim).collect();
            input::StopKey::watch(&session, &keys).map(|watch| StopKey { watch: Arc::new(watch) })
        })
    }

    /// Waits for a press; false when none came within the time or the watch was closed. Rejects with `display_lost`.
    #[napi(catch_unwind)]
    pub fn pressed<'env>(&self, env: &'env Env, timeout_ms: u32) -> napi::Result<PromiseRaw<'env, bool>> {
        let watch = Arc::clone(&self.watch);
        promise(env, move || watch.pressed(Duration::from_millis(timeout_ms.into())))
    }

    /// Ends the watch and whoever waits; closing twice is fine.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.watch.close();
    }
}
