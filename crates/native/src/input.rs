//! Input in the background, for JavaScript.

mod core_devices;
mod queues;
mod stop_key;

use std::sync::Arc;
use std::time::Duration;

use desktop::WindowId;
use input::{Gesture, InputError};
use napi::bindgen_prelude::{Either, Null};
use napi_derive::napi;

use crate::desktop::Desktop;
use crate::failure::{Failure, Promise, failure, promise, promise_with};

/// A point in pixels from the window's top-left corner.
#[napi(object)]
pub struct LocalPoint {
    /// Pixels from the left.
    pub x: i32,
    /// Pixels from the top.
    pub y: i32,
}

impl From<LocalPoint> for desktop::Point {
    fn from(point: LocalPoint) -> Self {
        Self { x: point.x, y: point.y }
    }
}

/// A click to be made.
#[napi(object)]
pub struct Click {
    /// The window.
    #[napi(js_name = "window_id")]
    pub window_id: u32,
    /// Pixels from the window's left edge.
    pub x: i32,
    /// Pixels from the window's top edge.
    pub y: i32,
    /// Which button.
    #[napi(ts_type = "'left' | 'middle' | 'right'")]
    pub button: String,
    /// 1 to 3 presses.
    pub count: u32,
    /// Names of modifiers that are held.
    pub modifiers: Vec<String>,
}

/// A button to be held from one point to another.
#[napi(object)]
pub struct Drag {
    /// The window.
    #[napi(js_name = "window_id")]
    pub window_id: u32,
    /// Where the button goes down.
    pub from: LocalPoint,
    /// Where it comes up; may lie outside the window.
    pub to: LocalPoint,
    /// Which button.
    #[napi(ts_type = "'left' | 'middle' | 'right'")]
    pub button: String,
    /// Milliseconds from the press to the release.
    #[napi(js_name = "duration_ms")]
    pub duration_ms: u32,
    /// Motions in between, evenly spaced; at least one is made.
    pub steps: u32,
    /// Names of modifiers that are held.
    pub modifiers: Vec<String>,
}

/// Detents of the wheel.
#[napi(object)]
pub struct Wheel {
    /// The window.
    #[napi(js_name = "window_id")]
    pub window_id: u32,
    /// Pixels from the window's left edge.
    pub x: i32,
    /// Pixels from the window's top edge.
    pub y: i32,
    /// What comes into view.
    #[napi(ts_type = "'up' | 'down' | 'left' | 'right'")]
    pub direction: String,
    /// Detents.
    pub amount: u32,
    /// Names of modifiers that are held.
    pub modifiers: Vec<String>,
}

/// A place for the agent's pointer to be at.
#[napi(object)]
pub struct Hover {
    /// The window.
    #[napi(js_name = "window_id")]
    pub window_id: u32,
    /// Pixels from the window's left edge.
    pub x: i32,
    /// Pixels from the window's top edge.
    pub y: i32,
}

/// A key to be pressed and released.
#[napi(object)]
pub struct KeyPress {
    /// The window.
    #[napi(js_name = "window_id")]
    pub window_id: u32,
    /// The key's name.
    pub key: String,
    /// Names of modifiers that are held.
    pub modifiers: Vec<String>,
    /// Presses, one after the other; 1 when absent.
    pub count: Option<u32>,
    /// Where the agent's pointer rests; null for any visible point of the window.
    #[napi(ts_type = "LocalPoint | null")]
    pub at: Option<Either<LocalPoint, Null>>,
}

/// A text to be typed.
#[napi(object, use_nullable = true)]
pub struct Typing {
    /// The window.
    #[napi(js_name = "window_id")]
    pub window_id: u32,
    /// The characters; line breaks are Return.
    pub text: String,
    /// Milliseconds between two characters.
    #[napi(js_name = "delay_ms")]
    pub delay_ms: u32,
    /// Where the agent's pointer rests; null for any visible point of the window.
    pub at: Option<LocalPoint>,
}

