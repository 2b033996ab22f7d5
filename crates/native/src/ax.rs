//! Accessibility trees and element actions, for JavaScript.

use std::sync::Arc;
use std::time::Duration;

use ax::AxError;
use napi::Env;
use napi::bindgen_prelude::PromiseRaw;
use napi_derive::napi;

use crate::desktop::Rect;
use crate::failure::{Coded, promise};

/// How long reading one element again, or focusing it, may take.
const ELEMENT_TIMEOUT: Duration = Duration::from_secs(2);

impl Coded for AxError {
    fn code(&self) -> &'static str {
        self.code()
    }
}

/// An application on the accessibility bus.
#[napi(object, object_from_js = false)]
pub struct AxApplication {
    /// Its process; 0 when the bus does not know it.
    pub pid: u32,
    /// Its name; empty when it did not answer.
    pub name: String,
    /// Toolkit and version.
    pub toolkit: String,
}

/// Which window's tree is read, and how much of it.
#[napi(object)]
pub struct AxRequest {
    /// Process that owns the window.
    pub pid: u32,
    /// The window.
    #[napi(js_name = "window_id")]
    pub window_id: u32,
    /// Its title.
    pub title: String,
    /// Where it is on the screen, without decorations.
    pub bounds: Rect,
    /// Most elements that get an index; 0 for no limit.
    #[napi(js_name = "max_elements")]
    pub max_elements: u32,
    /// Deepest level below the window that is read; 0 for no limit.
    #[napi(js_name = "max_depth")]
    pub max_depth: u32,
    /// Milliseconds that the application may take altogether.
    #[napi(js_name = "timeout_ms")]
    pub timeout_ms: u32,
}

/// Where an element is, in pixels from the window's top-left corner.
#[napi(object, object_from_js = false)]
pub struct AxFrame {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width.
    pub w: u32,
    /// Height.
    pub h: u32,
}

/// One element that a person can operate.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct AxElement {
    /// Its index in the snapshot.
    #[napi(js_name = "element_index")]
    pub element_index: u32,
    /// Name of its role.
    pub role: String,
    /// Its name, or its text when it has no name.
    pub label: String,
    /// Text, number, or `checked`, `unchecked`, `mixed`.
    pub value: Option<String>,
    /// Names of its actions, as the toolkit spells them.
    pub actions: Vec<String>,
    /// Names of its states.
    pub states: Vec<String>,
    /// True when it can be operated now.
    pub enabled: bool,
    /// True when it is selected.
    pub selected: bool,
    /// Where it is in the window.
    pub frame: AxFrame,
    /// True when its text can be changed.
    pub editable: bool,
    /// True when it can have the keyboard focus.
    pub focusable: bool,
}

impl From<ax::Element> for AxElement {
    fn from(element: ax::Element) -> Self {
        let frame = element.frame;
        Self {
            element_index: element.element_index,
            role: element.role,
            label: element.label,
            value: element.value,
            actions: element.actions,
            states: element.states,
            enabled: element.enabled,
            selected: element.selected,
            frame: AxFrame { x: frame.x, y: frame.y, w: frame.width, h: frame.height },
            editable: element.editable,
            focusable: element.focusable,
        }
    }
}

/// What became of text that was inserted.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct AxInserted {
    /// How it was done: `editable_text`.
    pub route: String,
    /// True when the text was read back from the element.
    pub confirmed: bool,
    /// The element's whole text afterwards; null for passwords and where it could not be read.
    pub value: Option<String>,
}

/// The element that a token stands for.
#[napi(object, object_from_js = false)]
pub struct AxFound {
    /// Its index in the snapshot.
    #[napi(js_name = "element_index")]
    pub element_index: u32,
    /// Whether it is the same object.
    #[napi(ts_type = "'same' | 'lookalike'")]
    pub how: String,
}

/// What became of a value that was set.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct AxWritten {
    /// How it was done: `selection`, `action`, `value`, `editable_text`, or `none` when it was so before.
    pub route: String,
    /// True when the value was read back from the element.
    pub confirmed: bool,
    /// The element's value afterwards; null for passwords and where it could not be read.
    pub value: Option<String>,
}

/// One option inside a combo box, a list or a row of tabs.
#[napi(object, object_from_js = false)]
pub struct AxOption {
    /// Its name, or the text in it.
    pub label: String,
    /// True when it is the chosen one.
    pub chosen: bool,
    /// True when it can be chosen.
    pub enabled: bool,
}

