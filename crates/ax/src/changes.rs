//! What differs between two readings of a window, and indices that stay with their elements meanwhile.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use crate::token::Token;
use crate::tree::{Node, Tree};
use crate::{elements, markdown};

/// What became of the printed nodes of a tree, by their positions.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// New ones.
    pub added: Vec<usize>,
    /// Those that say something else now: position now, position before, and the names of the fields.
    pub changed: Vec<(usize, usize, Vec<&'static str>)>,
    /// Positions before of those that have gone.
    pub removed: Vec<usize>,
    /// Number of those that only moved.
    pub moved: usize,
    /// Number of all others.
    pub unchanged: usize,
}

impl Tree {
    /// Gives each element the index that it had in `previous`, and new ones the numbers after those. An element whose
    /// object has gone hands its index to the only one with the same role, name and ancestors.
    pub fn keep_indices(&mut self, previous: &Self) {
        let before: Vec<(u32, Token)> = previous.element_tokens().collect();
        let now: Vec<(usize, Token)> = {
            let tokens = self.tokens();
            self.elements.iter().flatten().map(|position| (*position, tokens[*position])).collect()
        };
        let by_object: HashMap<u64, (u32, Token)> =
            before.iter().map(|(index, token)| (token.object_hash(), (*index, *token))).collect();
        let mut given: HashMap<usize, u32> = HashMap::new();
        let mut taken: HashSet<u32> = HashSet::new();
        for (position, token) in &now {
            if let Some((index, old)) = by_object.get(&token.object_hash())
                && old.is_same(*token)
                && taken.insert(*index)
            {
                given.insert(*position, *index);
            }
        }
        for (index, old) in before.iter().filter(|(index, _)| !taken.contains(index)) {
            let mut alike = now.iter().filter(|(_, token)| token.resembles(*old));
            let rivals = before.iter().filter(|(other, token)| other != index && token.resembles(*old));
            if let (Some((position, _)), None, 0) = (alike.next(), alike.next(), rivals.count()) {
                given.entry(*position).or_insert(*index);
            }
        }
        let mut next = u32::try_from(previous.elements.len()).unwrap_or(u32::MAX);
        let mut elements = vec![None; previous.elements.len()];
        for (position, _) in now {
            let index = given.get(&position).copied().unwrap_or_else(|| {
                elements.push(None);
                next = next.saturating_add(1);
                next - 1
            });
            self.nodes[position].index = Some(index);
            if let Some(slot) = usize::try_from(index).ok().and_then(|index| elements.get_mut(index)) {
                *slot = Some(position);
            }
        }
        self.elements = elements;
    }

    /// What became of the printed nodes of `previous`.
    pub fn changes_since(&self, previous: &Self) -> Changes {
        let printed = |tree: &Self| -> Vec<usize> {
            (0..tree.nodes.len()).filter(|position| tree.nodes[*position].is_printed()).collect()
        };
        let mut before: HashMap<(u64, u32), usize> = printed(previous)
            .into_iter()
            .map(|position| (key(&previous.nodes[position]), position))
            .collect();
        let mut changes = Changes::default();
        for position in printed(self) {
            let node = &self.nodes[position];
            let Some(was) = before.remove(&key(node)) else {
                changes.added.push(position);
                continue;
            };
            let old = &previous.nodes[was];
            let fields = differing(old, node);
            if !fields.is_empty() {
                changes.changed.push((position, was, fields));
            } else if old.frame == node.frame {
                changes.unchanged += 1;
            } else {
                changes.moved += 1;
            }
        }
        changes.removed = before.into_values().collect();
        changes.removed.sort_unstable();
        changes
    }
}

fn key(node: &Node) -> (u64, u32) {
    (node.identity, node.role.0)
}

/// Names of the fields of `elements` that differ, but for the place.
fn differing(old: &Node, new: &Node) -> Vec<&'static str> {
    let pairs = [
        ("element_index", old.index != new.index),
        ("label", old.label != new.label),
        ("value", old.value != new.value),
        ("actions", old.actions != new.actions),
        ("states", old.states != new.states),
    ];
    pairs.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}

/// The changes since `previous` as the text of a JSON object: added and changed (records as in `elements`, element_index
/// null for what cannot be operated; changed ones name their differing fields in `fields`), removed (element_index,
/// element_token, role, label), moved and unchanged (numbers of nodes).
pub fn json(tree: &Tree, previous: &Tree) -> String {
    let changes = tree.changes_since(previous);
    let (tokens, old_tokens) = (tree.tokens(), previous.tokens());
    let depths = depths(tree);
    let mut out = String::from("{\"added\":[");
    let record = |out: &mut String, position: usize| {
        elements::record(out, tree, tokens[position], (position, depths[position]));
    };
    for (count, position) in changes.added.iter().enumerate() {
        separate(&mut out, count);
        record(&mut out, *position);
    }
    out.push_str("],\"changed\":[");
    for (count, (position, _, fields)) in changes.changed.iter().enumerate() {
        separate(&mut out, count);
        record(&mut out, *position);
        out.pop();
        out.push_str(",\"fields\":");
        elements::strings(&mut out, fields.iter().copied());
        out.push('}');
    }
    out.push_str("],\"removed\":[");
    for (count, position) in changes.removed.iter().enumerate() {
        separate(&mut out, count);
        elements::known_by(&mut out, &previous.nodes[*position], old_tokens[*position]);
        out.push('}');
    }
    let _ = write!(out, "],\"moved\":{},\"unchanged\":{}}}", changes.moved, changes.unchanged);
    out
}