/// What was sent, and whether the person's things ended as they were, measured after the gesture.
#[napi(object, object_from_js = false)]
pub struct Delivery {
    /// Device events sent.
    pub events: u32,
    /// The person's pointer is where it was.
    #[napi(js_name = "pointer_kept")]
    pub pointer_kept: bool,
    /// The person's keyboard focus is where it was.
    #[napi(js_name = "focus_kept")]
    pub focus_kept: bool,
    /// The active window is the one that it was.
    #[napi(js_name = "active_window_kept")]
    pub active_window_kept: bool,
    /// The windows that were there lie in the order in which they lay.
    #[napi(js_name = "stacking_kept")]
    pub stacking_kept: bool,
    /// The application was told that its window has the focus, which it may show.
    #[napi(js_name = "focus_feigned")]
    pub focus_feigned: bool,
}

impl From<input::Delivery> for Delivery {
    fn from(delivery: input::Delivery) -> Self {
        Self {
            events: delivery.events,
            pointer_kept: delivery.pointer_kept,
            focus_kept: delivery.focus_kept,
            active_window_kept: delivery.active_window_kept,
            stacking_kept: delivery.stacking_kept,
            focus_feigned: delivery.focus_pretended,
        }
    }
}

pub(crate) fn button(name: &str) -> input::Button {
    match name {
        "middle" => input::Button::Middle,
        "right" => input::Button::Right,
        _ => input::Button::Left,
    }
}

/// An agent's own pointer and keyboard.
#[napi]
pub struct Agent {
    agent: Arc<input::Agent>,
}

#[napi]
impl Agent {
    /// Makes the devices on a display, after those of dead owners are removed. Rejects with
    /// `input_unavailable` where the X server takes no synthetic input, `foreground_only` where it takes it for one pointer.
    #[napi(catch_unwind)]
    pub fn open(desktop: &Desktop, name: String) -> Promise<Agent> {
        let session = desktop.desktop.session().clone();
        promise(move || input::Agent::open(&session, &name).map(|agent| Agent { agent: Arc::new(agent) }))
    }

    /// Clicks in a window. Rejects with `window_not_found`, `window_not_visible`, `point_outside_window`,
    /// `window_covered` and `unknown_modifier` before anything is sent, and with `cancelled`.
    #[napi(catch_unwind)]
    pub fn click(&self, request: Click) -> Promise<Delivery> {
        self.perform(move || {
            Ok(Gesture::Click(input::Click {
                window_id: WindowId::from_wire(request.window_id),
                at: desktop::Point { x: request.x, y: request.y },
                button: button(&request.button),
                count: request.count,
                modifiers: input::check_modifiers(&request.modifiers)?,
            }))
        })
    }

    /// Holds a button from one point to another. Rejects as `click` does.
    #[napi(catch_unwind)]
    pub fn drag(&self, request: Drag) -> Promise<Delivery> {
        self.perform(move || {
            Ok(Gesture::Drag(input::Drag {
                window_id: WindowId::from_wire(request.window_id),
                from: request.from.into(),
                to: request.to.into(),
                button: button(&request.button),
                duration: Duration::from_millis(request.duration_ms.into()),
                steps: request.steps,
                modifiers: input::check_modifiers(&request.modifiers)?,
            }))
        })
    }

    /// Turns the wheel over a point of a window. Rejects as `click` does.
    #[napi(catch_unwind)]
    pub fn wheel(&self, request: Wheel) -> Promise<Delivery> {
        self.perform(move || {
            Ok(Gesture::Wheel(input::Wheel {
                window_id: WindowId::from_wire(request.window_id),
                at: desktop::Point { x: request.x, y: request.y },
                direction: match request.direction.as_str() {
                    "up" => input::Direction::Up,
                    "left" => input::Direction::Left,
                    "right" => input::Direction::Right,
                    _ => input::Direction::Down,
                },
                amount: request.amount,
                modifiers: input::check_modifiers(&request.modifiers)?,
            }))
        })
    }

    /// Moves the agent's pointer over a point of a window. Rejects as `click` does.
    #[napi(js_name = "move", catch_unwind)]
    pub fn hover(&self, request: Hover) -> Promise<Delivery> {
        let at = desktop::Point { x: request.x, y: request.y };
        self.perform(move || {
            Ok(Gesture::Hover(input::Hover { window_id: WindowId::from_wire(request.window_id), at }))
        })
    }

    /// Presses and releases a key in a window that keeps the person's focus where it is. Rejects as `click`
    /// does, with `unknown_key`, and with `text_not_typable` when no key of the layout means it.
    #[napi(catch_unwind)]
    pub fn press_key(&self, request: KeyPress) -> Promise<Delivery> {
        self.perform(move || {
            Ok(Gesture::Key(input::KeyPress {
                window_id: WindowId::from_wire(request.window_id),
                keysym: input::check_key(&request.key)?,
                modifiers: input::check_modifiers(&request.modifiers)?,
                count: request.count.unwrap_or(1),
                at: match request.at {
                    Some(Either::A(at)) => Some(at.into()),
                    Some(Either::B(Null)) | None => None,
                },
            }))
        })
    }