/// A menu item that was chosen.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct AxChosen {
    /// The path as the application spells it.
    pub path: Vec<String>,
    /// The toolkit's name of the action that was done.
    pub action: String,
    /// `checked` or `unchecked` afterwards, for an item that is on or off and has changed; else null.
    pub value: Option<String>,
}

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
    /// Opens the accessibility bus of the session bus at `busAddress` (null: of the environment), switches accessibility
    /// on and registers for events. Rejects with `accessibility_unavailable`.
    #[napi(catch_unwind)]
    pub fn open(env: &Env, bus_address: Option<String>) -> napi::Result<PromiseRaw<'_, Accessibility>> {
        promise(env, move || {
            let accessibility = Arc::new(ax::Accessibility::open(bus_address.as_deref())?);
            Ok::<_, AxError>(Accessibility { accessibility })
        })
    }

    /// The applications on the bus.
    #[napi(catch_unwind)]
    pub fn applications<'env>(&self, env: &'env Env) -> napi::Result<PromiseRaw<'env, Vec<AxApplication>>> {
        let accessibility = Arc::clone(&self.accessibility);
        promise(env, move || {
            let applications = accessibility.applications()?.into_iter();
            let convert =
                |app: ax::Application| AxApplication { pid: app.pid, name: app.name, toolkit: app.toolkit };
            Ok::<_, AxError>(applications.map(convert).collect())
        })
    }

    /// The tree of a window, from memory where it cannot have changed; what is not read in time, or before `cancel` is
    /// used, is missing, and `partial` says so. Rejects with `not_accessible`.
    #[napi(catch_unwind)]
    pub fn snapshot<'env>(
        &self,
        env: &'env Env,
        request: AxRequest,
        cancel: Option<&AxCancel>,
    ) -> napi::Result<PromiseRaw<'env, AxSnapshot>> {
        let accessibility = Arc::clone(&self.accessibility);
        let request = ax::SnapshotRequest {
            pid: request.pid,
            window_id: request.window_id,
            title: request.title,
            bounds: request.bounds.into(),
            max_elements: request.max_elements,
            max_depth: request.max_depth,
            timeout: Duration::from_millis(u64::from(request.timeout_ms)),
            cancel: cancel.map(|cancel| cancel.cancel.clone()).unwrap_or_default(),
        };
        promise(env, move || {
            let snapshot = Arc::new(accessibility.snapshot(&request)?);
            Ok::<_, AxError>(AxSnapshot { snapshot })
        })
    }

    /// Number of nodes that a bare bulk read of the application answers: the floor of any tree.
    #[napi(catch_unwind)]
    pub fn cache_items<'env>(&self, env: &'env Env, pid: u32) -> napi::Result<PromiseRaw<'env, u32>> {
        let accessibility = Arc::clone(&self.accessibility);
        promise(env, move || accessibility.cache_items(pid))
    }

    /// Number of events of the application so far.
    #[napi(catch_unwind)]
    pub fn generation(&self, pid: u32) -> f64 {
        self.accessibility.generation(pid) as f64
    }

    /// Milliseconds since the application last sent an event; since the opening when it has sent none.
    #[napi(catch_unwind)]
    pub fn quiet_for(&self, pid: u32) -> f64 {
        self.accessibility.quiet_for(pid).as_secs_f64() * 1e3
    }

    /// Waits until the number of events of the application differs from `since`; answers the number then.
    #[napi(catch_unwind)]
    pub fn wait_for_event<'env>(
        &self,
        env: &'env Env,
        pid: u32,
        since: f64,
        timeout_ms: u32,
    ) -> napi::Result<PromiseRaw<'env, f64>> {
        let accessibility = Arc::clone(&self.accessibility);
        let timeout = Duration::from_millis(u64::from(timeout_ms));
        promise(
            env,
            move || Ok::<_, AxError>(accessibility.wait_for_event(pid, since as u64, timeout) as f64),
        )
    }

    /// Waits until the application has announced nothing for `quietMs`; false when it still did at the end of `ceilingMs`.
    #[napi(catch_unwind)]
    pub fn settled<'env>(
        &self,
        env: &'env Env,
        pid: u32,
        quiet_ms: u32,
        ceiling_ms: u32,
    ) -> napi::Result<PromiseRaw<'env, bool>> {
        let accessibility = Arc::clone(&self.accessibility);
        let milliseconds = |value: u32| Duration::from_millis(u64::from(value));
        promise(env, move || {
            Ok::<_, AxError>(accessibility.settled(pid, milliseconds(quiet_ms), milliseconds(ceiling_ms)))
        })
    }

    /// Closes the connection; closing twice is fine.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.accessibility.close();
    }
}

/// How often this process has waited for replies of applications, wrapping; calls in flight together count once.
#[napi(catch_unwind)]
pub fn ax_round_trips() -> u32 {
    ax::round_trips()
}

/// The tree of one window as it was read: the index map of its elements.
#[napi]
pub struct AxSnapshot {
    snapshot: Arc<ax::Snapshot>,
}

#[napi]
impl AxSnapshot {
    /// Number of elements.
    #[napi(getter, js_name = "element_count", catch_unwind)]
    pub fn element_count(&self) -> u32 {
        self.snapshot.element_count()
    }

