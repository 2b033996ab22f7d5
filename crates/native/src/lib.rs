//! The Node-API surface of the core: converts and forwards, never decides.

mod ax;
mod capture;
mod clipboard;
mod desktop;
mod failure;
mod input;
mod process;
mod stop_key;

use napi_derive::napi;

/// Version of the native core, the same as the packages'.
#[napi(catch_unwind)]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
