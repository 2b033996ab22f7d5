//! Reads the tree of one window, and keeps what its elements were made of.

use std::sync::Arc;
use std::time::Duration;

use super::bus::application::App;
use super::bus::ask::ObjectRef;
use super::dbus::CallError;
use super::tree::objects::Source;
use crate::state::State;
use crate::token::Token;
use crate::tree::Tree;
use crate::{AxError, Element, Offscreen, TokenMatch, changes, elements, markdown};

/// The tree of one window as it was read, with what is needed to act on its elements.
#[derive(Clone)]
pub struct Snapshot {
    pub(super) app: Arc<App>,
    pub(super) tree: Arc<Tree>,
    /// Objects of the tree's nodes.
    pub(super) objects: Arc<Vec<Source>>,
    /// The window's own object, when it is a top-level one.
    pub(super) window: Option<ObjectRef>,
    pub(super) partial: Option<String>,
    pub(super) offscreen: Offscreen,
}

impl Snapshot {
    /// Number of elements.
    pub fn element_count(&self) -> u32 {
        self.tree.element_count()
    }

    /// Why the tree is incomplete; none when it is complete.
    pub fn partial(&self) -> Option<&str> {
        self.partial.as_deref()
    }

    /// What lies beyond the view.
    pub fn offscreen(&self) -> Offscreen {
        self.offscreen
    }

    /// The tree as Markdown; with `query` only matching lines and their ancestors.
    pub fn markdown(&self, query: Option<&str>, short_tags: bool) -> String {
        markdown::markdown(&self.tree, query, short_tags)
    }

    /// The elements as the text of a JSON array; with `query` those of the lines that it keeps.
    pub fn elements(&self, query: Option<&str>) -> String {
        elements::json(&self.tree, query)
    }

    /// All that is printed, operated or not, as the text of a JSON array; `depth` says what lies in what.
    pub fn printed(&self) -> String {
        elements::printed(&self.tree)
    }

    /// One element as it was read.
    pub fn element(&self, index: u32) -> Option<Element> {
        self.position(index).ok().map(|at| Element::of(&self.tree.nodes[at], index))
    }

    /// Index of the element that had the keyboard focus.
    pub fn focused(&self) -> Option<u32> {
        let focused = self.tree.nodes.iter().rev().find(|node| node.states.has(State::Focused))?;
        focused.index
    }

    /// Index of the element that the application last said to have got the focus, where it is one of this window. It need not
    /// have it now: an element of a window that is not active has none in most toolkits.
    pub fn last_focused(&self) -> Option<u32> {
        let path = self.app.events.last_focus(&self.app.name)?;
        let is_it = |source: &Source| source.object.bus == self.app.name && source.object.path == path;
        self.tree.nodes[self.objects.iter().position(is_it)?].index
    }

    /// The same tree with the indices of `previous` for the elements that were there; new ones get higher ones.
    #[must_use]
    pub fn keeping_indices(&self, previous: &Self) -> Self {
        let mut tree = Tree::clone(&self.tree);
        tree.keep_indices(&previous.tree);
        Self { tree: Arc::new(tree), ..self.clone() }
    }

    /// What changed since `previous`, as the text of a JSON object.
    pub fn changes_since(&self, previous: &Self) -> String {
        changes::json(&self.tree, &previous.tree)
    }

    /// What changed since `previous`, as lines with `+`, `~` and `-`.
    pub fn changes_markdown(&self, previous: &Self, short_tags: bool) -> String {
        changes::markdown(&self.tree, &previous.tree, short_tags)
    }

    /// The token of an element; empty when the snapshot has none of this index.
    pub fn token(&self, index: u32) -> String {
        let token = self.tree.element_tokens().find(|(own, _)| *own == index);
        token.map(|(_, token)| token.text()).unwrap_or_default()
    }

    /// The element that a token stands for, and how it was found; none when it is not here.
    pub fn find(&self, token: &str) -> Option<(u32, TokenMatch)> {
        self.tree.find(Token::parse(token)?)
    }

    /// The elements most like that of a token, as the text of a JSON array: element_token, role and label.
    pub fn nearest(&self, token: &str) -> String {
        Token::parse(token).map_or_else(|| "[]".to_owned(), |token| elements::candidates(&self.tree, token))
    }

    /// Index of the innermost element at a point in window pixels: the smallest there, of equal ones the last.
    pub fn at(&self, x: i32, y: i32) -> Option<u32> {
        let point = desktop::Point { x, y };
        let there = self.tree.elements.iter().rev().flatten().map(|at| &self.tree.nodes[*at]);
        let there = there.filter(|node| node.frame.contains(point));
        there.min_by_key(|node| u64::from(node.frame.width) * u64::from(node.frame.height))?.index
    }

    pub(super) fn position(&self, index: u32) -> Result<usize, AxError> {
        self.tree.position(index).ok_or(AxError::UnknownElement { index, count: self.element_count() })
    }

    /// The failure of a call on an element: one that the application no longer knows is stale.
    pub(super) fn failure(&self, index: u32, error: &CallError, waited: Duration) -> AxError {
        match error {
            CallError::Remote { name, .. } if is_gone(name) => self.stale(index),
            other => self.app.failure(other, waited),
        }
    }

    pub(super) fn stale(&self, index: u32) -> AxError {
        let (role, label) = self.named(index);
        AxError::StaleElement { index, role, label }
    }

    /// Role and label of an element, for messages.
    pub(super) fn named(&self, index: u32) -> (String, String) {
        let node = self.position(index).ok().map(|at| &self.tree.nodes[at]);
        node.map_or_else(Default::default, |node| (node.role.name().to_owned(), node.label.clone()))
    }
}

/// True for the errors by which a bus or an application says that an object is no more.
fn is_gone(error: &str) -> bool {
    let short = error.rsplit('.').next().unwrap_or_default();
    matches!(
        short,
        "UnknownObject" | "UnknownMethod" | "UnknownInterface" | "ServiceUnknown" | "NameHasNoOwner"
    )
}
