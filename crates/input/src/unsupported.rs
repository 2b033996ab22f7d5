//! Platforms without an implementation: the same public items, each refusing with `unsupported_platform`.

use desktop::{DesktopError, Point, Session, WindowId};

use crate::{CallStart, Click, CoreAction, Delivery, Gesture, InputError, KeyPress, Text};

/// An agent's hands, which cannot be had here.
pub struct Agent {
    never: std::convert::Infallible,
}

impl Agent {
    /// Always fails with `unsupported_platform`.
    pub fn open(_session: &Session, _name: &str) -> Result<Self, InputError> {
        Err(DesktopError::UnsupportedPlatform { what: "input" }.into())
    }

    /// Does what a caller asked for at that moment.
    pub fn perform(&self, _gesture: &Gesture, _asked: CallStart) -> Result<Delivery, InputError> {
        match self.never {}
    }

    /// Clicks in a window.
    pub fn click(&self, _click: &Click) -> Result<Delivery, InputError> {
        match self.never {}
    }

    /// Presses and releases a key.
    pub fn press_key(&self, _press: &KeyPress) -> Result<Delivery, InputError> {
        match self.never {}
    }

    /// Types a text.
    pub fn type_text(&self, _text: &Text) -> Result<Delivery, InputError> {
        match self.never {}
    }

    /// Keeps what an element's action opens from the person's focus.
    pub fn begin_action(&self, _window_id: WindowId) -> Result<(), InputError> {
        match self.never {}
    }

    /// The application has answered.
    pub fn end_action(&self) -> Result<(), InputError> {
        match self.never {}
    }

    /// This moment.
    pub fn now(&self) -> CallStart {
        match self.never {}
    }

    /// Halts everything that was asked for before.
    pub fn cancel(&self) {
        match self.never {}
    }

    /// One motion event, waited for.
    pub fn ping(&self) -> Result<(), InputError> {
        match self.never {}
    }

    /// Removes the devices.
    pub fn close(&self) -> Result<(), InputError> {
        match self.never {}
    }
}

/// What applications have still to handle, which cannot be asked here.
pub struct AppQueues;

impl AppQueues {
    /// Asks nobody.
    pub fn new(_session: &Session) -> Self {
        Self
    }

    /// Nothing proves it.
    pub fn handled(
        &self,
        _window: WindowId,
        _patience: std::time::Duration,
    ) -> Result<Option<bool>, InputError> {
        Ok(None)
    }

    /// Nothing is open.
    pub fn close(&self) {}
}

/// The person's stop key, which cannot be watched here.
pub struct StopKey {
    never: std::convert::Infallible,
}

impl StopKey {
    /// Always fails with `unsupported_platform`.
    pub fn watch(_session: &Session, _keys: &[&str]) -> Result<Self, InputError> {
        Err(DesktopError::UnsupportedPlatform { what: "stop key" }.into())
    }

    /// Waits for a press.
    pub fn pressed(&self, _timeout: std::time::Duration) -> Result<bool, InputError> {
        match self.never {}
    }

    /// Ends the watch.
    pub fn close(&self) {
        match self.never {}
    }
}

/// Always fails with `unsupported_platform`.
pub fn sweep_agents(_session: &Session) -> Result<Vec<String>, InputError> {
    Err(DesktopError::UnsupportedPlatform { what: "input" }.into())
}

/// The display's own devices, which cannot be used here.
pub struct CoreDevices {
    never: std::convert::Infallible,
}

/// When a call was made.
pub struct CallOrder {
    never: std::convert::Infallible,
}

impl CoreDevices {
    /// Always fails with `unsupported_platform`.
    pub fn open(_session: &Session) -> Result<Self, InputError> {
        Err(DesktopError::UnsupportedPlatform { what: "input" }.into())
    }

    /// Now.
    pub fn ask(&self) -> CallOrder {
        match self.never {}
    }

    /// Does what was asked for.
    pub fn perform(&self, _act: &CoreAction, asked: &CallOrder) -> Result<(), InputError> {
        match asked.never {}
    }

    /// Where the pointer is on the screen.
    pub fn position(&self) -> Result<Point, InputError> {
        match self.never {}
    }

    /// Halts everything that was asked for before.
    pub fn cancel(&self) {
        match self.never {}
    }

    /// Releases what is held.
    pub fn close(&self) -> Result<(), InputError> {
        match self.never {}
    }
}

/// Always fails with `unsupported_platform`.
pub fn sweep_core_devices(_session: &Session) -> Result<usize, InputError> {
    Err(DesktopError::UnsupportedPlatform { what: "input" }.into())
}
