//! The actions of a click, and the names that toolkits give them.

use crate::AxError;
use crate::role::Role;

/// What is done to an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// What a click does.
    Press,
    /// Shows the context menu.
    ShowMenu,
    /// Selects it among its siblings.
    Pick,
    /// Confirms, as Enter does.
    Confirm,
    /// Cancels or closes, as Escape does.
    Cancel,
    /// Opens it, as a double click does.
    Open,
}

/// Name on the wire, action, and the toolkits' names of it, the best first.
///
/// GTK: click, press, activate, toggle, "expand or contract"; Qt: Press, Toggle, ShowMenu; Chromium: press, click, jump,
/// open, check, select, doDefault, showContextMenu; Gecko: press, jump, check, uncheck, switch, click.
const NAMES: [(&str, Action, &[&str]); 6] = [
    (
        "press",
        Action::Press,
        &[
            "click",
            "press",
            "push",
            "jump",
            "toggle",
            "check",
            "uncheck",
            "switch",
            "open",
            "select",
            "dodefault",
            "expand",
            "collapse",
            "activate",
            "expand or contract",
            "clickancestor",
        ],
    ),
    (
        "show_menu",
        Action::ShowMenu,
        &["showmenu", "show menu", "menu", "showcontextmenu", "show context menu", "popup"],
    ),
    ("pick", Action::Pick, &["pick", "select", "choose", "check", "toggle", "click", "press"]),
    ("confirm", Action::Confirm, &["confirm", "ok", "activate", "commit"]),
    ("cancel", Action::Cancel, &["cancel", "dismiss", "close", "collapse"]),
    (
        "open",
        Action::Open,
        &["open", "doubleclick", "double click", "activate", "expand", "expand or contract", "jump"],
    ),
];

/// True for the names, in any case, by which GTK calls its actions.
pub fn is_known(name: &str) -> bool {
    let name = name.trim().to_lowercase();
    name == "edit" || NAMES.iter().any(|(_, _, names)| names.contains(&name.as_str()))
}

impl Action {
    /// The action of this name: press, show_menu, pick, confirm, cancel, open.
    pub fn named(name: &str) -> Result<Self, AxError> {
        let row = NAMES.iter().find(|(own, _, _)| *own == name);
        row.map(|(_, action, _)| *action).ok_or_else(|| AxError::UnknownAction { name: name.to_owned() })
    }

    fn row(self) -> &'static (&'static str, Action, &'static [&'static str]) {
        NAMES.iter().find(|(_, action, _)| *action == self).unwrap_or(&NAMES[0])
    }

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// Position of the offered action that does this, when there is one. Toolkits that leave names empty mean the first
    /// for a press. Activating a text field sends its form, which no click does: that is no press and no opening.
    pub fn choose(self, offered: &[String], role: Role) -> Option<usize> {
        let wanted = self.row().2;
        let found = wanted.iter().find_map(|name| {
            offered
                .iter()
                .position(|own| own.trim().to_lowercase() == **name)
                .map(|position| (position, *name))
        });
        match (self, found) {
            (Self::Press | Self::Open, Some((_, "activate"))) if role.is_entry() => None,
            (_, Some((position, _))) => Some(position),
            (Self::Press, None) => offered.iter().position(|name| name.trim().is_empty()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn presses_go_by_the_toolkits_names() {
        let button = Role(43);
        assert_eq!(Action::Press.choose(&names(&["click"]), button), Some(0));
        assert_eq!(Action::Press.choose(&names(&["SetFocus", "Press"]), button), Some(1));
        assert_eq!(Action::Press.choose(&names(&["", ""]), button), Some(0));
        assert_eq!(Action::Press.choose(&names(&[]), button), None);
        assert_eq!(Action::ShowMenu.choose(&names(&["Press", "ShowMenu"]), button), Some(1));
        assert_eq!(Action::Open.choose(&names(&["click"]), button), None);
    }

    #[test]
    fn a_press_does_not_send_a_form() {
        assert_eq!(Action::Press.choose(&names(&["activate"]), Role(61)), None);
        assert_eq!(Action::Open.choose(&names(&["activate"]), Role(61)), None);
        assert_eq!(Action::Confirm.choose(&names(&["activate"]), Role(61)), Some(0));
    }

    #[test]
    fn names_on_the_wire_are_understood() {
        for (name, action, _) in NAMES {
            assert_eq!(Action::named(name), Ok(action));
            assert_eq!(action.name(), name);
        }
        assert!(Action::named("explode").is_err());
    }
}
