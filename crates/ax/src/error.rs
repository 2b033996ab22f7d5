//! Every way the accessibility tree can fail.

/// A failed call; `code()` is stable, the text names the thing and ends with the next step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AxError {
    /// The accessibility bus cannot be reached.
    #[error(
        "The accessibility bus cannot be reached: {reason}. Install at-spi2-core and start inside a desktop session, or run `backlot desktop`."
    )]
    Unavailable {
        /// What was tried and what came back.
        reason: String,
    },
    /// The application is not on the accessibility bus.
    #[error(
        "The application with pid {pid} is not on the accessibility bus. Start it with launch_app, which switches accessibility on, or use the screenshot and pixel coordinates."
    )]
    NotAccessible {
        /// Process of the application.
        pid: u32,
    },
    /// The application did not answer in time.
    #[error(
        "The application \"{application}\" did not answer within {waited_ms} ms. Check that it is not busy or stopped, then call again with a longer timeout_ms."
    )]
    Timeout {
        /// Name of the application, or its pid.
        application: String,
        /// How long was waited.
        waited_ms: u64,
    },
    /// The snapshot has no element of this index.
    #[error(
        "Element index {index} is not in this snapshot of {count} elements. Call get_window_state first."
    )]
    UnknownElement {
        /// The index that was asked for.
        index: u32,
        /// Number of elements in the snapshot.
        count: u32,
    },
    /// The element has gone since the snapshot.
    #[error("Element {index} ({role} \"{label}\") no longer exists. Call get_window_state again.")]
    StaleElement {
        /// Its index in the snapshot.
        index: u32,
        /// Its role then.
        role: String,
        /// Its label then.
        label: String,
    },
    /// There is no action of this name.
    #[error("There is no action \"{name}\". Use press, show_menu, pick, confirm, cancel or open.")]
    UnknownAction {
        /// What was asked for.
        name: String,
    },
    /// The element does not offer such an action.
    #[error(
        "Element {index} ({role} \"{label}\") has no action for \"{action}\"; it offers: {offered}. Use one of these, or click its coordinates."
    )]
    ActionNotSupported {
        /// Its index in the snapshot.
        index: u32,
        /// Its role.
        role: String,
        /// Its label.
        label: String,
        /// The action that was asked for.
        action: String,
        /// The toolkit's names of what it offers.
        offered: String,
    },
    /// The toolkit took the action but answered that it did not do it.
    #[error(
        "Element {index} ({role} \"{label}\") refused its action \"{action}\". Check that it is enabled with get_window_state, or click its coordinates."
    )]
    ActionRefused {
        /// Its index in the snapshot.
        index: u32,
        /// Its role.
        role: String,
        /// Its label.
        label: String,
        /// The toolkit's name of the action.
        action: String,
    },
    /// The element takes no text through the accessibility bus.
    #[error(
        "Element {index} ({role} \"{label}\") takes no text through accessibility. Click it and type with the keyboard instead."
    )]
    TextNotSupported {
        /// Its index in the snapshot.
        index: u32,
        /// Its role.
        role: String,
        /// Its label.
        label: String,
    },
    /// The element takes no value through the accessibility bus.
    #[error(
        "Element {index} ({role} \"{label}\") takes no value through accessibility; it is {why}. Use click, type_text or press_key instead."
    )]
    ValueNotSupported {
        /// Its index in the snapshot.
        index: u32,
        /// Its role.
        role: String,
        /// Its label.
        label: String,
        /// What it is instead.
        why: String,
    },
    /// The element takes values, but not this one.
    #[error(
        "Element {index} ({role} \"{label}\") does not accept \"{value}\"; it accepts: {accepted}. Use one of these."
    )]
    ValueNotAccepted {
        /// Its index in the snapshot.
        index: u32,
        /// Its role.
        role: String,
        /// Its label.
        label: String,
        /// What was asked for.
        value: String,
        /// Options or range.
        accepted: String,
    },
    /// The window has no menu that can be read.
    #[error(
        "The window \"{window}\" has no menu bar or menu button that can be read. Open its menu with click, then call get_window_state."
    )]
    NoMenu {
        /// Title of the window.
        window: String,
    },
    /// A menu has no such item.
    #[error("The menu {menu} has no item \"{item}\"; it has: {items}. Use one of these.")]
    MenuItemNotFound {
        /// The path down to the menu.
        menu: String,
        /// What was asked for.
        item: String,
        /// The items that are there.
        items: String,
    },
    /// A menu has several items of that name.
    #[error("The menu {menu} has {count} items \"{item}\". Open it with click and choose by element_index.")]
    MenuItemAmbiguous {
        /// The path down to the menu.
        menu: String,
        /// What was asked for.
        item: String,
        /// How many there are.
        count: usize,
    },
    /// The menu item takes no input now.
    #[error(
        "The menu item {item} is disabled. Make the application enable it first, for example by a selection."
    )]
    MenuItemDisabled {
        /// The path down to the item.
        item: String,
    },
    /// The menu cannot be operated while it is closed.
    #[error(
        "The menu {menu} can only be operated when it is open. Open it with click, then call get_window_state."
    )]
    MenuClosed {
        /// The path down to the menu.
        menu: String,
    },
    /// The other side broke the protocol or closed the connection.
    #[error("The accessibility connection to \"{peer}\" failed: {reason}. Call again; it is opened anew.")]
    Connection {
        /// Application or bus.
        peer: String,
        /// What happened.
        reason: String,
    },
    /// This platform has no accessibility reader.
    #[error("Reading accessibility trees is not supported on this platform. Use the screenshot instead.")]
    Unsupported,
}

impl AxError {
    /// The stable code of the failure, as in the list of failures.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => "accessibility_unavailable",
            Self::NotAccessible { .. } => "not_accessible",
            Self::Timeout { .. } => "accessibility_timeout",
            Self::UnknownElement { .. } => "unknown_element",
            Self::StaleElement { .. } => "stale_element",
            Self::UnknownAction { .. } => "invalid_argument",
            Self::ActionNotSupported { .. } => "action_not_supported",
            Self::ActionRefused { .. } => "action_refused",
            Self::TextNotSupported { .. } => "text_not_supported",
            Self::ValueNotSupported { .. } => "value_not_supported",
            Self::ValueNotAccepted { .. } => "value_not_accepted",
            Self::NoMenu { .. } => "menu_not_found",
            Self::MenuItemNotFound { .. } => "menu_item_not_found",
            Self::MenuItemAmbiguous { .. } => "menu_item_ambiguous",
            Self::MenuItemDisabled { .. } => "element_disabled",
            Self::MenuClosed { .. } => "menu_closed",
            Self::Connection { .. } => "accessibility_failed",
            Self::Unsupported => "unsupported_platform",
        }
    }
}
