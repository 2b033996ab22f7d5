//! The tree of one window: its nodes, and which of them get an element index.

use desktop::Rect;

use crate::role::{Operated, Role};
use crate::state::{State, States};

/// Nodes behind an unnamed one that are looked at for its name.
const MAX_CONTENT: usize = 12;

/// What a node can do beside being there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities(pub u16);

#[allow(missing_docs, reason = "each is the interface of the same name")]
impl Abilities {
    pub const ACTION: Self = Self(1);
    pub const COMPONENT: Self = Self(2);
    pub const EDITABLE_TEXT: Self = Self(4);
    pub const TEXT: Self = Self(8);
    pub const VALUE: Self = Self(16);
    pub const SELECTION: Self = Self(32);
    pub const TABLE: Self = Self(64);

    /// True when it has all of these.
    pub fn has(self, wanted: Self) -> bool {
        self.0 & wanted.0 == wanted.0
    }
}

/// One node.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Position of the parent in the tree; none for the window itself.
    pub parent: Option<usize>,
    /// What it is.
    pub role: Role,
    /// Its name, or its text when it has no name.
    pub label: String,
    /// Text, number or on/off state.
    pub value: Option<String>,
    /// Names of its actions, as the toolkit spells them.
    pub actions: Vec<String>,
    /// Its states.
    pub states: States,
    /// What it can do.
    pub abilities: Abilities,
    /// Where it is, in pixels from the window's top-left corner.
    pub frame: Rect,
    /// Its index, when a person can operate it.
    pub index: Option<u32>,
    /// Hash of the object in its application.
    pub identity: u64,
    /// True when it lies beyond what its window shows.
    pub offscreen: bool,
}

impl Node {
    /// True when a person can operate it, so that it gets an index.
    pub fn is_operated(&self) -> bool {
        let reachable = self.states.has(State::Selectable) || self.states.has(State::Focusable);
        let edited = self.states.has(State::Editable)
            && !self.states.has(State::ReadOnly)
            && self.abilities.has(Abilities::TEXT);
        let listens = self.states.has(State::Focusable) && self.abilities.has(Abilities::ACTION);
        match self.role.operated() {
            Operated::Always => true,
            Operated::WhenSelectable => reachable || edited,
            Operated::WhenActive => reachable || self.abilities.has(Abilities::ACTION),
            Operated::WhenChoosing => listens || self.abilities.has(Abilities::SELECTION),
            Operated::WhenFocusable => edited || listens,
            Operated::Never => {
                edited && (self.abilities.has(Abilities::EDITABLE_TEXT) || self.states.has(State::Focusable))
            }
        }
    }

    /// True when both are the same kind of thing in the same state.
    pub fn resembles(&self, other: &Self) -> bool {
        (self.role, self.states, self.abilities) == (other.role, other.states, other.abilities)
    }

    /// True when it stands in the printed tree.
    pub fn is_printed(&self) -> bool {
        self.index.is_some() || !self.label.trim().is_empty()
    }

    /// `checked`, `unchecked` or `mixed` for what is on or off.
    pub fn toggle_value(&self) -> Option<String> {
        let known = self.role.is_toggle() || self.states.has(State::Checkable);
        known.then(|| {
            let on = self.states.has(State::Checked)
                || self.role.name() == "toggle button" && self.states.has(State::Pressed);
            let mixed = self.states.has(State::Indeterminate);
            if mixed {
                "mixed"
            } else if on {
                "checked"
            } else {
                "unchecked"
            }
            .to_owned()
        })
    }
}

/// The nodes of one window, parents before their children, children in their order.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// Where the window is on the screen: added to frames for `elements`.
    pub origin: (i32, i32),
    /// Positions of the indexed nodes, by their index; none for an index whose element has gone.
    pub elements: Vec<Option<usize>>,
}

impl Tree {
    /// Gives indices to what a person can operate, in document order: first to what is in view, so that its indices
    /// are the same whether the rest is read or not. False when `max_elements` (0: no limit) was reached: from there on
    /// the tree is cut, or what lies beyond the view is not printed.
    pub fn choose(&mut self, max_elements: u32) -> bool {
        self.elements.clear();
        for position in 0..self.nodes.len() {
            if self.nodes[position].offscreen || !self.nodes[position].is_operated() {
                continue;
            }
            if self.is_full(max_elements) {
                self.nodes.truncate(position);
                return false;
            }
            self.give_index(position);
        }
        for position in 0..self.nodes.len() {
            if !self.nodes[position].offscreen || !self.nodes[position].is_operated() {
                continue;
            }
            if self.is_full(max_elements) {
                return false;
            }
            self.give_index(position);
        }
        true
    }

