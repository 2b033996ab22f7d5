//! A small D-Bus client: many calls in flight on one Unix socket, signals, a deadline for every call.
//!
//! Source: the D-Bus specification, revision 0.43 (message format, SASL profile, server addresses).
mod address;
mod authentication;
mod connection;
mod message;
mod outgoing;
mod wire;

pub use connection::{CallError, Connection, lock, round_trips};
pub use message::{Call, Message};
pub use wire::{Malformed, Reader, Writer};
