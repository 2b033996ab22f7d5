//! Places as applications give them, and as they are in a window.

use desktop::Rect;

use super::walk::Walk;
use super::window;
use crate::platform::bus::ask::{self, Ask, ObjectRef, Reply};
use crate::platform::bus::toolkit::Toolkit;
use crate::platform::snapshot::Snapshot;

/// Pixels after which a coordinate of X begins again.
const WRAPS: i32 = 65_536;

/// A place in GTK 3, whose windows of X count in 16 bits: what is scrolled by more than 32,767 pixels seems to lie
/// 65,536 further.
pub fn unwrapped(toolkit: Toolkit, place: Rect) -> Rect {
    let value = |value: i32| if value > WRAPS / 4 { value.saturating_sub(WRAPS) } else { value };
    if toolkit == Toolkit::Gtk3 { Rect { x: value(place.x), y: value(place.y), ..place } } else { place }
}

/// The calls that say where a window's content begins on the screen.
pub fn origin_asks(window: &ObjectRef) -> [Ask; 2] {
    [Ask::extents(window, ask::COORD_WINDOW), Ask::extents(window, ask::COORD_SCREEN)]
}

/// Where the window's content begins on the screen by the replies to these calls.
pub fn origin(snapshot: &Snapshot, replies: &[Reply]) -> (i32, i32) {
    let screen = ask::rect(&replies[1]);
    let inside = if snapshot.app.toolkit.misplaces_windows() {
        screen.map(window::at_origin)
    } else {
        ask::rect(&replies[0])
    };
    let moved = inside.zip(screen).filter(|_| snapshot.window.is_some());
    moved.map_or(snapshot.tree.origin, |(inside, screen)| window::origin(inside, screen))
}

/// What is subtracted from places as the application gives them.
pub fn relative_to(walk: &Walk<'_>, origin: (i32, i32)) -> (i32, i32) {
    if walk.app.coordinates() == ask::COORD_SCREEN { origin } else { (0, 0) }
}
