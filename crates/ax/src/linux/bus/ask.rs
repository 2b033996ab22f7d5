//! The calls that are made on accessible objects, and how their replies are read.

use std::sync::Arc;

use desktop::Rect;

use crate::platform::dbus::{CallError, Malformed, Message, Reader, Writer};

/// Interfaces of AT-SPI.
pub const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
/// Application interface of the root object.
pub const APPLICATION: &str = "org.a11y.atspi.Application";
/// Actions of an object.
pub const ACTION: &str = "org.a11y.atspi.Action";
/// Bulk reading.
pub const CACHE: &str = "org.a11y.atspi.Cache";
/// Place and focus of an object.
pub const COMPONENT: &str = "org.a11y.atspi.Component";
/// Text that can be changed.
pub const EDITABLE_TEXT: &str = "org.a11y.atspi.EditableText";
/// Children that can be selected.
pub const SELECTION: &str = "org.a11y.atspi.Selection";
/// Rows and columns.
pub const TABLE: &str = "org.a11y.atspi.Table";
/// Text that can be read.
pub const TEXT: &str = "org.a11y.atspi.Text";
/// A number with a range.
pub const VALUE: &str = "org.a11y.atspi.Value";
/// Properties of any interface.
pub const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
/// The object that stands for a whole application.
pub const ROOT: &str = "/org/a11y/atspi/accessible/root";
/// What stands for no object.
pub const NULL: &str = "/org/a11y/atspi/null";

/// Coordinates relative to the window (`ATSPI_COORD_TYPE_WINDOW`).
pub const COORD_WINDOW: u32 = 1;
/// Coordinates relative to the screen (`ATSPI_COORD_TYPE_SCREEN`).
pub const COORD_SCREEN: u32 = 0;
/// Beyond this no coordinate is real: toolkits answer garbage for hidden objects.
const MAX_COORDINATE: i32 = 100_000;

/// An object of an application.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectRef {
    /// Bus name of the application that has it.
    pub bus: Arc<str>,
    /// Its object path.
    pub path: Arc<str>,
}

impl ObjectRef {
    /// The object that this one names: of its own application when it names no other.
    pub fn named(&self, bus: &str, path: &str) -> Self {
        let own = bus.is_empty() || *bus == *self.bus;
        Self { bus: if own { Arc::clone(&self.bus) } else { bus.into() }, path: path.into() }
    }
}

/// One call on an object.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The object.
    pub object: ObjectRef,
    /// Interface of the method.
    pub interface: &'static str,
    /// The method.
    pub member: &'static str,
    /// Signature of the arguments.
    pub signature: &'static str,
    /// The arguments.
    pub body: Vec<u8>,
}

/// The reply to one call.
pub type Reply = Result<Message, CallError>;

impl Ask {
    /// A call without arguments.
    pub fn plain(object: &ObjectRef, interface: &'static str, member: &'static str) -> Self {
        Self { object: object.clone(), interface, member, signature: "", body: Vec::new() }
    }

    /// A call with arguments.
    pub fn with(
        object: &ObjectRef,
        (interface, member): (&'static str, &'static str),
        signature: &'static str,
        write: impl FnOnce(&mut Writer),
    ) -> Self {
        let mut writer = Writer::default();
        write(&mut writer);
        Self { object: object.clone(), interface, member, signature, body: writer.bytes }
    }

    /// A call with integer arguments.
    pub fn integers(
        object: &ObjectRef,
        method: (&'static str, &'static str),
        signature: &'static str,
        values: &[i32],
    ) -> Self {
        Self::with(object, method, signature, |writer| {
            for value in values {
                writer.i32(*value);
            }
        })
    }

    /// Reads a property.
    pub fn property(object: &ObjectRef, interface: &'static str, name: &'static str) -> Self {
        Self::with(object, (PROPERTIES, "Get"), "ss", |writer| {
            writer.string(interface).string(name);
        })
    }

