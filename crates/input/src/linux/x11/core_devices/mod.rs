//! The display's own pointer and keyboard, acted through by one caller at a time.

mod devices;
mod guard;
mod held;
mod keys;
mod modifiers;
mod queue;
mod reader;
mod turns;
mod typing;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use desktop::{Point, Session, WindowId};

use super::connection::link::{Link, on_display};
use super::core_devices::devices::{Devices, UNINTERRUPTED};
use super::core_devices::keys::Down;
use super::core_devices::turns::{Turn, Turns};
use super::devices::pair::Pair;
use super::devices::pointer;
use super::gestures::steps::CancellableWait;
use crate::plan::{self, Step};
use crate::platform::cancellation::Cancellation;
use crate::{Button, CallStart, CoreAction, InputError, Modifier, glide};

/// How long others may take for what they are about until a caller that closes releases what it holds all the same.
const PATIENCE: Duration = Duration::from_secs(1);

/// The pointer and keyboard of the display itself, which a person sitting there would use.
///
/// Calls of one value are done in the order of their [`CoreDevices::ask`]; several values, in whatever processes, take
/// turns. What is held when the process ends is released by another process.
pub struct CoreDevices {
    display: String,
    link: Arc<Link>,
    person: Pair,
    cancellation: Cancellation,
    turns: Arc<Turns>,
    body: Mutex<Option<Body>>,
}

struct Body {
    devices: Devices,
    /// Keys that are held by [`CoreAction::KeyDown`].
    down: Vec<Down>,
}

/// When a call was made: its place in the order, and what cancels it.
pub struct CallOrder {
    start: CallStart,
    turn: Turn,
}

impl CoreDevices {
    /// Connects to a display. Fails with `display_unavailable` and `input_unavailable`.
    pub fn open(session: &Session) -> Result<Self, InputError> {
        let Session::X11(session) = session;
        let display = session.display().to_owned();
        let devices = on_display(&display, Devices::open(session))?;
        let (link, person) = (Arc::clone(&devices.link), devices.person);
        let body = Mutex::new(Some(Body { devices, down: Vec::new() }));
        let (cancellation, turns) = (Cancellation::default(), Arc::default());
        Ok(Self { display, link, person, cancellation, turns, body })
    }

    /// Now: the call is done after all that were asked for before, and every later [`CoreDevices::cancel`] reaches it.
    pub fn ask(&self) -> CallOrder {
        CallOrder { start: self.cancellation.now(), turn: self.turns.take() }
    }

    /// Does what was asked for.
    ///
    /// Fails with `invalid_argument` for a point that is not on the screen, with `text_not_typable`, with
    /// `condition_not_met` where other callers or the application take too long, and with `cancelled` when what it
    /// pressed is released.
    pub fn perform(&self, act: &CoreAction, asked: &CallOrder) -> Result<(), InputError> {
        asked.turn.wait();
        let wait = |time| self.cancellation.wait(asked.start, time);
        let mut body = self.lock();
        let display = self.display.clone();
        let body = body.as_mut().ok_or(InputError::DevicesClosed { display })?;
        on_display(&self.display, body.perform(act, &wait))
    }

    /// Where the pointer is on the screen.
    pub fn position(&self) -> Result<Point, InputError> {
        on_display(&self.display, pointer::position(&self.link, self.person.pointer))
    }

    /// Halts everything that was asked for before; what is held from one call to the next stays so.
    pub fn cancel(&self) {
        self.cancellation.stop();
    }

