//! The person's devices, focus and window order: observed, held while needed, given back.

pub mod device_grab;
pub mod focus;
pub mod freeze;
pub mod hold;
pub mod restore;
pub mod state;
