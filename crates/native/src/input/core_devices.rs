//! The display's own pointer and keyboard, for JavaScript.

use std::sync::Arc;
use std::time::Duration;

use input::{CoreAction, InputError};
use napi::bindgen_prelude::{Either, Null};
use napi_derive::napi;

use crate::desktop::{Desktop, Point};
use crate::failure::{Promise, promise, promise_with};
use crate::input::button;

/// Presses and releases of a button.
#[napi(object, object_to_js = false)]
pub struct CoreClick {
    /// Which button.
    #[napi(ts_type = "'left' | 'middle' | 'right'")]
    pub button: String,
    /// 1 to 3 presses.
    pub count: u32,
    /// Pixels of the screen; absent or null for where the pointer is.
    #[napi(ts_type = "Point | null")]
    pub at: Option<Either<Point, Null>>,
    /// Names of modifiers that are held around the presses.
    pub modifiers: Vec<String>,
}

/// One press, motions, one release.
#[napi(object, object_to_js = false)]
pub struct CoreDrag {
    /// Pixels of the screen, from the press to the release; with a single point it begins where the pointer is.
    pub path: Vec<Point>,
    /// Which button.
    #[napi(ts_type = "'left' | 'middle' | 'right'")]
    pub button: String,
    /// Milliseconds from the press to the release.
    #[napi(js_name = "duration_ms")]
    pub duration_ms: u32,
    /// Names of modifiers that are held around all.
    pub modifiers: Vec<String>,
}

/// Detents of the wheel.
#[napi(object, object_to_js = false)]
pub struct CoreWheel {
    /// Detents that bring what is to the right into view (button 7); negative for the left (button 6).
    pub right: i32,
    /// Detents that bring what is below into view (button 5); negative for above (button 4).
    pub down: i32,
    /// Pixels of the screen; absent or null for where the pointer is.
    #[napi(ts_type = "Point | null")]
    pub at: Option<Either<Point, Null>>,
    /// Names of modifiers that are held around all.
    pub modifiers: Vec<String>,
}

/// The pointer and keyboard of the display itself, which a person sitting there would use. Calls are done in the order in
/// which they are made; several objects, in whatever processes, take turns.
#[napi]
pub struct CoreDevices {
    devices: Arc<input::CoreDevices>,
}

#[napi]
impl CoreDevices {
    /// Connects to a display. Rejects with `input_unavailable` where the X server lacks what this needs, and with
    /// `display_unavailable`.
    #[napi(catch_unwind)]
    pub fn open(desktop: &Desktop) -> Promise<CoreDevices> {
        let session = desktop.desktop.session().clone();
        promise(move || {
            input::CoreDevices::open(&session).map(|devices| CoreDevices { devices: Arc::new(devices) })
        })
    }

    /// Where the pointer is, in pixels of the screen.
    #[napi(catch_unwind)]
    pub fn position(&self) -> Promise<Point> {
        promise_with(&self.devices, move |devices| devices.position().map(|at| Point { x: at.x, y: at.y }))
    }

    /// Moves the pointer to a point of the screen within `durationMs` milliseconds, 0 being one motion. Rejects with
    /// `invalid_argument` for a point outside the screen, with `condition_not_met` where others use the devices for
    /// longer than a minute, and with `cancelled`.
    #[napi(js_name = "move", catch_unwind)]
    pub fn move_to(&self, to: Point, duration_ms: u32) -> Promise<()> {
        let duration = Duration::from_millis(duration_ms.into());
        self.perform(move || Ok(CoreAction::Move { to: to.into(), duration }))
    }

    /// Presses a button, which stays down until `release`, `releaseAll`, `close` or the end of this process. Rejects as
    /// `move` does.
    #[napi(catch_unwind)]
    pub fn press(
        &self,
        #[napi(ts_arg_type = "'left' | 'middle' | 'right'")] button: String,
        #[napi(ts_arg_type = "Point | null")] at: Option<Either<Point, Null>>,
    ) -> Promise<()> {
        self.perform(move || Ok(CoreAction::Press { button: self::button(&button), at: place(at) }))
    }

    /// Releases a button, whoever pressed it. Rejects as `move` does.
    #[napi(catch_unwind)]
    pub fn release(
        &self,
        #[napi(ts_arg_type = "'left' | 'middle' | 'right'")] button: String,
        #[napi(ts_arg_type = "Point | null")] at: Option<Either<Point, Null>>,
    ) -> Promise<()> {
        self.perform(move || Ok(CoreAction::Release { button: self::button(&button), at: place(at) }))
    }

