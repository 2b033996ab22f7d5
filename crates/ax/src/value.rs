//! Values as a person names them: which kind an element takes, and what a text means for it.

use crate::role::Role;
use crate::state::State;
use crate::tree::{Abilities, Node};

/// Most options that a message lists.
const MAX_LISTED: usize = 30;

/// What kind of value an element takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// On or off.
    Switch,
    /// One of the options inside it.
    Choice,
    /// Selected or not among its siblings.
    Item,
    /// A number in a range.
    Number,
    /// Free text.
    Text,
}

/// The kind of value that the node takes; none when it takes none.
pub fn kind(node: &Node) -> Option<Kind> {
    let can = |ability| node.abilities.has(ability);
    if node.role.is_toggle() || node.states.has(State::Checkable) {
        Some(Kind::Switch)
    } else if node.role.is_chooser() {
        Some(Kind::Choice)
    } else if can(Abilities::VALUE) && node.role.is_range() && !node.role.is_meter() {
        Some(Kind::Number)
    } else if can(Abilities::EDITABLE_TEXT) || node.role.is_entry() && node.states.has(State::Editable) {
        Some(Kind::Text)
    } else if node.states.has(State::Selectable) {
        Some(Kind::Item)
    } else {
        None
    }
}

/// On or off, as people write it.
pub fn switch(text: &str) -> Option<bool> {
    match text.trim().to_lowercase().as_str() {
        "on" | "true" | "checked" | "yes" | "1" | "selected" | "pressed" => Some(true),
        "off" | "false" | "unchecked" | "no" | "0" | "unselected" | "not selected" => Some(false),
        _ => None,
    }
}

/// A number, with or without a percent sign or a decimal comma.
pub fn number(text: &str) -> Option<f64> {
    let text = text.trim().trim_end_matches('%').trim_end().replace(',', ".");
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// Position of the option of that name: the same letters first, then whatever their case.
pub fn matching<'a>(options: impl Iterator<Item = &'a str> + Clone, wanted: &str) -> Option<usize> {
    let wanted = plain(wanted);
    let folded = wanted.to_lowercase();
    options
        .clone()
        .position(|name| plain(name) == wanted)
        .or_else(|| options.clone().position(|name| plain(name).to_lowercase() == folded))
}

/// A name without what surrounds it: white space, and the character that stands for an object inside a text.
pub fn plain(name: &str) -> String {
    name.replace('\u{fffc}', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Names for a message: in quotes, the first thirty.
pub fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(MAX_LISTED);
    let quoted: Vec<String> = names.take(MAX_LISTED).map(|name| format!("\"{}\"", plain(name))).collect();
    match (quoted.is_empty(), more) {
        (true, _) => "nothing".to_owned(),
        (false, 0) => quoted.join(", "),
        (false, more) => format!("{} and {more} more", quoted.join(", ")),
    }
}

/// True for what stands for one option of a list, a menu or a row of tabs.
pub fn is_option(role: Role) -> bool {
    matches!(
        role.name(),
        "menu item"
            | "check menu item"
            | "radio menu item"
            | "list item"
            | "page tab"
            | "tree item"
            | "table row"
            | "table cell"
            | "radio button"
    )
}

#[cfg(test)]
mod tests {
    use crate::tree::tests::node;
    use crate::value::*;

    #[test]
    fn a_kind_goes_by_role_and_abilities() {
        let with = |role, abilities: &[Abilities]| {
            let mut own = node(None, role, "");
            own.abilities = Abilities(abilities.iter().map(|one| one.0).sum());
            kind(&own)
        };
        assert_eq!(with(7, &[Abilities::ACTION]), Some(Kind::Switch));
        assert_eq!(with(11, &[Abilities::ACTION]), Some(Kind::Choice));
        assert_eq!(with(52, &[Abilities::VALUE, Abilities::EDITABLE_TEXT]), Some(Kind::Number));
        assert_eq!(with(61, &[Abilities::TEXT, Abilities::EDITABLE_TEXT]), Some(Kind::Text));
        assert_eq!(with(42, &[Abilities::VALUE]), None, "a progress bar shows a value and takes none");
        assert_eq!(with(43, &[Abilities::ACTION]), None);
    }

    #[test]
    fn words_for_on_and_off_are_understood() {
        for (text, on) in
            [("On", Some(true)), (" checked ", Some(true)), ("FALSE", Some(false)), ("maybe", None)]
        {
            assert_eq!(switch(text), on, "{text}");
        }
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, value) in
            [("40 %", Some(40.0)), ("0,5", Some(0.5)), ("-3", Some(-3.0)), ("NaN", None), ("x", None)]
        {
            assert_eq!(number(text), value, "{text}");
        }
    }

    #[test]
    fn options_match_whatever_their_case_but_exactly_first() {
        let options = ["pear", "Pear", " A  b\u{fffc}"];
        assert_eq!(matching(options.iter().copied(), "Pear"), Some(1));
        assert_eq!(matching(options.iter().copied(), "PEAR"), Some(0));
        assert_eq!(matching(options.iter().copied(), "a b"), Some(2));
        assert_eq!(matching(options.iter().copied(), "apple"), None);
    }
}
