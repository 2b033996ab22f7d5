//! What a process asks of its kernel about its parent and its memory.

use std::collections::HashMap;
use std::convert::Infallible;
use std::process::Command;

use napi_derive::napi;

use crate::failure::{Coded, Failure, Promise, failure, promise};
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
pub fn release_executable_data() -> Promise<f64> {
    promise(|| Ok::<_, Infallible>(platform::release_executable_data() as f64))
}

/// Sets variables of this process's environment, and removes others, for the native core and the programs that it starts;
/// JavaScript's `process.env` is a copy, which is the caller's to change too.
///
/// To be called before anything of this core is opened: other threads that read the environment by the C library alone
/// would race with it. Later, once what was opened is closed, names that are set already may be given other values.
#[napi(catch_unwind)]
pub fn enter_environment(variables: HashMap<String, String>, absent: Vec<String>) {
    // SAFETY: the standard library's lock keeps the threads of this core from reading meanwhile, and those of the JavaScript
    // engine read their copy of the environment, which they made when the process began.
    unsafe {
        for name in absent {
            std::env::remove_var(name);
        }
        for (name, value) in variables {
            std::env::set_var(name, value);
        }
    }
}

/// Starts a program, named by its absolute path, that becomes the parent of all orphans among its descendants (prctl(2),
/// PR_SET_CHILD_SUBREAPER), with this process's standard streams and that environment alone; gives its pid.
///
/// On other systems than Linux it is a child like any other. Throws `internal` where it cannot be started.
#[napi(catch_unwind)]
pub fn start_subreaper(
    program: String,
    arguments: Vec<String>,
    env: HashMap<String, String>,
) -> Result<u32, Failure> {
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(env);
    let mut child = platform::as_subreaper(&mut command).spawn().map_err(NotStarted).map_err(failure)?;
    let pid = child.id();
    // Without a thread that waits for it, it would stay as a zombie; without that thread it does, and nothing else.
    let _ = std::thread::Builder::new().name("subreaper".to_owned()).spawn(move || child.wait());
    Ok(pid)
}

/// Why a program was not started.
struct NotStarted(std::io::Error);

impl std::fmt::Display for NotStarted {
    fn fmt(&self, text: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(text, "The program cannot be started: {}. Run it by hand to see why.", self.0)
    }
}

impl Coded for NotStarted {
    fn code(&self) -> &'static str {
        "internal"
    }
}