    /// Clicks. Rejects as `move` does, and with `unknown_modifier`.
    #[napi(catch_unwind)]
    pub fn click(&self, request: CoreClick) -> Promise<()> {
        self.perform(move || {
            let modifiers = input::check_modifiers(&request.modifiers)?;
            let (button, at) = (button(&request.button), place(request.at));
            Ok(CoreAction::Click { button, count: request.count, at, modifiers })
        })
    }

    /// Holds a button along a path: one press, motions, one release. Rejects as `click` does.
    #[napi(catch_unwind)]
    pub fn drag(&self, request: CoreDrag) -> Promise<()> {
        self.perform(move || {
            let modifiers = input::check_modifiers(&request.modifiers)?;
            let duration = Duration::from_millis(request.duration_ms.into());
            let path = request.path.into_iter().map(Into::into).collect();
            Ok(CoreAction::Drag { path, button: button(&request.button), duration, modifiers })
        })
    }

    /// Turns the wheel. Rejects as `click` does.
    #[napi(catch_unwind)]
    pub fn wheel(&self, request: CoreWheel) -> Promise<()> {
        self.perform(move || {
            let modifiers = input::check_modifiers(&request.modifiers)?;
            Ok(CoreAction::Wheel {
                right: request.right,
                down: request.down,
                at: place(request.at),
                modifiers,
            })
        })
    }

    /// Presses a key, with the modifiers that its character needs; it stays down until `keyUp`, `releaseAll`, `close` or
    /// the end of this process. Rejects with `unknown_key`, `unsupported_key`, `text_not_typable`, `condition_not_met` and
    /// `cancelled`.
    #[napi(catch_unwind)]
    pub fn key_down(&self, key: String) -> Promise<()> {
        self.perform(move || Ok(CoreAction::KeyDown { keysym: input::check_key(&key)? }))
    }

    /// Releases a key, whoever pressed it. Rejects as `keyDown` does.
    #[napi(catch_unwind)]
    pub fn key_up(&self, key: String) -> Promise<()> {
        self.perform(move || Ok(CoreAction::KeyUp { keysym: input::check_key(&key)? }))
    }

    /// Presses keys in this order and releases them in the reverse one. Rejects as `keyDown` does.
    #[napi(catch_unwind)]
    pub fn press_keys(&self, keys: Vec<String>) -> Promise<()> {
        self.perform(move || {
            let keysyms: Result<Vec<u32>, InputError> =
                keys.iter().map(|key| input::check_key(key)).collect();
            Ok(CoreAction::Keys { keysyms: keysyms? })
        })
    }

    /// Types a text exactly into what has the keyboard, whatever the layout, the locks and the modifiers that are held;
    /// line breaks are Return, and `delayMs` is the pause after each character in milliseconds. Rejects with
    /// `text_not_typable` before anything is typed, with `condition_not_met` where the application does not read its keys,
    /// and with `cancelled`.
    #[napi(catch_unwind)]
    pub fn type_text(&self, text: String, delay_ms: u32) -> Promise<()> {
        let delay = Duration::from_millis(delay_ms.into());
        self.perform(move || Ok(CoreAction::Text { text, delay }))
    }

    /// Releases every key and button that this object holds. Rejects as `move` does.
    #[napi(catch_unwind)]
    pub fn release_all(&self) -> Promise<()> {
        self.perform(|| Ok(CoreAction::ReleaseAll))
    }

    /// Halts every call that was made before: it rejects with `cancelled` when what it pressed is up and lent keycodes are
    /// given back. What `keyDown` and `press` hold stays down.
    #[napi(catch_unwind)]
    pub fn cancel(&self) {
        self.devices.cancel();
    }

    /// Cancels what is under way and releases what is held; closing twice is fine. Later calls reject with
    /// `agent_closed`.
    #[napi(catch_unwind)]
    pub fn close(&self) -> Promise<()> {
        promise_with(&self.devices, move |devices| devices.close())
    }

    fn perform(&self, act: impl FnOnce() -> Result<CoreAction, InputError> + Send + 'static) -> Promise<()> {
        // Its place among the calls is that of this moment.
        let asked = self.devices.ask();
        promise_with(&self.devices, move |devices| devices.perform(&act()?, &asked))
    }
}

fn place(at: Option<Either<Point, Null>>) -> Option<desktop::Point> {
    match at {
        Some(Either::A(at)) => Some(at.into()),
        Some(Either::B(Null)) | None => None,
    }
}

/// Releases keys, buttons and keycodes that ended processes left on a display, null for that of the environment, and
/// answers how many processes they were. Every call of a `CoreDevices` does so too.
#[napi(catch_unwind)]
pub fn sweep_core_devices(display: Option<String>) -> Promise<u32> {
    promise(move || {
        let session = desktop::Session::of(display.as_deref())?;
        input::sweep_core_devices(&session).map(|swept| u32::try_from(swept).unwrap_or(u32::MAX))
    })
}