fn separate(out: &mut String, count: usize) {
    if count > 0 {
        out.push(',');
    }
}

/// Number of printed ancestors of each node.
fn depths(tree: &Tree) -> Vec<usize> {
    let mut depths: Vec<usize> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let depth =
            node.parent.map_or(0, |parent| depths[parent] + usize::from(tree.nodes[parent].is_printed()));
        depths.push(depth);
    }
    depths
}

/// The changes since `previous` as lines: `+` for what is new, `~` for what says something else, `-` for what has gone,
/// each with the line of the tree; empty when nothing changed.
pub fn markdown(tree: &Tree, previous: &Tree, short_tags: bool) -> String {
    let changes = tree.changes_since(previous);
    let mut out = String::new();
    let mut line = |mark: char, node: &Node, note: &str| {
        let text = markdown::text(node, short_tags);
        let _ = writeln!(out, "{mark}{}{note}", text.strip_prefix('-').unwrap_or(&text));
    };
    for position in &changes.added {
        line('+', &tree.nodes[*position], "");
    }
    for (position, was, fields) in &changes.changed {
        line('~', &tree.nodes[*position], &difference(&previous.nodes[*was], &tree.nodes[*position], fields));
    }
    for position in &changes.removed {
        line('-', &previous.nodes[*position], "");
    }
    out
}

/// What a line of the tree does not show of a change: how it was, and the states that came and went.
fn difference(old: &Node, new: &Node, fields: &[&str]) -> String {
    let mut notes = Vec::new();
    if fields.contains(&"label") {
        notes.push(format!("was \"{}\"", markdown::quoted(&old.label)));
    }
    if fields.contains(&"value") {
        let value = old.value.as_deref().map_or_else(|| "none".to_owned(), markdown::quoted);
        notes.push(format!("value was \"{value}\""));
    }
    if fields.contains(&"states") {
        let came = new.states.names().filter(|name| !old.states.names().any(|own| own == *name));
        let went = old.states.names().filter(|name| !new.states.names().any(|own| own == *name));
        notes.extend(
            came.map(|name| format!("now {name}")).chain(went.map(|name| format!("no longer {name}"))),
        );
    }
    if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) }
}

#[cfg(test)]
mod tests {
    use crate::changes::*;
    use crate::state::State;
    use crate::tree::tests::{identified, node};

    #[test]
    fn an_unchanged_tree_has_no_changes() {
        let tree = identified();
        assert_eq!(tree.changes_since(&tree), Changes { unchanged: 5, ..Changes::default() });
        assert_eq!(markdown(&tree, &tree, false), "");
    }

    #[test]
    fn indices_stay_with_their_elements() {
        let previous = identified();
        let mut tree = identified();
        let mut early = node(Some(1), 43, "Early");
        early.identity = 99;
        tree.nodes.insert(2, early);
        for node in &mut tree.nodes[3..] {
            node.parent = node.parent.map(|parent| if parent > 1 { parent + 1 } else { parent });
        }
        tree.choose(0);
        tree.keep_indices(&previous);
        assert_eq!(tree.elements, [Some(3), Some(6), Some(2)]);
        assert_eq!(tree.nodes[2].index, Some(2));
        let mut later = identified();
        later.keep_indices(&tree);
        assert_eq!(later.elements, [Some(2), Some(5), None]);
    }

    #[test]
    fn the_only_lookalike_takes_the_index_of_what_has_gone() {
        let previous = identified();
        let mut tree = identified();
        tree.nodes[5].identity = 1;
        tree.nodes[2].identity = 2;
        let mut twin = node(Some(1), 43, "Save");
        twin.identity = 3;
        tree.nodes.push(twin);
        tree.choose(0);
        tree.keep_indices(&previous);
        assert_eq!(tree.elements, [None, Some(5), Some(2), Some(6)]);
    }

    #[test]
    fn changes_are_told_in_both_forms() {
        let previous = identified();
        let mut tree = identified();
        tree.nodes[5].value = Some("x".into());
        tree.nodes[2].states = tree.nodes[2].states.with(State::Focused);
        tree.nodes[4].identity = 44;
        tree.nodes[4].label = "two".into();
        tree.nodes[3].frame.x = 5;
        assert_eq!(
            markdown(&tree, &previous, true),
            "+ list item = \"two\"\n~ [0] push button \"Save\" (now focused)\n\
             ~ [1] entry \"Name\" value=\"x\" [actions=[activate]] (value was \"a \\\"b\\\"\\nc\")\n- list item = \"one\"\n"
        );
        let text = json(&tree, &previous);
        assert!(text.starts_with("{\"added\":[{\"element_index\":null,\"element_token\":\""), "{text}");
        assert!(text.contains("\"fields\":[\"states\"]"), "{text}");
        assert!(text.ends_with("\"label\":\"one\"}],\"moved\":1,\"unchanged\":1}"), "{text}");
    }
}
