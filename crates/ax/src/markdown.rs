//! The tree as Markdown, one line a node.

use std::fmt::Write;

use crate::tree::{Node, Tree};

/// Longest label or value that is printed, in characters; the rest becomes an ellipsis.
const MAX_TEXT: usize = 200;

/// The printed tree: two spaces a level, `- [element_index 4] push button "Save" [actions=[click]]` for what a person
/// can operate (`[4]` with `short_tags`), `- label = "Name"` for other named nodes, ` [offscreen]` behind what is out of
/// view. With a `query` only matching lines
/// and their ancestors; empty when nothing matches. Indices do not depend on the query.
pub fn markdown(tree: &Tree, query: Option<&str>, short_tags: bool) -> String {
    let mut out = String::new();
    for line in tree.lines(query, |node| text(node, short_tags)) {
        for _ in 0..line.depth {
            out.push_str("  ");
        }
        out.push_str(&line.text);
        out.push('\n');
    }
    out
}

/// The line of one node, without indentation.
pub fn text(node: &Node, short_tags: bool) -> String {
    let role = node.role.name();
    let Some(index) = node.index else {
        let mut out = format!("- {role} = \"{}\"", quoted(&node.label));
        if let Some(value) = node.value.as_ref().filter(|value| !value.is_empty()) {
            let _ = write!(out, " value=\"{}\"", quoted(value));
        }
        out.push_str(beyond(node));
        return out;
    };
    let mut out =
        if short_tags { format!("- [{index}] {role}") } else { format!("- [element_index {index}] {role}") };
    if !node.label.trim().is_empty() {
        let _ = write!(out, " \"{}\"", quoted(&node.label));
    }
    if let Some(value) = &node.value {
        let _ = write!(out, " value=\"{}\"", quoted(value));
    }
    if !node.actions.is_empty() {
        let names: Vec<String> = node.actions.iter().map(|name| quoted(name)).collect();
        let _ = write!(out, " [actions=[{}]]", names.join(","));
    }
    out.push_str(beyond(node));
    out
}

fn beyond(node: &Node) -> &'static str {
    if node.offscreen { " [offscreen]" } else { "" }
}

/// Text that keeps to its line and its quotes: escaped, and cut when it is long.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(MAX_TEXT) + 4);
    for (count, character) in text.trim().chars().enumerate() {
        if count == MAX_TEXT {
            out.push('…');
            break;
        }
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' | '\u{2028}' | '\u{2029}' | '\u{85}' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control.is_control() => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::markdown::*;
    use crate::tree::tests::sample;

    #[test]
    fn the_tree_has_the_shape_that_clients_read() {
        assert_eq!(
            markdown(&sample(), None, false),
            "- frame = \"Main\"\n\
             \x20 - [element_index 0] push button \"Save\"\n\
             \x20 - section = \"News\"\n\
             \x20   - list item = \"one\"\n\
             \x20 - [element_index 1] entry \"Name\" value=\"a \\\"b\\\"\\nc\" [actions=[activate]]\n"
        );
    }

    #[test]
    fn short_tags_leave_only_the_number() {
        assert!(markdown(&sample(), None, true).contains("- [0] push button \"Save\""));
    }

    #[test]
    fn a_query_keeps_ancestors_and_indices() {
        assert_eq!(
            markdown(&sample(), Some("NAME"), false),
            "- frame = \"Main\"\n  - [element_index 1] entry \"Name\" value=\"a \\\"b\\\"\\nc\" [actions=[activate]]\n"
        );
        assert_eq!(markdown(&sample(), Some("nowhere"), false), "");
    }

    #[test]
    fn long_text_is_cut() {
        let text = quoted(&"ä".repeat(500));
        assert_eq!(text.chars().count(), MAX_TEXT + 1);
        assert!(text.ends_with('…'));
    }
}
