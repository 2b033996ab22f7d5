//! What was read of an application, before it becomes a tree; and the bulk read that fills it.

use std::collections::HashMap;

use crate::platform::bus::application::App;
use crate::platform::bus::ask::{self, NULL, ObjectRef};
use crate::platform::dbus::{Malformed, Message, Reader};
use crate::role::Role;
use crate::state::States;
use crate::tree::Abilities;

/// The object that answers bulk reads.
pub const CACHE_PATH: &str = "/org/a11y/atspi/cache";
/// Bulk reply of today: object, application, parent, index, child count, interfaces, name, role, description, states.
const ITEMS: &str = "a((so)(so)(so)iiassusau)";
/// Bulk reply of Qt, as at-spi2-core had it until 2015: children instead of index and child count.
const OLD_ITEMS: &str = "a((so)(so)(so)a(so)assusau)";
/// Bulk reply as at-spi2-core first had it, which some toolkits still give: the application is missing too.
const OLDEST_ITEMS: &str = "a((so)(so)a(so)assusau)";
/// No application of this size is real.
const MAX_NODES: usize = 1_000_000;

/// One object as the application described it.
#[derive(Clone, Debug)]
pub struct Raw {
    /// The object.
    pub object: ObjectRef,
    /// Its parent; none when it is not known.
    pub parent: Option<ObjectRef>,
    /// Position among its siblings; negative when it is not known.
    pub index: i32,
    /// Number of its children as it says; negative when it does not.
    pub child_count: i32,
    /// Positions of the children that were read.
    pub children: Vec<usize>,
    /// What it can do.
    pub abilities: Abilities,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its role.
    pub role: Role,
    /// Its states.
    pub states: States,
}

/// Where a node of the tree comes from.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its object.
    pub object: ObjectRef,
    /// Its parent's object, and its position there.
    pub parent: Option<(ObjectRef, i32)>,
    /// True when it has children, shown or not.
    pub has_children: bool,
    /// From where the application says that it is to where it is.
    pub shift: (i32, i32),
}

/// The objects read so far.
#[derive(Default)]
pub struct Objects {
    /// The objects, in the order of their arrival.
    pub all: Vec<Raw>,
    positions: HashMap<ObjectRef, usize>,
}

impl Objects {
    /// The position of an object; none when it has not been read.
    pub fn position(&self, object: &ObjectRef) -> Option<usize> {
        self.positions.get(object).copied()
    }

    /// The position of the parent of the object at a position; none when it is not known or has not been read.
    pub fn above(&self, position: usize) -> Option<usize> {
        self.position(self.all[position].parent.as_ref()?)
    }

    /// Adds an object, or replaces what was read of it before.
    pub fn insert(&mut self, raw: Raw) -> usize {
        if let Some(position) = self.position(&raw.object) {
            self.all[position] = raw;
            return position;
        }
        let position = self.all.len();
        self.positions.insert(raw.object.clone(), position);
        self.all.push(raw);
        position
    }

    /// Forgets where the object at a position is; false when that was forgotten before.
    pub fn forget(&mut self, position: usize) -> bool {
        let object = &self.all[position].object;
        let known = self.positions.get(object) == Some(&position);
        if known {
            self.positions.remove(object);
        }
        known
    }

    /// Reads a bulk reply; false when it has no known form or breaks off.
    pub fn read_items(&mut self, app: &App, reply: &Message) -> bool {
        let read = match reply.signature.as_str() {
            ITEMS => self.items(app, reply, item),
            OLD_ITEMS => self.items(app, reply, old_item),
            OLDEST_ITEMS => self.items(app, reply, oldest_item),
            _ => return false,
        };
        self.link();
        read.is_ok()
    }

