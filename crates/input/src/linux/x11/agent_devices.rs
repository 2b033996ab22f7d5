//! An agent's pointer and keyboard on their connection, and the gestures made with them.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use desktop::x11::Session;
use desktop::{Point, WindowId};
use x11rb::CURRENT_TIME;
use x11rb::protocol::xinput;

use super::connection::link::Link;
use super::connection::toolkit;
use super::connection::window_tree::{self, same_client};
use super::devices::keyboard::{self, BorrowedKeycodes, Plan};
use super::devices::pair::Pair;
use super::devices::parking::park;
use super::devices::pointer;
use super::devices::{key_positions, master, sweep};
use super::gestures::holes::Holes;
use super::gestures::steps::{CancellableWait, Done, StepRunner};
use super::gestures::target::Target;
use super::gestures::typing::KeyTyping;
use super::gestures::{key_messages, locale};
use super::new_windows::watcher::Watcher;
use super::person::device_grab::{self, DeviceGrab};
use super::person::restore;
use super::person::state::PersonState;
use crate::plan::{self, Batch, Step, Stroke};
use crate::{Click, Delivery, Drag, Hover, InputError, KeyPress, Modifier, Text, Wheel, keys, path};

/// The focus of a keyboard whose keys go to the window that the pointer is in, X Input protocol.
const POINTER_ROOT: u32 = 1;
/// How long the person's devices are held for a context menu that has not come.
const MENU: Duration = Duration::from_millis(250);
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// A second master pointer and keyboard, and what is open for them.
pub struct AgentDevices {
    /// The agent's connection.
    pub link: Link,
    /// The agent's devices.
    pub own: Pair,
    person: Pair,
    /// Who keeps what applications open from the person's focus.
    pub watcher: RefCell<Watcher>,
    /// What is open for a pointer that stayed where it was moved to.
    pub holes: RefCell<Holes>,
    /// When the holes of a pointer that hovers are closed; none where no thread waits to close them.
    pub hover_deadline: Cell<Option<Instant>>,
    /// The windows that were told that they have the focus, and not otherwise yet. Between gestures the
    /// watcher has them.
    pub pretended: RefCell<Vec<u32>>,
}

impl AgentDevices {
    /// Makes the devices, after those of dead owners are swept.
    pub fn open(session: &Session) -> Result<Self, InputError> {
        let link = Link::open(session)?;
        sweep::sweep(&link)?;
        let person = master::person(&link)?;
        let own = master::create(&link)?;
        let watcher = RefCell::new(Watcher::open(session, (own, person), link.parking)?);
        Ok(Self {
            link,
            own,
            person,
            watcher,
            holes: RefCell::default(),
            hover_deadline: Cell::default(),
            pretended: RefCell::default(),
        })
    }

    /// Has what the application of a window opens kept from the person's focus from now on.
    pub fn watch_new_windows(&self, window: u32) -> Result<(), InputError> {
        let watcher = self.watcher.borrow();
        watcher.begin_gesture();
        // From here on it is told when this gesture is over.
        self.pretended.borrow_mut().extend(watcher.take_pretended());
        watcher.watch(window)?;
        watcher.catch_up(|| Ok(()))
    }

    /// Clicks.
    pub fn click(&self, click: &Click, wait: CancellableWait<'_>) -> Result<Delivery, InputError> {
        let target = Target::read(&self.link, click.window_id)?;
        let at = target.point(click.at)?;
        let held = self.held(&click.modifiers, click.window_id)?;
        let steps = plan::click(at, click.button, click.count, &held);
        self.gesture(&target, &steps, keys::are_commanding(&click.modifiers), ("click", wait))
    }

    /// Holds a button from one point to another.
    pub fn drag(&self, drag: &Drag, wait: CancellableWait<'_>) -> Result<Delivery, InputError> {
        let target = Target::read(&self.link, drag.window_id)?;
        let from = target.point(drag.from)?;
        let to = target.place(drag.to);
        let held = self.held(&drag.modifiers, drag.window_id)?;
        self.watcher.borrow().prolong(target.window, drag.duration);
        let steps = path::drag(from, to, drag.button, drag.duration, drag.steps, &held);
        self.gesture(&target, &steps, keys::are_commanding(&drag.modifiers), ("drag", wait))
    }

