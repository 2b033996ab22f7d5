//! Accessibility trees and element actions, for JavaScript.

mod records;
mod snapshot;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use ax::AxError;
use desktop::WindowId;
use napi_derive::napi;

use crate::ax::records::{AxApplication, AxRequest};
use crate::ax::snapshot::AxSnapshot;
use crate::desktop::Desktop;
use crate::failure::{Promise, promise, promise_with};

/// A switch that ends a reading early.
#[napi]
pub struct AxCancel {
    cancel: ax::Cancel,
}

#[napi]
impl AxCancel {
    /// A switch that is not used yet.
    #[napi(constructor, catch_unwind)]
    #[allow(clippy::new_without_default, reason = "JavaScript has no defaults")]
    pub fn new() -> Self {
        Self { cancel: ax::Cancel::default() }
    }

    /// Ends the readings that were given it.
    #[napi(catch_unwind)]
    pub fn cancel(&self) {
        self.cancel.cancel();
    }
}

/// The accessibility bus of a session.
#[napi]
pub struct Accessibility {
    accessibility: Arc<ax::Accessibility>,
}

#[napi]
impl Accessibility {
    /// Opens the accessibility bus of the session bus at `busAddress` (null: of the environment, else what the display of
    /// `desktop` names), switches accessibility on and registers for events. Rejects with `accessibility_unavailable`.
    ///
    /// Without a desktop, programs inside a GTK 3 window of which its sockets have not heard are missing in its trees.
    #[napi(catch_unwind)]
    pub fn open(bus_address: Option<String>, desktop: Option<&Desktop>) -> Promise<Accessibility> {
        let session = desktop.map(|desktop| desktop.desktop.session().clone());
        promise(move || {
            ax::Accessibility::open(bus_address.as_deref(), session.as_ref())
                .map(|opened| Accessibility { accessibility: Arc::new(opened) })
        })
    }

    /// The applications on the bus.
    #[napi(catch_unwind)]
    pub fn applications(&self) -> Promise<Vec<AxApplication>> {
        promise_with(&self.accessibility, move |accessibility| {
            let applications = accessibility.applications()?.into_iter();
            let convert =
                |app: ax::Application| AxApplication { pid: app.pid, name: app.name, toolkit: app.toolkit };
            Ok::<_, AxError>(applications.map(convert).collect())
        })
    }

    /// The tree of a window, from memory where it cannot have changed; what is not read in time, or before `cancel` is
    /// used, is missing, and `partial` says so. Rejects with `not_accessible`.
    #[napi(catch_unwind)]
    pub fn snapshot(&self, request: AxRequest, cancel: Option<&AxCancel>) -> Promise<AxSnapshot> {
        let request = ax::SnapshotRequest {
            pid: request.pid,
            window_id: WindowId::from_wire(request.window_id),
            title: request.title,
            size: desktop::Size { width: request.width, height: request.height },
            place: request.bounds.map(|bounds| desktop::Rect::from(bounds).place()),
            max_elements: request.max_elements,
            max_depth: request.max_depth,
            offscreen: request.offscreen.unwrap_or(false),
            cell: request.cell.as_deref().and_then(ax::Cell::named),
            all_places: request.all_places.unwrap_or(false),
            timeout: Duration::from_millis(u64::from(request.timeout_ms)),
            cancel: cancel.map(|cancel| cancel.cancel.clone()).unwrap_or_default(),
        };
        promise_with(&self.accessibility, move |accessibility| {
            let snapshot = Arc::new(accessibility.snapshot(&request)?);
            Ok::<_, AxError>(AxSnapshot { snapshot })
        })
    }

    /// Number of nodes that a bare bulk read of the application answers: the floor of any tree.
    #[napi(catch_unwind)]
    pub fn cache_items(&self, pid: u32) -> Promise<u32> {
        promise_with(&self.accessibility, move |accessibility| accessibility.cache_items(pid))
    }

    /// Number of events of the application so far.
    #[napi(catch_unwind)]
    pub fn generation(&self, pid: u32) -> f64 {
        self.accessibility.generation(pid) as f64
    }

    /// Number of events of the application so far that tell of a change in it: not that the window is active, the focus
    /// and the caret where they were, or a page loaded.
    #[napi(catch_unwind)]
    pub fn change_events(&self, pid: u32) -> f64 {
        self.accessibility.change_events(pid) as f64
    }

    /// How often the application said so far that something in it got the focus.
    #[napi(catch_unwind)]
    pub fn focus_changes(&self, pid: u32) -> f64 {
        self.accessibility.focus_changes(pid) as f64
    }

    /// Milliseconds since the application last sent an event; since the opening when it has sent none.
    #[napi(catch_unwind)]
    pub fn since_event_ms(&self, pid: u32) -> f64 {
        self.accessibility.since_event(pid).as_secs_f64() * 1e3
    }

    /// Waits until the number of events of the application differs from `since`; answers the number then.
    #[napi(catch_unwind)]
    pub fn wait_for_event(&self, pid: u32, since: f64, timeout_ms: u32) -> Promise<f64> {
        let timeout = Duration::from_millis(u64::from(timeout_ms));
        promise_with(&self.accessibility, move |accessibility| {
            Ok::<_, AxError>(accessibility.wait_for_event(pid, since as u64, timeout) as f64)
        })
    }

    /// Waits until the application has announced nothing for `quietMs`; false when it still did at the end of `ceilingMs`.
    #[napi(catch_unwind)]
    pub fn settled(&self, pid: u32, quiet_ms: u32, ceiling_ms: u32) -> Promise<bool> {
        let milliseconds = |value: u32| Duration::from_millis(u64::from(value));
        promise_with(&self.accessibility, move |accessibility| {
            Ok::<_, AxError>(accessibility.settled(pid, milliseconds(quiet_ms), milliseconds(ceiling_ms)))
        })
    }

    /// Closes the connection, once it is open; closing twice is fine.
    #[napi(catch_unwind)]
    pub fn close(&self) -> Promise<()> {
        promise_with(&self.accessibility, move |accessibility| {
            accessibility.close();
            Ok::<_, Infallible>(())
        })
    }
}

/// How often this process has waited for replies of applications, wrapping; calls in flight together count once.
#[napi(catch_unwind)]
pub fn ax_round_trips() -> u32 {
    ax::round_trips()
}