    fn is_full(&self, max_elements: u32) -> bool {
        max_elements != 0 && usize::try_from(max_elements).is_ok_and(|most| self.elements.len() >= most)
    }

    fn give_index(&mut self, position: usize) {
        self.nodes[position].index = u32::try_from(self.elements.len()).ok();
        self.elements.push(Some(position));
    }

    /// Position of the element with this index.
    pub fn position(&self, index: u32) -> Option<usize> {
        usize::try_from(index).ok().and_then(|index| self.elements.get(index).copied().flatten())
    }

    /// Number of elements.
    pub fn element_count(&self) -> u32 {
        u32::try_from(self.elements.iter().flatten().count()).unwrap_or(u32::MAX)
    }

    /// Gives unnamed buttons, rows and the like the text that stands in them.
    pub fn name_by_content(&mut self) {
        let mut names: Vec<(usize, String)> = Vec::new();
        for at in 0..self.nodes.len() {
            let node = &self.nodes[at];
            if node.index.is_none() || !node.role.is_named_by_content() || !node.label.trim().is_empty() {
                continue;
            }
            let inside = |other: &Node| other.index.is_none() && self.nearest_element(other) == Some(at);
            let texts = self.nodes[at + 1..].iter().take(MAX_CONTENT).filter(|other| inside(other));
            let texts: Vec<&str> =
                texts.map(|other| other.label.trim()).filter(|text| !text.is_empty()).collect();
            names.push((at, texts.join(" ")));
        }
        for (at, name) in names {
            self.nodes[at].label = name;
        }
    }

    /// Position of the nearest indexed ancestor.
    fn nearest_element(&self, node: &Node) -> Option<usize> {
        let mut above = node.parent;
        while let Some(at) = above.filter(|at| self.nodes[*at].index.is_none()) {
            above = self.nodes[at].parent;
        }
        above
    }

    /// Takes the labels off leaves that only repeat their parent's: a link and the text in it are one thing.
    pub fn fold(&mut self) {
        let mut has_children = vec![false; self.nodes.len()];
        for node in &self.nodes {
            if let Some(parent) = node.parent {
                has_children[parent] = true;
            }
        }
        for at in (0..self.nodes.len()).filter(|at| !has_children[*at]) {
            let node = &self.nodes[at];
            let Some(parent) = node.parent.map(|parent| &self.nodes[parent]) else { continue };
            let repeats =
                node.index.is_none() && node.value.is_none() && node.label.trim() == parent.label.trim();
            if repeats && matches!(node.role.name(), "static" | "label" | "text") {
                self.nodes[at].label.clear();
            }
        }
    }

    /// The nodes that are printed and match `query` (a case-insensitive part of their line), with their ancestors,
    /// each with its depth: the number of printed ancestors.
    pub fn lines(&self, query: Option<&str>, line: impl Fn(&Node) -> String) -> Vec<Line> {
        let query = query.map(str::to_lowercase).filter(|query| !query.is_empty());
        let mut lines: Vec<Line> = Vec::new();
        let mut line_of: Vec<Option<usize>> = Vec::with_capacity(self.nodes.len());
        for (position, node) in self.nodes.iter().enumerate() {
            let above = node.parent.and_then(|parent| line_of[parent]);
            if !node.is_printed() {
                line_of.push(above);
                continue;
            }
            let text = line(node);
            let kept = query.as_ref().is_none_or(|query| text.to_lowercase().contains(query));
            let depth = above.map_or(0, |above| lines[above].depth + 1);
            line_of.push(Some(lines.len()));
            lines.push(Line { position, above, depth, text, kept });
        }
        for at in (0..lines.len()).rev() {
            if let (true, Some(above)) = (lines[at].kept, lines[at].above) {
                lines[above].kept = true;
            }
        }
        lines.retain(|line| line.kept);
        lines
    }

    /// Index of the nearest indexed ancestor.
    pub fn indexed_ancestor(&self, position: usize) -> Option<u32> {
        self.nearest_element(&self.nodes[position]).and_then(|at| self.nodes[at].index)
    }
}