    /// Turns the wheel.
    pub fn wheel(&self, wheel: &Wheel, wait: CancellableWait<'_>) -> Result<Delivery, InputError> {
        let target = Target::read(&self.link, wheel.window_id)?;
        let at = target.point(wheel.at)?;
        let held = self.held(&wheel.modifiers, wheel.window_id)?;
        let steps = path::wheel(at, wheel.direction, wheel.amount, &held);
        self.gesture(&target, &steps, keys::are_commanding(&wheel.modifiers), ("wheel", wait))
    }

    /// Rests the pointer somewhere.
    pub fn hover(&self, hover: &Hover, wait: CancellableWait<'_>) -> Result<Delivery, InputError> {
        let target = Target::read(&self.link, hover.window_id)?;
        let at = target.point(hover.at)?;
        if wait(Duration::ZERO) {
            return Err(InputError::Halted { window_id: hover.window_id, gesture: "pointer" });
        }
        let before = PersonState::look(&self.link, self.person)?;
        let mut runner = self.runner(&target, &before, false)?;
        runner.run(&[Step::Move(at)], wait)?;
        let done = runner.stay()?;
        self.measure(&before, &target, done)
    }

    /// Presses and releases a key.
    pub fn press_key(&self, press: &KeyPress, wait: CancellableWait<'_>) -> Result<Delivery, InputError> {
        if toolkit::reads_messages(&self.link, press.window_id.xid())? {
            let held = self.held(&press.modifiers, press.window_id)?;
            return self.key_typing().press(press, &held, wait);
        }
        let target = Target::read(&self.link, press.window_id)?;
        let at = self.rest(&target, press.at)?;
        if let Some(keycode) = self.shortcut_by_place(press)? {
            let held = self.held(&press.modifiers, press.window_id)?;
            let hides_keys = keys::is_bindable(press.keysym, &press.modifiers);
            let steps = plan::presses(at, &Stroke { keycode, held: vec![] }, &held, press.count);
            return self.gesture(&target, &steps, hides_keys, ("key", wait));
        }
        let typed = crate::keysyms::character_of(press.keysym).map(String::from).unwrap_or_default();
        locale::check(&self.link, target.window, &typed)?;
        let held = self.held(&press.modifiers, press.window_id)?;
        let refuse = || InputError::untypable(press.window_id, press.keysym);
        let plan = Plan::make(&self.link, self.person.keyboard, &[press.keysym])?.ok_or_else(refuse)?;
        let batch = plan.batches.first().ok_or_else(refuse)?;
        let stroke = batch.strokes.first().ok_or_else(refuse)?;
        let borrowed = BorrowedKeycodes::take(&self.link, self.own, self.person, &batch.assign)?;
        borrowed.wait_until_known(target.window)?;
        let hides_keys = keys::is_bindable(press.keysym, &press.modifiers);
        let steps = plan::presses(at, stroke, &held, press.count);
        let delivery = self.gesture(&target, &steps, hides_keys, ("key", wait))?;
        borrowed.give_back_when_read(target.window)?;
        Ok(delivery)
    }

    /// The key of a shortcut whose letter the person's layout lacks, for an application that goes by its place.
    fn shortcut_by_place(&self, press: &KeyPress) -> Result<Option<u8>, InputError> {
        let (link, keyboard) = (&self.link, self.person.keyboard);
        if !keys::is_shortcut(press.keysym, &press.modifiers)
            || keyboard::layout(link, keyboard)?.strokes.contains_key(&press.keysym)
            || !toolkit::is_chromium(link, press.window_id.xid())?
        {
            return Ok(None);
        }
        key_positions::key_of(link, keyboard, press.keysym)
    }

