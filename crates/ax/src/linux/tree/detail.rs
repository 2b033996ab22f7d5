//! What a bulk read leaves out: place, actions, value, text and the label beside a field.

use desktop::Rect;

use super::objects;
use super::walk::Walk;
use crate::action;
use crate::platform::bus::action_names::ActionNames;
use crate::platform::bus::application::App;
use crate::platform::bus::ask::{self, Ask, ObjectRef, Reply};
use crate::platform::bus::toolkit::Toolkit;
use crate::platform::dbus::Message;
use crate::role::Role;
use crate::tree::{Abilities, Node};

/// Longest text that is read of one node, in characters.
pub const MAX_TEXT: i32 = 10_000;
/// Most actions of one node.
const MAX_ACTIONS: usize = 16;
/// `ATSPI_RELATION_LABELLED_BY`.
const LABELLED_BY: u32 = 2;

/// What is wanted of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    Frame,
    Actions,
    ActionName(usize),
    Number,
    TextLength,
    Text {
        length: i32,
    },
    Relations,
    /// The menu in which a combo box of a browser keeps its options.
    Inside,
    /// The option that is selected.
    Chosen,
    ChosenName,
}

/// One node to read, and what it is.
pub struct Target<'a> {
    /// Its object.
    pub object: &'a ObjectRef,
    /// True when it has children: its text is theirs.
    pub has_children: bool,
    /// True when its place is wanted though nobody operates it.
    pub placed: bool,
    /// True when it is as it was: only its place is asked.
    pub known: bool,
    /// The node that is completed.
    pub node: Node,
    /// Objects that label it.
    pub labels: Vec<ObjectRef>,
    /// What is asked next on the way to its chosen option: a menu, then the option.
    pub within: Option<ObjectRef>,
}

/// Completes the nodes in two rounds of calls, places being relative to `origin` in the application's coordinates; false
/// when the application did not answer in time.
pub fn complete(walk: &mut Walk<'_>, targets: &mut [Target<'_>], origin: (i32, i32)) -> bool {
    let toolkit = walk.app.toolkit;
    let names = Some(&walk.app.action_names).filter(|_| ActionNames::last(toolkit));
    let mut wants: Vec<(usize, Want)> = Vec::new();
    for (at, target) in targets.iter_mut().enumerate() {
        if target.known {
            wants.extend(first_wants(target, toolkit).map(|want| (at, want)));
            continue;
        }
        let known = names.and_then(|names| names.of(target.object, &target.node));
        let open = |want: &Want| *want != Want::Actions || known.is_none();
        wants.extend(first_wants(target, toolkit).filter(open).map(|want| (at, want)));
        target.node.actions = known.unwrap_or_default();
    }
    // The places of some have been asked to find out what is in view, or whether anything has moved.
    wants.retain(|(at, want)| {
        let known = walk.extents(targets[*at].object).filter(|_| *want == Want::Frame);
        known.inspect(|reply| take(&mut targets[*at], *want, reply, origin)).is_none()
    });
    let replies = asked(walk, targets, &wants);
    let done = finish(walk, targets, origin, (&wants, &replies), Vec::new());
    if let Some(names) = names.filter(|_| done) {
        let read =
            wants.iter().zip(&replies).filter(|((_, want), reply)| *want == Want::Actions && reply.is_ok());
        for ((at, _), _) in read {
            names.keep(targets[*at].object, &targets[*at].node);
        }
    }
    done
}

/// What is asked first about a node that looks like this, and the calls for it.
pub fn first_asks(target: &Target<'_>, app: &App) -> (Vec<Want>, Vec<Ask>) {
    let wants: Vec<Want> = first_wants(target, app.toolkit).collect();
    let asks = wants.iter().map(|want| call(app, target.object, *want)).collect();
    (wants, asks)
}

