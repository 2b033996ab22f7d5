//! The tree of one window: its texts, its elements and what can be done to them.

use std::sync::Arc;
use std::time::Duration;

use napi_derive::napi;

use crate::ax::records::{
    AxCell, AxChosen, AxElement, AxFound, AxInserted, AxOffscreen, AxOption, AxPlace, AxWritten,
};
use crate::failure::{Promise, promise_with};

/// How long reading one element again, or focusing it, may take.
const ELEMENT_TIMEOUT: Duration = Duration::from_secs(2);

/// The tree of one window as it was read: the index map of its elements.
#[napi]
pub struct AxSnapshot {
    pub(super) snapshot: Arc<ax::Snapshot>,
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

    /// What lies beyond the view.
    #[napi(getter, catch_unwind)]
    pub fn offscreen(&self) -> AxOffscreen {
        let ax::Offscreen { above, below, texts, at_least, listed } = self.snapshot.offscreen();
        AxOffscreen { above, below, texts, at_least, listed }
    }

    /// Where an element is now, and the part of the window in which it would be seen. Rejects with `stale_element`,
    /// `unknown_element`, `accessibility_timeout`.
    #[napi(catch_unwind)]
    pub fn place(&self, index: u32) -> Promise<AxPlace> {
        promise_with(&self.snapshot, move |snapshot| {
            snapshot.place(index, ELEMENT_TIMEOUT).map(AxPlace::from)
        })
    }

    /// Asks the toolkit to bring an element into view; false where it cannot. A cell of a sheet may be far away: it is
    /// brought nearer, and further by being asked for again. Rejects with `stale_element`, `unknown_element`,
    /// `accessibility_timeout`.
    #[napi(catch_unwind)]
    pub fn scroll_to(&self, index: u32) -> Promise<bool> {
        promise_with(&self.snapshot, move |snapshot| snapshot.scroll_to(index, ELEMENT_TIMEOUT))
    }

    /// What a cell of a sheet holds, beside what it should hold; null for what is no such cell. Rejects with
    /// `stale_element`, `unknown_element`, `accessibility_timeout`.
    #[napi(catch_unwind)]
    pub fn cell(&self, index: u32, wanted: String) -> Promise<Option<AxCell>> {
        promise_with(&self.snapshot, move |snapshot| {
            let cell = snapshot.cell(index, ELEMENT_TIMEOUT)?;
            Ok::<_, ax::AxError>(cell.map(|cell| AxCell::beside(cell, &wanted)))
        })
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

    /// All that the Markdown shows, what nobody operates with null as its index, as the text of a JSON array like that of
    /// `elements`; parents stand before their children, which have a greater `depth`.
    #[napi(catch_unwind)]
    pub fn printed(&self) -> String {
        self.snapshot.printed()
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

    /// Index of the element that the application last said to have got the focus, or null where that is none of this window;
    /// it need not have it now.
    #[napi(catch_unwind, ts_return_type = "number | null")]
    pub fn last_focused(&self) -> napi::Either<u32, napi::bindgen_prelude::Null> {
        nullable(self.snapshot.last_focused())
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
    /// value, element_index (or null), parent (position in the array, or null), enabled, focusable, offscreen, attributes
    /// (a record)
    /// and frame {x, y, w, h} in screen pixels (or null). Rejects with `accessibility_timeout`.
    #[napi(catch_unwind)]
    pub fn page(&self, timeout_ms: u32) -> Promise<String> {
        promise_with(&self.snapshot, move |snapshot| {
            snapshot.page(Duration::from_millis(u64::from(timeout_ms)))
        })
    }

    /// Reads an element again. Rejects with `stale_element` when it has gone, `unknown_element`, `accessibility_timeout`.
    #[napi(catch_unwind)]
    pub fn read(&self, index: u32) -> Promise<AxElement> {
        promise_with(&self.snapshot, move |snapshot| {
            snapshot.read(index, ELEMENT_TIMEOUT).map(AxElement::from)
        })
    }

    /// Does an action of an element; answers the toolkit's name of what was done. Rejects with `action_not_supported`,
    /// `action_refused`, `stale_element`, `unknown_element`, `accessibility_timeout`.
    #[napi(catch_unwind)]
    pub fn perform(
        &self,
        index: u32,
        #[napi(ts_arg_type = "'press' | 'show_menu' | 'pick' | 'confirm' | 'cancel' | 'open'")]
        action: String,
        timeout_ms: u32,
    ) -> Promise<String> {
        let timeout = Duration::from_millis(u64::from(timeout_ms));
        promise_with(&self.snapshot, move |snapshot| {
            snapshot.perform(index, ax::Action::named(&action)?, timeout)
        })
    }

    /// Inserts text at the caret of an element, replacing its selection, and reads it back. Rejects with
    /// `text_not_supported`, `stale_element`, `unknown_element`, `accessibility_timeout`.
    #[napi(catch_unwind)]
    pub fn insert_text(&self, index: u32, text: String, timeout_ms: u32) -> Promise<AxInserted> {
        let timeout = Duration::from_millis(u64::from(timeout_ms));
        promise_with(&self.snapshot, move |snapshot| {
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
    pub fn set_value(&self, index: u32, value: String, timeout_ms: u32) -> Promise<AxWritten> {
        let timeout = Duration::from_millis(u64::from(timeout_ms));
        promise_with(&self.snapshot, move |snapshot| {
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
    pub fn options(&self, index: u32, timeout_ms: u32) -> Promise<Vec<AxOption>> {
        let timeout = Duration::from_millis(u64::from(timeout_ms));
        promise_with(&self.snapshot, move |snapshot| {
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
    pub fn invoke_menu(&self, path: Vec<String>, timeout_ms: u32) -> Promise<AxChosen> {
        let timeout = Duration::from_millis(u64::from(timeout_ms));
        promise_with(&self.snapshot, move |snapshot| {
            snapshot.invoke_menu(&path, timeout).map(|chosen| AxChosen {
                path: chosen.path,
                action: chosen.action,
                value: chosen.value,
            })
        })
    }

    /// Gives an element the keyboard focus; false where the toolkit cannot, or would bring the window to the front.
    #[napi(catch_unwind)]
    pub fn focus(&self, index: u32) -> Promise<bool> {
        promise_with(&self.snapshot, move |snapshot| snapshot.focus(index, ELEMENT_TIMEOUT))
    }
}

/// JavaScript's null stands for nothing, as in the wire records.
fn nullable<T>(value: Option<T>) -> napi::Either<T, napi::bindgen_prelude::Null> {
    value.map_or(napi::Either::B(napi::bindgen_prelude::Null), napi::Either::A)
}
