//! What a process asks of its kernel about its parent and its memory.

use std::convert::Infallible;

use napi::Env;
use napi::bindgen_prelude::PromiseRaw;
use napi_derive::napi;

use crate::failure::promise;
use crate::platform;

/// Has the kernel send SIGUSR2 to this process when the thread that started it ends (prctl(2), PR_SET_PDEATHSIG).
///
/// Gives whether the kernel does so; other systems than Linux do not. A thread can end while its process lives on, and
/// a parent that ended before sends nothing: the caller looks at its parent's pid, after this call and at the signal.
#[napi(catch_unwind)]
pub fn signal_when_parent_ends() -> bool {
    platform::signal_when_parent_ends()
}

/// Gives back the memory in which this process keeps data of its own executable unchanged, such as this core, which was
/// read there to be loaded; what is needed again is read again. Fulfils with the number of bytes of the areas that the
/// kernel was asked about: it keeps what another process uses too, and everything where the executable is another
/// user's. 0 on other systems than Linux.
#[napi(catch_unwind)]
pub fn release_executable_data(env: &Env) -> napi::Result<PromiseRaw<'_, f64>> {
    promise(env, || Ok::<_, Infallible>(platform::release_executable_data() as f64))
}
