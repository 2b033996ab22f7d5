//! What a cursor looks like: a style in, finished pixels out.

mod color;
mod extent;
mod icons;
mod image;
mod label;

use resvg::tiny_skia::{
    FillRule, GradientStop, LineJoin, LinearGradient, Paint, Path, PathBuilder, Pixmap, PixmapPaint, Point,
    RadialGradient, Shader, SpreadMode, Stroke, Transform,
};

use extent::Extent;

pub use color::Color;
pub use icons::Icon;
pub use image::Image;

/// Everything that decides what a cursor looks like.
#[derive(Clone)]
pub struct Style {
    /// The shape, unless there is an image.
    pub icon: Icon,
    /// Drawn instead of the icon, in its own colours.
    pub image: Option<Image>,
    /// The colour of the icon, the label and the ring of a click.
    pub color: Color,
    /// Colours of the icon from its tip to its tail; none: the colour alone.
    pub gradient: Vec<Color>,
    /// The colour of a glow around it; drawn where windows can be translucent.
    pub bloom: Option<Color>,
    /// Text beside it; empty: none.
    pub label: String,
    /// The radius of the dot in pixels; the others are in proportion.
    pub size: f32,
    /// 0 is invisible, 1 lets nothing through; below 1 where windows can be translucent.
    pub opacity: f32,
}

/// What a window can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// A compositor blends the window with what is below.
    Blended,
    /// A pixel of the window is there or it is not.
    Cut,
}

/// Finished pixels: several pictures of one size, each in premultiplied blue, green, red, alpha.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sprite {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The pixel that shows the cursor's position.
    pub hot: (i32, i32),
    /// The cursor at rest, then the steps of a click's ring.
    pub frames: Vec<Vec<u8>>,
    /// False when no font has the letters of the label.
    pub has_label: bool,
}

/// Pictures of a click's ring.
const RING_STEPS: usize = 8;

/// A pixel that is less than this opaque is left out where pixels cannot be translucent.
const CUT: u8 = 102;

/// Radii of a click's ring at its beginning and its end, in units of a cursor of size 16.
const RING: (f32, f32) = (5.0, 21.0);

/// Draws a style for a surface.
pub fn draw(style: &Style, surface: Surface) -> Sprite {
    let unit = style.size / 16.0;
    let body = Body::of(style, unit);
    let line = if style.label.is_empty() {
        None
    } else {
        label::set(&style.label, (11.0 * unit).max(9.0), style.color.ink())
    };
    let tag = line.as_ref().map(|line| tag_at(body.extent, line, unit));
    let bloom = style.bloom.filter(|_| surface == Surface::Blended);
    let glow = body.extent.width().max(body.extent.height()) * 0.95;
    let ring = Extent::around((0.0, 0.0), (RING.1 + 2.0) * unit);
    let halo = bloom.map(|_| Extent::around(body.extent.middle(), glow));
    let parts = [Some(body.extent.grown(3.0 * unit + 1.0)), halo, tag.map(|tag| tag.grown(1.0))];
    let all = parts.iter().flatten().fold(ring, |all, part| all.with(part));
    let hot = (-all.left.floor() as i32, -all.top.floor() as i32);
    let (width, height) =
        ((all.right.ceil() as i32 + hot.0) as u32, (all.bottom.ceil() as i32 + hot.1) as u32);
    let Some(mut still) = Pixmap::new(width, height) else {
        return Sprite { width: 1, height: 1, hot: (0, 0), frames: vec![vec![0; 4]], has_label: false };
    };
    let place = Transform::from_translate(hot.0 as f32, hot.1 as f32);
    if let Some(color) = bloom {
        shine(&mut still, body.extent.middle(), glow, color, place);
    }
    body.paint(&mut still, style, unit, place);
    if let (Some(line), Some(tag)) = (&line, tag) {
        write(&mut still, style.color, line, tag, place);
    }
    let rings = (0..RING_STEPS).map(|step| ringed(&still, step, style.color, unit, place));
    let pictures: Vec<Pixmap> = std::iter::once(still.clone()).chain(rings).collect();
    let frames = pictures.iter().map(|picture| finished(picture, style.opacity, surface)).collect();
    Sprite { width, height, hot, frames, has_label: line.is_some() }
}

/// What stands at the tip of a cursor.
struct Body {
    parts: Vec<Path>,
    creases: Vec<Path>,
    picture: Option<(Pixmap, (f32, f32))>,
    /// From the point that the cursor shows.
    extent: Extent,
}

impl Body {
    fn of(style: &Style, unit: f32) -> Self {
        let side = (style.size * 2.0).round().max(1.0) as u32;
        if let Some((picture, hot)) =
            style.image.as_ref().and_then(|image| Some((image.draw(side)?, image.hot)))
        {
            let (width, height) = (picture.width() as f32, picture.height() as f32);
            let at = (-(hot.0 * width).round(), -(hot.1 * height).round());
            let extent = Extent::of(at.0, at.1, width, height);
            return Self { parts: Vec::new(), creases: Vec::new(), picture: Some((picture, at)), extent };
        }
        let scaled = |paths: Vec<Path>| -> Vec<Path> {
            paths.into_iter().filter_map(|path| path.transform(Transform::from_scale(unit, unit))).collect()
        };
        let (parts, creases) = (scaled(style.icon.parts()), scaled(style.icon.creases()));
        let tip = Extent::of(0.0, 0.0, 1.0, 1.0);
        let extent = parts.iter().fold(tip, |all, part| all.with(&part.bounds().into()));
        Self { parts, creases, picture: None, extent }
    }

