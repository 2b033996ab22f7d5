//! What is known of objects from an earlier tree, and need not be asked again.

use std::collections::HashMap;
use std::sync::Mutex;

use super::ask::ObjectRef;
use super::toolkit::Toolkit;
use crate::platform::dbus::lock;
use crate::role::Role;
use crate::state::States;
use crate::tree::Node;

/// Most objects that are remembered.
const MANY: usize = 20_000;

/// The names of actions by object.
#[derive(Default)]
pub struct ActionNames(Mutex<HashMap<ObjectRef, Names>>);

/// Names of actions, and what the object was when they were read.
struct Names {
    role: Role,
    states: States,
    names: Vec<String>,
}

impl ActionNames {
    /// True for toolkits that never give the path of one object to another, and whose actions go by the kind of widget.
    pub fn last(toolkit: Toolkit) -> bool {
        toolkit == Toolkit::Gtk3
    }

    /// The names of an object that is in the same state as when they were read.
    pub fn of(&self, object: &ObjectRef, node: &Node) -> Option<Vec<String>> {
        let known = lock(&self.0);
        let own = known.get(object)?;
        (own.role == node.role && own.states == node.states).then(|| own.names.clone())
    }

    /// Remembers the names of a node as they were just read.
    pub fn keep(&self, object: &ObjectRef, node: &Node) {
        let mut known = lock(&self.0);
        if known.len() >= MANY {
            known.clear();
        }
        let names = Names { role: node.role, states: node.states, names: node.actions.clone() };
        known.insert(object.clone(), names);
    }
}