    /// Types a text into what has the keyboard inside a window. Rejects as `click` does, with
    /// `text_not_typable`, and with `cancelled` between two characters.
    #[napi(catch_unwind)]
    pub fn type_text(&self, request: Typing) -> Promise<Delivery> {
        self.perform(move || {
            Ok(Gesture::Text(input::Text {
                window_id: WindowId::from_wire(request.window_id),
                text: request.text,
                delay: Duration::from_millis(request.delay_ms.into()),
                at: request.at.map(desktop::Point::from),
            }))
        })
    }

    fn perform(
        &self,
        gesture: impl FnOnce() -> Result<Gesture, InputError> + Send + 'static,
    ) -> Promise<Delivery> {
        // What is cancelled from here on is cancelled, though its turn is still to come.
        let asked = self.agent.now();
        promise_with(&self.agent, move |agent| agent.perform(&gesture()?, asked).map(Delivery::from))
    }

    /// Keeps what the window's application opens in the next seconds from the person's focus, as after a gesture, and
    /// holds the person's devices until `endAction`. To be called before an element of the window acts by itself.
    #[napi(catch_unwind)]
    pub fn begin_action(&self, window_id: u32) -> Promise<()> {
        promise_with(&self.agent, move |agent| agent.begin_action(WindowId::from_wire(window_id)))
    }

    /// The application has answered: the person goes on when it has opened a window or had the time for it, for which
    /// this does not wait.
    #[napi(catch_unwind)]
    pub fn end_action(&self) -> Promise<()> {
        promise_with(&self.agent, move |agent| agent.end_action())
    }

    /// One motion event to where the agent's pointer is, waited for: the floor under every gesture.
    #[napi(catch_unwind)]
    pub fn ping(&self) -> Promise<()> {
        promise_with(&self.agent, move |agent| agent.ping())
    }

    /// Halts everything that was asked for before: it rejects with `cancelled` when its buttons and keys are up
    /// and borrowed keycodes are given back.
    #[napi(catch_unwind)]
    pub fn cancel(&self) {
        self.agent.cancel();
    }

    /// Cancels what is under way and removes the devices; closing twice is fine.
    #[napi(catch_unwind)]
    pub fn close(&self) -> Promise<()> {
        promise_with(&self.agent, move |agent| agent.close())
    }
}

/// Throws `unknown_key`, naming near names, or `unsupported_key` when a key has no such name.
#[napi(catch_unwind)]
pub fn check_key(key: String) -> Result<(), Failure> {
    input::check_key(&key).map(drop).map_err(failure)
}

/// Throws `unknown_modifier` or `unsupported_key` when one of the names is no modifier.
#[napi(catch_unwind)]
pub fn check_modifiers(names: Vec<String>) -> Result<(), Failure> {
    input::check_modifiers(&names).map(drop).map_err(failure)
}

/// A key and what is held around it.
#[napi(object, object_from_js = false)]
pub struct Combination {
    /// Names of the modifiers, as they were given.
    pub modifiers: Vec<String>,
    /// Name of the key, as it was given.
    pub key: String,
}

/// The combination of a list of names, modifiers first and exactly one other key last. Throws
/// `invalid_argument` for another order, `unknown_modifier`, `unknown_key` and `unsupported_key`.
#[napi(catch_unwind)]
pub fn check_combination(keys: Vec<String>) -> Result<Combination, Failure> {
    let convert = |found: input::Combination| Combination { modifiers: found.modifiers, key: found.key };
    input::check_combination(&keys).map(convert).map_err(failure)
}

/// The names of keys that the documentation lists.
#[napi(catch_unwind)]
pub fn key_names() -> Vec<&'static str> {
    input::key_names()
}

/// Removes the devices of dead owners from a display, null for that of the environment, and answers with
/// their names.
#[napi(catch_unwind)]
pub fn sweep_agents(display: Option<String>) -> Promise<Vec<String>> {
    promise(move || input::sweep_agents(&desktop::Session::of(display.as_deref())?))
}
