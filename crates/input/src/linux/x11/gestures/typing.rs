//! Keys and texts for an application that reads them from messages.

use std::cell::RefCell;
use std::time::Duration;

use desktop::WindowId;
use x11rb::protocol::xproto::{ConnectionExt as _, Window};

use super::key_messages::{self, Messages};
use crate::plan::{self, Layout};
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::connection::settle;
use crate::platform::x11::devices::keyboard::{self, BorrowedKeycodes, Plan};
use crate::platform::x11::devices::pair::Pair;
use crate::platform::x11::new_windows::watcher::Watcher;
use crate::platform::x11::person::device_grab::{self, DeviceGrab};
use crate::platform::x11::person::restore;
use crate::platform::x11::person::state::PersonState;
use crate::{Delivery, InputError, KeyPress, Text, keys};

/// How long the person's devices are held for an application that does not answer.
const HELD: Duration = Duration::from_secs(1);

/// Who writes the messages, and whose keyboard map they go by.
pub struct KeyTyping<'a> {
    /// The agent's connection.
    pub link: &'a Link,
    /// The agent's devices.
    pub own: Pair,
    /// The person's devices.
    pub person: Pair,
    /// Who keeps what the application opens from the person's focus.
    pub watcher: &'a RefCell<Watcher>,
}

impl KeyTyping<'_> {
    /// Presses and releases a key as often as asked, with the modifiers held.
    pub fn press(
        &self,
        press: &KeyPress,
        held: &[u8],
        wait: &dyn Fn(Duration) -> bool,
    ) -> Result<Delivery, InputError> {
        let window = self.present(press.window_id)?;
        let refuse = || InputError::untypable(press.window_id, press.keysym);
        let plan = Plan::make(self.link, self.person.keyboard, &[press.keysym])?.ok_or_else(refuse)?;
        let batch = plan.batches.first().ok_or_else(refuse)?;
        let stroke = batch.strokes.first().ok_or_else(refuse)?;
        let before = PersonState::look(self.link, self.person)?;
        let borrowed = BorrowedKeycodes::take(self.link, self.own, self.person, &batch.assign)?;
        borrowed.wait_until_known(window)?;
        let active = keys::is_shortcut(press.keysym, &press.modifiers);
        let mut device_grab = if active { Some(self.grab_devices(&before)?) } else { None };
        let mut messages = self.messages(window, &plan.layout, active)?;
        let mut is_halted = false;
        for _ in 0..press.count {
            is_halted = is_halted || wait(Duration::ZERO);
            if !is_halted {
                messages.run(&plan::press(stroke, held))?;
            }
        }
        // What the application still has to read, it reads as the window that has the focus.
        if active && !settle::application(self.link, window, HELD, true)? {
            // The person is not to wait with one that hangs.
            device_grab = None;
            settle::application(self.link, window, keyboard::PATIENCE, true)?;
        }
        let focus_pretended = messages.pretends_focus();
        let events = messages.finish()?;
        borrowed.give_back_when_read(window)?;
        if is_halted {
            return Err(InputError::Halted { window_id: press.window_id, gesture: "key" });
        }
        let is_settled = restore::settle(self.link, window)?;
        if self.has_person_turned_to(window)? {
            return Ok(before.compare(&PersonState::look(self.link, self.person)?, events));
        }
        let delivery = restore::release(self.link, self.person, &before, window, events, device_grab)?;
        if !is_settled {
            self.watcher.borrow().expect_late_windows(window)?;
        }
        Ok(Delivery { focus_pretended, ..delivery })
    }

    /// A dialog that a shortcut opens asks for the focus when it is shown, and again when the window is told that it has
    /// not the focus: the person's devices are held meanwhile.
    fn grab_devices(&self, before: &PersonState) -> Result<DeviceGrab<'_>, InputError> {
        self.link.alone(|| DeviceGrab::hold(self.link, self.person, before))
    }

    /// Types until `wait` says, of the time after each character, that it is stopped.
    pub fn text(&self, text: &Text, wait: impl Fn(Duration) -> bool) -> Result<Delivery, InputError> {
        let refuse = |characters| InputError::TextNotTypable { window_id: text.window_id, characters };
        let keysyms = plan::keysyms(&text.text).map_err(refuse)?;
        let window = self.present(text.window_id)?;
        let plan = Plan::make(self.link, self.person.keyboard, &keysyms)?
            .ok_or_else(|| refuse(text.text.clone()))?;
        let before = PersonState::look(self.link, self.person)?;
        let mut typed = 0;
        let events = self
            .type_batches(window, &plan, (text.delay, wait), &mut typed)
            .map_err(|error| error.after(typed, keysyms.len()))?;
        if typed < keysyms.len() {
            return Err(InputError::Cancelled { window_id: text.window_id, typed, count: keysyms.len() });
        }
        restore::settle(self.link, window)?;
        if self.has_person_turned_to(window)? {
            return Ok(before.compare(&PersonState::look(self.link, self.person)?, events));
        }
        restore::measure(self.link, self.person, &before, window, events)
    }

    /// Types, counts the characters, and answers with the events sent.
    fn type_batches(
        &self,
        window: Window,
        plan: &Plan,
        (delay, wait): (Duration, impl Fn(Duration) -> bool),
        typed: &mut usize,
    ) -> Result<u32, InputError> {
        let mut events = 0;
        let mut is_stopped = wait(Duration::ZERO);
        for batch in &plan.batches {
            if is_stopped {
                break;
            }
            let borrowed = BorrowedKeycodes::take(self.link, self.own, self.person, &batch.assign)?;
            borrowed.wait_until_known(window)?;
            let mut messages = self.messages(window, &plan.layout, false)?;
            for stroke in &batch.strokes {
                if is_stopped {
                    break;
                }
                key_messages::has_persons_focus(self.link, self.person, window)?;
                messages.run(&plan::press(stroke, &[]))?;
                *typed += 1;
                is_stopped = wait(delay);
                self.watcher.borrow().prolong(window, delay);
            }
            events += messages.finish()?;
            borrowed.give_back_when_read(window)?;
        }
        Ok(events)
    }

    /// Whether the person chose a window of the application meanwhile, which stays chosen.
    fn has_person_turned_to(&self, window: Window) -> Result<bool, InputError> {
        self.watcher.borrow().catch_up(|| device_grab::let_through(self.link))?;
        Ok(self.watcher.borrow().has_turned_to(window))
    }

    fn messages<'a>(
        &'a self,
        window: Window,
        layout: &'a Layout,
        active: bool,
    ) -> Result<Messages<'a>, InputError> {
        Messages::to(self.link, self.person, window, &layout.modifiers, active)
    }

    /// Fails with `window_not_found` where the window is gone.
    fn present(&self, window_id: WindowId) -> Result<Window, InputError> {
        let window = window_id.xid();
        let geometry = self.link.conn.get_geometry(window)?.reply();
        geometry.map(|_| window).map_err(|_| InputError::WindowNotFound { window_id })
    }
}
