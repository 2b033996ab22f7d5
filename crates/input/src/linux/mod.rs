//! Delivery through a second master pointer of the X Input protocol.
mod cancellation;
mod process;
mod rest;
mod x11;

pub use x11::agent::{Agent, sweep_agents};
pub use x11::app_queues::AppQueues;
pub use x11::core_devices::{CallOrder, CoreDevices, sweep_core_devices};
pub use x11::stop_key::StopKey;
