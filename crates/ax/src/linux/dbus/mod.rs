//! A small D-Bus client: many calls in flight on one Unix socket, signals, a deadline for every call.
//!
//! Source: the D-Bus specification, revision 0.43 (message format, SASL profile, server addresses).
mod address;
mod authentication;
mod connection;
mod locking;
mod message;
mod outgoing;
mod wire;

pub use super::dbus::connection::{CallError, Connection, round_trips};
pub use super::dbus::locking::lock;
pub use super::dbus::message::{Call, Message};
pub use super::dbus::wire::{Malformed, Reader, Writer};
