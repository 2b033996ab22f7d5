//! Programs started, watched and ended.

pub mod kill;
pub mod launch;
pub mod plan;
pub mod process;
pub mod profile;
pub mod spawn;
pub mod start;
pub mod stat;