/// Completes a node from the replies to what was asked when it looked as it did before; asks for the rest.
pub fn complete_from(
    walk: &mut Walk<'_>,
    target: &mut Target<'_>,
    origin: (i32, i32),
    wants: &[Want],
    replies: &[Reply],
) -> bool {
    let fresh = first_wants(target, walk.app.toolkit).filter(|want| !wants.contains(want));
    let missing = fresh.map(|want| (0, want)).collect();
    let wants: Vec<(usize, Want)> = wants.iter().map(|want| (0, *want)).collect();
    finish(walk, std::slice::from_mut(target), origin, (&wants, replies), missing)
}

/// Takes these replies, then asks for what is `missing` and for what follows from them.
fn finish(
    walk: &mut Walk<'_>,
    targets: &mut [Target<'_>],
    origin: (i32, i32),
    (wants, replies): (&[(usize, Want)], &[Reply]),
    missing: Vec<(usize, Want)>,
) -> bool {
    let mut later = missing;
    for ((at, want), reply) in wants.iter().zip(replies) {
        take(&mut targets[*at], *want, reply, origin);
        later.extend(next_wants(&targets[*at], *want, reply).map(|want| (*at, want)));
    }
    let mut last = Vec::new();
    for ((at, want), reply) in later.iter().zip(asked(walk, targets, &later)) {
        take(&mut targets[*at], *want, &reply, origin);
        last.extend(next_wants(&targets[*at], *want, &reply).map(|want| (*at, want)));
    }
    for ((at, want), reply) in last.iter().zip(asked(walk, targets, &last)) {
        take(&mut targets[*at], *want, &reply, origin);
    }
    !walk.timed_out
}

fn asked(walk: &mut Walk<'_>, targets: &[Target<'_>], wants: &[(usize, Want)]) -> Vec<Reply> {
    let object = |target: &Target<'_>, want| match (want, &target.within) {
        (Want::Chosen | Want::ChosenName, Some(within)) => within.clone(),
        _ => target.object.clone(),
    };
    let asks: Vec<Ask> =
        wants.iter().map(|(at, want)| call(walk.app, &object(&targets[*at], *want), *want)).collect();
    walk.ask_all(&asks)
}

fn call(app: &App, object: &ObjectRef, want: Want) -> Ask {
    match want {
        Want::Frame => Ask::extents(object, app.coordinates()),
        // The page of a WebKit view never answers when it is asked for all.
        Want::Actions if object.bus != app.name => Ask::property(object, ask::ACTION, "NActions"),
        Want::Actions => Ask::plain(object, ask::ACTION, "GetActions"),
        Want::ActionName(position) => {
            let position = i32::try_from(position).unwrap_or(i32::MAX);
            Ask::integers(object, (ask::ACTION, "GetName"), "i", &[position])
        }
        Want::Number => Ask::property(object, ask::VALUE, "CurrentValue"),
        Want::TextLength => Ask::property(object, ask::TEXT, "CharacterCount"),
        Want::Text { length } => Ask::integers(object, (ask::TEXT, "GetText"), "ii", &[0, length]),
        Want::Relations => Ask::plain(object, ask::ACCESSIBLE, "GetRelationSet"),
        Want::Inside => Ask::integers(object, (ask::ACCESSIBLE, "GetChildAtIndex"), "i", &[0]),
        Want::Chosen => Ask::integers(object, (ask::SELECTION, "GetSelectedChild"), "i", &[0]),
        Want::ChosenName => Ask::property(object, ask::ACCESSIBLE, "Name"),
    }
}