/// One line of the printed tree.
#[derive(Clone, Debug)]
pub struct Line {
    /// Position of its node.
    pub position: usize,
    /// The line of its nearest printed ancestor, counted before filtering.
    above: Option<usize>,
    /// Number of printed ancestors.
    pub depth: usize,
    /// The line without indentation.
    pub text: String,
    kept: bool,
}

#[cfg(test)]
pub mod tests {
    use crate::tree::*;

    /// A node for tests.
    pub fn node(parent: Option<usize>, role: u32, label: &str) -> Node {
        let states = States::default().with(State::Enabled).with(State::Showing);
        Node { parent, role: Role(role), label: label.into(), states, ..Node::default() }
    }

    /// frame "Main" > filler > (button "Save", section "News" > list item "one", entry "Name").
    pub fn sample() -> Tree {
        let mut entry = node(Some(1), 79, "Name");
        entry.value = Some("a \"b\"\nc".into());
        entry.actions = vec!["activate".into()];
        entry.states = entry.states.with(State::Editable);
        let nodes = vec![
            node(None, 23, "Main"),
            node(Some(0), 20, ""),
            node(Some(1), 43, "Save"),
            node(Some(1), 85, "News"),
            node(Some(3), 32, "one"),
            entry,
        ];
        let mut tree = Tree { nodes, origin: (100, 50), elements: Vec::new() };
        tree.choose(0);
        tree
    }

    /// The sample, each node an object of its own.
    pub fn identified() -> Tree {
        let mut tree = sample();
        for (position, node) in tree.nodes.iter_mut().enumerate() {
            node.identity = crate::token::identity(7, ":1.5", &format!("/{position}"));
        }
        tree
    }

    #[test]
    fn only_what_a_person_operates_is_indexed() {
        assert_eq!(sample().elements, [Some(2), Some(5)]);
    }

    #[test]
    fn a_claimed_action_alone_gives_no_index() {
        let mut section = node(None, 85, "text");
        section.abilities = Abilities::ACTION;
        assert!(!section.is_operated());
        section.states = section.states.with(State::Focusable);
        assert!(section.is_operated());
    }

    #[test]
    fn list_items_are_indexed_when_they_can_be_selected() {
        let mut item = node(None, 32, "one");
        assert!(!item.is_operated());
        item.states = item.states.with(State::Selectable);
        assert!(item.is_operated());
    }

    #[test]
    fn a_row_of_tabs_is_indexed_when_it_chooses_or_listens() {
        let mut tabs = node(None, 38, "Appearance");
        tabs.states = tabs.states.with(State::Focusable);
        assert!(!tabs.is_operated());
        // Qt gives it no selection, but the focus, in which arrow keys choose a tab.
        tabs.abilities = Abilities::ACTION;
        assert!(tabs.is_operated());
        tabs.states = States::default();
        assert!(!tabs.is_operated());
        tabs.abilities = Abilities::SELECTION;
        assert!(tabs.is_operated());
    }

    #[test]
    fn unnamed_buttons_are_named_by_what_is_in_them() {
        let mut tree = sample();
        tree.nodes.push(node(Some(1), 43, ""));
        tree.nodes.push(node(Some(6), 29, "Sans"));
        tree.nodes.push(node(Some(6), 29, "12"));
        tree.nodes.push(node(Some(1), 29, "beside"));
        tree.choose(0);
        tree.name_by_content();
        assert_eq!(tree.nodes[6].label, "Sans 12");
    }

    #[test]
    fn text_that_repeats_its_parent_is_not_printed() {
        let mut tree = sample();
        tree.nodes.push(node(Some(2), 116, "Save"));
        tree.nodes.push(node(Some(3), 116, "Other"));
        tree.fold();
        assert_eq!((tree.nodes[6].is_printed(), tree.nodes[7].is_printed()), (false, true));
    }

    #[test]
    fn what_lies_beyond_the_view_is_counted_after_what_is_in_view() {
        let mut tree = sample();
        tree.nodes[2].offscreen = true;
        assert!(tree.choose(0));
        assert_eq!(tree.elements, [Some(5), Some(2)]);
        tree.nodes[2].index = None;
        assert!(!tree.choose(1));
        assert_eq!((tree.nodes.len(), tree.nodes[2].index), (6, None));
    }

    #[test]
    fn the_limit_cuts_the_tree() {
        let mut tree = sample();
        assert!(!tree.choose(1));
        assert_eq!((tree.elements.len(), tree.nodes.len()), (1, 5));
    }
}