    /// Reads the place of an object.
    pub fn extents(object: &ObjectRef, coordinates: u32) -> Self {
        Self::with(object, (COMPONENT, "GetExtents"), "u", |writer| {
            writer.u32(coordinates);
        })
    }
}

/// The text of a property reply.
pub fn text_property(reply: &Reply) -> Option<String> {
    let mut reader = property(reply)?;
    reader.variant("s").ok()?;
    Some(reader.string().ok()?.to_owned())
}

/// The integer of a property reply.
pub fn integer_property(reply: &Reply) -> Option<i32> {
    let mut reader = property(reply)?;
    match reader.signature().ok()? {
        "i" => reader.i32().ok(),
        "u" => i32::try_from(reader.u32().ok()?).ok(),
        _ => None,
    }
}

/// The number of a property reply.
pub fn number_property(reply: &Reply) -> Option<f64> {
    let mut reader = property(reply)?;
    reader.variant("d").ok()?;
    reader.f64().ok()
}

fn property(reply: &Reply) -> Option<Reader<'_>> {
    reply.as_ref().ok()?.expect("v").ok()
}

/// The single text of a reply.
pub fn text(reply: &Reply) -> Option<String> {
    Some(reply.as_ref().ok()?.expect("s").ok()?.string().ok()?.to_owned())
}

/// The single boolean of a reply.
pub fn boolean(reply: &Reply) -> Option<bool> {
    reply.as_ref().ok()?.expect("b").ok()?.boolean().ok()
}

/// The single unsigned integer of a reply.
pub fn unsigned(reply: &Reply) -> Option<u32> {
    reply.as_ref().ok()?.expect("u").ok()?.u32().ok()
}

/// The single integer of a reply.
pub fn integer(reply: &Reply) -> Option<i32> {
    reply.as_ref().ok()?.expect("i").ok()?.i32().ok()
}

/// The state bits of a reply.
pub fn states(reply: &Reply) -> Option<u64> {
    state_bits(&mut reply.as_ref().ok()?.expect("au").ok()?).ok()
}

/// State bits as an array of 32-bit words.
pub fn state_bits(reader: &mut Reader<'_>) -> Result<u64, Malformed> {
    let end = reader.array(4)?;
    let mut bits = 0;
    let mut shift = 0;
    while reader.position() < end {
        let word = u64::from(reader.u32()?);
        if shift < 64 {
            bits |= word << shift;
        }
        shift += 32;
    }
    Ok(bits)
}

/// The width and height in a reply, which GTK 3 gives of what has no place too.
pub fn size(reply: &Reply) -> Option<(i32, i32)> {
    let mut reader = reply.as_ref().ok()?.expect("(iiii)").ok()?;
    let _ = (reader.i32().ok()?, reader.i32().ok()?);
    let size = (reader.i32().ok()?, reader.i32().ok()?);
    ((0..=MAX_COORDINATE).contains(&size.0) && (0..=MAX_COORDINATE).contains(&size.1)).then_some(size)
}

/// The place in a reply; none when the toolkit answered garbage.
pub fn rect(reply: &Reply) -> Option<Rect> {
    let mut reader = reply.as_ref().ok()?.expect("(iiii)").ok()?;
    let (x, y) = (reader.i32().ok()?, reader.i32().ok()?);
    let (width, height) = (reader.i32().ok()?, reader.i32().ok()?);
    let placed = |value: i32| (-MAX_COORDINATE..=MAX_COORDINATE).contains(&value);
    let sized = |value: i32| (0..=MAX_COORDINATE).contains(&value);
    (placed(x) && placed(y) && sized(width) && sized(height)).then(|| Rect {
        x,
        y,
        width: width.unsigned_abs(),
        height: height.unsigned_abs(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_words_become_bits() {
        let mut writer = Writer::default();
        writer.u32(12).u32(0x4000_0000).u32(2).u32(9);
        assert_eq!(state_bits(&mut Reader::new(&writer.bytes, false)), Ok(0x2_4000_0000));
    }
}
