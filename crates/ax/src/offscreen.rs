//! How much of a window lies beyond what it shows.

/// What a person would have to scroll to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offscreen {
    /// Elements before those in view around them.
    pub above: u32,
    /// Elements behind those in view around them.
    pub below: u32,
    /// Texts that nobody operates.
    pub texts: u32,
    /// True when there may be more: a document without end is not counted to its end.
    pub at_least: bool,
    /// True when the tree holds them, so far as it was not cut.
    pub listed: bool,
}

impl Offscreen {
    /// Adds elements.
    pub fn add(&mut self, above: u32, below: u32) {
        self.above = self.above.saturating_add(above);
        self.below = self.below.saturating_add(below);
    }
}
