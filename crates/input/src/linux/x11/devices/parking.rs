//! Where an agent's pointer rests between gestures: a window of one pixel that only takes input.

use desktop::Point;
use x11rb::NONE;
use x11rb::protocol::xinput;
use x11rb::protocol::xproto::{
    ConfigureWindowAux, ConnectionExt as _, MOTION_NOTIFY_EVENT, StackMode, Window,
};

use super::pointer::{self, fake};
use crate::InputError;
use crate::platform::x11::connection::link::{Link, parking_row};

/// Takes the agent's pointer off every application, so that no window which comes to lie there is entered.
pub fn park(link: &Link) -> Result<(), InputError> {
    let at = prepare(link)?;
    fake(link, MOTION_NOTIFY_EVENT, 0, at)
}

/// Puts the window in front, on the screen, and answers with its place.
pub fn prepare(link: &Link) -> Result<Point, InputError> {
    let Places { window, screen } = Places::ask(link, link.parking)?;
    let at = if screen.has(window) { window } else { screen.free() };
    show(link, link.parking, at)?;
    Ok(at)
}

/// Takes a pointer that rested off what it came to lie on because the screen has become smaller: the server moves every
/// pointer to the nearest pixel that is left. One that is in the middle of a gesture stays, and parks at its end.
pub fn park_again(link: &Link, parking: Window, pointer: u16) -> Result<(), InputError> {
    link.alone(|| {
        let Places { window, screen } = Places::ask(link, parking)?;
        if screen.has(window) || pointer::position(link, pointer)? != screen.nearest(window) {
            return Ok(());
        }
        let at = screen.free();
        show(link, parking, at)?;
        let (x, y) = (at.x << 16, at.y << 16);
        xinput::xi_warp_pointer(&link.conn, NONE, link.root, 0, 0, 0, 0, x, y, pointer)?.check()?;
        Ok(())
    })
}

fn show(link: &Link, parking: Window, at: Point) -> Result<(), InputError> {
    let front = ConfigureWindowAux::new().x(at.x).y(at.y).stack_mode(StackMode::ABOVE);
    link.conn.map_window(parking)?;
    link.conn.configure_window(parking, &front)?;
    Ok(())
}

/// The screen as it is now.
struct Screen {
    width: u16,
    height: u16,
}

struct Places {
    window: Point,
    screen: Screen,
}

impl Places {
    fn ask(link: &Link, parking: Window) -> Result<Self, InputError> {
        let (window, screen) = (link.conn.get_geometry(parking)?, link.conn.get_geometry(link.root)?);
        let (window, screen) = (window.reply()?, screen.reply()?);
        let window = Point { x: window.x.into(), y: window.y.into() };
        Ok(Self { window, screen: Screen { width: screen.width, height: screen.height } })
    }
}

impl Screen {
    fn has(&self, at: Point) -> bool {
        self.nearest(at) == at
    }

    fn nearest(&self, at: Point) -> Point {
        let inside = |at: i32, size: u16| at.clamp(0, i32::from(size).max(1) - 1);
        Point { x: inside(at.x, self.width), y: inside(at.y, self.height) }
    }

    fn free(&self) -> Point {
        Point { x: 0, y: parking_row(self.height).into() }
    }
}
