//! Delivery through a second master pointer of the X Input protocol.
mod process;
mod rest;
mod stops;
mod x11;

pub use x11::agent::{Agent, sweep_agents};
pub use x11::app_queues::AppQueues;
pub use x11::core_devices::{Asked, CoreDevices, sweep_core_devices};
pub use x11::stop_key::StopKey;