    /// Types until `wait` says, of the time after each character, that it is stopped.
    pub fn type_text(&self, text: &Text, wait: CancellableWait<'_>) -> Result<Delivery, InputError> {
        if toolkit::reads_messages(&self.link, text.window_id.xid())? {
            return self.key_typing().text(text, wait);
        }
        let refuse = |characters| InputError::TextNotTypable { window_id: text.window_id, characters };
        let keysyms = plan::keysyms(&text.text).map_err(refuse)?;
        let target = Target::read(&self.link, text.window_id)?;
        let at = self.rest(&target, text.at)?;
        locale::check(&self.link, target.window, &text.text)?;
        let plan = Plan::make(&self.link, self.person.keyboard, &keysyms)?
            .ok_or_else(|| refuse(text.text.clone()))?;
        let before = PersonState::look(&self.link, self.person)?;
        let mut typed = 0;
        let events = self
            .type_batches((&target, at), &plan.batches, (text.delay, wait), &before, &mut typed)
            .map_err(|error| error.after(typed, keysyms.len()))?;
        if typed < keysyms.len() {
            return Err(InputError::Cancelled { window_id: text.window_id, typed, count: keysyms.len() });
        }
        self.measure(&before, &target, Done { events, ..Done::default() })
    }

    /// Types over a point of the screen, counts the characters, and answers with the device events sent.
    fn type_batches(
        &self,
        (target, at): (&Target, Point),
        batches: &[Batch],
        (delay, wait): (Duration, CancellableWait<'_>),
        before: &PersonState,
        typed: &mut usize,
    ) -> Result<u32, InputError> {
        let mut events = 0;
        let mut is_stopped = wait(Duration::ZERO);
        for batch in batches {
            if is_stopped {
                break;
            }
            let borrowed = BorrowedKeycodes::take(&self.link, self.own, self.person, &batch.assign)?;
            borrowed.wait_until_known(target.window)?;
            let mut runner = self.runner(target, before, false)?;
            for stroke in &batch.strokes {
                if is_stopped {
                    break;
                }
                // Keys go to the window under the pointer, over which another one may have come meanwhile.
                let mut steps = vec![Step::Return(at)];
                steps.extend(plan::press(stroke, &[]));
                runner.run(&steps, wait)?;
                *typed += 1;
                is_stopped = runner.wait(delay, wait)?;
                self.watcher.borrow().prolong(target.window, delay);
            }
            let done = runner.finish()?;
            events += done.events;
            // An application that hangs is waited for; the person is not to wait with it.
            drop(done.device_grab);
            borrowed.give_back_when_read(target.window)?;
        }
        Ok(events)
    }

    fn key_typing(&self) -> KeyTyping<'_> {
        KeyTyping { link: &self.link, own: self.own, person: self.person, watcher: &self.watcher }
    }

    fn gesture(
        &self,
        target: &Target,
        steps: &[Step],
        hides_keys: bool,
        (name, wait): (&'static str, CancellableWait<'_>),
    ) -> Result<Delivery, InputError> {
        let halted = || InputError::Halted { window_id: target.window_id, gesture: name };
        if wait(Duration::ZERO) {
            return Err(halted());
        }
        let before = PersonState::look(&self.link, self.person)?;
        let activates = steps.iter().any(|step| matches!(step, Step::Button(1..=3, _)));
        let device_grab = if activates && toolkit::reads_messages(&self.link, target.window)? {
            Some(self.link.alone(|| DeviceGrab::hold(&self.link, self.person, &before))?)
        } else {
            None
        };
        let focus_pretended =
            activates && key_messages::send_focus_in(&self.link, self.person, target.window)?;
        if focus_pretended && !self.pretended.borrow().contains(&target.window) {
            self.pretended.borrow_mut().push(target.window);
        }
        let mut runner = self.runner(target, &before, hides_keys)?;
        runner.device_grab = device_grab;
        let ended = runner.run_out(steps, wait)?;
        let done = runner.finish()?;
        if !ended {
            return Err(halted());
        }
        let delivery = self.measure(&before, target, done)?;
        Ok(Delivery { focus_pretended, ..delivery })
    }

