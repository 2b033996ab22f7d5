//! Element tokens: names of elements that outlive snapshots.
//!
//! A token is 20 characters of Crockford's base 32 without its check symbol: role (2), name (5) and ancestors (5), by
//! which a lookalike is known, then the application's own object (8). What they stand for is hashed with FNV-1a, so that
//! the same element has the same token in every process.

use crate::role::Role;
use crate::tree::{Node, Tree};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Characters of each part.
const PARTS: [usize; 4] = [2, 5, 5, 8];
/// Most candidates for an element that has gone.
const CANDIDATES: usize = 5;

/// What an element is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// Its role.
    role: u64,
    /// Its name.
    name: u64,
    /// Roles and names of what it lies in, but for the window's name.
    ancestors: u64,
    /// The object in its application.
    object: u64,
}

/// How the element of a token was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenMatch {
    /// It is the same object.
    Same,
    /// Its object has gone, and exactly one element has the same role, name and ancestors.
    Lookalike,
}

impl TokenMatch {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Lookalike => "lookalike",
        }
    }
}

impl Token {
    /// Reads a token; none for a text that is none.
    pub fn parse(text: &str) -> Option<Self> {
        let digits: Vec<u64> = text
            .bytes()
            .map(|byte| ALPHABET.iter().position(|own| *own == byte.to_ascii_lowercase()))
            .map(|digit| digit.and_then(|digit| u64::try_from(digit).ok()))
            .collect::<Option<_>>()?;
        if digits.len() != PARTS.iter().sum::<usize>() {
            return None;
        }
        let mut rest = digits.as_slice();
        let mut parts = PARTS.iter().map(|length| {
            let (part, after) = rest.split_at(*length);
            rest = after;
            part.iter().fold(0, |value, digit| value << 5 | digit)
        });
        Some(Self {
            role: parts.next()?,
            name: parts.next()?,
            ancestors: parts.next()?,
            object: parts.next()?,
        })
    }

    /// Its text.
    pub fn text(self) -> String {
        let mut out = String::with_capacity(20);
        for (value, length) in [self.role, self.name, self.ancestors, self.object].into_iter().zip(PARTS) {
            for place in (0..length).rev() {
                out.push(char::from(ALPHABET[usize::try_from(value >> (place * 5) & 31).unwrap_or(0)]));
            }
        }
        out
    }

    /// True when both have the same role, name and ancestors.
    pub fn resembles(self, other: Self) -> bool {
        (self.role, self.name, self.ancestors) == (other.role, other.name, other.ancestors)
    }

    /// True when both are the same object of an application.
    pub fn is_same(self, other: Self) -> bool {
        (self.role, self.object) == (other.role, other.object)
    }

    /// What stands for its object.
    pub fn object_hash(self) -> u64 {
        self.object
    }

    /// How much two have in common; 0 for nothing that is worth showing.
    fn likeness(self, other: Self) -> u32 {
        let weigh = |same: bool, weight: u32| if same { weight } else { 0 };
        let role = self.role == other.role;
        weigh(self.name == other.name && (role || self.ancestors == other.ancestors), 4)
            + weigh(role && self.ancestors == other.ancestors, 2)
            + weigh(role && self.name == other.name, 1)
    }
}

impl Tree {
    /// The tokens of all nodes, by position.
    pub fn tokens(&self) -> Vec<Token> {
        let mut lineage: Vec<u64> = Vec::with_capacity(self.nodes.len());
        let mut tokens = Vec::with_capacity(self.nodes.len());
        for (position, node) in self.nodes.iter().enumerate() {
            let above = node.parent.map_or(SEED, |parent| lineage[parent]);
            tokens.push(Token {
                role: cut(u64::from(node.role.0), 0),
                name: cut(hash(SEED, node.label.trim().as_bytes()), 1),
                ancestors: cut(above, 2),
                object: cut(node.identity, 3),
            });
            // A window's name is often that of what is open in it, and what is not printed comes and goes unseen.
            lineage.push(match position {
                0 => hash(above, &node.role.0.to_le_bytes()),
                _ if node.is_printed() => lineage_of(above, node),
                _ => above,
            });
        }
        tokens
    }

    /// The element of a token: its own object, or the only one with the same role, name and ancestors. An object that has
    /// another name now gives way to such a one: lists give their rows to other contents.
    pub fn find(&self, token: Token) -> Option<(u32, TokenMatch)> {
        let mut same = None;
        let mut alike = Vec::new();
        for (index, own) in self.element_tokens() {
            if own.is_same(token) && own.resembles(token) {
                return Some((index, TokenMatch::Same));
            }
            if own.is_same(token) {
                same = Some((index, TokenMatch::Same));
            }
            if own.resembles(token) {
                alike.push((index, TokenMatch::Lookalike));
            }
        }
        match alike.as_slice() {
            [only] => Some(*only),
            _ => same,
        }
    }

