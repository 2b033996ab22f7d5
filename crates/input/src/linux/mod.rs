//! Delivery through a second master pointer of the X Input protocol.
mod agent;
mod guests;
mod hands;
mod holes;
mod keyboard;
mod leading;
mod link;
mod master;
mod messages;
mod person;
mod places;
mod porter;
mod process;
mod reading;
mod region;
mod settle;
mod still;
mod stop_key;
mod stops;
mod target;
mod typist;
mod witness;

pub use agent::{Agent, sweep_agents};
pub use stop_key::StopKey;
