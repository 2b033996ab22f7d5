//! The Node-API surface of the core: converts and forwards, never decides.
#![cfg_attr(test, allow(dead_code, reason = "built for tests it exports nothing"))]

mod ax;
mod capture;
mod cursor;
mod desktop;
mod disk;
mod failure;
mod host;
mod hypervisor;
mod input;
#[cfg_attr(all(target_os = "linux", not(unsupported)), path = "linux.rs")]
#[cfg_attr(any(not(target_os = "linux"), unsupported), path = "unsupported.rs")]
mod platform;
mod video;

use napi_derive::napi;

/// Version of the native core, the same as the packages'.
#[napi(catch_unwind)]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
