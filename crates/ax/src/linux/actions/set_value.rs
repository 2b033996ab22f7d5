//! Sets the value of an element the way its toolkit takes it, and reads it back.

use std::time::{Duration, Instant};

use super::options::{self, ChoiceList, Choosable};
use crate::platform::bus::application::App;
use crate::platform::bus::ask::{self, Ask, ObjectRef};
use crate::platform::bus::toolkit::Toolkit;
use crate::platform::dbus::CallError;
use crate::platform::snapshot::Snapshot;
use crate::platform::tree::detail;
use crate::state::{State, States};
use crate::tree::{Abilities, Node};
use crate::value::{self, Kind};
use crate::{Action, AxError, Element, Written};

/// How long a value may take to appear after one route was tried.
const APPEARS: Duration = Duration::from_millis(1_000);
/// Numbers that differ by less are the same to a person.
const SAME: f64 = 1e-4;

/// One way to choose an option.
enum Route {
    /// The object selects its child at the position.
    Select(ObjectRef, i32),
    /// The option's own action.
    Act(i32),
}

/// An element whose value is set, and how long that may take.
struct Setting<'a> {
    snapshot: &'a Snapshot,
    app: &'a App,
    node: &'a Node,
    object: &'a ObjectRef,
    /// What selects it, and its position there.
    parent: Option<&'a (ObjectRef, i32)>,
    index: u32,
    deadline: Instant,
    timeout: Duration,
}

impl Snapshot {
    /// Sets the value of an element: on or off, an option's name, a number or text; and reads it back. Fails with
    /// `value_not_accepted` when the element takes other values, `value_not_supported` when it takes none this way,
    /// `stale_element` when it has gone.
    pub fn set_value(&self, index: u32, value: &str, timeout: Duration) -> Result<Written, AxError> {
        if self.cell_of_sheet(self.position(index)?).is_some() {
            return self.write_cell(index, value, timeout);
        }
        self.setting(index, timeout)?.set(value)
    }

    /// The names of the options inside an element, each with true when it is chosen and true when it can be.
    pub fn options(&self, index: u32, timeout: Duration) -> Result<Vec<(String, bool, bool)>, AxError> {
        let setting = self.setting(index, timeout)?;
        let choices = options::choices_of(setting.app, setting.object, setting.deadline);
        let choices = choices.map_err(|error| setting.failure(&error))?;
        let shown = setting.shown(&choices);
        Ok(choices
            .options
            .iter()
            .map(|option| {
                let chosen = shown.as_deref().map_or_else(
                    || option.states.has(State::Selected),
                    |shown| value::plain(shown) == value::plain(&option.name),
                );
                (option.name.clone(), chosen, option.states.operable())
            })
            .collect())
    }

    fn setting(&self, index: u32, timeout: Duration) -> Result<Setting<'_>, AxError> {
        let position = self.position(index)?;
        let own = &self.objects[position];
        Ok(Setting {
            snapshot: self,
            app: &self.app,
            node: &self.tree.nodes[position],
            object: &own.object,
            parent: own.parent.as_ref(),
            index,
            deadline: Instant::now() + timeout,
            timeout,
        })
    }
}