fn first_wants(target: &Target<'_>, toolkit: Toolkit) -> impl Iterator<Item = Want> {
    let node = &target.node;
    let can = |ability| node.abilities.has(ability);
    let operated = node.is_operated();
    // Gecko shows no nodes for plain text: it is the parent's, beside the children.
    let bare = !target.has_children || toolkit == Toolkit::Gecko;
    let text = holds_text(node) || node.label.is_empty() && bare;
    [
        (can(Abilities::COMPONENT) && (operated || target.placed)).then_some(Want::Frame),
        (can(Abilities::ACTION) && operated).then_some(Want::Actions),
        (can(Abilities::VALUE) && node.role.is_range()).then_some(Want::Number),
        (can(Abilities::TEXT) && text && !node.role.is_secret()).then_some(Want::TextLength),
        (operated && node.label.is_empty() && wants_label(node)).then_some(Want::Relations),
        chosen_want(target, toolkit),
    ]
    .into_iter()
    .flatten()
    .filter(|want| !target.known || *want == Want::Frame)
}

/// What leads to the chosen option of a combo box; nothing in Qt, where it is the name.
fn chosen_want(target: &Target<'_>, toolkit: Toolkit) -> Option<Want> {
    let node = &target.node;
    if node.role.name() != "combo box" || toolkit == Toolkit::Qt || holds_text(node) {
        return None;
    }
    let browser = matches!(toolkit, Toolkit::Chromium | Toolkit::Gecko) && target.has_children;
    let selects = node.abilities.has(Abilities::SELECTION);
    if selects { Some(Want::Chosen) } else { browser.then_some(Want::Inside) }
}

/// True when the node's text is its value.
fn holds_text(node: &Node) -> bool {
    node.role.is_entry() || node.states.has(crate::state::State::Editable)
}

/// True for fields that stand beside the label that names them.
pub fn wants_label(node: &Node) -> bool {
    node.role.is_entry()
        || node.role.is_range()
        || node.role.name() == "combo box"
        || node.role.name() == "switch"
}

fn next_wants(target: &Target<'_>, want: Want, reply: &Reply) -> impl Iterator<Item = Want> {
    let length = if want == Want::TextLength { ask::integer_property(reply).unwrap_or(0) } else { 0 };
    // Gecko answers nothing to an end behind the text.
    let text = (length > 0).then_some(Want::Text { length: length.min(MAX_TEXT) });
    // `GetActions` answers names in the person's language, or none: what is not known is asked one by one.
    let known = target.node.actions.iter().all(|name| action::is_known(name));
    let unknown = if want == Want::Actions && !known { 0..target.node.actions.len() } else { 0..0 };
    let within = match want {
        Want::Inside => Some(Want::Chosen),
        Want::Chosen => Some(Want::ChosenName),
        _ => None,
    };
    unknown.map(Want::ActionName).chain(text).chain(within.filter(|_| target.within.is_some()))
}

fn take(target: &mut Target<'_>, want: Want, reply: &Reply, origin: (i32, i32)) {
    let node = &mut target.node;
    match want {
        Want::Frame => {
            let frame = ask::rect(reply).unwrap_or_default();
            let (x, y) = origin;
            node.frame = Rect { x: frame.x.saturating_sub(x), y: frame.y.saturating_sub(y), ..frame };
        }
        Want::Actions => node.actions = action_names_in(reply),
        Want::ActionName(position) => {
            if let (Some(name), Some(slot)) = (ask::text(reply), node.actions.get_mut(position)) {
                *slot = name;
            }
        }
        Want::Number => node.value = ask::number_property(reply).map(number),
        Want::TextLength => {
            if holds_text(node) && node.value.is_none() && ask::integer_property(reply) == Some(0) {
                node.value = Some(String::new());
            }
        }
        Want::Text { .. } => {
            let text = ask::text(reply).unwrap_or_default().replace('\u{fffc}', "");
            if holds_text(node) {
                node.value = Some(text);
            } else if node.label.is_empty() {
                node.label = text;
            }
        }
        Want::Inside | Want::Chosen => {
            let found = reply.as_ref().ok().and_then(objects::single);
            target.within = found.map(|(bus, path)| target.object.named(&bus, &path));
        }
        Want::ChosenName => {
            node.value = ask::text_property(reply).filter(|name| !name.is_empty());
        }
        Want::Relations => {
            let labels = reply.as_ref().map(|reply| labels(target.object, reply));
            target.labels = labels.unwrap_or_default();
        }
    }
}

