//! Linux: AT-SPI over D-Bus (interfaces of at-spi2-core 2.46).
mod accessibility;
mod actions;
mod bus;
mod dbus;
mod snapshot;
mod tree;
mod x11;

pub use accessibility::Accessibility;
pub use dbus::round_trips;
pub use snapshot::Snapshot;