    /// Why the tree is incomplete; null when it is complete.
    #[napi(getter, catch_unwind, ts_return_type = "string | null")]
    pub fn partial(&self) -> napi::Either<String, napi::bindgen_prelude::Null> {
        nullable(self.snapshot.partial().map(str::to_owned))
    }

    /// The tree as Markdown; with `query` only matching lines and their ancestors, empty when nothing matches.
    #[napi(catch_unwind)]
    pub fn markdown(&self, query: Option<String>, short_tags: bool) -> String {
        self.snapshot.markdown(query.as_deref(), short_tags)
    }

    /// The elements as the text of a JSON array, frames in screen pixels; with `query` those of the lines that it keeps.
    #[napi(catch_unwind)]
    pub fn elements(&self, query: Option<String>) -> String {
        self.snapshot.elements(query.as_deref())
    }

    /// One element as it was read; null when the snapshot has none of this index.
    #[napi(catch_unwind, ts_return_type = "AxElement | null")]
    pub fn element(&self, index: u32) -> napi::Either<AxElement, napi::bindgen_prelude::Null> {
        nullable(self.snapshot.element(index).map(AxElement::from))
    }

    /// Index of the innermost element at a point in window pixels, or null.
    #[napi(catch_unwind)]
    pub fn at(&self, x: i32, y: i32) -> Option<u32> {
        self.snapshot.at(x, y)
    }

    /// Index of the element that had the keyboard focus, or null.
    #[napi(catch_unwind, ts_return_type = "number | null")]
    pub fn focused(&self) -> napi::Either<u32, napi::bindgen_prelude::Null> {
        nullable(self.snapshot.focused())
    }

    /// The same tree with the indices of `previous` for the elements that were there (or whose only lookalike is here); new
    /// ones get higher numbers.
    #[napi(catch_unwind)]
    pub fn keeping_indices(&self, previous: &AxSnapshot) -> AxSnapshot {
        AxSnapshot { snapshot: Arc::new(self.snapshot.keeping_indices(&previous.snapshot)) }
    }

    /// What changed since `previous` as the text of a JSON object: added and changed (records as in `elements`, with null for
    /// element_index where a person operates nothing; changed ones name the differing `fields`), removed (element_index,
    /// element_token, role, label), moved and unchanged (numbers of nodes).
    #[napi(catch_unwind)]
    pub fn changes_since(&self, previous: &AxSnapshot) -> String {
        self.snapshot.changes_since(&previous.snapshot)
    }

    /// What changed since `previous` as lines of the tree after `+` (new), `~` (says something else) or `-` (gone).
    #[napi(catch_unwind)]
    pub fn changes_markdown(&self, previous: &AxSnapshot, short_tags: bool) -> String {
        self.snapshot.changes_markdown(&previous.snapshot, short_tags)
    }

    /// The token of an element, which outlives the snapshot; empty when the snapshot has none of this index.
    #[napi(catch_unwind)]
    pub fn token(&self, index: u32) -> String {
        self.snapshot.token(index)
    }

    /// The element of a token: `same` when it is the same object, `lookalike` when that has gone and exactly one element
    /// has the same role, name and ancestors; null when neither is here.
    #[napi(catch_unwind, ts_return_type = "AxFound | null")]
    pub fn find(&self, token: String) -> napi::Either<AxFound, napi::bindgen_prelude::Null> {
        let found = self.snapshot.find(&token);
        nullable(found.map(|(element_index, how)| AxFound { element_index, how: how.name().to_owned() }))
    }

    /// The elements most like that of a token as the text of a JSON array, the most alike first: element_token, role, label.
    #[napi(catch_unwind)]
    pub fn nearest(&self, token: String) -> String {
        self.snapshot.nearest(&token)
    }

