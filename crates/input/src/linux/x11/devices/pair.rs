//! A master pointer and its keyboard.

/// A pointer and the keyboard paired with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Device id of the pointer.
    pub pointer: u16,
    /// Device id of the keyboard.
    pub keyboard: u16,
}