impl Setting<'_> {
    fn set(&self, value: &str) -> Result<Written, AxError> {
        match value::kind(self.node) {
            Some(Kind::Switch) => self.switch(value),
            Some(Kind::Item) => self.mark(value),
            Some(Kind::Choice) => self.choose(value),
            Some(Kind::Number) => self.set_number(value),
            Some(Kind::Text) => self.set_text(value),
            None => Err(self.no_value("no thing that has one")),
        }
    }

    fn read(&self) -> Result<Element, AxError> {
        self.snapshot.read(self.index, self.timeout)
    }

    fn perform(&self, action: Action) -> Result<String, AxError> {
        self.snapshot.perform(self.index, action, self.timeout)
    }

    fn failure(&self, error: &CallError) -> AxError {
        self.snapshot.failure(self.index, error, self.timeout)
    }

    fn switch(&self, value: &str) -> Result<Written, AxError> {
        let Some(on) = value::switch(value) else { return Err(self.not_accepted(value, "on, off")) };
        let wanted = if on { "checked" } else { "unchecked" };
        let before = self.read()?;
        if before.value.as_deref() == Some(wanted) {
            return Ok(unchanged(wanted));
        }
        if !on && before.role.starts_with("radio") {
            return Err(self.not_accepted(value, "on; another of its group switches it off"));
        }
        match self.perform(Action::Press) {
            Ok(_) => {}
            Err(AxError::ActionNotSupported { .. }) => {
                return Err(self.no_value("switched by clicks alone"));
            }
            Err(error) => return Err(error),
        }
        let read = || Ok(self.read()?.value);
        self.read_back("action", read, |now| now == wanted)
    }

    fn mark(&self, value: &str) -> Result<Written, AxError> {
        let (_, label) = self.snapshot.named(self.index);
        let named = value::matching(std::iter::once(label.as_str()), value).map(|_| true);
        let Some(on) = value::switch(value).or(named) else {
            return Err(self.not_accepted(value, "selected, unselected"));
        };
        let text = |selected| Some(if selected { "selected" } else { "unselected" }.to_owned());
        let wanted = text(on).unwrap_or_default();
        if self.read()?.selected == on {
            return Ok(unchanged(&wanted));
        }
        if on {
            match self.perform(Action::Pick) {
                Ok(_) => {}
                Err(AxError::ActionNotSupported { .. }) => {
                    return Err(self.no_value("selected by clicks alone"));
                }
                Err(error) => return Err(error),
            }
        } else {
            let Some((parent, child)) = self.parent else {
                return Err(self.no_value("on its own"));
            };
            let deselect = Ask::integers(parent, (ask::SELECTION, "DeselectChild"), "i", &[*child]);
            if ask::boolean(&self.app.ask(deselect, self.deadline)) != Some(true) {
                return Err(self.not_accepted(value, "selected; select another to unselect it"));
            }
        }
        let read = || Ok(text(self.read()?.selected));
        self.read_back("selection", read, |now| now == wanted)
    }

    fn set_number(&self, value: &str) -> Result<Written, AxError> {
        let object = self.object;
        // Gecko changes the number and does not tell the page, which goes on with the old one.
        if self.app.toolkit == Toolkit::Gecko && self.node.role.is_entry() {
            return Err(self.no_value("a field of a page that follows the keyboard alone"));
        }
        let property = |name| Ask::property(object, ask::VALUE, name);
        let replies = self.app.ask_all(
            &[property("MinimumValue"), property("MaximumValue"), property("CurrentValue")],
            self.deadline,
        );
        if let Err(error @ (CallError::TimedOut | CallError::Closed(_))) = &replies[2] {
            return Err(self.failure(error));
        }
        let range = ask::number_property(&replies[0])
            .zip(ask::number_property(&replies[1]))
            .filter(|(least, most)| least < most);
        let accepted = range.map_or_else(
            || "numbers".to_owned(),
            |(least, most)| format!("numbers from {} to {}", detail::number(least), detail::number(most)),
        );
        let Some(wanted) = value::number(value) else {
            return Err(self.not_accepted(value, &accepted));
        };
        if range.is_some_and(|(least, most)| wanted < least - SAME || wanted > most + SAME) {
            return Err(self.not_accepted(value, &accepted));
        }
        let same = |now: f64| (now - wanted).abs() <= SAME * wanted.abs().max(1.0);
        if ask::number_property(&replies[2]).is_some_and(same) {
            return Ok(unchanged(&detail::number(wanted)));
        }
        let set = Ask::with(object, (ask::PROPERTIES, "Set"), "ssv", |writer| {
            writer.string(ask::VALUE).string("CurrentValue").double_variant(wanted);
        });
        match self.app.ask(set, self.deadline) {
            Ok(_) => {}
            Err(CallError::Remote { .. }) => return Err(self.no_value("set by keys or a drag alone")),
            Err(error) => return Err(self.failure(&error)),
        }
        let read = || {
            Ok(ask::number_property(&self.app.ask(property("CurrentValue"), self.deadline))
                .map(detail::number))
        };
        self.read_back("value", read, |now| now.parse().is_ok_and(same))
    }

    fn set_text(&self, text: &str) -> Result<Written, AxError> {
        if !self.node.abilities.has(Abilities::EDITABLE_TEXT) {
            return Err(self.no_value("written by keys alone"));
        }
        self.write(self.object, text, self.node.role.is_secret())
    }

    /// Replaces the text of an object and reads it back: that of a password by its length.
    fn write(&self, object: &ObjectRef, text: &str, secret: bool) -> Result<Written, AxError> {
        if !secret && self.text_of(object).as_deref() == Some(text) {
            return Ok(unchanged(text));
        }
        let set = Ask::with(object, (ask::EDITABLE_TEXT, "SetTextContents"), "s", |writer| {
            writer.string(text);
        });
        let reply = self.app.ask(set, self.deadline);
        match &reply {
            Ok(_) if ask::boolean(&reply) == Some(true) => {}
            Ok(_) | Err(CallError::Remote { .. }) => {
                return Err(self.no_value("written by keys alone"));
            }
            Err(error) => return Err(self.failure(error)),
        }
        let length = i32::try_from(text.chars().count()).unwrap_or(i32::MAX);
        let units = i32::try_from(text.encode_utf16().count()).unwrap_or(i32::MAX);
        let read = || Ok(self.text_of(object));
        let mut written = self.read_back("editable_text", read, |now| {
            let count = i32::try_from(now.chars().count()).unwrap_or(i32::MAX);
            if secret { count == length || count == units } else { now == text }
        })?;
        written.value = written.value.filter(|_| !secret);
        Ok(written)
    }

    fn text_of(&self, object: &ObjectRef) -> Option<String> {
        let count = self.app.ask(Ask::property(object, ask::TEXT, "CharacterCount"), self.deadline);
        // Gecko answers nothing to an end behind the text.
        let end = ask::integer_property(&count)?;
        ask::text(
            &self.app.ask(Ask::integers(object, (ask::TEXT, "GetText"), "ii", &[0, end]), self.deadline),
        )
    }

    fn choose(&self, value: &str) -> Result<Written, AxError> {
        let (node, object) = (self.node, self.object);
        let failed = |error| self.failure(&error);
        let choices = options::choices_of(self.app, object, self.deadline).map_err(failed)?;
        if self.app.toolkit == Toolkit::Gtk4 && node.role.name() == "combo box" && choices.field.is_none() {
            return self.already(value);
        }
        let able = || choices.options.iter().filter(|option| option.states.operable());
        let names: Vec<&str> = able().map(|option| option.name.as_str()).collect();
        let Some(option) = value::matching(names.iter().copied(), value).and_then(|at| able().nth(at)) else {
            let own = Some(object).filter(|_| node.abilities.has(Abilities::EDITABLE_TEXT));
            return match choices.field.as_ref().or(own) {
                Some(field) => self.write(field, value, false),
                None if choices.options.is_empty() => {
                    Err(self.no_value("a list that shows its options only when it is open"))
                }
                None => Err(self.not_accepted(value, &value::listed(names.into_iter()))),
            };
        };
        if self.is_chosen(option, &choices) {
            return Ok(unchanged(&option.name));
        }
        if let Some(field) = choices.field.as_ref().filter(|_| self.app.toolkit == Toolkit::Qt) {
            return self.write(field, &option.name, false);
        }
        // In a closed list of Qt a selection is not a choice, and Gecko does not tell the page of one.
        let by_keys = matches!(self.app.toolkit, Toolkit::Qt | Toolkit::Gecko);
        if by_keys && node.role.name() == "combo box" {
            return Err(self.no_value("chosen from by keys alone"));
        }
        if node.states.has(State::Multiselectable) {
            let clear = Ask::plain(&option.parent, ask::SELECTION, "ClearSelection");
            let _ = self.app.ask(clear, self.deadline);
        }
        self.choose_option(option, &choices)
    }

    /// Chooses an option by the first of its ways that is seen to work.
    fn choose_option(&self, option: &Choosable, choices: &ChoiceList) -> Result<Written, AxError> {
        let mut tried = false;
        for route in self.routes(option) {
            let (name, ask) = match route {
                Route::Select(parent, child) => {
                    ("selection", Ask::integers(&parent, (ask::SELECTION, "SelectChild"), "i", &[child]))
                }
                Route::Act(number) => {
                    ("action", Ask::integers(&option.object, (ask::ACTION, "DoAction"), "i", &[number]))
                }
            };
            let reply = self.app.ask(ask, self.deadline);
            match &reply {
                Ok(_) if ask::boolean(&reply) == Some(true) => {}
                Ok(_) | Err(CallError::Remote { .. }) => continue,
                Err(error) => return Err(self.failure(error)),
            }
            tried = true;
            let read = || Ok(self.is_chosen(option, choices).then(|| option.name.clone()));
            let written = self.read_back(name, read, |_| true)?;
            if written.confirmed {
                return Ok(written);
            }
        }
        if tried {
            let value = self.shown(choices);
            return Ok(Written { route: "action".to_owned(), confirmed: false, value });
        }
        Err(self.no_value("chosen from by keys or clicks alone"))
    }

    /// The choice of a combo box of GTK 4, where it is the one wanted: nothing but devices chooses another, and an option
    /// that is selected while the list is open is not chosen.
    fn already(&self, value: &str) -> Result<Written, AxError> {
        let shown = options::shown_in_button(self.app, self.object, self.deadline);
        match shown.map_err(|error| self.failure(&error))? {
            Some(shown) if value::matching(std::iter::once(shown.as_str()), value).is_some() => {
                Ok(unchanged(&shown))
            }
            _ => Err(self.no_value("a list that shows its options only when it is open")),
        }
    }

    /// The ways to choose an option, the best first: those that a page or a program hears of.
    fn routes(&self, option: &Choosable) -> Vec<Route> {
        let names = detail::action_names_of(self.app, &option.object, self.deadline);
        let act = Action::Pick.choose(&names, crate::role::Role(0)).and_then(|at| i32::try_from(at).ok());
        let act = act.map(Route::Act);
        let mut selects = vec![Route::Select(option.parent.clone(), option.index)];
        if *self.object != option.parent {
            selects.insert(0, Route::Select(self.object.clone(), option.index));
        }
        match self.app.toolkit {
            Toolkit::Chromium | Toolkit::Gecko | Toolkit::Qt => act.into_iter().chain(selects).collect(),
            _ => selects.into_iter().chain(act).collect(),
        }
    }

    /// True when the element shows that it has this option.
    fn is_chosen(&self, option: &Choosable, choices: &ChoiceList) -> bool {
        if let Some(shown) = self.shown(choices) {
            return value::plain(&shown) == value::plain(&option.name);
        }
        let reply = self.app.ask(Ask::plain(&option.object, ask::ACCESSIBLE, "GetState"), self.deadline);
        let states = States(ask::states(&reply).unwrap_or_default());
        states.has(State::Selected) || states.has(State::Checked)
    }

    /// What a combo box shows as chosen, and a row of tabs in Qt; none where only its options tell.
    fn shown(&self, choices: &ChoiceList) -> Option<String> {
        let (object, role) = (self.object, self.node.role.name());
        let is_qt = self.app.toolkit == Toolkit::Qt;
        if role != "combo box" && !(is_qt && role == "page tab list") {
            return None;
        }
        if is_qt {
            return ask::text_property(
                &self.app.ask(Ask::property(object, ask::ACCESSIBLE, "Name"), self.deadline),
            );
        }
        if let Some(field) = &choices.field {
            return self.text_of(field);
        }
        let chosen = Ask::integers(object, (ask::SELECTION, "GetSelectedChild"), "i", &[0]);
        let reply = self.app.ask(chosen, self.deadline).ok()?;
        let (bus, path) = crate::platform::tree::objects::single(&reply)?;
        let child = object.named(&bus, &path);
        let option = choices.options.iter().find(|option| option.object == child);
        option.map(|option| option.name.clone())
    }

    /// Reads until the value is as wanted, for a short while.
    fn read_back(
        &self,
        route: &str,
        read: impl Fn() -> Result<Option<String>, AxError>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Written, AxError> {
        let deadline = self.deadline.min(Instant::now() + APPEARS);
        loop {
            let value = read()?;
            let confirmed = value.as_deref().is_some_and(&is_wanted);
            if confirmed || Instant::now() >= deadline {
                return Ok(Written { route: route.to_owned(), confirmed, value });
            }
            self.app.wait_for_change(deadline);
        }
    }

    fn not_accepted(&self, value: &str, accepted: &str) -> AxError {
        let (role, label) = self.snapshot.named(self.index);
        AxError::ValueNotAccepted {
            index: self.index,
            role,
            label,
            value: value.to_owned(),
            accepted: accepted.to_owned(),
        }
    }

    fn no_value(&self, why: &str) -> AxError {
        let (role, label) = self.snapshot.named(self.index);
        AxError::ValueNotSupported { index: self.index, role, label, why: why.to_owned() }
    }
}

fn unchanged(value: &str) -> Written {
    Written { route: "none".to_owned(), confirmed: true, value: Some(value.to_owned()) }
}
