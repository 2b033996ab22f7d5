//! Chooses a menu item by its path, the menu staying closed.

use std::time::{Duration, Instant};

use super::options::{self, Seen};
use crate::platform::bus::ask::{self, Ask, ObjectRef};
use crate::platform::dbus::CallError;
use crate::platform::snapshot::Snapshot;
use crate::platform::tree::detail;
use crate::role::Role;
use crate::state::{State, States};
use crate::{Action, AxError, Chosen, menu, value};

/// Most levels between a menu and its items.
const DEEP: usize = 4;
/// How long an item that is on or off may take to change.
const CHANGES: Duration = Duration::from_millis(500);

impl Snapshot {
    /// Chooses the menu item at the end of `path`, beginning in the menu bar or with a menu button, without opening a
    /// menu. Fails with `menu_not_found`, `menu_item_not_found` (naming what is there), `menu_item_ambiguous`,
    /// `element_disabled`, and `menu_closed` where the toolkit operates open menus alone.
    pub fn invoke_menu(&self, path: &[String], timeout: Duration) -> Result<Chosen, AxError> {
        let deadline = Instant::now() + timeout;
        let failed = |error: CallError| self.app.failure(&error, timeout);
        let mut found: Vec<String> = Vec::new();
        let mut items = self.top_items(deadline).map_err(failed)?;
        let mut chosen: Option<Seen> = None;
        for wanted in path {
            if items.is_empty() {
                return Err(match chosen {
                    None => self.no_menu(),
                    Some(_) => AxError::MenuClosed { menu: menu::shown(&found) },
                });
            }
            let item = pick(&items, wanted, &found)?;
            found.push(value::plain(&item.name));
            if !item.states.operable() {
                return Err(AxError::MenuItemDisabled { item: menu::shown(&found) });
            }
            items = self.items_of(std::slice::from_ref(&item.object), deadline).map_err(failed)?;
            chosen = Some(item);
        }
        let Some(item) = chosen else {
            return Err(AxError::MenuItemNotFound {
                menu: menu::shown(&[]),
                item: String::new(),
                items: value::listed(names(&items).into_iter()),
            });
        };
        if !items.is_empty() {
            return Err(AxError::MenuItemNotFound {
                menu: menu::shown(&found),
                item: String::new(),
                items: value::listed(names(&items).into_iter()),
            });
        }
        // A button that has no menu does something else when it is pressed.
        if !is_item(item.role) {
            let mut menus = self.top_items(deadline).map_err(failed)?;
            menus.retain(|other| is_item(other.role));
            if menus.is_empty() {
                return Err(self.no_menu());
            }
            return Err(AxError::MenuItemNotFound {
                menu: menu::shown(&[]),
                item: item.name,
                items: value::listed(names(&menus).into_iter()),
            });
        }
        self.choose_item(&item, found, deadline, timeout)
    }

    fn no_menu(&self) -> AxError {
        let window = self.tree.nodes.first();
        AxError::NoMenu { window: window.map_or_else(String::new, |window| window.label.clone()) }
    }

    fn choose_item(
        &self,
        item: &Seen,
        path: Vec<String>,
        deadline: Instant,
        timeout: Duration,
    ) -> Result<Chosen, AxError> {
        let offered = detail::action_names_of(&self.app, &item.object, deadline);
        let opens = |name: &str| matches!(name.to_lowercase().as_str(), "showmenu" | "open" | "expand");
        let number = Action::Press.choose(&offered, item.role).filter(|at| !opens(&offered[*at]));
        let closed = || AxError::MenuClosed { menu: menu::shown(&path) };
        let Some(number) = number else { return Err(closed()) };
        let before = self.checked(item, deadline);
        let act = Ask::integers(
            &item.object,
            (ask::ACTION, "DoAction"),
            "i",
            &[i32::try_from(number).unwrap_or(i32::MAX)],
        );
        let reply = self.app.ask(act, deadline);
        match &reply {
            Ok(_) if ask::boolean(&reply) == Some(false) => return Err(closed()),
            Ok(_) => {}
            Err(CallError::Remote { .. }) => return Err(closed()),
            Err(error) => return Err(self.app.failure(error, timeout)),
        }
        let mut after = before;
        let until = deadline.min(Instant::now() + CHANGES);
        while before.is_some() && after == before && Instant::now() < until {
            self.app.wait_for_change(until);
            after = self.checked(item, deadline);
        }
        let value = after.filter(|_| after != before);
        let value = value.map(|on| if on { "checked" } else { "unchecked" }.to_owned());
        Ok(Chosen { path, action: offered[number].clone(), value })
    }

