//! (written by its own commit)
