//! The indexed nodes as records, and as finished JSON text.

use std::fmt::Write;

use desktop::Rect;

use crate::markdown;
use crate::state::State;
use crate::token::Token;
use crate::tree::{Node, Tree};

/// One indexed node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Its index in the snapshot.
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
    /// Where it is, in pixels from the window's top-left corner.
    pub frame: Rect,
    /// True when it takes text through the accessibility bus.
    pub editable: bool,
    /// True when it can have the keyboard focus.
    pub focusable: bool,
}

impl Element {
    /// The record of a node under this index.
    pub fn of(node: &Node, element_index: u32) -> Self {
        Self {
            element_index,
            role: node.role.name().to_owned(),
            label: node.label.clone(),
            value: node.value.clone(),
            actions: node.actions.clone(),
            states: node.states.names().map(str::to_owned).collect(),
            enabled: node.states.operable(),
            selected: node.states.has(State::Selected),
            frame: node.frame,
            editable: node.states.has(State::Editable) && !node.states.has(State::ReadOnly),
            focusable: node.states.has(State::Focusable),
        }
    }
}

/// The indexed nodes of the printed tree (of the lines that match `query`) as the text of a JSON array: element_index,
/// element_token, role, label, value, actions, states, enabled, selected, frame {x, y, w, h} in screen pixels, parent_index (the
/// nearest indexed ancestor, or null), depth, and `offscreen` true for what is out of view.
pub fn json(tree: &Tree, query: Option<&str>) -> String {
    records(tree, query, |node| node.index.is_some())
}

/// The printed nodes, texts and groups among them, as the text of a JSON array like that of [`json`]; those that nobody
/// operates have null as their index. Parents stand before their children, which have a greater depth.
pub fn printed(tree: &Tree) -> String {
    records(tree, None, |_| true)
}

fn records(tree: &Tree, query: Option<&str>, is_wanted: impl Fn(&Node) -> bool) -> String {
    let mut out = String::from("[");
    let tokens = tree.tokens();
    for line in tree.lines(query, |node| markdown::text(node, false)) {
        if !is_wanted(&tree.nodes[line.position]) {
            continue;
        }
        if out.len() > 1 {
            out.push(',');
        }
        record(&mut out, tree, tokens[line.position], (line.position, line.depth));
    }
    out.push(']');
    out
}

/// One node as a JSON object; its index is null when it has none.
pub fn record(out: &mut String, tree: &Tree, token: Token, (position, depth): (usize, usize)) {
    let node = &tree.nodes[position];
    known_by(out, node, token);
    out.push_str(",\"value\":");
    match &node.value {
        Some(value) => string(out, value),
        None => out.push_str("null"),
    }
    out.push_str(",\"actions\":");
    strings(out, node.actions.iter().map(String::as_str));
    out.push_str(",\"states\":");
    strings(out, node.states.names());
    let frame = node.frame;
    let (x, y) = (frame.x.saturating_add(tree.origin.0), frame.y.saturating_add(tree.origin.1));
    let _ = write!(
        out,
        ",\"enabled\":{},\"selected\":{},\"frame\":{{\"x\":{x},\"y\":{y},\"w\":{},\"h\":{}}},\"parent_index\":{},\"depth\":{depth}{}}}",
        node.states.operable(),
        node.states.has(State::Selected),
        frame.width,
        frame.height,
        number(tree.indexed_ancestor(position)),
        if node.offscreen { ",\"offscreen\":true" } else { "" },
    );
}

/// The beginning of a record: what a node is known by.
pub fn known_by(out: &mut String, node: &Node, token: Token) {
    let _ = write!(
        out,
        "{{\"element_index\":{},\"element_token\":\"{}\",\"role\":",
        number(node.index),
        token.text()
    );
    string(out, node.role.name());
    out.push_str(",\"label\":");
    string(out, &node.label);
}

fn number(value: Option<u32>) -> String {
    value.map_or_else(|| "null".to_owned(), |value| value.to_string())
}

/// Elements that may be meant by a token, as the text of a JSON array: element_token, role and label.
pub fn candidates(tree: &Tree, token: Token) -> String {
    let tokens = tree.tokens();
    let mut out = String::from("[");
    for position in tree.nearest(token).into_iter().filter_map(|index| tree.position(index)) {
        let node = &tree.nodes[position];
        if out.len() > 1 {
            out.push(',');
        }
        let _ = write!(out, "{{\"element_token\":\"{}\",\"role\":", tokens[position].text());
        string(&mut out, node.role.name());
        out.push_str(",\"label\":");
        string(&mut out, &node.label);
        out.push('}');
    }
    out.push(']');
    out
}

/// A JSON array of strings.
pub fn strings<'a>(out: &mut String, values: impl Iterator<Item = &'a str>) {
    out.push('[');
    for (position, value) in values.enumerate() {
        if position > 0 {
            out.push(',');
        }
        string(out, value);
    }
    out.push(']');
}

/// A JSON string, quotes included (RFC 8259 §7).
pub(crate) fn string(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if u32::from(control) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use crate::elements::*;
    use crate::tree::tests::{node, sample};

    #[test]
    fn elements_carry_screen_frames_and_their_indexed_parent() {
        let mut tree = sample();
        let mut child = node(Some(5), 43, "Clear");
        child.frame = Rect { x: 5, y: 6, width: 7, height: 8 };
        tree.nodes.push(child);
        tree.choose(0);
        let text = json(&tree, Some("clear"));
        let tokens: Vec<String> = tree.element_tokens().map(|(_, token)| token.text()).collect();
        assert_eq!(
            text.replace(&tokens[1], "TOKEN").replace(&tokens[2], "OTHER"),
            concat!(
                r#"[{"element_index":1,"element_token":"TOKEN","role":"entry","label":"Name","value":"a \"b\"\nc","actions":["activate"],"#,
                r#""states":["editable","enabled","showing"],"enabled":true,"selected":false,"#,
                r#""frame":{"x":100,"y":50,"w":0,"h":0},"parent_index":null,"depth":1},"#,
                r#"{"element_index":2,"element_token":"OTHER","role":"push button","label":"Clear","value":null,"actions":[],"#,
                r#""states":["enabled","showing"],"enabled":true,"selected":false,"#,
                r#""frame":{"x":105,"y":56,"w":7,"h":8},"parent_index":1,"depth":2}]"#
            )
        );
    }

    #[test]
    fn strings_are_escaped() {
        let mut out = String::new();
        string(&mut out, "a\"\\\u{1}\n😀\u{7f}");
        assert_eq!(out, "\"a\\\"\\\\\\u0001\\n😀\u{7f}\"");
    }
}
