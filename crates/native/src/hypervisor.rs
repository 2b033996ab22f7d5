//! Connections to hypervisors, for JavaScript.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use napi::Status;
use napi::bindgen_prelude::FnArgs;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;

use crate::failure::{Promise, promise, promise_with};
use crate::platform;

/// Events that wait for the JavaScript thread at most.
const MOST_EVENTS: usize = 4096;

/// A JavaScript function that any thread may call, and that keeps no process alive.
type Callback<Arguments> = ThreadsafeFunction<Arguments, (), Arguments, Status, false, true, MOST_EVENTS>;

/// A connection to a hypervisor over QEMU's machine protocol, ready for commands.
#[napi]
pub struct QmpClient {
    client: Arc<qmp::Client>,
}

#[napi]
impl QmpClient {
    /// Connects to a Unix socket and leaves the phase of negotiation. `onEvent` is called with the text of a JSON object
    /// {name, data, at_ms} for each event; `onEnd` once, with code and message, when the connection ends without `close`.
    /// Rejects with `hypervisor_unreachable`, `hypervisor_timeout`, `hypervisor_lost`, `hypervisor_garbled`.
    #[napi(
        catch_unwind,
        ts_args_type = "socket: string, timeoutMs: number, \
        onEvent?: ((event: string) => void) | null, onEnd?: ((code: string, message: string) => void) | null"
    )]
    pub fn connect(
        socket: String,
        timeout_ms: u32,
        on_event: Option<Callback<String>>,
        on_end: Option<Callback<FnArgs<(String, String)>>>,
    ) -> Promise<QmpClient> {
        promise(move || {
            let listener = Callbacks { on_event, on_end };
            let client = qmp::Client::connect(&PathBuf::from(socket), limit(timeout_ms), listener)?;
            Ok::<_, qmp::QmpError>(QmpClient { client: Arc::new(client) })
        })
    }

    /// What the hypervisor said of itself, as the text of a JSON object with `version` and `capabilities`.
    #[napi(catch_unwind)]
    pub fn greeting(&self) -> String {
        self.client.greeting().to_string()
    }

    /// Has a command done and answers its result as JSON text. `argumentsJson` is the text of a JSON object, `fds` are files
    /// of this process that `getfd` or `add-fd` takes; they may be closed once this has returned. Rejects with
    /// `hypervisor_refused`, `hypervisor_timeout` (the connection stays in use), `hypervisor_lost`, `hypervisor_garbled`,
    /// `invalid_argument`.
    #[napi(catch_unwind)]
    pub fn execute(
        &self,
        command: String,
        arguments_json: Option<String>,
        timeout_ms: u32,
        fds: Option<Vec<i32>>,
    ) -> Promise<String> {
        // Before this returns: a number says nothing about the file once its owner may close it.
        let files = platform::duplicates(&fds.unwrap_or_default());
        promise_with(&self.client, move |client| {
            let files = files.map_err(|fd| {
                let what =
                    format!("The file descriptor {fd} for \"{command}\" is not open. Pass one that is.");
                qmp::QmpError::Argument { what }
            })?;
            let arguments = arguments_json.map(|text| qmp::arguments(&command, &text)).transpose()?;
            let result =
                client.execute(&command, arguments, &platform::borrowed(&files), limit(timeout_ms))?;
            Ok::<_, qmp::QmpError>(result.to_string())
        })
    }

    /// Waits until a job that was started without `auto-dismiss` has `concluded` (it is dismissed then), is `ready` for
    /// `job-complete` or `pending` for `job-finalize`; `onProgress` is called with what is done and what is expected, when
    /// that changes. Rejects with `job_failed`, `job_not_found`, and as `execute` does.
    #[napi(
        catch_unwind,
        ts_args_type = "job: string, timeoutMs: number, onProgress?: ((current: number, total: number) => void) | null",
        ts_return_type = "Promise<'concluded' | 'ready' | 'pending'>"
    )]
    pub fn finish_job(
        &self,
        job: String,
        timeout_ms: u32,
        on_progress: Option<Callback<FnArgs<(f64, f64)>>>,
    ) -> Promise<String> {
        promise_with(&self.client, move |client| {
            let tell = |progress: qmp::JobProgress| {
                if let Some(call) = &on_progress {
                    let numbers = (progress.current as f64, progress.total as f64);
                    // One that finds no room is followed by another.
                    call.call(numbers.into(), ThreadsafeFunctionCallMode::NonBlocking);
                }
            };
            let state = client.finish_job(&job, limit(timeout_ms), tell)?;
            Ok::<_, qmp::QmpError>(state.name().to_owned())
        })
    }

    /// Ends the connection and every command that waits; the VM runs on. Closing twice is fine.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.client.close();
    }
}

fn limit(timeout_ms: u32) -> Duration {
    Duration::from_millis(timeout_ms.into())
}

/// Tells JavaScript what a hypervisor says of its own accord.
struct Callbacks {
    on_event: Option<Callback<String>>,
    on_end: Option<Callback<FnArgs<(String, String)>>>,
}

impl qmp::Listener for Callbacks {
    fn event(&mut self, event: &qmp::Event) -> bool {
        let Some(call) = &self.on_event else { return true };
        call.call(event.to_json(), ThreadsafeFunctionCallMode::NonBlocking) != Status::QueueFull
    }

    fn end(&mut self, error: &qmp::QmpError) {
        if let Some(call) = &self.on_end {
            let told = (error.code().to_owned(), error.to_string());
            // One call at most: there is room.
            call.call(told.into(), ThreadsafeFunctionCallMode::NonBlocking);
        }
    }
}