    /// Whether an item that is on or off is on; none for other items.
    fn checked(&self, item: &Seen, deadline: Instant) -> Option<bool> {
        let toggles =
            item.role.is_toggle() || item.states.has(State::Checkable) || item.states.has(State::Checked);
        if !toggles {
            return None;
        }
        let reply = self.app.ask(Ask::plain(&item.object, ask::ACCESSIBLE, "GetState"), deadline);
        ask::states(&reply).map(|bits| States(bits).has(State::Checked))
    }

    /// The items of the menu bars, and the buttons that have a menu.
    fn top_items(&self, deadline: Instant) -> Result<Vec<Seen>, CallError> {
        let bars: Vec<ObjectRef> = self
            .tree
            .nodes
            .iter()
            .zip(self.objects.iter())
            .filter(|(node, _)| node.role.name() == "menu bar")
            .map(|(_, place)| place.object.clone())
            .collect();
        let mut items = self.items_of(&bars, deadline)?;
        let buttons: Vec<(&str, &ObjectRef, &crate::tree::Node)> = self
            .tree
            .nodes
            .iter()
            .zip(self.objects.iter())
            .filter(|(node, _)| {
                matches!(node.role.name(), "toggle button" | "push button" | "push button menu")
            })
            .filter(|(node, place)| place.has_children && !node.label.trim().is_empty())
            .map(|(node, place)| (node.label.as_str(), &place.object, node))
            .collect();
        for (name, object, node) in buttons {
            if items.iter().any(|item| item.name == name) {
                continue;
            }
            items.push(Seen {
                object: object.clone(),
                parent: object.clone(),
                index: 0,
                role: node.role,
                name: name.to_owned(),
                states: node.states,
            });
        }
        Ok(items)
    }

    /// The menu items below these objects, through what only groups them.
    fn items_of(&self, menus: &[ObjectRef], deadline: Instant) -> Result<Vec<Seen>, CallError> {
        let mut items = Vec::new();
        let mut level = menus.to_vec();
        for _ in 0..DEEP {
            let seen = options::children(&self.app, &level, options::MANY, deadline)?;
            level.clear();
            for own in seen {
                let grouping =
                    own.role.name() == "popup menu" || own.role.name() == "menu" && own.name.is_empty();
                if is_item(own.role) && !grouping {
                    items.push(own);
                } else if !is_text(own.role) {
                    level.push(own.object);
                }
            }
            if level.is_empty() {
                break;
            }
        }
        items.retain(|item| !item.name.trim().is_empty());
        Ok(items)
    }
}

fn pick(items: &[Seen], wanted: &str, path: &[String]) -> Result<Seen, AxError> {
    let own = names(items);
    let found = menu::named(&own, wanted);
    match found.as_slice() {
        [one] => Ok(items[*one].clone()),
        [] => Err(AxError::MenuItemNotFound {
            menu: menu::shown(path),
            item: wanted.to_owned(),
            items: value::listed(own.into_iter()),
        }),
        several => Err(AxError::MenuItemAmbiguous {
            menu: menu::shown(path),
            item: wanted.to_owned(),
            count: several.len(),
        }),
    }
}

fn names(items: &[Seen]) -> Vec<&str> {
    items.iter().map(|item| item.name.as_str()).collect()
}

fn is_item(role: Role) -> bool {
    matches!(role.name(), "menu" | "menu item" | "check menu item" | "radio menu item" | "tearoff menu item")
}

fn is_text(role: Role) -> bool {
    matches!(role.name(), "label" | "static" | "image" | "icon" | "separator")
}
