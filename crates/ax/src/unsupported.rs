//! Platforms whose accessibility interface is not read: every call says so.

use std::time::Duration;

use desktop::Session;

use crate::{
    Action, Application, AxError, CellContent, Chosen, Element, Inserted, Offscreen, Place, SnapshotRequest,
    TokenMatch, Written,
};

/// How often this process has waited for replies.
pub fn round_trips() -> u32 {
    0
}

/// The accessibility interface of the system.
#[derive(Debug)]
pub struct Accessibility(());

impl Accessibility {
    /// Opens it.
    pub fn open(_bus_address: Option<&str>, _session: Option<&Session>) -> Result<Self, AxError> {
        Err(AxError::Unsupported)
    }

    /// The applications that can be read.
    pub fn applications(&self) -> Result<Vec<Application>, AxError> {
        Err(AxError::Unsupported)
    }

    /// Reads the tree of a window.
    pub fn snapshot(&self, _request: &SnapshotRequest) -> Result<Snapshot, AxError> {
        Err(AxError::Unsupported)
    }

    /// Number of nodes that a bare bulk read of the application answers.
    pub fn cache_items(&self, _pid: u32) -> Result<u32, AxError> {
        Err(AxError::Unsupported)
    }

    /// Number of events of the application so far.
    pub fn generation(&self, _pid: u32) -> u64 {
        0
    }

    /// How often something in the application got the focus.
    pub fn focus_changes(&self, _pid: u32) -> u64 {
        0
    }

    /// Number of events of the application so far that tell of a change.
    pub fn change_events(&self, _pid: u32) -> u64 {
        0
    }

    /// How long ago the application last sent an event.
    pub fn since_event(&self, _pid: u32) -> Duration {
        Duration::ZERO
    }

    /// Waits for an event of the application.
    pub fn wait_for_event(&self, _pid: u32, since: u64, _timeout: Duration) -> u64 {
        since
    }

    /// Waits until the application is quiet.
    pub fn settled(&self, _pid: u32, _quiet: Duration, _ceiling: Duration) -> bool {
        true
    }

    /// Ends it.
    pub fn close(&self) {}
}

/// The tree of one window as it was read.
#[derive(Debug)]
pub struct Snapshot(());

impl Snapshot {
    /// Number of elements.
    pub fn element_count(&self) -> u32 {
        0
    }

    /// Why the tree is incomplete.
    pub fn partial(&self) -> Option<&str> {
        None
    }

    /// What lies beyond the view.
    pub fn offscreen(&self) -> Offscreen {
        Offscreen::default()
    }

    /// Where an element is, and where it would be seen.
    pub fn place(&self, _index: u32, _timeout: Duration) -> Result<Place, AxError> {
        Err(AxError::Unsupported)
    }

    /// Has an element brought into view.
    pub fn scroll_to(&self, _index: u32, _timeout: Duration) -> Result<bool, AxError> {
        Err(AxError::Unsupported)
    }

    /// What a cell of a sheet holds.
    pub fn cell(&self, _index: u32, _timeout: Duration) -> Result<Option<CellContent>, AxError> {
        Err(AxError::Unsupported)
    }

    /// Index of the innermost element at a point.
    pub fn at(&self, _x: i32, _y: i32) -> Option<u32> {
        None
    }

    /// The tree as Markdown.
    pub fn markdown(&self, _query: Option<&str>, _short_tags: bool) -> String {
        String::new()
    }

    /// The elements as JSON.
    pub fn elements(&self, _query: Option<&str>) -> String {
        "[]".to_owned()
    }

    /// All that is printed, as JSON.
    pub fn printed(&self) -> String {
        "[]".to_owned()
    }

    /// One element.
    pub fn element(&self, _index: u32) -> Option<Element> {
        None
    }

    /// The same tree with the indices of another.
    #[must_use]
    pub fn keeping_indices(&self, _previous: &Self) -> Self {
        Self(())
    }

    /// What changed, as JSON.
    pub fn changes_since(&self, _previous: &Self) -> String {
        "{}".to_owned()
    }

    /// What changed, as lines.
    pub fn changes_markdown(&self, _previous: &Self, _short_tags: bool) -> String {
        String::new()
    }

    /// The token of an element.
    pub fn token(&self, _index: u32) -> String {
        String::new()
    }

    /// The element that a token stands for.
    pub fn find(&self, _token: &str) -> Option<(u32, TokenMatch)> {
        None
    }

    /// The elements most like that of a token.
    pub fn nearest(&self, _token: &str) -> String {
        "[]".to_owned()
    }

    /// Index of the element that last got the focus.
    pub fn last_focused(&self) -> Option<u32> {
        None
    }

    /// Index of the focused element.
    pub fn focused(&self) -> Option<u32> {
        None
    }

    /// The web page as JSON.
    pub fn page(&self, _timeout: Duration) -> Result<String, AxError> {
        Err(AxError::Unsupported)
    }

    /// Reads an element again.
    pub fn read(&self, _index: u32, _timeout: Duration) -> Result<Element, AxError> {
        Err(AxError::Unsupported)
    }

    /// Does an action of an element.
    pub fn perform(&self, _index: u32, _action: Action, _timeout: Duration) -> Result<String, AxError> {
        Err(AxError::Unsupported)
    }

    /// Inserts text.
    pub fn insert_text(&self, _index: u32, _text: &str, _timeout: Duration) -> Result<Inserted, AxError> {
        Err(AxError::Unsupported)
    }

    /// Sets the value of an element.
    pub fn set_value(&self, _index: u32, _value: &str, _timeout: Duration) -> Result<Written, AxError> {
        Err(AxError::Unsupported)
    }

    /// The options inside an element.
    pub fn options(&self, _index: u32, _timeout: Duration) -> Result<Vec<(String, bool, bool)>, AxError> {
        Err(AxError::Unsupported)
    }

    /// Chooses a menu item.
    pub fn invoke_menu(&self, _path: &[String], _timeout: Duration) -> Result<Chosen, AxError> {
        Err(AxError::Unsupported)
    }

    /// Gives an element the keyboard focus.
    pub fn focus(&self, _index: u32, _timeout: Duration) -> Result<bool, AxError> {
        Err(AxError::Unsupported)
    }
}
