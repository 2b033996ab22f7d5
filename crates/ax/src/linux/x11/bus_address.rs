//! Where an X server says that the accessibility bus is.

use desktop::x11::Session;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt};

/// The address that at-spi-bus-launcher leaves on the root window (`AT_SPI_BUS`); none where there is none.
pub fn on_root_of(session: &Session) -> Option<String> {
    let (connection, screen) = session.connect().ok()?;
    let root = connection.setup().roots.get(screen)?.root;
    let atom = connection.intern_atom(true, b"AT_SPI_BUS").ok()?.reply().ok()?.atom;
    let request = connection.get_property(false, root, atom, AtomEnum::STRING, 0, 1024).ok()?;
    String::from_utf8(request.reply().ok()?.value).ok().filter(|address| !address.is_empty())
}