    fn items(
        &mut self,
        app: &App,
        reply: &Message,
        item: fn(&App, &mut Reader<'_>) -> Result<Raw, Malformed>,
    ) -> Result<(), Malformed> {
        let mut reader = reply.body();
        let end = reader.array(8)?;
        while reader.position() < end && self.all.len() < MAX_NODES {
            reader.align(8)?;
            let raw = item(app, &mut reader)?;
            if &*raw.object.path != NULL {
                self.insert(raw);
            }
        }
        Ok(())
    }

    /// Joins children to their parents, in the order of their positions.
    fn link(&mut self) {
        for position in 0..self.all.len() {
            if let Some(above) = self.above(position).filter(|above| *above != position) {
                self.all[above].children.push(position);
            }
        }
        let indices: Vec<i32> = self.all.iter().map(|raw| raw.index).collect();
        for raw in &mut self.all {
            raw.children.sort_by_key(|child| indices[*child]);
        }
    }
}

fn item(app: &App, reader: &mut Reader<'_>) -> Result<Raw, Malformed> {
    let object = reference(reader)?;
    reference(reader)?;
    let parent = reference(reader)?;
    let (index, child_count) = (reader.i32()?, reader.i32()?);
    rest(app, object, parent, (index, child_count), reader)
}

fn old_item(app: &App, reader: &mut Reader<'_>) -> Result<Raw, Malformed> {
    let object = reference(reader)?;
    reference(reader)?;
    item_with_children(app, object, reader)
}

fn oldest_item(app: &App, reader: &mut Reader<'_>) -> Result<Raw, Malformed> {
    let object = reference(reader)?;
    item_with_children(app, object, reader)
}

fn item_with_children(app: &App, object: (&str, &str), reader: &mut Reader<'_>) -> Result<Raw, Malformed> {
    let parent = reference(reader)?;
    let end = reader.array(8)?;
    let mut count = 0;
    while reader.position() < end {
        reference(reader)?;
        count += 1;
    }
    rest(app, object, parent, (-1, count), reader)
}

fn rest(
    app: &App,
    (bus, path): (&str, &str),
    (parent_bus, parent): (&str, &str),
    (index, child_count): (i32, i32),
    reader: &mut Reader<'_>,
) -> Result<Raw, Malformed> {
    Ok(Raw {
        object: app.object(bus, path),
        parent: (!parent.is_empty() && parent != NULL).then(|| app.object(parent_bus, parent)),
        index,
        child_count,
        children: Vec::new(),
        abilities: abilities(reader)?,
        name: reader.string()?.to_owned(),
        role: Role(reader.u32()?),
        description: reader.string()?.to_owned(),
        states: States(ask::state_bits(reader)?),
    })
}

/// What an array of interface names amounts to.
pub fn abilities(reader: &mut Reader<'_>) -> Result<Abilities, Malformed> {
    let end = reader.array(4)?;
    let mut bits = 0;
    while reader.position() < end {
        let ability = match reader.string()? {
            ask::ACTION => Abilities::ACTION,
            ask::COMPONENT => Abilities::COMPONENT,
            ask::EDITABLE_TEXT => Abilities::EDITABLE_TEXT,
            ask::TEXT => Abilities::TEXT,
            ask::VALUE => Abilities::VALUE,
            ask::SELECTION => Abilities::SELECTION,
            ask::TABLE => Abilities::TABLE,
            _ => continue,
        };
        bits |= ability.0;
    }
    Ok(Abilities(bits))
}

/// A reference: bus name and path.
pub fn reference<'a>(reader: &mut Reader<'a>) -> Result<(&'a str, &'a str), Malformed> {
    reader.align(8)?;
    Ok((reader.string()?, reader.string()?))
}

/// The references in a reply of type `a(so)`; what breaks off is left out.
pub fn references(reply: &Message) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let Ok(mut reader) = reply.expect("a(so)") else { return found };
    let Ok(end) = reader.array(8) else { return found };
    while reader.position() < end {
        let Ok((bus, path)) = reference(&mut reader) else { break };
        if path != NULL {
            found.push((bus.to_owned(), path.to_owned()));
        }
    }
    found
}

/// The single reference in a reply of type `(so)`.
pub fn single(reply: &Message) -> Option<(String, String)> {
    let mut reader = reply.expect("(so)").ok()?;
    let (bus, path) = reference(&mut reader).ok()?;
    (path != NULL).then(|| (bus.to_owned(), path.to_owned()))
}

/// Number of items in a bulk reply, without reading what they hold.
pub fn count(reply: &Message) -> u32 {
    let Some(item) = reply.signature.strip_prefix('a') else { return 0 };
    let mut reader = reply.body();
    let Ok(end) = reader.array(8) else { return 0 };
    let mut count = 0;
    while reader.position() < end && reader.skip(item).is_ok() {
        count += 1;
    }
    count
}
