//! The shapes of the built-in cursors, in units of a cursor of size 16, from the point they show.

use resvg::tiny_skia::{FillRule, LineCap, LineJoin, Path, PathBuilder, Stroke, Transform};

use super::extent::Extent;

/// A built-in cursor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Icon {
    /// Points with its tip.
    #[default]
    Arrow,
    /// A ring with four ticks around its point.
    Crosshair,
    /// Points with its index finger.
    Hand,
    /// A disc around its point, as large in radius as the cursor's size.
    Dot,
}

impl Icon {
    /// The icon of that name: `arrow`, `crosshair`, `hand` or `dot`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "arrow" => Self::Arrow,
            "crosshair" => Self::Crosshair,
            "hand" => Self::Hand,
            "dot" => Self::Dot,
            _ => return None,
        })
    }

    /// Its parts, which are filled as one.
    pub(crate) fn parts(self) -> Vec<Path> {
        let found = match self {
            Self::Arrow => vec![polygon(&[(0.0, 0.0), (21.0, 8.5), (11.5, 11.5), (8.5, 21.0)])],
            Self::Crosshair => vec![
                ring(8.0, 2.6),
                line((0.0, -15.0), (0.0, -5.0)),
                line((0.0, 5.0), (0.0, 15.0)),
                line((-15.0, 0.0), (-5.0, 0.0)),
                line((5.0, 0.0), (15.0, 0.0)),
                PathBuilder::from_circle(0.0, 0.0, 1.4),
            ],
            Self::Hand => vec![
                rounded(-2.3, -1.0, 4.6, 18.0, 2.3),
                rounded(2.3, 7.0, 4.4, 12.0, 2.2),
                rounded(6.5, 8.0, 4.4, 12.0, 2.2),
                rounded(10.7, 9.5, 4.2, 11.0, 2.1),
                thumb(),
                rounded(-2.3, 12.0, 17.2, 13.0, 5.5),
            ],
            Self::Dot => vec![PathBuilder::from_circle(0.0, 0.0, 16.0)],
        };
        found.into_iter().flatten().collect()
    }

    /// Lines over the filled parts.
    pub(crate) fn creases(self) -> Vec<Path> {
        let fingers = match self {
            Self::Hand => [2.3, 6.6, 10.8].map(|x| line((x, 11.5), (x, 16.0))),
            _ => [None, None, None],
        };
        fingers.into_iter().flatten().collect()
    }
}

fn polygon(corners: &[(f32, f32)]) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (index, (x, y)) in corners.iter().enumerate() {
        if index == 0 { builder.move_to(*x, *y) } else { builder.line_to(*x, *y) }
    }
    builder.close();
    builder.finish()
}

fn line(from: (f32, f32), to: (f32, f32)) -> Option<Path> {
    let mut builder = PathBuilder::new();
    builder.move_to(from.0, from.1);
    builder.line_to(to.0, to.1);
    outline(&builder.finish()?, 2.2)
}

fn ring(radius: f32, width: f32) -> Option<Path> {
    outline(&PathBuilder::from_circle(0.0, 0.0, radius)?, width)
}

fn outline(path: &Path, width: f32) -> Option<Path> {
    let stroke = Stroke { width, line_cap: LineCap::Round, line_join: LineJoin::Round, ..Stroke::default() };
    path.stroke(&stroke, 8.0)
}

fn thumb() -> Option<Path> {
    let lying = rounded(-2.2, -11.0, 4.4, 12.0, 2.2)?;
    lying.transform(Transform::from_rotate(-38.0).post_translate(0.6, 20.5))
}

fn rounded(x: f32, y: f32, width: f32, height: f32, radius: f32) -> Option<Path> {
    // How far a cubic's handles reach to draw a quarter of a circle.
    let handle = radius * 0.552_284_8;
    let Extent { left, top, right, bottom } = Extent::of(x, y, width, height);
    let mut path = PathBuilder::new();
    path.move_to(left + radius, top);
    path.line_to(right - radius, top);
    path.cubic_to(right - radius + handle, top, right, top + radius - handle, right, top + radius);
    path.line_to(right, bottom - radius);
    path.cubic_to(right, bottom - radius + handle, right - radius + handle, bottom, right - radius, bottom);
    path.line_to(left + radius, bottom);
    path.cubic_to(left + radius - handle, bottom, left, bottom - radius + handle, left, bottom - radius);
    path.line_to(left, top + radius);
    path.cubic_to(left, top + radius - handle, left + radius - handle, top, left + radius, top);
    path.close();
    path.finish()
}

/// A rectangle with round ends.
pub(crate) fn pill(place: &Extent) -> Option<Path> {
    let (width, height) = (place.width(), place.height());
    rounded(place.left, place.top, width, height, height.min(width) / 2.0)
}

/// How every part is filled.
pub(crate) const FILL: FillRule = FillRule::Winding;
