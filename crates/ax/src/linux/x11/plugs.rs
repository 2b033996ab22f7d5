//! The programs inside a window: plugs.
//!
//! A plug leaves on its window which accessible object stands for it (`_XEMBED_AT_SPI_PATH`: bus name, colon, path). The
//! socket reads that when the plug comes, and a plug that was made with the socket's id writes it a moment later.

use std::error::Error;

use desktop::x11::{Session, XConnection};
use desktop::{Rect, WindowId};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{Atom, ConnectionExt, Window};

/// Most windows that are looked at.
const MANY_WINDOWS: usize = 512;

/// A program inside another's window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plug {
    /// The bus name of the program.
    pub bus: String,
    /// The path of its object.
    pub path: String,
    /// Where it is on the screen.
    pub frame: Rect,
}

/// The programs inside a window of the display.
pub fn plugs_in(session: &Session, window: WindowId) -> Result<Vec<Plug>, Box<dyn Error>> {
    let (connection, screen) = session.connect()?;
    let top = connection.setup().roots.get(screen).map_or(0, |screen| screen.root);
    let property = connection.intern_atom(true, b"_XEMBED_AT_SPI_PATH")?.reply()?.atom;
    let mut found = Vec::new();
    let mut windows = vec![window.xid()];
    let mut next = 0;
    while let Some(window) = windows.get(next).copied() {
        next += 1;
        let room = MANY_WINDOWS.saturating_sub(windows.len());
        let Ok(tree) = connection.query_tree(window)?.reply() else { continue };
        for child in tree.children.into_iter().take(room) {
            match plug(&connection, (child, top), property) {
                Ok(Some(plug)) => found.push(plug),
                // A window that has gone meanwhile has nothing in it.
                Ok(None) | Err(_) => windows.push(child),
            }
        }
    }
    Ok(found)
}

fn plug(
    connection: &XConnection,
    (window, top): (Window, Window),
    property: Atom,
) -> Result<Option<Plug>, Box<dyn Error>> {
    let said = connection.get_property(false, window, property, property, 0, 1024)?.reply()?;
    let Some((bus, path)) = std::str::from_utf8(&said.value).ok().and_then(object) else { return Ok(None) };
    let size = connection.get_geometry(window)?;
    let place = connection.translate_coordinates(window, top, 0, 0)?.reply()?;
    let size = size.reply()?;
    let (x, y) = (place.dst_x.into(), place.dst_y.into());
    let frame = Rect { x, y, width: size.width.into(), height: size.height.into() };
    Ok(Some(Plug { bus: bus.to_owned(), path: path.to_owned(), frame }))
}

/// Bus name and path in the property.
fn object(said: &str) -> Option<(&str, &str)> {
    let at = said.find(":/").filter(|at| *at > 0)?;
    Some((&said[..at], &said[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_property_names_a_program_and_its_object() {
        let path = "/org/a11y/atspi/accessible/1";
        assert_eq!(object(&format!(":1.2:{path}")), Some((":1.2", path)));
        for garbage in ["", ":/", ":1.2", ":1.2:", path] {
            assert_eq!(object(garbage), None, "{garbage}");
        }
    }
}
