//! The options inside a combo box, a list or a row of tabs, shown or not.

use std::time::Instant;

use crate::platform::bus::application::App;
use crate::platform::bus::ask::{self, Ask, ObjectRef, Reply};
use crate::platform::bus::toolkit::Toolkit;
use crate::platform::dbus::CallError;
use crate::platform::tree::{detail, objects};
use crate::role::Role;
use crate::state::{State, States};
use crate::value;

/// Most objects that are looked at for options.
pub const MANY: usize = 2_000;
/// Most levels between a combo box and its options.
const DEEP: usize = 8;
/// Most levels between an option and the text in it.
const DEEP_TEXT: usize = 4;

/// Coordinates that begin at the window's corner.
const IN_WINDOW: u32 = 1;

/// One option.
#[derive(Clone, Debug)]
pub struct Choosable {
    /// Its object.
    pub object: ObjectRef,
    /// What it stands in, and its position there.
    pub parent: ObjectRef,
    /// Its position in its parent.
    pub index: i32,
    /// Its name, or the text in it.
    pub name: String,
    /// Its states.
    pub states: States,
}

/// What an element lets a person choose from.
#[derive(Default)]
pub struct ChoiceList {
    /// The options, in their order.
    pub options: Vec<Choosable>,
    /// The field inside it that takes free text.
    pub field: Option<ObjectRef>,
}

/// What was read of one object.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The object.
    pub object: ObjectRef,
    /// What it stands in.
    pub parent: ObjectRef,
    /// Its position there.
    pub index: i32,
    /// What it is.
    pub role: Role,
    /// Its name.
    pub name: String,
    /// Its states.
    pub states: States,
}

/// Reads what the object at `root` offers.
pub fn choices_of(app: &App, root: &ObjectRef, deadline: Instant) -> Result<ChoiceList, CallError> {
    let mut choices = ChoiceList::default();
    let mut level = vec![root.clone()];
    let mut looked_at = 0;
    for _ in 0..DEEP {
        let seen = children(app, &level, MANY - looked_at, deadline)?;
        looked_at += seen.len();
        level.clear();
        for own in seen {
            if value::is_option(own.role) {
                let Seen { object, parent, index, name, states, .. } = own;
                choices.options.push(Choosable { object, parent, index, name, states });
            } else {
                // In GTK 4 an entry beside the options searches them.
                let searches = app.toolkit == Toolkit::Gtk4 && own.role.name() == "entry";
                if own.states.has(State::Editable) && choices.field.is_none() && !searches {
                    choices.field = Some(own.object.clone());
                }
                level.push(own.object);
            }
        }
        if level.is_empty() || looked_at >= MANY {
            break;
        }
    }
    name_by_content(app, &mut choices.options, deadline)?;
    Ok(choices)
}

/// The texts that the button of a closed combo box of GTK 4 shows, joined by spaces; none where it shows no text.
pub fn shown_in_button(app: &App, root: &ObjectRef, deadline: Instant) -> Result<Option<String>, CallError> {
    let own = children(app, std::slice::from_ref(root), MANY, deadline)?;
    let mut level: Vec<ObjectRef> = own
        .into_iter()
        .filter(|child| matches!(child.role.name(), "push button" | "toggle button"))
        .map(|child| child.object)
        .collect();
    let mut texts = Vec::new();
    for _ in 0..DEEP {
        if level.is_empty() {
            break;
        }
        let seen = children(app, &level, MANY, deadline)?;
        let (labels, others): (Vec<Seen>, Vec<Seen>) =
            seen.into_iter().partition(|own| own.role.name() == "label");
        let places: Vec<Ask> = labels.iter().map(|label| Ask::extents(&label.object, IN_WINDOW)).collect();
        for (label, place) in labels.iter().zip(all(app, &places, deadline)?) {
            // What it shows without a choice stays in the tree, without a size.
            if ask::rect(&place).is_some_and(|place| place.width > 0 && place.height > 0) {
                texts.push(label.name.trim().to_owned());
            }
        }
        level = others.into_iter().map(|own| own.object).collect();
    }
    Ok(Some(texts.join(" ")).filter(|text| !text.is_empty()))
}

