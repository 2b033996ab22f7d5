//! How the objects of a window say that they are in view.

use super::objects::{Objects, Raw};
use crate::platform::bus::application::App;
use crate::state::{State, States};
use crate::tree::Abilities;

/// Where an object is to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// It says that it is shown.
    InView,
    /// It would be, where a person scrolled to it.
    Offscreen,
    /// Something else than scrolling would show it: another tab, a menu that opens.
    Hidden,
}

/// How the objects of a window say that they are shown: toolkits that never set SHOWING, and hidden windows, are judged
/// by VISIBLE or not at all.
#[derive(Clone, Copy, Debug)]
pub struct View {
    showing: bool,
    visible: bool,
    /// Only a browser has menus that are parts of a page.
    is_browser: bool,
}

impl View {
    /// How the objects below `root` say it.
    pub fn of(app: &App, objects: &Objects, root: usize) -> Self {
        let raw = &objects.all[root];
        let states = raw.children.iter().map(|child| objects.all[*child].states);
        let mut told = states.filter(|states| *states != States::default()).peekable();
        // GTK 4.8 sets the bit on the window alone.
        let showing = raw.states.has(State::Showing)
            && (told.peek().is_none() || told.any(|states| states.has(State::Showing)));
        let visible = raw.states.has(State::Visible);
        Self { showing, visible, is_browser: app.toolkit.is_read_in_part() }
    }

    /// True for the states of what is shown.
    pub fn is_shown(self, states: States) -> bool {
        if self.showing { states.has(State::Showing) } else { !self.visible || states.has(State::Visible) }
    }

    /// True for those of what may lie beyond the view.
    pub fn may_lie_beyond(self, states: States) -> bool {
        self.showing && states.has(State::Visible)
    }

    /// True when what has these states may be somewhere else than what had those.
    pub fn tells_apart(self, was: States, is: States) -> bool {
        self.is_shown(was) != self.is_shown(is) || self.may_lie_beyond(was) != self.may_lie_beyond(is)
    }

    /// Where a child is to be seen, by its parent.
    pub fn visibility(self, (parent, visibility): (&Raw, Visibility), child: &Raw) -> Visibility {
        if self.is_shown(child.states) {
            return Visibility::InView;
        }
        if visibility == Visibility::Hidden || self.is_closed(parent.role.name(), child.role.name()) {
            return Visibility::Hidden;
        }
        if scrolls(parent) || self.may_lie_beyond(child.states) {
            Visibility::Offscreen
        } else {
            Visibility::Hidden
        }
    }

    /// True for what shows its children only when it is opened or chosen.
    fn is_closed(self, parent: &str, child: &str) -> bool {
        let menus = ["menu", "menu bar", "menu item", "popup menu", "push button menu"];
        matches!(parent, "combo box" | "page tab" | "page tab list")
            || matches!(child, "tool tip" | "window" | "dialog")
            || !self.is_browser
                && (menus.contains(&parent) || menus.contains(&child) || child == "internal frame")
    }
}

/// True for what shows a part of its children, which need not say that they are visible.
pub fn scrolls(raw: &Raw) -> bool {
    raw.abilities.has(Abilities::TABLE)
        || raw.states.has(State::ManagesDescendants)
        || matches!(raw.role.name(), "list" | "list box" | "table" | "tree" | "tree table")
}
