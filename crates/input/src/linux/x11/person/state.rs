//! The person's things before and after a gesture.

use x11rb::protocol::xinput;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, Window};

use super::hold::PersonFocus;
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::devices::pair::Pair;
use crate::{Delivery, InputError};

/// What must end as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonState {
    pointer: (i32, i32),
    /// The window that has the person's keyboard focus.
    pub focus: Window,
    /// The active window.
    pub active: Option<Window>,
    /// The windows that the window manager stacks, the lowest first; without one, the root's children.
    pub stack: Vec<Window>,
}

impl PersonState {
    /// Where the person's keys went.
    pub fn home(&self) -> PersonFocus {
        PersonFocus { focus: self.focus, active: self.active }
    }

    /// Asks the server, in one round trip.
    pub fn look(link: &Link, person: Pair) -> Result<Self, InputError> {
        let pointer = xinput::xi_query_pointer(&link.conn, link.root, person.pointer)?;
        let focus = xinput::xi_get_focus(&link.conn, person.keyboard)?;
        let children = link.conn.query_tree(link.root)?;
        let atoms = &link.atoms;
        let property = |name| link.conn.get_property(false, link.root, name, AtomEnum::WINDOW, 0, 4096);
        let (active, clients) =
            (property(atoms._NET_ACTIVE_WINDOW)?, property(atoms._NET_CLIENT_LIST_STACKING)?);
        let pointer = pointer.reply()?;
        let clients: Vec<Window> = clients.reply()?.value32().into_iter().flatten().collect();
        let mut children = children.reply()?.children;
        children.retain(|window| *window != link.parking);
        Ok(Self {
            pointer: (pointer.root_x, pointer.root_y),
            focus: focus.reply()?.focus,
            active: active.reply()?.value32().and_then(|mut items| items.next()),
            stack: if clients.is_empty() { children } else { clients },
        })
    }

    /// True when what was there lies in the order in which it lay.
    pub fn has_order(&self, after: &Self) -> bool {
        same_order(&self.stack, &after.stack)
    }

    /// What of this is as it was.
    pub fn compare(&self, after: &Self, events: u32) -> Delivery {
        Delivery {
            events,
            pointer_kept: self.pointer == after.pointer,
            focus_kept: self.focus == after.focus,
            active_window_kept: self.active == after.active,
            stacking_kept: same_order(&self.stack, &after.stack),
            focus_pretended: false,
        }
    }
}

/// True when what is in both lies in the same order: windows that came or went disturb nobody's order.
fn same_order(before: &[Window], after: &[Window]) -> bool {
    let stayed = before.iter().filter(|window| after.contains(window));
    stayed.eq(after.iter().filter(|window| before.contains(window)))
}

#[cfg(test)]
mod tests {
    use super::same_order;

    #[test]
    fn new_and_gone_windows_keep_the_order() {
        assert!(same_order(&[1, 2, 3], &[1, 3, 4]));
        assert!(!same_order(&[1, 2, 3], &[1, 3, 2]));
    }
}
