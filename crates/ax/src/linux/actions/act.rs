//! Actions on elements: what the toolkit offers, else selection by the parent.

use std::time::{Duration, Instant};

use crate::platform::bus::ask::{self, Ask};
use crate::platform::dbus::CallError;
use crate::platform::snapshot::Snapshot;
use crate::platform::tree::drawn;
use crate::platform::tree::rereading::reread;
use crate::state::State;
use crate::{Action, AxError, Element};

impl Snapshot {
    /// Reads an element again: states, name, value, actions and place as they are now. `stale_element` when it has gone.
    pub fn read(&self, index: u32, timeout: Duration) -> Result<Element, AxError> {
        reread(self, index, timeout)
    }

    /// Does an action of an element and answers the toolkit's name of what was done; `action_not_supported` when it offers
    /// none that fits, `stale_element` when it has gone. The application may still be working on it.
    pub fn perform(&self, index: u32, action: Action, timeout: Duration) -> Result<String, AxError> {
        let position = self.position(index)?;
        let node = &self.tree.nodes[position];
        let chosen = action.choose(&node.actions, node.role);
        let selects = matches!(action, Action::Press | Action::Pick)
            && node.states.has(State::Selectable)
            && !drawn::is_cell(&self.tree, position);
        let only_activates = chosen.is_some_and(|at| {
            node.actions[at].eq_ignore_ascii_case("activate") || node.actions[at].contains("expand")
        });
        if selects && (chosen.is_none() || only_activates) && self.select(index, timeout)? {
            return Ok("select".to_owned());
        }
        let Some(chosen) = chosen else { return Err(self.not_supported(index, action)) };
        let object = &self.objects[position].object;
        let number = i32::try_from(chosen).unwrap_or(i32::MAX);
        let reply = self
            .app
            .ask(Ask::integers(object, (ask::ACTION, "DoAction"), "i", &[number]), Instant::now() + timeout);
        match &reply {
            Ok(_) if ask::boolean(&reply) == Some(false) => {
                let (role, label) = self.named(index);
                Err(AxError::ActionRefused { index, role, label, action: node.actions[chosen].clone() })
            }
            Ok(_) => Ok(if node.actions[chosen].is_empty() {
                action.name().to_owned()
            } else {
                node.actions[chosen].clone()
            }),
            Err(error) => Err(self.failure(index, error, timeout)),
        }
    }

    /// Gives an element the keyboard focus; false where the toolkit cannot, or would bring the window to the front to do so.
    pub fn focus(&self, index: u32, timeout: Duration) -> Result<bool, AxError> {
        use crate::platform::bus::toolkit::Toolkit;
        let position = self.position(index)?;
        let grabs_quietly = matches!(self.app.toolkit, Toolkit::Qt | Toolkit::Gecko);
        if !grabs_quietly || !self.tree.nodes[position].states.has(State::Focusable) {
            return Ok(false);
        }
        let grab = Ask::plain(&self.objects[position].object, ask::COMPONENT, "GrabFocus");
        let reply = self.app.ask(grab, Instant::now() + timeout);
        match &reply {
            Ok(_) => Ok(ask::boolean(&reply) == Some(true)),
            Err(error) => Err(self.failure(index, error, timeout)),
        }
    }

    /// Selects an element among its siblings; false when its parent has no selection or refuses.
    fn select(&self, index: u32, timeout: Duration) -> Result<bool, AxError> {
        let Some((parent, child)) = &self.objects[self.position(index)?].parent else { return Ok(false) };
        let select = Ask::integers(parent, (ask::SELECTION, "SelectChild"), "i", &[*child]);
        let reply = self.app.ask(select, Instant::now() + timeout);
        match &reply {
            Ok(_) => Ok(ask::boolean(&reply) == Some(true)),
            // A parent without the interface answers with an error, which says nothing about the element.
            Err(CallError::Remote { .. }) => Ok(false),
            Err(error) => Err(self.failure(index, error, timeout)),
        }
    }

    fn not_supported(&self, index: u32, action: Action) -> AxError {
        let (role, label) = self.named(index);
        let offered = self
            .element(index)
            .map(|element| element.actions.join(", "))
            .filter(|names| !names.is_empty())
            .unwrap_or_else(|| "nothing".to_owned());
        AxError::ActionNotSupported { index, role, label, action: action.name().to_owned(), offered }
    }
}
