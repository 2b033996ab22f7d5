//! States of a node, as a set of bits.

/// Names by bit position; the positions are those of AT-SPI (`AtspiStateType`).
const NAMES: [&str; 44] = [
    "invalid",
    "active",
    "armed",
    "busy",
    "checked",
    "collapsed",
    "defunct",
    "editable",
    "enabled",
    "expandable",
    "expanded",
    "focusable",
    "focused",
    "has tooltip",
    "horizontal",
    "iconified",
    "modal",
    "multi line",
    "multiselectable",
    "opaque",
    "pressed",
    "resizable",
    "selectable",
    "selected",
    "sensitive",
    "showing",
    "single line",
    "stale",
    "transient",
    "vertical",
    "visible",
    "manages descendants",
    "indeterminate",
    "required",
    "truncated",
    "animated",
    "invalid entry",
    "supports autocompletion",
    "selectable text",
    "is default",
    "visited",
    "checkable",
    "has popup",
    "read only",
];

/// A set of states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct States(pub u64);

/// One state; the value is its bit position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the state of the same name")]
pub enum State {
    Checked = 4,
    Defunct = 6,
    Editable = 7,
    Enabled = 8,
    Focusable = 11,
    Focused = 12,
    Horizontal = 14,
    Multiselectable = 18,
    Pressed = 20,
    Selectable = 22,
    Selected = 23,
    Sensitive = 24,
    Showing = 25,
    Vertical = 29,
    Visible = 30,
    ManagesDescendants = 31,
    Indeterminate = 32,
    Checkable = 41,
    ReadOnly = 43,
}

impl States {
    /// True when the state is in the set.
    pub fn has(self, state: State) -> bool {
        self.0 & (1 << state as u64) != 0
    }

    /// The set with one state more.
    #[must_use]
    pub fn with(self, state: State) -> Self {
        Self(self.0 | 1 << state as u64)
    }

    /// True when a person can operate what has these states.
    pub fn operable(self) -> bool {
        self.has(State::Enabled) || self.has(State::Sensitive)
    }

    /// Names of the states in the set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES.iter().enumerate().filter(move |(bit, _)| self.0 & (1 << bit) != 0).map(|(_, name)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_at_their_bits() {
        let states = States::default().with(State::Checked).with(State::Visible).with(State::ReadOnly);
        assert_eq!(states.names().collect::<Vec<_>>(), ["checked", "visible", "read only"]);
    }
}
