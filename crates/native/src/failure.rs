//! How a failure of the core becomes a JavaScript `Error` whose `code` is the crate's own code.

use std::convert::Infallible;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use napi::bindgen_prelude::{Env, ToNapiValue, spawn_blocking};
use napi::{JsError, JsValue, Status, sys};

/// A crate's error: stable snake_case code and a text that ends with the next step.
pub trait Coded: Display {
    /// The stable code.
    fn code(&self) -> &'static str;
}

/// The errors of the crates, each with the code that it has itself.
macro_rules! coded {
    ($($error:ty),+) => {
        $(impl Coded for $error {
            fn code(&self) -> &'static str {
                self.code()
            }
        })+
    };
}

coded!(
    ax::AxError,
    capture::CaptureError,
    cursor::CursorError,
    desktop::DesktopError,
    input::InputError,
    qcow2::DiskError,
    qmp::QmpError,
    video::VideoError
);

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

/// What an export answers whose work blocks: a JavaScript promise, settled once the work, which another thread does, has ended.
///
/// An error rejects with its own code; a panic rejects with `internal`.
pub struct Promise<T>(Box<dyn FnOnce() -> Result<T, Failure> + Send>);

/// Blocking work, to be done off the JavaScript thread.
pub fn promise<T, E: Coded>(work: impl FnOnce() -> Result<T, E> + Send + 'static) -> Promise<T> {
    Promise(Box::new(move || guard(work)))
}

/// Blocking work on an object that the JavaScript object shares with the threads that work.
pub fn promise_with<S: Send + Sync + 'static, T, E: Coded>(
    shared: &Arc<S>,
    work: impl FnOnce(&S) -> Result<T, E> + Send + 'static,
) -> Promise<T> {
    let shared = Arc::clone(shared);
    promise(move || work(&shared))
}

impl<T: ToNapiValue + Send + 'static> ToNapiValue for Promise<T> {
    unsafe fn to_napi_value(env: sys::napi_env, Self(work): Self) -> napi::Result<sys::napi_value> {
        let env = Env::from_raw(env);
        let (deferred, promise) = env.create_deferred()?;
        // The thread that worked settles the promise: each further thread on the way would have to be woken first.
        spawn_blocking(move || {
            let result = work();
            // A napi error that crosses threads only carries napi's own status; so the coded error object is made
            // on the JavaScript thread, and the napi error refers to it.
            deferred.resolve(move |env| result.map_err(|error| coded(&env, error)));
        });
        Ok(promise.raw())
    }
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
