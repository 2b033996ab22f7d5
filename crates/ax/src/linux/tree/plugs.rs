//! Finds the programs inside a GTK 3 window of which its sockets have not heard.

use desktop::{Rect, Session, WindowId};

use super::objects::Objects;
use super::walk::Walk;
use crate::platform::bus::ask::{self, Ask, ObjectRef};
use crate::platform::bus::toolkit::Toolkit;
use crate::platform::x11::plugs::{Plug, plugs_in};
use crate::state::States;

/// Most levels between a socket and its window.
const DEEP: usize = 200;

/// Reads the programs in those sockets below `root` in which the application says that there is nothing.
pub fn fill(
    walk: &mut Walk<'_>,
    objects: &mut Objects,
    (root, window): (usize, WindowId),
    is_shown: &dyn Fn(States) -> bool,
) {
    let empty: Vec<usize> = (0..objects.all.len()).filter(|at| is_empty_socket(objects, *at)).collect();
    let empty: Vec<usize> = empty.into_iter().filter(|at| lies_in(objects, *at, root)).collect();
    if walk.app.toolkit != Toolkit::Gtk3 || empty.is_empty() {
        return;
    }
    let object = |plug: &Plug| ObjectRef { bus: plug.bus.as_str().into(), path: plug.path.as_str().into() };
    let Some(Session::X11(session)) = &walk.app.session else { return };
    let mut plugs = plugs_in(session, window).unwrap_or_default();
    plugs.retain(|plug| objects.position(&object(plug)).is_none());
    let asks: Vec<Ask> = empty
        .iter()
        .filter_map(|at| objects.all[*at].parent.as_ref())
        .map(|parent| Ask::extents(parent, ask::COORD_SCREEN))
        .collect();
    let frames: Vec<Option<Rect>> = walk.ask_all(&asks).iter().map(ask::rect).collect();
    for (socket, plug) in pairs(&frames, &plugs) {
        let raws = walk.describe(&[object(&plugs[plug])], &|_| true);
        for mut raw in raws {
            raw.parent = Some(objects.all[empty[socket]].object.clone());
            let at = objects.insert(raw);
            objects.all[empty[socket]].children = vec![at];
            walk.complete(objects, &[at], is_shown);
        }
    }
}

/// Which plug is in which socket: the one that fills it, or the only one in the only one.
fn pairs(sockets: &[Option<Rect>], plugs: &[Plug]) -> Vec<(usize, usize)> {
    if let ([_], [_]) = (sockets, plugs) {
        return vec![(0, 0)];
    }
    let only =
        |mut found: Box<dyn Iterator<Item = usize> + '_>| found.next().filter(|_| found.next().is_none());
    let socket_at =
        |frame: Rect| only(Box::new((0..sockets.len()).filter(move |at| sockets[*at] == Some(frame))));
    let plug_at = |frame: Rect| only(Box::new((0..plugs.len()).filter(move |at| plugs[*at].frame == frame)));
    (0..plugs.len())
        .filter_map(|plug| Some((socket_at(plugs[plug].frame)?, plug_at(plugs[plug].frame)?)))
        .collect()
}

/// True for what stands in a socket that does not know its plug.
fn is_empty_socket(objects: &Objects, at: usize) -> bool {
    let raw = &objects.all[at];
    let above = objects.above(at).map(|above| &objects.all[above]);
    raw.role.name() == "filler"
        && raw.states == States::default()
        && raw.child_count == 0
        && above.is_some_and(|above| above.role.name() == "panel" && above.child_count == 1)
}

fn lies_in(objects: &Objects, at: usize, root: usize) -> bool {
    std::iter::successors(Some(at), |at| objects.above(*at)).take(DEEP).any(|above| above == root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plug(x: i32) -> Plug {
        Plug { bus: ":1.2".to_owned(), path: "/1".to_owned(), frame: frame(x) }
    }

    fn frame(x: i32) -> Rect {
        Rect { x, y: 0, width: 10, height: 10 }
    }

    #[test]
    fn a_plug_is_in_the_socket_that_it_fills() {
        let sockets = [Some(frame(0)), Some(frame(20)), None];
        assert_eq!(pairs(&sockets, &[plug(20), plug(0)]), [(1, 0), (0, 1)]);
        assert_eq!(pairs(&sockets, &[plug(5)]), []);
        assert_eq!(pairs(&sockets[..1], &[plug(5)]), [(0, 0)], "the only one");
        assert_eq!(pairs(&sockets, &[plug(0), plug(0)]), [], "two in one place");
        assert_eq!(pairs(&[Some(frame(0)), Some(frame(0))], &[plug(0)]), []);
    }
}
