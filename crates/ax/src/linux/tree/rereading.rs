//! One element read again.

use std::time::{Duration, Instant};

use super::coordinates::{self, relative_to};
use super::detail::{self, Target};
use super::drawn;
use super::walk::Walk;
use crate::platform::bus::ask::{self, Ask};
use crate::platform::dbus::CallError;
use crate::platform::snapshot::Snapshot;
use crate::state::{State, States};
use crate::{AxError, Element};

/// Reads one element again, as `fill` does for all.
pub fn reread(snapshot: &Snapshot, index: u32, timeout: Duration) -> Result<Element, AxError> {
    let position = snapshot.position(index)?;
    let (place, old) = (&snapshot.objects[position], &snapshot.tree.nodes[position]);
    let deadline = Instant::now() + timeout;
    let mut walk = Walk::until(&snapshot.app, deadline);
    let window = snapshot.window.as_ref().unwrap_or(&place.object);
    let mut target = Target {
        object: &place.object,
        has_children: place.has_children,
        placed: false,
        known: false,
        node: old.clone(),
        labels: Vec::new(),
        within: None,
    };
    // An element seldom changes in kind: what its old self would be asked goes along, which saves a wait.
    let (wants, details) = detail::first_asks(&target, &snapshot.app);
    let mut asks = vec![
        Ask::plain(&place.object, ask::ACCESSIBLE, "GetState"),
        Ask::property(&place.object, ask::ACCESSIBLE, "Name"),
    ];
    asks.extend(coordinates::origin_asks(window));
    let own = asks.len();
    asks.extend(details);
    let replies = walk.ask_all(&asks);
    let origin = coordinates::origin(snapshot, &replies[2..4]);
    if let Some(Err(error)) = replies[..2].iter().find(|reply| reply.is_err()) {
        return Err(snapshot.failure(index, error, timeout));
    }
    let states = States(ask::states(&replies[0]).unwrap_or_default());
    if states.has(State::Defunct) {
        return Err(snapshot.stale(index));
    }
    let name = ask::text_property(&replies[1]).unwrap_or_default();
    let node = &mut target.node;
    node.states = states;
    node.value = node.toggle_value();
    if !name.is_empty() {
        detail::give_name(&snapshot.app, node, &name, &old.label);
    }
    let origin = relative_to(&walk, origin);
    if !detail::complete_from(&mut walk, &mut target, origin, &wants, &replies[own..]) {
        return Err(snapshot.failure(index, &CallError::TimedOut, timeout));
    }
    let now = drawn::shift_now(&mut walk, &snapshot.tree, &snapshot.objects, position);
    let shift = now.map_or(place.shift, |(_, shift)| shift);
    target.node.frame =
        drawn::shifted(coordinates::unwrapped(snapshot.app.toolkit, target.node.frame), shift);
    Ok(Element::of(&target.node, index))
}
