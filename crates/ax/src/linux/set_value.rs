//! Sets the value of an element the way its toolkit takes it, and reads it back.

use std::time::{Duration, Instant};

use super::application::Toolkit;
use super::ask::{self, Ask, ObjectRef};
use super::dbus::CallError;
use super::detail;
use super::options::{self, Choosable, Offer};
use super::snapshot::Snapshot;
use crate::state::{State, States};
use crate::tree::Abilities;
use crate::value::{self, Kind};
use crate::{Action, AxError, Written};

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

impl Snapshot {
    /// Sets the value of an element: on or off, an option's name, a number or text; and reads it back. Fails with
    /// `value_not_accepted` when the element takes other values, `value_not_supported` when it takes none this way,
    /// `stale_element` when it has gone.
    pub fn set_value(&self, index: u32, value: &str, timeout: Duration) -> Result<Written, AxError> {
        let position = self.position(index)?;
        let deadline = Instant::now() + timeout;
        match value::kind(&self.tree.nodes[position]) {
            Some(Kind::Switch) => self.switch(index, value, deadline, timeout),
            Some(Kind::Item) => self.mark(index, value, deadline, timeout),
            Some(Kind::Choice) => self.choose(index, value, deadline, timeout),
            Some(Kind::Number) => self.set_number(index, value, deadline, timeout),
            Some(Kind::Text) => self.set_text(index, value, deadline, timeout),
            None => Err(self.no_value(index, "no thing that has one")),
        }
    }

