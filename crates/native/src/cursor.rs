//! The cursors of agents, for JavaScript.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use desktop::WindowId;
use napi_derive::napi;

use crate::desktop::{Desktop, Point};
use crate::failure::{Failure, Promise, failure, promise, promise_with};

/// The shape of a cursor.
#[napi(string_enum = "snake_case")]
pub enum CursorIcon {
    /// Points with its tip.
    Arrow,
    /// A ring with ticks around its point.
    Crosshair,
    /// Points with its index finger.
    Hand,
    /// A disc around its point.
    Dot,
}

/// What a cursor looks like.
#[napi(object)]
pub struct CursorStyle {
    /// The shape, unless there is an image.
    pub icon: CursorIcon,
    /// Absolute path of a PNG, JPEG, SVG or ICO to show instead.
    #[napi(js_name = "image_path")]
    pub image_path: Option<String>,
    /// A hex or CSS colour.
    pub color: String,
    /// Colours from the tip to the tail; empty: the colour alone.
    #[napi(js_name = "gradient_colors")]
    pub gradient_colors: Vec<String>,
    /// The colour of a glow around it.
    #[napi(js_name = "bloom_color")]
    pub bloom_color: Option<String>,
    /// Text beside it; empty: none.
    pub label: String,
    /// The radius of the dot in pixels, the others in proportion.
    pub size: f64,
    /// 0 to 1.
    pub opacity: f64,
}

/// How a cursor moves, stays and hides.
#[napi(object)]
pub struct CursorPace {
    /// Handle of the curve at its start, as a part of the distance.
    #[napi(js_name = "start_handle")]
    pub start_handle: f64,
    /// Handle of the curve at its end, as a part of the distance.
    #[napi(js_name = "end_handle")]
    pub end_handle: f64,
    /// How far the handles stand off the straight line, as a part of the distance.
    #[napi(js_name = "arc_size")]
    pub arc_size: f64,
    /// Where the arc bulges: -1 at the start, 1 at the destination.
    #[napi(js_name = "arc_flow")]
    pub arc_flow: f64,
    /// Damping of the spring at the end; 1 never overshoots.
    pub spring: f64,
    /// Milliseconds that a glide takes.
    #[napi(js_name = "glide_duration_ms")]
    pub glide_duration_ms: f64,
    /// Milliseconds that it stays after a click.
    #[napi(js_name = "dwell_after_click_ms")]
    pub dwell_after_click_ms: f64,
    /// Milliseconds without an action after which it hides; 0: never.
    #[napi(js_name = "idle_hide_ms")]
    pub idle_hide_ms: f64,
}

/// Where a live picture of a window is on the screen.
#[napi(object)]
pub struct PreviewPlace {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Its top left corner; absent: in the bottom right corner of the screen.
    pub position: Option<Point>,
}

/// A cursor as it is now.
#[napi(object, object_from_js = false)]
pub struct CursorState {
    /// Where it is on the screen; null before it was anywhere.
    pub position: Option<Point>,
    /// True when it is on the screen.
    pub visible: bool,
    /// True when a compositor blends it with what is below: else it has no opacity and no bloom.
    pub composited: bool,
    /// False when it has no label, or no font has the letters.
    pub labelled: bool,
}

/// A cursor that hid by itself.
#[napi(object, object_from_js = false)]
pub struct HiddenCursor {
    /// Its name.
    pub id: String,
    /// When it did, in milliseconds since 1970.
    pub at: f64,
}

impl From<cursor::Hidden> for HiddenCursor {
    fn from(hidden: cursor::Hidden) -> Self {
        let at = hidden.at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64() * 1000.0;
        Self { id: hidden.id, at }
    }
}

/// The hex form of a hex or CSS colour; throws `invalid_argument` for what is none.
#[napi(catch_unwind)]
pub fn color_hex(text: String) -> Result<String, Failure> {
    cursor::Color::from_str(&text).map(|color| color.to_string()).map_err(failure)
}

/// The colour of a session's cursor in hex, always the same for its name.
#[napi(catch_unwind)]
pub fn color_of(name: String) -> String {
    cursor::Color::of_name(&name).to_string()
}

/// Reads an image for a cursor and lets go of it. Rejects with `cursor_image_unreadable`.
#[napi(catch_unwind)]
pub fn check_cursor_image(path: String) -> Promise<()> {
    promise(move || cursor::Image::open(Path::new(&path)).map(drop))
}

/// The cursors of a display, each under a name.
#[napi]
pub struct Cursors {
    cursors: Arc<cursor::Cursors>,
}

#[napi]
impl Cursors {
    /// Opens a connection of its own. Rejects with `display_unavailable` and `overlay_unavailable`.
    #[napi(catch_unwind)]
    pub fn open(desktop: &Desktop) -> Promise<Cursors> {
        let desktop = Arc::clone(&desktop.desktop);
        promise(move || cursor::Cursors::open(desktop).map(|cursors| Cursors { cursors: Arc::new(cursors) }))
    }

    /// Gives a cursor its looks, and makes it where it is new. Rejects with `invalid_argument` and
    /// `cursor_image_unreadable`.
    #[napi(catch_unwind)]
    pub fn set_style(&self, id: String, style: CursorStyle) -> Promise<()> {
        promise_with(&self.cursors, move |cursors| cursors.set_style(&id, &style_of(&style)?))
    }

