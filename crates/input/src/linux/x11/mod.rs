//! The X server: delivery through a second master pointer of the X Input protocol.

pub mod agent;
pub mod agent_devices;
pub mod app_queues;
pub mod connection;
pub mod core_devices;
pub mod devices;
pub mod gestures;
pub mod new_windows;
pub mod person;
pub mod stop_key;
