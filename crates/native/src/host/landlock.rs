//! Landlock (landlock(7)): a program that reaches the files that it is given, and no other.

use std::collections::HashMap;

use napi_derive::napi;

use crate::failure::{Coded, Failure, failure};
use crate::platform;

/// What a program is kept to; what is not there is left out.
#[napi(object, object_to_js = false)]
pub struct LandlockRules {
    /// Files and folders that it reads and whose programs it runs.
    pub readable: Vec<String>,
    /// Files and folders that it changes too.
    pub writable: Vec<String>,
    /// TCP ports, of any machine, that it calls.
    pub ports: Vec<u16>,
}

/// Whether this kernel keeps a program to its files, TCP ports, signals and abstract sockets (version 6 of Landlock's
/// interface, Linux 6.12), found out by keeping a thread that ends to them.
#[napi(catch_unwind)]
pub fn has_landlock() -> bool {
    std::thread::spawn(|| platform::landlock::restrict(&platform::landlock::Rules::default()).is_ok())
        .join()
        .unwrap_or(false)
}

/// Becomes a program, named by its absolute path, in a folder, with that environment alone, without any capability, and kept
/// to the rules with all that it starts.
///
/// Throws `internal` where that fails: the thread that called is kept to the rules then, and has to end its process.
#[napi(catch_unwind)]
pub fn become_in_landlock(
    rules: LandlockRules,
    program: String,
    arguments: Vec<String>,
    folder: String,
    env: HashMap<String, String>,
) -> Result<(), Failure> {
    let LandlockRules { readable, writable, ports } = rules;
    let rules = platform::landlock::Rules { readable, writable, ports };
    let error = platform::landlock::become_program(&rules, &program, &arguments, &folder, env);
    Err(failure(NotEntered(error)))
}

/// Why a program was not started.
struct NotEntered(platform::landlock::Error);

impl std::fmt::Display for NotEntered {
    fn fmt(&self, text: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            text,
            "The program cannot be started with Landlock: {}. `backlot local levels` says whether it works.",
            self.0
        )
    }
}

impl Coded for NotEntered {
    fn code(&self) -> &'static str {
        "internal"
    }
}