    /// Says how a cursor moves and when it hides.
    #[napi(catch_unwind)]
    pub fn set_pace(&self, id: String, pace: CursorPace) -> Promise<()> {
        promise_with(&self.cursors, move |cursors| cursors.set_pace(&id, pace_of(&pace)))
    }

    /// Moves a cursor to a point of the screen; resolves once it has arrived, false where it did not.
    #[napi(catch_unwind)]
    pub fn glide(&self, id: String, to: Point) -> Promise<bool> {
        promise_with(&self.cursors, move |cursors| cursors.glide(&id, to.into()))
    }

    /// Sends a cursor straight to a point of the screen at an even pace, as a drag goes; resolves when it has set out.
    #[napi(catch_unwind)]
    pub fn travel(&self, id: String, to: Point, duration_ms: u32) -> Promise<()> {
        promise_with(&self.cursors, move |cursors| {
            cursors.travel(&id, to.into(), Duration::from_millis(duration_ms.into()))
        })
    }

    /// Shows a cursor at a point of the screen at once.
    #[napi(catch_unwind)]
    pub fn place(&self, id: String, at: Point) -> Promise<()> {
        promise_with(&self.cursors, move |cursors| cursors.place(&id, at.into()))
    }

    /// Shows a click where the cursor is.
    #[napi(catch_unwind)]
    pub fn pulse(&self, id: String) -> Promise<()> {
        promise_with(&self.cursors, move |cursors| cursors.pulse(&id))
    }

    /// Switches a cursor on or off.
    #[napi(catch_unwind)]
    pub fn enable(&self, id: String, is_enabled: bool) -> Promise<()> {
        promise_with(&self.cursors, move |cursors| cursors.enable(&id, is_enabled))
    }

    /// Where a cursor is and whether it is seen; null when there is none of that name.
    #[napi(catch_unwind)]
    pub fn state(&self, id: String) -> Promise<Option<CursorState>> {
        promise_with(&self.cursors, move |cursors| {
            cursors.state(&id).map(|state| {
                state.map(|state| CursorState {
                    position: state.position.map(|at| Point { x: at.x, y: at.y }),
                    visible: state.is_visible,
                    composited: state.is_composited,
                    labelled: state.has_label,
                })
            })
        })
    }

    /// Waits until cursors have hidden by themselves, at most for a while; each is told to one caller. Rejects with
    /// `display_lost`, also once it was closed.
    #[napi(catch_unwind)]
    pub fn hidden(&self, timeout_ms: u32) -> Promise<Vec<HiddenCursor>> {
        promise_with(&self.cursors, move |cursors| {
            let hidden = cursors.hidden(Duration::from_millis(timeout_ms.into()))?;
            Ok::<_, cursor::CursorError>(hidden.into_iter().map(HiddenCursor::from).collect())
        })
    }

    /// Shows a small live picture of a window, or changes the one that is shown to it; its place is that of the first.
    #[napi(catch_unwind)]
    pub fn preview(&self, window_id: u32, place: PreviewPlace) -> Promise<()> {
        let side = |length: u32| u16::try_from(length).unwrap_or(u16::MAX);
        let place = cursor::PreviewPlace {
            width: side(place.width),
            height: side(place.height),
            position: place.position.map(|at| (at.x, at.y)),
        };
        promise_with(&self.cursors, move |cursors| cursors.preview(WindowId::from_wire(window_id), place))
    }

    /// The windows of the cursors that are seen now, and of the live picture.
    #[napi(catch_unwind)]
    pub fn windows(&self) -> Promise<Vec<u32>> {
        promise_with(&self.cursors, move |cursors| {
            Ok::<_, cursor::CursorError>(cursors.windows()?.into_iter().map(WindowId::wire).collect())
        })
    }

    /// Takes a cursor away; one that is not there is no failure.
    #[napi(catch_unwind)]
    pub fn remove(&self, id: String) -> Promise<()> {
        promise_with(&self.cursors, move |cursors| cursors.remove(&id))
    }

    /// Takes all cursors away; closing twice is fine.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.cursors.close();
    }
}

/// Reads an image where the style names one.
fn style_of(style: &CursorStyle) -> Result<cursor::Style, cursor::CursorError> {
    let color = |text: &String| cursor::Color::from_str(text);
    Ok(cursor::Style {
        icon: match style.icon {
            CursorIcon::Arrow => cursor::Icon::Arrow,
            CursorIcon::Crosshair => cursor::Icon::Crosshair,
            CursorIcon::Hand => cursor::Icon::Hand,
            CursorIcon::Dot => cursor::Icon::Dot,
        },
        image: style.image_path.as_ref().map(|path| cursor::Image::open(Path::new(path))).transpose()?,
        color: color(&style.color)?,
        gradient: style.gradient_colors.iter().map(color).collect::<Result<_, _>>()?,
        bloom: style.bloom_color.as_ref().map(color).transpose()?,
        label: style.label.clone(),
        size: style.size as f32,
        opacity: style.opacity as f32,
    })
}

fn pace_of(pace: &CursorPace) -> cursor::Pace {
    let milliseconds = |value: f64| Duration::try_from_secs_f64(value / 1000.0).unwrap_or_default();
    cursor::Pace {
        motion: cursor::Motion {
            start_handle: pace.start_handle,
            end_handle: pace.end_handle,
            arc_size: pace.arc_size,
            arc_flow: pace.arc_flow,
            spring: pace.spring,
            duration: milliseconds(pace.glide_duration_ms),
        },
        dwell: milliseconds(pace.dwell_after_click_ms),
        idle_hide: milliseconds(pace.idle_hide_ms),
    }
}
