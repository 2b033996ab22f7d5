//! Master pointers and keyboards: the agent's own, made, parked, removed and swept, and keyboard maps.

pub mod key_positions;
pub mod keyboard;
pub mod master;
pub mod pair;
pub mod parking;
pub mod pointer;
pub mod sweep;
