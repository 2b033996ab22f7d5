//! Names of menu items as people write them.

use crate::value;

/// True for names that mean the same item: case, white space, mnemonic marks and the form of an ellipsis aside.
pub fn same(name: &str, wanted: &str) -> bool {
    folded(name) == folded(wanted)
}

fn folded(name: &str) -> String {
    value::plain(name).replace("...", "…").replace('_', "").to_lowercase()
}

/// Positions of the items that `wanted` names: those of exactly that name, else those that mean the same.
pub fn named(items: &[&str], wanted: &str) -> Vec<usize> {
    let by = |fits: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..items.len()).filter(|at| fits(items[*at])).collect()
    };
    let exact = by(&|name| value::plain(name) == value::plain(wanted));
    if exact.is_empty() { by(&|name| same(name, wanted)) } else { exact }
}

/// A path for a message.
pub fn shown(path: &[String]) -> String {
    let quoted: Vec<String> = path.iter().map(|name| format!("\"{name}\"")).collect();
    if quoted.is_empty() { "bar".to_owned() } else { quoted.join(" > ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_named_as_people_write_them() {
        let items = ["Save", "Save As…", "save", "_Open"];
        assert_eq!(named(&items, "save"), [2]);
        assert_eq!(named(&items, "SAVE"), [0, 2]);
        assert_eq!(named(&items, "Save as..."), [1]);
        assert_eq!(named(&items, "open"), [3]);
        assert!(named(&items, "Close").is_empty());
    }
}