    fn paint(&self, canvas: &mut Pixmap, style: &Style, unit: f32, place: Transform) {
        if let Some((picture, (x, y))) = &self.picture {
            let paint = PixmapPaint::default();
            canvas.draw_pixmap(*x as i32, *y as i32, picture.as_ref(), &paint, place, None);
            return;
        }
        let white = Color { red: 255, green: 255, blue: 255 };
        let black = Color { red: 0, green: 0, blue: 0 };
        // A dark line around a light one: one of them stands out from whatever is below.
        for (color, alpha, width) in [(black, 0.45, 4.6), (white, 1.0, 2.8)] {
            let stroke = Stroke { width: width * unit, line_join: LineJoin::Round, ..Stroke::default() };
            for part in &self.parts {
                canvas.stroke_path(part, &solid(color, alpha), &stroke, place, None);
            }
        }
        let fill = Paint { shader: self.shader(style), anti_alias: true, ..Paint::default() };
        for part in &self.parts {
            canvas.fill_path(part, &fill, icons::FILL, place, None);
        }
        for crease in &self.creases {
            canvas.fill_path(crease, &solid(white, 0.9), FillRule::Winding, place, None);
        }
    }

    fn shader(&self, style: &Style) -> Shader<'static> {
        let count = style.gradient.len();
        let stops = style.gradient.iter().enumerate().map(|(index, color)| {
            GradientStop::new(index as f32 / (count.max(2) - 1) as f32, color.with_alpha(1.0))
        });
        let start = Point::from_xy(self.extent.left, self.extent.top);
        let end = Point::from_xy(self.extent.right, self.extent.bottom);
        let blended = (count > 0).then(|| {
            LinearGradient::new(start, end, stops.collect(), SpreadMode::Pad, Transform::identity())
        });
        blended.flatten().unwrap_or(Shader::SolidColor(style.color.with_alpha(1.0)))
    }
}

fn solid(color: Color, alpha: f32) -> Paint<'static> {
    Paint { shader: Shader::SolidColor(color.with_alpha(alpha)), anti_alias: true, ..Paint::default() }
}

fn shine(canvas: &mut Pixmap, (x, y): (f32, f32), radius: f32, color: Color, place: Transform) {
    let stops = [(0.0, 0.75), (0.45, 0.42), (0.75, 0.12), (1.0, 0.0)]
        .map(|(at, alpha)| GradientStop::new(at, color.with_alpha(alpha)));
    let at = Point::from_xy(x, y);
    let shader =
        RadialGradient::new(at, 0.0, at, radius, stops.to_vec(), SpreadMode::Pad, Transform::identity());
    if let (Some(shader), Some(disc)) = (shader, PathBuilder::from_circle(x, y, radius)) {
        let paint = Paint { shader, anti_alias: true, ..Paint::default() };
        canvas.fill_path(&disc, &paint, FillRule::Winding, place, None);
    }
}

/// Where a label of so many pixels stands, from the point that the cursor shows.
fn tag_at(body: Extent, line: &label::Line, unit: f32) -> Extent {
    let height = (line.baseline * 0.5 * 1.55).round();
    let width = (line.width + height * 0.9).round();
    let x = (body.left.max(0.0) + body.width() * 0.45).round();
    Extent::of(x, (body.bottom + 3.0 * unit).round(), width, height)
}

fn write(canvas: &mut Pixmap, color: Color, line: &label::Line, tag: Extent, place: Transform) {
    if let Some(pill) = icons::pill(&tag) {
        canvas.fill_path(&pill, &solid(color, 1.0), FillRule::Winding, place, None);
    }
    let letters = line.baseline / 2.0;
    let (x, y) = (tag.left + tag.height() * 0.45, tag.middle().1 + letters * 0.36);
    resvg::render(
        &line.tree,
        place.pre_translate(x.round(), (y - line.baseline).round()),
        &mut canvas.as_mut(),
    );
}

/// The cursor with the ring of a click, which grows and fades from step to step.
fn ringed(still: &Pixmap, step: usize, color: Color, unit: f32, place: Transform) -> Pixmap {
    let mut canvas = still.clone();
    let part = step as f32 / RING_STEPS as f32;
    let radius = (RING.0 + (RING.1 - RING.0) * (1.0 - (1.0 - part).powi(2))) * unit;
    let stroke = Stroke { width: (3.4 - 2.0 * part) * unit, ..Stroke::default() };
    if let Some(circle) = PathBuilder::from_circle(0.0, 0.0, radius) {
        canvas.stroke_path(&circle, &solid(color, 1.0 - part * 0.85), &stroke, place, None);
    }
    canvas
}

/// Pixels as the X server takes them, in the order of a little-endian word.
fn finished(picture: &Pixmap, opacity: f32, surface: Surface) -> Vec<u8> {
    let faded = |value: u8| (f32::from(value) * opacity).round() as u8;
    let bytes = picture.pixels().iter().flat_map(|pixel| match surface {
        Surface::Blended => [pixel.blue(), pixel.green(), pixel.red(), pixel.alpha()].map(faded),
        Surface::Cut if pixel.alpha() < CUT || opacity <= 0.0 => [0; 4],
        Surface::Cut => {
            let color = pixel.demultiply();
            [color.blue(), color.green(), color.red(), 255]
        }
    });
    bytes.collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
