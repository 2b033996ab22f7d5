//! What a look at a window tells without a picture.

use std::time::Duration;

/// A hash of a window's pixels, and for how long they were left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowDigest {
    /// Changes when what is seen changes.
    pub digest: String,
    /// For how long nothing was drawn in the window, the same pixels neither, as far as it was looked at; none where
    /// nobody tells. Zero at the first look.
    pub since_drawn: Option<Duration>,
}