    /// The shown objects of the web pages in the window as the text of a JSON array, parents before children: role, label,
    /// value, element_index (or null), parent (position in the array, or null), enabled, focusable, attributes (a record)
    /// and frame {x, y, w, h} in screen pixels (or null). Rejects with `accessibility_timeout`.
    #[napi(catch_unwind)]
    pub fn page<'env>(&self, env: &'env Env, timeout_ms: u32) -> napi::Result<PromiseRaw<'env, String>> {
        let snapshot = Arc::clone(&self.snapshot);
        promise(env, move || snapshot.page(Duration::from_millis(u64::from(timeout_ms))))
    }

    /// Reads an element again. Rejects with `stale_element` when it has gone, `unknown_element`, `accessibility_timeout`.
    #[napi(catch_unwind)]
    pub fn read<'env>(&self, env: &'env Env, index: u32) -> napi::Result<PromiseRaw<'env, AxElement>> {
        let snapshot = Arc::clone(&self.snapshot);
        promise(env, move || snapshot.read(index, ELEMENT_TIMEOUT).map(AxElement::from))
    }

    /// Does an action of an element; answers the toolkit's name of what was done. Rejects with `action_not_supported`,
    /// `action_refused`, `stale_element`, `unknown_element`, `accessibility_timeout`.
    #[napi(catch_unwind)]
    pub fn perform<'env>(
        &self,
        env: &'env Env,
        index: u32,
        #[napi(ts_arg_type = "'press' | 'show_menu' | 'pick' | 'confirm' | 'cancel' | 'open'")]
        action: String,
        timeout_ms: u32,
    ) -> napi::Result<PromiseRaw<'env, String>> {
        let snapshot = Arc::clone(&self.snapshot);
        let timeout = Duration::from_millis(u64::from(timeout_ms));
        promise(env, move || snapshot.perform(index, ax::Action::named(&action)?, timeout))
    }

    /// Inserts text at the caret of an element, replacing its selection, and reads it back. Rejects with
    /// `text_not_supported`, `stale_element`, `unknown_element`, `accessibility_timeout`.
    #[napi(catch_unwind)]
    pub fn insert_text<'env>(
        &self,
        env: &'env Env,
        index: u32,
        text: String,
        timeout_ms: u32,
    ) -> napi::Result<PromiseRaw<'env, AxInserted>> {
        let snapshot = Arc::clone(&self.snapshot);
        let timeout = Duration::from_millis(u64::from(timeout_ms));
        promise(env, move || {
            snapshot.insert_text(index, &text, timeout).map(|inserted| AxInserted {
                route: inserted.route,
                confirmed: inserted.confirmed,
                value: inserted.value,
            })
        })
    }

    /// Sets the value of an element (on or off, an option's name, a number or text) and reads it back. Rejects with
    /// `value_not_accepted`, `value_not_supported`, `stale_element`, `unknown_element`, `accessibility_timeout`.
    #[napi(catch_unwind)]
    pub fn set_value<'env>(
        &self,
        env: &'env Env,
        index: u32,
        value: String,
        timeout_ms: u32,
    ) -> napi::Result<PromiseRaw<'env, AxWritten>> {
        let snapshot = Arc::clone(&self.snapshot);
        let timeout = Duration::from_millis(u64::from(timeout_ms));
        promise(env, move || {
            snapshot.set_value(index, &value, timeout).map(|written| AxWritten {
                route: written.route,
                confirmed: written.confirmed,
                value: written.value,
            })
        })
    }

    /// The options inside an element, shown or not. Rejects with `stale_element`, `unknown_element`,
    /// `accessibility_timeout`.
    #[napi(catch_unwind)]
    pub fn options<'env>(
        &self,
        env: &'env Env,
        index: u32,
        timeout_ms: u32,
    ) -> napi::Result<PromiseRaw<'env, Vec<AxOption>>> {
        let snapshot = Arc::clone(&self.snapshot);
        let timeout = Duration::from_millis(u64::from(timeout_ms));
        promise(env, move || {
            let convert = |(label, chosen, enabled)| AxOption { label, chosen, enabled };
            snapshot
                .options(index, timeout)
                .map(|options| options.into_iter().map(convert).collect::<Vec<_>>())
        })
    }

    /// Chooses the menu item at the end of a path that begins in the menu bar or with a menu button, without opening a
    /// menu. Rejects with `menu_not_found`, `menu_item_not_found`, `menu_item_ambiguous`, `element_disabled`,
    /// `menu_closed`, `accessibility_timeout`.
    #[napi(catch_unwind)]
    pub fn invoke_menu<'env>(
        &self,
        env: &'env Env,
        path: Vec<String>,
        timeout_ms: u32,
    ) -> napi::Result<PromiseRaw<'env, AxChosen>> {
        let snapshot = Arc::clone(&self.snapshot);
        let timeout = Duration::from_millis(u64::from(timeout_ms));
        promise(env, move || {
            snapshot.invoke_menu(&path, timeout).map(|chosen| AxChosen {
                path: chosen.path,
                action: chosen.action,
                value: chosen.value,
            })
        })
    }

    /// Gives an element the keyboard focus; false where the toolkit cannot, or would bring the window to the front.
    #[napi(catch_unwind)]
    pub fn focus<'env>(&self, env: &'env Env, index: u32) -> napi::Result<PromiseRaw<'env, bool>> {
        let snapshot = Arc::clone(&self.snapshot);
        promise(env, move || snapshot.focus(index, ELEMENT_TIMEOUT))
    }
}

/// JavaScript's null stands for nothing, as in the wire records.
fn nullable<T>(value: Option<T>) -> napi::Either<T, napi::bindgen_prelude::Null> {
    value.map_or(napi::Either::B(napi::bindgen_prelude::Null), napi::Either::A)
}