/// The children of all these objects, at most so many; none of an object that has more.
pub fn children(
    app: &App,
    parents: &[ObjectRef],
    most: usize,
    deadline: Instant,
) -> Result<Vec<Seen>, CallError> {
    let counts: Vec<Ask> =
        parents.iter().map(|parent| Ask::property(parent, ask::ACCESSIBLE, "ChildCount")).collect();
    let mut asks: Vec<(usize, Ask)> = Vec::new();
    for (at, count) in all(app, &counts, deadline)?.iter().enumerate() {
        let count = ask::integer_property(count).unwrap_or(0).max(0);
        // A sheet that is asked for all its cells never answers, and nobody chooses from so many.
        if usize::try_from(count).is_ok_and(|count| 0 < count && count <= most) {
            asks.push((at, Ask::plain(&parents[at], ask::ACCESSIBLE, "GetChildren")));
        }
    }
    let calls: Vec<Ask> = asks.iter().map(|(_, call)| call.clone()).collect();
    let mut found: Vec<(usize, i32, ObjectRef)> = Vec::new();
    for ((at, _), reply) in asks.iter().zip(all(app, &calls, deadline)?) {
        let references = reply.as_ref().map(objects::references).unwrap_or_default();
        let places = (0..).zip(&references);
        found.extend(places.map(|(place, (bus, path))| (*at, place, parents[*at].named(bus, path))));
    }
    found.truncate(most);
    let asks: Vec<Ask> = found
        .iter()
        .flat_map(|(_, _, object)| {
            [
                Ask::plain(object, ask::ACCESSIBLE, "GetRole"),
                Ask::property(object, ask::ACCESSIBLE, "Name"),
                Ask::plain(object, ask::ACCESSIBLE, "GetState"),
            ]
        })
        .collect();
    let replies = all(app, &asks, deadline)?;
    let read = |((at, index, object), replies): (&(usize, i32, ObjectRef), &[Reply])| {
        let role = Role(ask::unsigned(&replies[0])?);
        let name = ask::text_property(&replies[1]).unwrap_or_default();
        Some(Seen {
            object: object.clone(),
            parent: parents[*at].clone(),
            index: *index,
            role,
            name: detail::label(app, &name, "", role),
            states: States(ask::states(&replies[2]).unwrap_or_default()),
        })
    };
    Ok(found.iter().zip(replies.chunks(3)).filter_map(read).collect())
}

/// Gives options without a name the text that stands in them.
fn name_by_content(app: &App, options: &mut [Choosable], deadline: Instant) -> Result<(), CallError> {
    let unnamed: Vec<usize> = (0..options.len()).filter(|at| options[*at].name.trim().is_empty()).collect();
    let mut level: Vec<(usize, ObjectRef)> =
        unnamed.iter().map(|at| (*at, options[*at].object.clone())).collect();
    for _ in 0..DEEP_TEXT {
        let parents: Vec<ObjectRef> = level.iter().map(|(_, object)| object.clone()).collect();
        let mut next = Vec::new();
        for own in children(app, &parents, MANY, deadline)? {
            let Some((at, _)) = level.iter().find(|(_, object)| *object == own.parent) else { continue };
            let name = &mut options[*at].name;
            if own.name.trim().is_empty() {
                next.push((*at, own.object));
            } else {
                if !name.is_empty() {
                    name.push(' ');
                }
                name.push_str(own.name.trim());
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    Ok(())
}

/// Makes all calls; fails when the application did not answer in time.
fn all(app: &App, asks: &[Ask], deadline: Instant) -> Result<Vec<Reply>, CallError> {
    let replies = app.ask_all(asks, deadline);
    let lost = |reply: &Reply| match reply {
        Err(error @ (CallError::TimedOut | CallError::Closed(_))) => Some(error.clone()),
        _ => None,
    };
    match replies.iter().find_map(lost) {
        Some(error) => Err(error),
        None => Ok(replies),
    }
}
