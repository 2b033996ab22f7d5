//! Finds the object that stands for a window of the display.

use desktop::{Point, Rect, Size};

use super::objects::Objects;
use super::walk::Walk;
use crate::SnapshotRequest;
use crate::platform::bus::ask::{self, Ask, ObjectRef};
use crate::state::State;

/// Most top-level objects that are compared.
const MAX_WINDOWS: usize = 256;
/// Decorations and shadows make the window of the toolkit larger than that of the display by at most so much.
const DECORATIONS: u32 = 120;

/// The object that stands for a window.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Its position among the objects.
    pub root: usize,
    /// Where the window's content begins on the screen, when the object is a top-level one that says so.
    pub origin: Option<(i32, i32)>,
}

/// The object of the window of this title, size and place; none when nothing fits.
pub fn find(
    walk: &mut Walk<'_>,
    objects: &Objects,
    tops: &[usize],
    request: &SnapshotRequest,
) -> Option<Found> {
    let tops = &tops[..tops.len().min(MAX_WINDOWS)];
    let asks: Vec<Ask> = tops
        .iter()
        .flat_map(|top| {
            let object = &objects.all[*top].object;
            [Ask::extents(object, ask::COORD_WINDOW), Ask::extents(object, ask::COORD_SCREEN)]
        })
        .collect();
    let replies = walk.ask_all(&asks);
    let places = tops.iter().zip(replies.chunks(2));
    let best = places
        .filter_map(|(top, replies)| {
            let raw = &objects.all[*top];
            let (inside, screen) = (ask::rect(&replies[0]), ask::rect(&replies[1]));
            let inside = if walk.app.toolkit.misplaces_windows() { screen.map(at_origin) } else { inside };
            let origin = inside.zip(screen).map(|(inside, screen)| origin(inside, screen));
            let size = inside.or(screen).filter(|size| size.width > 0 && size.height > 0);
            let titled = title_fits(&raw.name, &request.title);
            let sized = size.map(|size| size_difference(size, request.size));
            // Without a matching title the size decides; where the toolkit gives no size, a single window must be it.
            let fits = match sized {
                Some(difference) => titled || difference <= DECORATIONS,
                None => titled || tops.len() == 1 && request.title == raw.name,
            };
            let distance = screen.zip(request.place).map_or(0, |(screen, place)| distance(screen, place));
            let hidden = !raw.states.has(State::Showing);
            let found = Found { root: *top, origin };
            // With neither, nothing says where its elements are in it.
            let is_placed = origin.is_some() || request.place.is_some();
            (fits && is_placed)
                .then_some(((!titled, sized.unwrap_or(DECORATIONS).max(8), hidden, distance), found))
        })
        .min_by_key(|(rank, _)| *rank);
    if let Some(((untitled, difference, ..), top)) = best
        && (!untitled || difference <= 8)
    {
        return Some(top);
    }
    let bounds = request.place.map(|place| request.size.at(place));
    let popup =
        bounds.and_then(|bounds| popup(walk, objects, bounds)).map(|root| Found { root, origin: None });
    popup.or(best.map(|(_, top)| top))
}

/// Browsers append their own name to the title that the window manager shows, or leave it off.
fn title_fits(name: &str, title: &str) -> bool {
    !title.is_empty()
        && !name.is_empty()
        && (title == name || title.starts_with(name) || name.starts_with(title))
}

fn size_difference(is: Rect, size: Size) -> u32 {
    is.width.abs_diff(size.width).max(is.height.abs_diff(size.height))
}

fn distance(is: Rect, place: Point) -> u32 {
    is.x.abs_diff(place.x).saturating_add(is.y.abs_diff(place.y))
}

/// The menu, list or tooltip that fills `bounds`: itself, or by the items that it shows there. In GTK 3 an open menu is a
/// child of what it belongs to and its own place is that of its label.
fn popup(walk: &mut Walk<'_>, objects: &Objects, bounds: Rect) -> Option<usize> {
    let shown = |position: &usize| objects.all[*position].states.has(State::Showing);
    let candidates: Vec<usize> =
        (0..objects.all.len()).filter(shown).filter(|at| objects.all[*at].role.is_popup()).collect();
    let members: Vec<(usize, ObjectRef)> = candidates
        .iter()
        .flat_map(|at| {
            let children = objects.all[*at].children.iter().filter(|child| shown(child));
            std::iter::once(*at)
                .chain(children.copied())
                .map(move |member| (*at, objects.all[member].object.clone()))
        })
        .collect();
    let asks: Vec<Ask> = members.iter().map(|(_, object)| Ask::extents(object, ask::COORD_SCREEN)).collect();
    let places: Vec<Option<Rect>> = walk.ask_all(&asks).iter().map(ask::rect).collect();
    let mut best: Option<(u32, usize)> = None;
    for candidate in candidates {
        let own: Vec<Rect> = members
            .iter()
            .zip(&places)
            .filter(|((owner, _), _)| *owner == candidate)
            .filter_map(|(_, place)| *place)
            .collect();
        let itself = own
            .first()
            .map(|place| size_difference(*place, bounds.size()).max(distance(*place, bounds.place())));
        let items = union(own.get(1..).unwrap_or_default())
            .filter(|items| inside(*items, bounds))
            .map(|items| size_difference(items, bounds.size()));
        let difference =
            itself.into_iter().chain(items).min().filter(|difference| *difference <= DECORATIONS / 2);
        if let Some(difference) = difference
            && best.is_none_or(|(smallest, _)| difference < smallest)
        {
            best = Some((difference, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn union(places: &[Rect]) -> Option<Rect> {
    let (first, rest) = places.split_first()?;
    Some(rest.iter().fold(*first, |all, one| {
        let (x, y) = (all.x.min(one.x), all.y.min(one.y));
        let right = right(all).max(right(*one));
        let bottom = bottom(all).max(bottom(*one));
        Rect { x, y, width: right.abs_diff(x), height: bottom.abs_diff(y) }
    }))
}

fn right(place: Rect) -> i32 {
    place.x.saturating_add_unsigned(place.width)
}

fn bottom(place: Rect) -> i32 {
    place.y.saturating_add_unsigned(place.height)
}

fn inside(inner: Rect, outer: Rect) -> bool {
    inner.x >= outer.x - 2
        && inner.y >= outer.y - 2
        && right(inner) <= right(outer) + 2
        && bottom(inner) <= bottom(outer) + 2
}

/// The place of a window in itself, which some toolkits get wrong.
pub fn at_origin(screen: Rect) -> Rect {
    Rect { x: 0, y: 0, ..screen }
}

/// Where the content of a window begins on the screen, from both places of its object.
pub fn origin(in_window: Rect, on_screen: Rect) -> (i32, i32) {
    (on_screen.x.saturating_sub(in_window.x), on_screen.y.saturating_sub(in_window.y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_union_of_places_covers_all() {
        let places = [Rect { x: 10, y: 10, width: 5, height: 5 }, Rect { x: 2, y: 30, width: 3, height: 10 }];
        assert_eq!(union(&places), Some(Rect { x: 2, y: 10, width: 13, height: 30 }));
        assert_eq!(union(&[]), None);
    }

    #[test]
    fn titles_fit_with_a_browsers_suffix() {
        assert!(title_fits("Page", "Page - Chromium"));
        assert!(!title_fits("", ""));
        assert!(!title_fits("Save", "Open"));
    }
}
