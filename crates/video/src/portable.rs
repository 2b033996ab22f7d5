//! Processors without code of their own.

/// Runs the work.
#[inline]
pub(crate) fn widest<T>(work: impl FnOnce() -> T) -> T {
    work()
}
