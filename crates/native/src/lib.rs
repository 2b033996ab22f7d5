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
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "unsupported.rs")]
mod platform;
mod video;

use napi_derive::napi;

/// Version of the native core, the same as the packages'.
#[napi(catch_unwind)]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
