//! Linux: AT-SPI over D-Bus (interfaces of at-spi2-core 2.46).
mod accessibility;
mod act;
mod activity;
mod application;
mod ask;
mod bus;
mod collect;
mod dbus;
mod detail;
mod drawn;
mod events;
mod menu;
mod mirror;
mod options;
mod page;
mod part;
mod remembered;
mod set_value;
mod snapshot;
mod telling;
mod text;
mod walk;
mod window;

pub use accessibility::Accessibility;
pub use dbus::round_trips;
pub use snapshot::Snapshot;