    /// Cancels what is under way and releases what is held; closing twice is fine.
    pub fn close(&self) -> Result<(), InputError> {
        let asked = self.ask();
        self.cancel();
        asked.turn.wait();
        match self.lock().take() {
            Some(body) => on_display(&self.display, body.close()),
            None => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Body>> {
        self.body.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CoreDevices {
    fn drop(&mut self) {
        // Nobody is left to hear of a failure; the next caller releases what stayed.
        let _ = self.close();
    }
}

/// Releases what callers whose process has ended held on a display; how many they were. Every call of a [`CoreDevices`] does so too.
pub fn sweep_core_devices(session: &Session) -> Result<usize, InputError> {
    let Session::X11(session) = session;
    let swept = Devices::open(session).and_then(|mut devices| {
        devices.in_turn(UNINTERRUPTED, |_| Ok(()))?;
        Ok(devices.swept)
    });
    on_display(session.display(), swept)
}

impl Body {
    fn perform(&mut self, act: &CoreAction, wait: CancellableWait<'_>) -> Result<(), InputError> {
        let halted = || InputError::ActHalted { act: act.name() };
        if wait(Duration::ZERO) {
            return Err(halted());
        }
        let Self { devices, down } = self;
        let done = devices.in_turn(wait, |devices| act_with(devices, down, act, wait))?;
        if done.unwrap_or(false) { Ok(()) } else { Err(halted()) }
    }

    fn close(mut self) -> Result<(), InputError> {
        let deadline = Instant::now() + PATIENCE;
        let wait = |time| {
            std::thread::sleep(time);
            Instant::now() > deadline
        };
        match self.devices.in_turn(&wait, Devices::release_all)? {
            Some(()) => Ok(()),
            None => self.devices.release_all(),
        }
    }
}

/// False when it was halted.
fn act_with(
    devices: &mut Devices,
    down: &mut Vec<Down>,
    act: &CoreAction,
    wait: CancellableWait<'_>,
) -> Result<bool, InputError> {
    match act {
        CoreAction::Move { to, duration } => {
            devices.check(&[*to])?;
            let steps = glide::travel(&[devices.place()?, *to], *duration);
            devices.run(&steps, wait)
        }
        CoreAction::Press { button, at } => {
            go(devices, *at, wait)?;
            devices.hold(&[], &[button.number()])?;
            Ok(true)
        }
        CoreAction::Release { button, at } => {
            go(devices, *at, wait)?;
            devices.release(&[], &[button.number()])?;
            Ok(true)
        }
        CoreAction::Click { button, count, at, modifiers } => {
            go(devices, *at, wait)?;
            let here = devices.place()?;
            let steps = click(here, *button, *count, &held(devices, modifiers)?);
            devices.run(&steps, wait)
        }
        CoreAction::Drag { path, button, duration, modifiers } => {
            let steps = drag(devices, path, *button, *duration, modifiers)?;
            devices.run(&steps, wait)
        }
        CoreAction::Wheel { right, down, at, modifiers } => {
            go(devices, *at, wait)?;
            let steps = glide::turns(*right, *down, &held(devices, modifiers)?);
            devices.run(&steps, wait)
        }
        CoreAction::KeyDown { keysym } => key_down(devices, down, *keysym, wait),
        CoreAction::KeyUp { keysym } => key_up(devices, down, *keysym, wait).map(|()| true),
        CoreAction::Keys { keysyms } => super::core_devices::keys::chord(devices, keysyms, wait),
        CoreAction::Text { text, delay } => {
            super::core_devices::typing::text(devices, text, *delay, wait).map(|()| true)
        }
        CoreAction::ReleaseAll => {
            down.clear();
            devices.release_all().map(|()| true)
        }
    }
}

/// The steps of a drag, which begins where the pointer is when the path has but its end.
fn drag(
    devices: &Devices,
    path: &[Point],
    button: Button,
    duration: Duration,
    modifiers: &[Modifier],
) -> Result<Vec<Step>, InputError> {
    devices.check(path)?;
    let here = devices.place()?;
    let path = if path.len() == 1 { [&[here], path].concat() } else { path.to_vec() };
    Ok(glide::drag(&path, button, duration, &held(devices, modifiers)?))
}

/// Presses a key, unless it is held already; false when it was halted.
fn key_down(
    devices: &mut Devices,
    down: &mut Vec<Down>,
    keysym: u32,
    wait: CancellableWait<'_>,
) -> Result<bool, InputError> {
    if down.iter().any(|key| key.keysym == keysym) {
        return Ok(true);
    }
    let key = super::core_devices::keys::down(devices, keysym, wait)?;
    let is_down = key.is_some();
    down.extend(key);
    Ok(is_down)
}

/// Releases a key, whoever holds it.
fn key_up(
    devices: &mut Devices,
    down: &mut Vec<Down>,
    keysym: u32,
    wait: CancellableWait<'_>,
) -> Result<(), InputError> {
    match down.iter().position(|key| key.keysym == keysym) {
        Some(at) => {
            let key = down.remove(at);
            super::core_devices::keys::up(devices, &key, down, wait)?;
        }
        None => {
            let keycodes = super::core_devices::keys::keycodes(devices, keysym)?;
            devices.release(&keycodes, &[])?;
        }
    }
    Ok(())
}

/// Goes to a point with one motion.
fn go(devices: &mut Devices, at: Option<Point>, wait: CancellableWait<'_>) -> Result<(), InputError> {
    let Some(at) = at else { return Ok(()) };
    devices.check(&[at])?;
    devices.run(&[Step::Move(at)], wait).map(drop)
}

/// The steps of clicks where the pointer is.
fn click(here: Point, button: Button, count: u32, held: &[u8]) -> Vec<Step> {
    plan::click(here, button, count, held).into_iter().skip(1).collect()
}

/// The keycodes of modifiers.
fn held(devices: &Devices, modifiers: &[Modifier]) -> Result<Vec<u8>, InputError> {
    if modifiers.is_empty() {
        return Ok(Vec::new());
    }
    let layout = devices.layout()?;
    let keycode = |modifier: &Modifier| {
        let stroke = layout.strokes.get(&modifier.keysym()).filter(|stroke| stroke.held.is_empty());
        stroke
            .map(|stroke| stroke.keycode)
            .ok_or_else(|| InputError::untypable(WindowId::of_xid(0), modifier.keysym()))
    };
    modifiers.iter().map(keycode).collect()
}
