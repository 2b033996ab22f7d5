//! How a failure of the core becomes a JavaScript `Error` whose `code` is the crate's own code.

use std::convert::Infallible;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::bindgen_prelude::{Env, PromiseRaw, ToNapiValue, spawn_blocking};
use napi::{JsError, JsValue, Status};

/// A crate's error: stable snake_case code and a text that ends with the next step.
pub trait Coded: Display {
    /// The stable code.
    fn code(&self) -> &'static str;
}

impl Coded for desktop::DesktopError {
    fn code(&self) -> &'static str {
        self.code()
    }
}

impl Coded for Infallible {
    fn code(&self) -> &'static str {
        match *self {}
    }
}

/// What stands in the `code` of the JavaScript error.
#[derive(Clone, Copy, Debug)]
pub struct Code(&'static str);

impl AsRef<str> for Code {
    fn as_ref(&self) -> &str {
        self.0
    }
}

/// What a synchronous export returns when it can fail.
pub type Failure = napi::Error<Code>;

/// Gives an error of the core its JavaScript form; for synchronous exports: `.map_err(failure)`.
pub fn failure(error: impl Coded) -> Failure {
    Failure::new(Code(error.code()), error.to_string())
}

/// Runs blocking work off the JavaScript thread and answers with a promise of its result.
///
/// An error rejects with its own code; a panic rejects with `internal`.
pub fn promise<'env, T, E>(
    env: &'env Env,
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> napi::Result<PromiseRaw<'env, T>>
where
    T: ToNapiValue + Send + 'static,
    E: Coded,
{
    let (deferred, promise) = env.create_deferred()?;
    // The thread that worked settles the promise: each further thread on the way would have to be woken first.
    spawn_blocking(move || {
        let result = guard(work);
        // A napi error that crosses threads only carries napi's own status; so the coded error object is made
        // on the JavaScript thread, and the napi error refers to it.
        deferred.resolve(move |env| result.map_err(|error| coded(&env, error)));
    });
    Ok(PromiseRaw::new(env.raw(), promise.raw()))
}

const INTERNAL: Code = Code("internal");

fn guard<T, E: Coded>(work: impl FnOnce() -> Result<T, E>) -> Result<T, Failure> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(failure),
        Err(panic) => {
            let text = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned());
            let text = text.unwrap_or_else(|| "no message".to_owned());
            Err(Failure::new(INTERNAL, format!("The native core panicked: {text}. Report this as a defect.")))
        }
    }
}

fn coded(env: &Env, error: Failure) -> napi::Error<Status> {
    napi::Error::from(JsError::from(error).into_unknown(*env))
}
