//! The agent's own pointer and keyboard.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use desktop::Point;
use x11rb::protocol::xinput;
use x11rb::protocol::xproto::MOTION_NOTIFY_EVENT;

use super::hands::{Hands, fake};
use super::keyboard::{self, Loan};
use super::link::{Link, on_display};
use super::master::{self, Pair};
use super::stops::Stops;
use super::target::Target;
use super::typist::Typist;
use super::witness::Witness;
use super::{messages, person, reading};
use crate::keys;
use crate::plan::{self, Step};
use crate::{
    Click, Delivery, Drag, Gesture, Hover, InputError, KeyPress, Modifier, Moment, Text, Wheel, path,
};

/// A second master pointer and keyboard on a display: one agent's hands, for as long as it lives.
pub struct Agent {
    name: String,
    display: String,
    stops: Stops,
    body: Mutex<Option<Body>>,
}

/// Waits for a time, and says whether what is under way is to halt.
type Pauses<'a> = &'a dyn Fn(Duration) -> bool;

struct Body {
    link: Link,
    own: Pair,
    person: Pair,
}

impl Agent {
    /// Makes the devices on the display, after those of dead owners are swept.
    ///
    /// Fails with `display_unavailable` and `input_unavailable`.
    pub fn open(display: &str, name: &str) -> Result<Self, InputError> {
        let body = on_display(display, Body::open(Some(display)))?;
        let (name, display) = (name.to_owned(), display.to_owned());
        Ok(Self { name, display, stops: Stops::default(), body: Mutex::new(Some(body)) })
    }

