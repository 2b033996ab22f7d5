//! What a process asks of its kernel about its parent.

use napi_derive::napi;

use crate::platform;

/// Has the kernel send SIGUSR2 to this process when the thread that started it ends (prctl(2), PR_SET_PDEATHSIG).
///
/// Gives whether the kernel does so; other systems than Linux do not. A thread can end while its process lives on, and
/// a parent that ended before sends nothing: the caller looks at its parent's pid, after this call and at the signal.
#[napi(catch_unwind)]
pub fn signal_when_parent_ends() -> bool {
    platform::signal_when_parent_ends()
}