    /// Indices of the elements that have most in common with that of a token, the most first.
    pub fn nearest(&self, token: Token) -> Vec<u32> {
        let mut found: Vec<(u32, u32)> = self
            .element_tokens()
            .map(|(index, own)| (own.likeness(token), index))
            .filter(|(likeness, _)| *likeness > 0)
            .collect();
        found.sort_by_key(|(likeness, index)| (std::cmp::Reverse(*likeness), *index));
        found.into_iter().map(|(_, index)| index).take(CANDIDATES).collect()
    }

    /// The elements with their tokens.
    pub fn element_tokens(&self) -> impl Iterator<Item = (u32, Token)> {
        let tokens = self.tokens();
        self.elements.iter().enumerate().filter_map(move |(index, position)| {
            Some((u32::try_from(index).ok()?, *tokens.get((*position)?)?))
        })
    }
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;

fn lineage_of(above: u64, node: &Node) -> u64 {
    let Role(role) = node.role;
    hash(hash(above, &role.to_le_bytes()), node.label.trim().as_bytes())
}

/// FNV-1a with 64 bits, going on from `state`.
pub fn hash(state: u64, bytes: &[u8]) -> u64 {
    // The length keeps "a", "bc" apart from "ab", "c".
    let length = bytes.len().to_le_bytes();
    bytes
        .iter()
        .chain(&length)
        .fold(state, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// The identity of an object: the process, its name on the bus, and the path.
pub fn identity(pid: u32, bus: &str, path: &str) -> u64 {
    hash(hash(hash(SEED, &pid.to_le_bytes()), bus.as_bytes()), path.as_bytes())
}

/// As many bits as a part of a token holds, the upper ones mixed in.
fn cut(value: u64, part: usize) -> u64 {
    let bits = PARTS[part] * 5;
    (value ^ value >> bits ^ value >> (64 - bits)) & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use crate::token::*;
    use crate::tree::tests::{identified, node};

    fn token(tree: &Tree, index: u32) -> Token {
        tree.element_tokens().find(|(own, _)| *own == index).unwrap().1
    }

    #[test]
    fn tokens_are_short_and_read_back() {
        let token = token(&identified(), 0);
        assert_eq!(token.text().len(), 20);
        assert_eq!(Token::parse(&token.text()), Some(token));
        assert_eq!(Token::parse(&token.text().to_uppercase()), Some(token));
        for other in ["", "save", "uuuuuuuuuuuuuuuuuuuu", "ääääääääää"] {
            assert_eq!(Token::parse(other), None);
        }
    }

    #[test]
    fn an_object_is_found_under_a_new_name_and_in_a_new_window_title() {
        let mut tree = identified();
        let save = token(&tree, 0);
        tree.nodes[0].label = "*Main".into();
        assert_eq!(tree.find(save), Some((0, TokenMatch::Same)));
        tree.nodes[2].label = "Saved".into();
        assert_eq!(tree.find(save), Some((0, TokenMatch::Same)));
    }

    #[test]
    fn a_lookalike_stands_in_for_an_object_that_has_gone() {
        let mut tree = identified();
        let save = token(&tree, 0);
        tree.nodes[2].identity = 1;
        assert_eq!(tree.find(save), Some((0, TokenMatch::Lookalike)));
        tree.nodes.push(node(Some(1), 43, "Save"));
        tree.choose(0);
        assert_eq!(tree.find(save), None, "two look alike");
        assert_eq!(tree.nearest(save), [0, 2]);
    }

    #[test]
    fn a_row_that_holds_something_else_gives_way_to_the_one_that_looks_alike() {
        let mut tree = identified();
        let save = token(&tree, 0);
        tree.nodes[2].label = "Open".into();
        tree.nodes.push(node(Some(1), 43, "Save"));
        tree.choose(0);
        assert_eq!(tree.find(save), Some((2, TokenMatch::Lookalike)));
    }

    #[test]
    fn what_lies_elsewhere_is_no_lookalike() {
        let mut tree = identified();
        let entry = token(&tree, 1);
        tree.nodes[5].identity = 1;
        tree.nodes[5].parent = Some(3);
        assert_eq!(tree.find(entry), None);
        assert_eq!(tree.nearest(entry), [1]);
    }
}
