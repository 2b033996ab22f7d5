//! Steps delivered to one window: pointer and keys of the agent's devices, key messages, typed text.

pub mod covers;
pub mod holes;
pub mod key_messages;
pub mod locale;
pub mod region;
pub mod steps;
pub mod target;
pub mod typing;