/// Names in a reply of type `a(sss)`: name, description, key binding. Known ones in the spelling of `GetName`.
fn action_names(reply: &Message) -> Vec<String> {
    let mut names = Vec::new();
    let Ok(mut reader) = reply.expect("a(sss)") else { return names };
    let Ok(end) = reader.array(8) else { return names };
    while reader.position() < end && names.len() < MAX_ACTIONS {
        let name = reader.align(8).and_then(|()| reader.string());
        let (Ok(name), Ok(_), Ok(_)) = (name, reader.string(), reader.string()) else { break };
        names.push(if action::is_known(name) { name.to_lowercase() } else { name.to_owned() });
    }
    names
}

/// The names of an object's actions as they are now.
pub fn action_names_of(app: &App, object: &ObjectRef, deadline: std::time::Instant) -> Vec<String> {
    let names = action_names_in(&app.ask(call(app, object, Want::Actions), deadline));
    if names.iter().all(|name| action::is_known(name)) {
        return names;
    }
    let asks: Vec<Ask> = (0..names.len()).map(|at| call(app, object, Want::ActionName(at))).collect();
    let exact = app.ask_all(&asks, deadline);
    names.into_iter().zip(&exact).map(|(name, exact)| ask::text(exact).unwrap_or(name)).collect()
}

fn action_names_in(reply: &Reply) -> Vec<String> {
    if let Some(count) = ask::integer_property(reply).and_then(|count| usize::try_from(count).ok()) {
        return vec![String::new(); count.min(MAX_ACTIONS)];
    }
    reply.as_ref().map(action_names).unwrap_or_default()
}

/// The objects that label `object`, in a reply of type `a(ua(so))`.
fn labels(object: &ObjectRef, reply: &Message) -> Vec<ObjectRef> {
    let mut found = Vec::new();
    let Ok(mut reader) = reply.expect("a(ua(so))") else { return found };
    let Ok(end) = reader.array(8) else { return found };
    while reader.position() < end {
        let relation = reader.align(8).and_then(|()| reader.u32());
        let (Ok(relation), Ok(inner)) = (relation, reader.array(8)) else { break };
        while reader.position() < inner {
            let Ok((bus, path)) = objects::reference(&mut reader) else { return found };
            if relation == LABELLED_BY {
                found.push(object.named(bus, path));
            }
        }
    }
    found
}

/// A number as a person writes it: no digits that rounding made.
pub fn number(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Gives a node its name: as its label, and of a combo box in Qt, which is named after its chosen option, as its value.
pub fn give_name(app: &App, node: &mut Node, name: &str, description: &str) {
    if app.toolkit == Toolkit::Qt && node.role.name() == "combo box" {
        node.value = Some(name.to_owned());
        node.label = description.to_owned();
    } else {
        node.label = label(app, name, description, node.role);
    }
}

/// The name of an object as its label: GTK 4.8 gives unnamed objects the name of their class, and every tab the same.
pub fn label(app: &App, name: &str, description: &str, role: Role) -> String {
    let class = app.toolkit == Toolkit::Gtk4
        && name.strip_prefix("Gtk").is_some_and(|rest| {
            rest.starts_with(char::is_uppercase) && rest.chars().all(char::is_alphanumeric)
        });
    let every = app.toolkit == Toolkit::Gtk4 && role.name() == "page tab" && name == "Tab";
    let name = if class || every { "" } else { name };
    let described = !matches!(role.name(), "label" | "static" | "panel" | "filler" | "section");
    if name.trim().is_empty() && described { description } else { name }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_needless_digits() {
        assert_eq!(number(50.0), "50");
        assert_eq!(number(0.30000000000000004), "0.3");
        assert_eq!(number(-0.00001), "0");
    }
}