    /// The names of the options inside an element, each with true when it is chosen and true when it can be.
    pub fn options(&self, index: u32, timeout: Duration) -> Result<Vec<(String, bool, bool)>, AxError> {
        let object = &self.objects[self.position(index)?].object;
        let offer = options::offered(&self.app, object, Instant::now() + timeout);
        let offer = offer.map_err(|error| self.failure(index, &error, timeout))?;
        let shown = self.shown(index, &offer, Instant::now() + timeout);
        Ok(offer
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

    fn switch(
        &self,
        index: u32,
        value: &str,
        deadline: Instant,
        timeout: Duration,
    ) -> Result<Written, AxError> {
        let Some(on) = value::switch(value) else { return Err(self.not_accepted(index, value, "on, off")) };
        let wanted = if on { "checked" } else { "unchecked" };
        let before = self.read(index, timeout)?;
        if before.value.as_deref() == Some(wanted) {
            return Ok(unchanged(wanted));
        }
        if !on && before.role.starts_with("radio") {
            return Err(self.not_accepted(index, value, "on; another of its group switches it off"));
        }
        match self.perform(index, Action::Press, timeout) {
            Ok(_) => {}
            Err(AxError::ActionNotSupported { .. }) => {
                return Err(self.no_value(index, "switched by clicks alone"));
            }
            Err(error) => return Err(error),
        }
        let read = || Ok(self.read(index, timeout)?.value);
        self.read_back("action", deadline, read, |now| now == wanted)
    }

    fn mark(
        &self,
        index: u32,
        value: &str,
        deadline: Instant,
        timeout: Duration,
    ) -> Result<Written, AxError> {
        let (_, label) = self.named(index);
        let named = value::matching(std::iter::once(label.as_str()), value).map(|_| true);
        let Some(on) = value::switch(value).or(named) else {
            return Err(self.not_accepted(index, value, "selected, unselected"));
        };
        let text = |selected| Some(if selected { "selected" } else { "unselected" }.to_owned());
        let wanted = text(on).unwrap_or_default();
        if self.read(index, timeout)?.selected == on {
            return Ok(unchanged(&wanted));
        }
        if on {
            match self.perform(index, Action::Pick, timeout) {
                Ok(_) => {}
                Err(AxError::ActionNotSupported { .. }) => {
                    return Err(self.no_value(index, "selected by clicks alone"));
                }
                Err(error) => return Err(error),
            }
        } else {
            let Some((parent, child)) = &self.objects[self.position(index)?].parent else {
                return Err(self.no_value(index, "on its own"));
            };
            let deselect = Ask::integers(parent, (ask::SELECTION, "DeselectChild"), "i", &[*child]);
            if ask::boolean(&self.app.ask(deselect, deadline)) != Some(true) {
                return Err(self.not_accepted(index, value, "selected; select another to unselect it"));
            }
        }
        let read = || Ok(text(self.read(index, timeout)?.selected));
        self.read_back("selection", deadline, read, |now| now == wanted)
    }

    fn set_number(
        &self,
        index: u32,
        value: &str,
        deadline: Instant,
        timeout: Duration,
    ) -> Result<Written, AxError> {
        let position = self.position(index)?;
        let object = &self.objects[position].object;
        let node = &self.tree.nodes[position];
        // Gecko changes the number and does not tell the page, which goes on with the old one.
        if self.app.toolkit == Toolkit::Gecko && node.role.is_entry() {
            return Err(self.no_value(index, "a field of a page that follows the keyboard alone"));
        }
        let property = |name| Ask::property(object, ask::VALUE, name);
        let replies = self.app.ask_all(
            &[property("MinimumValue"), property("MaximumValue"), property("CurrentValue")],
            deadline,
        );
        if let Err(error @ (CallError::TimedOut | CallError::Closed(_))) = &replies[2] {
            return Err(self.failure(index, error, timeout));
        }
        let range = ask::number_property(&replies[0])
            .zip(ask::number_property(&replies[1]))
            .filter(|(least, most)| least < most);
        let accepted = range.map_or_else(
            || "numbers".to_owned(),
            |(least, most)| format!("numbers from {} to {}", detail::number(least), detail::number(most)),
        );
        let Some(wanted) = value::number(value) else {
            return Err(self.not_accepted(index, value, &accepted));
        };
        if range.is_some_and(|(least, most)| wanted < least - SAME || wanted > most + SAME) {
            return Err(self.not_accepted(index, value, &accepted));
        }
        let same = |now: f64| (now - wanted).abs() <= SAME * wanted.abs().max(1.0);
        if ask::number_property(&replies[2]).is_some_and(same) {
            return Ok(unchanged(&detail::number(wanted)));
        }
        let set = Ask::with(object, (ask::PROPERTIES, "Set"), "ssv", |writer| {
            writer.string(ask::VALUE).string("CurrentValue").double_variant(wanted);
        });
        match self.app.ask(set, deadline) {
            Ok(_) => {}
            Err(CallError::Remote { .. }) => return Err(self.no_value(index, "set by keys or a drag alone")),
            Err(error) => return Err(self.failure(index, &error, timeout)),
        }
        let read = || {
            Ok(ask::number_property(&self.app.ask(property("CurrentValue"), deadline)).map(detail::number))
        };
        self.read_back("value", deadline, read, |now| now.parse().is_ok_and(same))
    }

    fn set_text(
        &self,
        index: u32,
        text: &str,
        deadline: Instant,
        timeout: Duration,
    ) -> Result<Written, AxError> {
        let position = self.position(index)?;
        if !self.tree.nodes[position].abilities.has(Abilities::EDITABLE_TEXT) {
            return Err(self.no_value(index, "written by keys alone"));
        }
        let secret = self.tree.nodes[position].role.is_secret();
        self.write(index, &self.objects[position].object, text, secret, deadline, timeout)
    }

    /// Replaces the text of an object and reads it back: that of a password by its length.
    fn write(
        &self,
        index: u32,
        object: &ObjectRef,
        text: &str,
        secret: bool,
        deadline: Instant,
        timeout: Duration,
    ) -> Result<Written, AxError> {
        if !secret && self.text_of(object, deadline).as_deref() == Some(text) {
            return Ok(unchanged(text));
        }
        let set = Ask::with(object, (ask::EDITABLE_TEXT, "SetTextContents"), "s", |writer| {
            writer.string(text);
        });
        let reply = self.app.ask(set, deadline);
        match &reply {
            Ok(_) if ask::boolean(&reply) == Some(true) => {}
            Ok(_) | Err(CallError::Remote { .. }) => {
                return Err(self.no_value(index, "written by keys alone"));
            }
            Err(error) => return Err(self.failure(index, error, timeout)),
        }
        let length = i32::try_from(text.chars().count()).unwrap_or(i32::MAX);
        let units = i32::try_from(text.encode_utf16().count()).unwrap_or(i32::MAX);
        let read = || Ok(self.text_of(object, deadline));
        let mut written = self.read_back("editable_text", deadline, read, |now| {
            let count = i32::try_from(now.chars().count()).unwrap_or(i32::MAX);
            if secret { count == length || count == units } else { now == text }
        })?;
        written.value = written.value.filter(|_| !secret);
        Ok(written)
    }

    fn text_of(&self, object: &ObjectRef, deadline: Instant) -> Option<String> {
        let count = self.app.ask(Ask::property(object, ask::TEXT, "CharacterCount"), deadline);
        // Gecko answers nothing to an end behind the text.
        let end = ask::integer_property(&count)?;
        ask::text(&self.app.ask(Ask::integers(object, (ask::TEXT, "GetText"), "ii", &[0, end]), deadline))
    }

    fn choose(
        &self,
        index: u32,
        value: &str,
        deadline: Instant,
        timeout: Duration,
    ) -> Result<Written, AxError> {
        let position = self.position(index)?;
        let (node, object) = (&self.tree.nodes[position], &self.objects[position].object);
        let failed = |error| self.failure(index, &error, timeout);
        let offer = options::offered(&self.app, object, deadline).map_err(failed)?;
        let able = || offer.options.iter().filter(|option| option.states.operable());
        let names: Vec<&str> = able().map(|option| option.name.as_str()).collect();
        let Some(option) = value::matching(names.iter().copied(), value).and_then(|at| able().nth(at)) else {
            let own = Some(object).filter(|_| node.abilities.has(Abilities::EDITABLE_TEXT));
            return match offer.field.as_ref().or(own) {
                Some(field) => self.write(index, field, value, false, deadline, timeout),
                None if offer.options.is_empty() => {
                    Err(self.no_value(index, "a list that shows its options only when it is open"))
                }
                None => Err(self.not_accepted(index, value, &value::listed(names.into_iter()))),
            };
        };
        if self.is_chosen(index, option, &offer, deadline) {
            return Ok(unchanged(&option.name));
        }
        if let Some(field) = offer.field.as_ref().filter(|_| self.app.toolkit == Toolkit::Qt) {
            return self.write(index, field, &option.name, false, deadline, timeout);
        }
        // In a closed list of Qt a selection is not a choice, and Gecko does not tell the page of one.
        let by_keys = matches!(self.app.toolkit, Toolkit::Qt | Toolkit::Gecko);
        if by_keys && node.role.name() == "combo box" {
            return Err(self.no_value(index, "chosen from by keys alone"));
        }
        if node.states.has(State::Multiselectable) {
            let clear = Ask::plain(&option.parent, ask::SELECTION, "ClearSelection");
            let _ = self.app.ask(clear, deadline);
        }
        let mut tried = false;
        for route in self.routes(object, option, deadline) {
            let (name, ask) = match route {
                Route::Select(parent, child) => {
                    ("selection", Ask::integers(&parent, (ask::SELECTION, "SelectChild"), "i", &[child]))
                }
                Route::Act(number) => {
                    ("action", Ask::integers(&option.object, (ask::ACTION, "DoAction"), "i", &[number]))
                }
            };
            let reply = self.app.ask(ask, deadline);
            match &reply {
                Ok(_) if ask::boolean(&reply) == Some(true) => {}
                Ok(_) | Err(CallError::Remote { .. }) => continue,
                Err(error) => return Err(self.failure(index, error, timeout)),
            }
            tried = true;
            let read = || Ok(self.is_chosen(index, option, &offer, deadline).then(|| option.name.clone()));
            let written = self.read_back(name, deadline, read, |_| true)?;
            if written.confirmed {
                return Ok(written);
            }
        }
        if tried {
            let value = self.shown(index, &offer, deadline);
            return Ok(Written { route: "action".to_owned(), confirmed: false, value });
        }
        Err(self.no_value(index, "chosen from by keys or clicks alone"))
    }

    /// The ways to choose an option, the best first: those that a page or a program hears of.
    fn routes(&self, chooser: &ObjectRef, option: &Choosable, deadline: Instant) -> Vec<Route> {
        let names = detail::action_names_of(&self.app, &option.object, deadline);
        let act = Action::Pick.choose(&names, crate::role::Role(0)).and_then(|at| i32::try_from(at).ok());
        let act = act.map(Route::Act);
        let mut selects = vec![Route::Select(option.parent.clone(), option.index)];
        if *chooser != option.parent {
            selects.insert(0, Route::Select(chooser.clone(), option.index));
        }
        match self.app.toolkit {
            Toolkit::Chromium | Toolkit::Gecko | Toolkit::Qt => act.into_iter().chain(selects).collect(),
            _ => selects.into_iter().chain(act).collect(),
        }
    }

    /// True when the element shows that it has this option.
    fn is_chosen(&self, index: u32, option: &Choosable, offer: &Offer, deadline: Instant) -> bool {
        if let Some(shown) = self.shown(index, offer, deadline) {
            return value::plain(&shown) == value::plain(&option.name);
        }
        let reply = self.app.ask(Ask::plain(&option.object, ask::ACCESSIBLE, "GetState"), deadline);
        let states = States(ask::states(&reply).unwrap_or_default());
        states.has(State::Selected) || states.has(State::Checked)
    }

    /// What a combo box shows as chosen, and a row of tabs in Qt; none where only its options tell.
    fn shown(&self, index: u32, offer: &Offer, deadline: Instant) -> Option<String> {
        let position = self.position(index).ok()?;
        let object = &self.objects[position].object;
        let role = self.tree.nodes[position].role.name();
        let is_qt = self.app.toolkit == Toolkit::Qt;
        if role != "combo box" && !(is_qt && role == "page tab list") {
            return None;
        }
        if is_qt {
            return ask::text_property(
                &self.app.ask(Ask::property(object, ask::ACCESSIBLE, "Name"), deadline),
            );
        }
        if let Some(field) = &offer.field {
            return self.text_of(field, deadline);
        }
        let chosen = Ask::integers(object, (ask::SELECTION, "GetSelectedChild"), "i", &[0]);
        let reply = self.app.ask(chosen, deadline).ok()?;
        let (bus, path) = super::collect::single(&reply)?;
        let child = self.app.object(&bus, &path);
        let option = offer.options.iter().find(|option| option.object == child);
        option.map(|option| option.name.clone())
    }

    /// Reads until the value is as wanted, for a short while.
    fn read_back(
        &self,
        route: &str,
        deadline: Instant,
        read: impl Fn() -> Result<Option<String>, AxError>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Written, AxError> {
        let deadline = deadline.min(Instant::now() + APPEARS);
        loop {
            let value = read()?;
            let confirmed = value.as_deref().is_some_and(&is_wanted);
            if confirmed || Instant::now() >= deadline {
                return Ok(Written { route: route.to_owned(), confirmed, value });
            }
            self.app.wait_for_change(deadline);
        }
    }

    fn not_accepted(&self, index: u32, value: &str, accepted: &str) -> AxError {
        let (role, label) = self.named(index);
        AxError::ValueNotAccepted {
            index,
            role,
            label,
            value: value.to_owned(),
            accepted: accepted.to_owned(),
        }
    }

    fn no_value(&self, index: u32, why: &str) -> AxError {
        let (role, label) = self.named(index);
        AxError::ValueNotSupported { index, role, label, why: why.to_owned() }
    }
}

fn unchanged(value: &str) -> Written {
    Written { route: "none".to_owned(), confirmed: true, value: Some(value.to_owned()) }
}
