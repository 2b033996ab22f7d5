//! The accessibility bus: its applications, calls of AT-SPI, events, and time limits.

pub mod action_names;
pub mod activity;
pub mod application;
pub mod ask;
pub mod attributes;
pub mod connecting;
pub mod direct;
pub mod event_meaning;
pub mod events;
pub mod limit;
pub mod proxied;
pub mod toolkit;