    fn runner<'a>(
        &'a self,
        target: &'a Target,
        before: &'a PersonState,
        hides_keys: bool,
    ) -> Result<StepRunner<'a>, InputError> {
        // What the application took with the agent's devices would keep keys from where the pointer is.
        let (conn, keyboard) = (&self.link.conn, self.own.keyboard);
        if xinput::xi_get_focus(conn, keyboard)?.reply()?.focus != POINTER_ROOT {
            xinput::xi_set_focus(conn, POINTER_ROOT, CURRENT_TIME, keyboard)?.ignore_error();
        }
        let holes = self.holes.take();
        StepRunner::on(&self.link, (self.own, self.person), (target, before), hides_keys, holes)
    }

    fn measure(&self, before: &PersonState, target: &Target, done: Done<'_>) -> Result<Delivery, InputError> {
        self.holes.replace(done.holes);
        // The person's devices are held until nothing is left to be given back.
        let device_grab = done.device_grab;
        let mut is_settled = restore::settle(&self.link, target.window)?;
        if device_grab.as_ref().is_some_and(|device_grab| device_grab.is_held()) && done.asks_for_menu {
            self.wait_for_menu(target.window)?;
        }
        // One that has not answered may be about to open a list, which would close.
        if is_settled && self.end_pretence(|window| same_client(&self.link, window, target.window))? {
            // Told that it has not the focus, Qt asks for it again where it has opened a modal window.
            is_settled = restore::settle(&self.link, target.window)?;
        }
        self.watcher.borrow().catch_up(|| device_grab::let_through(&self.link))?;
        if self.watcher.borrow().has_turned_to(target.window) {
            // What the person chose stays chosen.
            return Ok(before.compare(&PersonState::look(&self.link, self.person)?, done.events));
        }
        let delivery =
            restore::release(&self.link, self.person, before, target.window, done.events, device_grab)?;
        if !is_settled {
            self.watcher.borrow().expect_late_windows(target.window)?;
        }
        Ok(delivery)
    }

    /// Waits for the context menu that was asked for: browsers make it some time after they have read the
    /// press, and grab every pointer that is free then.
    fn wait_for_menu(&self, window: u32) -> Result<(), InputError> {
        let deadline = Instant::now() + MENU;
        while window_tree::menus(&self.link, window)?.is_empty() {
            if Instant::now() > deadline {
                return Ok(());
            }
            std::thread::sleep(POLL_INTERVAL);
            device_grab::let_through(&self.link)?;
        }
        restore::settle(&self.link, window)?;
        Ok(())
    }

    fn rest(&self, target: &Target, at: Option<Point>) -> Result<Point, InputError> {
        match at {
            Some(local) => target.point(local),
            None => {
                let place = |pointer| pointer::position(&self.link, pointer);
                target.any_point(&self.link, place(self.own.pointer)?, place(self.person.pointer)?)
            }
        }
    }

    fn held(&self, modifiers: &[Modifier], window_id: WindowId) -> Result<Vec<u8>, InputError> {
        if modifiers.is_empty() {
            return Ok(Vec::new());
        }
        let layout = keyboard::layout(&self.link, self.person.keyboard)?;
        let keycode = |held: &Modifier| layout.strokes.get(&held.keysym()).map(|stroke| stroke.keycode);
        modifiers
            .iter()
            .map(|held| keycode(held).ok_or_else(|| InputError::untypable(window_id, held.keysym())))
            .collect()
    }

    /// Ends the belief of some windows that they have the focus, as far as no menu of theirs is open; true when one was
    /// told.
    pub fn end_pretence(&self, is_meant: impl Fn(u32) -> bool) -> Result<bool, InputError> {
        let pretended = self.pretended.take();
        let count = pretended.len();
        for window in pretended {
            if !is_meant(window) || !key_messages::send_focus_out(&self.link, self.person, window)? {
                self.pretended.borrow_mut().push(window);
            }
        }
        Ok(self.pretended.borrow().len() < count)
    }

    /// Takes the pointer off where it stayed.
    pub fn leave(&self) -> Result<(), InputError> {
        let mut holes = self.holes.take();
        self.link.alone(|| {
            park(&self.link)?;
            holes.close(&self.link, self.own)
        })
    }
}
