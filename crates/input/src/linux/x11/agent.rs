//! The agent's own pointer and keyboard, as callers see them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use desktop::{Session, WindowId};
use x11rb::protocol::xproto::MOTION_NOTIFY_EVENT;

use super::agent_devices::AgentDevices;
use super::connection::link::{Link, on_display};
use super::devices::pointer::{self, fake};
use super::devices::{master, sweep};
use crate::platform::cancellation::Cancellation;
use crate::{CallStart, Click, Delivery, Gesture, InputError, KeyPress, Text};

/// How long a pointer that hovers keeps what covers the window open.
const HOVER: Duration = Duration::from_secs(10);

/// A second master pointer and keyboard on a display: what one agent acts with, for as long as it lives.
pub struct Agent {
    name: String,
    display: String,
    cancellation: Cancellation,
    devices: Arc<Mutex<Option<AgentDevices>>>,
}

impl Agent {
    /// Makes the devices on the display, after those of dead owners are swept.
    ///
    /// Fails with `display_unavailable`, with `input_unavailable` where the server takes no synthetic input, and with
    /// `foreground_only` where it takes it for its one pointer and keyboard only.
    pub fn open(session: &Session, name: &str) -> Result<Self, InputError> {
        let Session::X11(session) = session;
        let (name, display) = (name.to_owned(), session.display().to_owned());
        let devices = on_display(&display, AgentDevices::open(session)).map_err(InputError::in_background)?;
        Ok(Self {
            name,
            display,
            cancellation: Cancellation::default(),
            devices: Arc::new(Mutex::new(Some(devices))),
        })
    }

    /// Does what a caller asked for at that moment: cancelled too by what came in between.
    ///
    /// Fails with `window_not_found`, `window_not_visible`, `point_outside_window` and `window_covered`, and for
    /// keys and texts with `text_not_typable` naming the characters, before anything is sent; with `cancelled`
    /// between two steps, when everything is released.
    pub fn perform(&self, gesture: &Gesture, asked: CallStart) -> Result<Delivery, InputError> {
        self.with(|devices| {
            let wait = |time| self.cancellation.wait(asked, time);
            devices.watch_new_windows(gesture.window_id().xid())?;
            let performed = match gesture {
                Gesture::Click(click) => devices.click(click, &wait),
                Gesture::Drag(drag) => devices.drag(drag, &wait),
                Gesture::Wheel(wheel) => devices.wheel(wheel, &wait),
                Gesture::Hover(hover) => devices.hover(hover, &wait),
                Gesture::Key(press) => devices.press_key(press, &wait),
                Gesture::Text(text) => devices.type_text(text, &wait),
            };
            devices.watcher.borrow().add_pretended(devices.pretended.take())?;
            if !devices.holes.borrow().is_empty()
                && devices.hover_deadline.replace(Some(Instant::now() + HOVER)).is_none()
            {
                let devices = Arc::downgrade(&self.devices);
                std::thread::spawn(move || leave_in_time(&devices));
            }
            performed
        })
    }

    /// Clicks in a window; fails as [`Agent::perform`] does.
    pub fn click(&self, click: &Click) -> Result<Delivery, InputError> {
        self.perform(&Gesture::Click(click.clone()), self.now())
    }

    /// Presses and releases a key; fails as [`Agent::perform`] does.
    pub fn press_key(&self, press: &KeyPress) -> Result<Delivery, InputError> {
        self.perform(&Gesture::Key(press.clone()), self.now())
    }

    /// Types a text; fails as [`Agent::perform`] does.
    pub fn type_text(&self, text: &Text) -> Result<Delivery, InputError> {
        self.perform(&Gesture::Text(text.clone()), self.now())
    }

    /// Keeps what the window's application opens in the next seconds from the person's focus, as after a gesture, and
    /// holds the person's devices until [`Agent::end_action`]. To be called before an element of the window is made to
    /// act in another way than by a gesture.
    pub fn begin_action(&self, window_id: WindowId) -> Result<(), InputError> {
        self.with(|devices| {
            let watcher = devices.watcher.borrow();
            watcher.watch(window_id.xid())?;
            watcher.begin_element_action(window_id.xid())
        })
    }

    /// The application has answered: the person's devices are held until it has opened a window or had the time for it,
    /// for which this does not wait.
    pub fn end_action(&self) -> Result<(), InputError> {
        self.with(|devices| devices.watcher.borrow().end_element_action())
    }

    /// This moment: every later [`Agent::cancel`] reaches a call that was made at it.
    pub fn now(&self) -> CallStart {
        self.cancellation.now()
    }

    /// Halts everything that was asked for before, also what has not begun: it fails with `cancelled` when its
    /// buttons and keys are up and borrowed keycodes are given back. Does not wait for that.
    pub fn cancel(&self) {
        self.cancellation.stop();
    }

    /// One motion event to where the pointer is, waited for: the floor under every gesture.
    pub fn ping(&self) -> Result<(), InputError> {
        self.with(|devices| {
            let at = pointer::position(&devices.link, devices.own.pointer)?;
            fake(&devices.link, MOTION_NOTIFY_EVENT, 0, at)?;
            devices.link.sync()
        })
    }

    /// Cancels what is under way and removes the devices; closing twice is fine. Where an application hangs they stay for the next sweep,
    /// because it would die of events whose device is gone.
    pub fn close(&self) -> Result<(), InputError> {
        self.cancel();
        match self.lock().take() {
            Some(devices) => {
                devices.watcher.borrow_mut().close();
                devices.pretended.borrow_mut().extend(devices.watcher.borrow().take_pretended());
                let left = devices.end_pretence(|_| true).and_then(|_| devices.leave());
                let removed = left.and_then(|()| master::remove(&devices.link, devices.own.pointer));
                on_display(&self.display, removed.map(drop))
            }
            None => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<AgentDevices>> {
        self.devices.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, work: impl FnOnce(&AgentDevices) -> Result<T, InputError>) -> Result<T, InputError> {
        let devices = self.lock();
        let devices = devices.as_ref().ok_or_else(|| InputError::AgentClosed { name: self.name.clone() })?;
        on_display(&self.display, work(devices))
    }
}

/// Takes a pointer off that has hovered long enough.
fn leave_in_time(devices: &Weak<Mutex<Option<AgentDevices>>>) {
    let mut pause = HOVER;
    loop {
        std::thread::sleep(pause);
        let Some(devices) = devices.upgrade() else { return };
        let devices = devices.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(devices) = devices.as_ref() else { return };
        let is_open = !devices.holes.borrow().is_empty();
        let Some(deadline) = devices.hover_deadline.get().filter(|_| is_open) else {
            devices.hover_deadline.set(None);
            return;
        };
        pause = deadline.saturating_duration_since(Instant::now());
        if pause.is_zero() {
            devices.hover_deadline.set(None);
            // Where the display is lost nothing is open.
            let _ = devices.leave();
            return;
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Nobody is left to hear of a failure; the next sweep removes what stayed.
        let _ = self.close();
    }
}

/// Removes masters whose owner is dead from a display, and answers with their names.
pub fn sweep_agents(session: &Session) -> Result<Vec<String>, InputError> {
    let Session::X11(session) = session;
    on_display(session.display(), Link::open(session).and_then(|link| sweep::sweep(&link)))
}
