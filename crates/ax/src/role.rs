//! What a node is, and whether a person operates such a thing.

/// Names by number; the numbers are those of AT-SPI (`AtspiRole`).
const NAMES: [&str; 131] = [
    "invalid",
    "accelerator label",
    "alert",
    "animation",
    "arrow",
    "calendar",
    "canvas",
    "check box",
    "check menu item",
    "color chooser",
    "column header",
    "combo box",
    "date editor",
    "desktop icon",
    "desktop frame",
    "dial",
    "dialog",
    "directory pane",
    "drawing area",
    "file chooser",
    "filler",
    "focus traversable",
    "font chooser",
    "frame",
    "glass pane",
    "html container",
    "icon",
    "image",
    "internal frame",
    "label",
    "layered pane",
    "list",
    "list item",
    "menu",
    "menu bar",
    "menu item",
    "option pane",
    "page tab",
    "page tab list",
    "panel",
    "password text",
    "popup menu",
    "progress bar",
    "push button",
    "radio button",
    "radio menu item",
    "root pane",
    "row header",
    "scroll bar",
    "scroll pane",
    "separator",
    "slider",
    "spin button",
    "split pane",
    "status bar",
    "table",
    "table cell",
    "table column header",
    "table row header",
    "tearoff menu item",
    "terminal",
    "text",
    "toggle button",
    "tool bar",
    "tool tip",
    "tree",
    "tree table",
    "unknown",
    "viewport",
    "window",
    "extended",
    "header",
    "footer",
    "paragraph",
    "ruler",
    "application",
    "autocomplete",
    "editbar",
    "embedded",
    "entry",
    "chart",
    "caption",
    "document frame",
    "heading",
    "page",
    "section",
    "redundant object",
    "form",
    "link",
    "input method window",
    "table row",
    "tree item",
    "document spreadsheet",
    "document presentation",
    "document text",
    "document web",
    "document email",
    "comment",
    "list box",
    "grouping",
    "image map",
    "notification",
    "info bar",
    "level bar",
    "title bar",
    "block quote",
    "audio",
    "video",
    "definition",
    "article",
    "landmark",
    "log",
    "marquee",
    "math",
    "rating",
    "timer",
    "static",
    "math fraction",
    "math root",
    "subscript",
    "superscript",
    "description list",
    "description term",
    "description value",
    "footnote",
    "content deletion",
    "content insertion",
    "mark",
    "suggestion",
    "push button menu",
    "switch",
];

/// A role by its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Role(pub u32);

/// When a node of a role is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operated {
    /// Always: buttons, entries, menu items.
    Always,
    /// When it can be selected or focused: list items, cells, icons are often mere text.
    WhenSelectable,
    /// When it offers an action or can be selected: icons inside fields and on desktops.
    WhenActive,
    /// When its children can be selected through it, or it listens as `WhenFocusable`: lists, tables and rows of tabs.
    WhenChoosing,
    /// When it can be focused and offers an action: a part of a page that listens to clicks.
    WhenFocusable,
    /// Never: containers and decoration.
    Never,
}

impl Role {
    /// The role's name.
    pub fn name(self) -> &'static str {
        NAMES.get(self.0 as usize).copied().unwrap_or("unknown")
    }

    /// When a person operates a node of this role.
    pub fn operated(self) -> Operated {
        match self.name() {
            "arrow" | "check box" | "check menu item" | "combo box" | "date editor" | "dial" | "menu"
            | "menu item" | "page tab" | "password text" | "push button" | "radio button"
            | "radio menu item" | "slider" | "spin button" | "tearoff menu item" | "toggle button"
            | "autocomplete" | "entry" | "link" | "push button menu" | "switch" | "rating" => {
                Operated::Always
            }
            "list item"
            | "table cell"
            | "tree item"
            | "table row"
            | "text"
            | "terminal"
            | "column header"
            | "row header"
            | "table column header"
            | "table row header" => Operated::WhenSelectable,
            "list" | "list box" | "page tab list" | "table" | "tree" | "tree table" => Operated::WhenChoosing,
            "desktop icon" | "icon" => Operated::WhenActive,
            "canvas" | "drawing area" | "heading" | "image" | "label" | "panel" | "section" | "article"
            | "grouping" | "static" | "unknown" | "color chooser" | "extended" => Operated::WhenFocusable,
            _ => Operated::Never,
        }
    }

    /// True for fields that hold text which a person edits.
    pub fn is_entry(self) -> bool {
        matches!(
            self.name(),
            "password text" | "text" | "terminal" | "entry" | "autocomplete" | "editbar" | "spin button"
        )
    }

    /// True for fields whose content must not be shown.
    pub fn is_secret(self) -> bool {
        self.name() == "password text"
    }

    /// True for what is on or off.
    pub fn is_toggle(self) -> bool {
        matches!(
            self.name(),
            "check box" | "check menu item" | "radio button" | "radio menu item" | "toggle button" | "switch"
        )
    }

    /// True for what is named by the text in it when it has no name of its own.
    pub fn is_named_by_content(self) -> bool {
        matches!(
            self.name(),
            "push button"
                | "toggle button"
                | "check box"
                | "radio button"
                | "link"
                | "list item"
                | "menu item"
                | "page tab"
                | "tree item"
                | "table row"
        )
    }

    /// True for what has a number as its value.
    pub fn is_range(self) -> bool {
        matches!(
            self.name(),
            "slider" | "spin button" | "progress bar" | "dial" | "level bar" | "rating" | "scroll bar"
        )
    }

    /// True for what shows a number that nobody sets.
    pub fn is_meter(self) -> bool {
        matches!(self.name(), "progress bar" | "level bar")
    }

    /// True for what holds options of which one is chosen.
    pub fn is_chooser(self) -> bool {
        matches!(
            self.name(),
            "combo box" | "list" | "list box" | "page tab list" | "tree" | "tree table" | "table"
        )
    }

    /// True for windows of their own: menus, combo lists, tooltips, dialogs.
    pub fn is_popup(self) -> bool {
        matches!(
            self.name(),
            "menu"
                | "popup menu"
                | "tool tip"
                | "window"
                | "list box"
                | "list"
                | "alert"
                | "dialog"
                | "combo box"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_at_their_numbers() {
        let expected =
            [(23, "frame"), (43, "push button"), (79, "entry"), (91, "tree item"), (116, "static")];
        for (number, name) in expected {
            assert_eq!(Role(number).name(), name);
        }
        assert_eq!(Role(9999).name(), "unknown");
    }
}