    /// Does what a caller asked for at that moment: cancelled too by what came in between.
    ///
    /// Fails with `window_not_found`, `window_not_visible`, `point_outside_window` and `window_covered`, and for
    /// keys and texts with `text_not_typable` naming the characters, before anything is sent; with `cancelled`
    /// between two steps, when everything is released.
    pub fn perform(&self, gesture: &Gesture, asked: Moment) -> Result<Delivery, InputError> {
        self.with(|body| {
            let pauses = |pause| self.stops.wait(asked, pause);
            match gesture {
                Gesture::Click(click) => body.click(click, &pauses),
                Gesture::Drag(drag) => body.drag(drag, &pauses),
                Gesture::Wheel(wheel) => body.wheel(wheel, &pauses),
                Gesture::Hover(hover) => body.hover(hover, &pauses),
                Gesture::Key(press) => body.press_key(press, &pauses),
                Gesture::Text(text) => body.type_text(text, pauses),
            }
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

    /// This moment: every later [`Agent::cancel`] reaches a call that was made at it.
    pub fn now(&self) -> Moment {
        self.stops.now()
    }

    /// Halts everything that was asked for before, also what has not begun: it fails with `cancelled` when its
    /// buttons and keys are up and borrowed keycodes are given back. Does not wait for that.
    pub fn cancel(&self) {
        self.stops.stop();
    }

    /// One motion event to where the pointer is, waited for: the floor under every gesture.
    pub fn ping(&self) -> Result<(), InputError> {
        self.with(|body| {
            let at = body.pointer()?;
            fake(&body.link, MOTION_NOTIFY_EVENT, 0, at)?;
            body.link.sync()
        })
    }

    /// Cancels what is under way and removes the devices; closing twice is fine. Where an application hangs they stay for the next sweep,
    /// because it would die of events whose device is gone.
    pub fn close(&self) -> Result<(), InputError> {
        self.cancel();
        match self.lock().take() {
            Some(body) => on_display(&self.display, master::remove(&body.link, body.own.pointer).map(drop)),
            None => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Body>> {
        self.body.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, work: impl FnOnce(&Body) -> Result<T, InputError>) -> Result<T, InputError> {
        let body = self.lock();
        let body = body.as_ref().ok_or_else(|| InputError::AgentClosed { name: self.name.clone() })?;
        on_display(&self.display, work(body))
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Nobody is left to hear of a failure; the next sweep removes what stayed.
        let _ = self.close();
    }
}

/// Removes masters whose owner is dead from a display, that of the environment when none is named, and
/// answers with their names.
pub fn sweep_agents(display: Option<&str>) -> Result<Vec<String>, InputError> {
    let named = display.map(str::to_owned).or_else(|| std::env::var("DISPLAY").ok()).unwrap_or_default();
    on_display(&named, Link::open(display).and_then(|link| master::sweep(&link)))
}

impl Body {
    fn open(display: Option<&str>) -> Result<Self, InputError> {
        let link = Link::open(display)?;
        master::sweep(&link)?;
        let person = master::person(&link)?;
        let own = master::create(&link)?;
        Ok(Self { link, own, person })
    }

    fn click(&self, click: &Click, pauses: Pauses<'_>) -> Result<Delivery, InputError> {
        let target = Target::read(&self.link, click.window_id)?;
        let at = target.point(&self.link, click.at)?;
        let held = self.held(&click.modifiers, click.window_id)?;
        let steps = plan::click(at, click.button, click.count, &held);
        self.gesture(&target, at, &steps, keys::are_commanding(&click.modifiers), ("click", pauses))
    }

    fn drag(&self, drag: &Drag, pauses: Pauses<'_>) -> Result<Delivery, InputError> {
        let target = Target::read(&self.link, drag.window_id)?;
        let from = target.point(&self.link, drag.from)?;
        let to = target.place(drag.to);
        let held = self.held(&drag.modifiers, drag.window_id)?;
        let steps = path::drag(from, to, drag.button, drag.duration, drag.steps, &held);
        self.gesture(&target, from, &steps, keys::are_commanding(&drag.modifiers), ("drag", pauses))
    }

    fn wheel(&self, wheel: &Wheel, pauses: Pauses<'_>) -> Result<Delivery, InputError> {
        let target = Target::read(&self.link, wheel.window_id)?;
        let at = target.point(&self.link, wheel.at)?;
        let held = self.held(&wheel.modifiers, wheel.window_id)?;
        let steps = path::wheel(at, wheel.direction, wheel.amount, &held);
        self.gesture(&target, at, &steps, keys::are_commanding(&wheel.modifiers), ("wheel", pauses))
    }

    fn hover(&self, hover: &Hover, pauses: Pauses<'_>) -> Result<Delivery, InputError> {
        let target = Target::read(&self.link, hover.window_id)?;
        let at = target.point(&self.link, hover.at)?;
        self.gesture(&target, at, &[Step::Move(at)], false, ("pointer", pauses))
    }

    fn press_key(&self, press: &KeyPress, pauses: Pauses<'_>) -> Result<Delivery, InputError> {
        if messages::are_read(&self.link, press.window_id)? {
            let held = self.held(&press.modifiers, press.window_id)?;
            return self.typist().press(press, &held, pauses);
        }
        let target = Target::read(&self.link, press.window_id)?;
        let at = self.rest(&target, press.at)?;
        let typed = keys::character_of(press.keysym).map(String::from).unwrap_or_default();
        reading::check(&self.link, target.window, &typed)?;
        let layout = keyboard::layout(&self.link, self.person.keyboard)?;
        let held = self.held(&press.modifiers, press.window_id)?;
        let batches = plan::batches(&[press.keysym], &layout);
        let refuse = || InputError::untypable(press.window_id, press.keysym);
        let batch = batches.and_then(|batches| batches.into_iter().next()).ok_or_else(refuse)?;
        let stroke = batch.strokes.first().ok_or_else(refuse)?;
        let loan = Loan::take(&self.link, self.own, self.person, &batch.assign)?;
        loan.wait_until_known(target.window)?;
        let hides_keys = keys::is_bindable(press.keysym, &press.modifiers);
        let presses = plan::presses(stroke, &held, press.count);
        let delivery = self.gesture(&target, at, &presses, hides_keys, ("key", pauses))?;
        loan.give_back_when_read(target.window)?;
        Ok(delivery)
    }

    /// Types until `pauses` says, of the time after each character, that it is stopped.
    fn type_text(&self, text: &Text, pauses: impl Fn(Duration) -> bool) -> Result<Delivery, InputError> {
        if messages::are_read(&self.link, text.window_id)? {
            return self.typist().text(text, pauses);
        }
        let refuse = |characters| InputError::TextNotTypable { window_id: text.window_id, characters };
        let keysyms = plan::keysyms(&text.text).map_err(refuse)?;
        let target = Target::read(&self.link, text.window_id)?;
        let at = self.rest(&target, text.at)?;
        reading::check(&self.link, target.window, &text.text)?;
        let layout = keyboard::layout(&self.link, self.person.keyboard)?;
        let batches = plan::batches(&keysyms, &layout).ok_or_else(|| refuse(text.text.clone()))?;
        let before = Witness::look(&self.link, self.person)?;
        let (mut events, mut typed) = (0, 0);
        let mut is_stopped = pauses(Duration::ZERO);
        for batch in batches {
            if is_stopped {
                break;
            }
            let loan = Loan::take(&self.link, self.own, self.person, &batch.assign)?;
            loan.wait_until_known(target.window)?;
            let mut hands = Hands::on(&self.link, self.own, &target.chain, false)?;
            hands.reach(&target, at, &[])?;
            for stroke in &batch.strokes {
                if is_stopped {
                    break;
                }
                hands.run(&plan::press(stroke, &[]), &|_| false)?;
                typed += 1;
                is_stopped = pauses(text.delay);
            }
            events += hands.finish()?;
            loan.give_back_when_read(target.window)?;
        }
        if typed < keysyms.len() {
            return Err(InputError::Cancelled { window_id: text.window_id, typed, count: keysyms.len() });
        }
        person::measure(&self.link, self.person, &before, target.window, events)
    }

    fn typist(&self) -> Typist<'_> {
        Typist { link: &self.link, own: self.own, person: self.person }
    }

    fn gesture(
        &self,
        target: &Target,
        at: Point,
        steps: &[Step],
        hides_keys: bool,
        (name, pauses): (&'static str, Pauses<'_>),
    ) -> Result<Delivery, InputError> {
        let halted = || InputError::Halted { window_id: target.window, gesture: name };
        if pauses(Duration::ZERO) {
            return Err(halted());
        }
        let before = Witness::look(&self.link, self.person)?;
        let mut hands = Hands::on(&self.link, self.own, &target.chain, hides_keys)?;
        let first = steps.iter().take_while(|step| !matches!(step, Step::Pause(_))).count();
        hands.reach(target, at, &steps[..first])?;
        let ended = hands.run(&steps[first..], pauses)?;
        let events = hands.finish()?;
        if !ended {
            return Err(halted());
        }
        person::measure(&self.link, self.person, &before, target.window, events)
    }

    fn rest(&self, target: &Target, at: Option<Point>) -> Result<Point, InputError> {
        match at {
            Some(local) => target.point(&self.link, local),
            None => target.any_point(&self.link, self.pointer()?),
        }
    }

    fn held(&self, modifiers: &[Modifier], window_id: u32) -> Result<Vec<u8>, InputError> {
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

    fn pointer(&self) -> Result<Point, InputError> {
        let at = xinput::xi_query_pointer(&self.link.conn, self.link.root, self.own.pointer)?.reply()?;
        Ok(Point { x: at.root_x >> 16, y: at.root_y >> 16 })
    }
}
