//! Where pointers are, and input that looks as if a device had sent it.

use desktop::Point;
use x11rb::protocol::xinput;
use x11rb::protocol::xproto::Window;
use x11rb::protocol::xtest;
use x11rb::{CURRENT_TIME, NONE};

use super::pair::Pair;
use crate::InputError;
use crate::platform::x11::connection::link::Link;

/// One fake event of the agent's devices: the connection's client pointer says whose they are.
pub fn fake(link: &Link, kind: u8, detail: u8, at: Point) -> Result<(), InputError> {
    let (x, y) = (at.x as i16, at.y as i16);
    xtest::fake_input(&link.conn, kind, detail, CURRENT_TIME, link.root, x, y, 0)?;
    Ok(())
}

/// Where a master pointer is on the screen.
pub fn position(link: &Link, pointer: u16) -> Result<Point, InputError> {
    let at = xinput::xi_query_pointer(&link.conn, link.root, pointer)?.reply()?;
    Ok(Point { x: at.root_x >> 16, y: at.root_y >> 16 })
}

/// The innermost window that the person's pointer is in.
pub fn under(link: &Link, person: Pair) -> Result<Window, InputError> {
    let mut under = link.root;
    loop {
        let child = xinput::xi_query_pointer(&link.conn, under, person.pointer)?.reply()?.child;
        if child == NONE {
            return Ok(under);
        }
        under = child;
    }
}
