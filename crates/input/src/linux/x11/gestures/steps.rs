//! Delivery of steps through the agent's devices, seen by the target alone.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use desktop::Point;
use x11rb::CURRENT_TIME;
use x11rb::NONE;
use x11rb::protocol::xinput::{self, EventMode, GrabMode22, GrabOwner, GrabType, XIEventMask};
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, GrabMode, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
    MOTION_NOTIFY_EVENT, Window,
};

use super::holes::{Holes, Opened};
use super::target::Target;
use crate::InputError;
use crate::plan::Step;
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::connection::settle;
use crate::platform::x11::connection::window_tree::same_client;
use crate::platform::x11::devices::pair::Pair;
use crate::platform::x11::devices::parking::park;
use crate::platform::x11::devices::pointer::fake;
use crate::platform::x11::person::device_grab::DeviceGrab;
use crate::platform::x11::person::restore;
use crate::platform::x11::person::state::PersonState;

/// `XIAnyModifier` of the X Input protocol.
const ANY_MODIFIER: u32 = 1 << 31;
/// `XIAnyButton` and `XIAnyKeycode`.
const ANY: u32 = 0;
/// The button that opens context menus.
const MENU_BUTTON: u8 = 3;
/// How long the person's devices are held for an application that does not answer.
const PATIENCE: Duration = Duration::from_millis(100);

/// Waits for a time, or until what is under way is cancelled; true when it was.
pub type CancellableWait<'a> = &'a dyn Fn(Duration) -> bool;

/// A gesture under way: what is pressed is released, and what is grabbed or opened is let go, when it is dropped.
pub struct StepRunner<'a> {
    link: &'a Link,
    own: Pair,
    person: Pair,
    before: &'a PersonState,
    target: &'a Target,
    hides_keys: bool,
    buttons: BTreeSet<u8>,
    keys: BTreeSet<u8>,
    events: u32,
    holes: Holes,
    /// The person's devices, held from the first press on, or by who began earlier.
    pub device_grab: Option<DeviceGrab<'a>>,
    has_grabs: bool,
    /// Something was pressed.
    is_pressing: bool,
    asks_for_menu: bool,
    is_over: bool,
}

/// What a gesture leaves.
#[derive(Default)]
pub struct Done<'a> {
    /// Device events sent.
    pub events: u32,
    /// The person's devices, held until the target has done what the last press set off.
    pub device_grab: Option<DeviceGrab<'a>>,
    /// What stays open for a pointer that stays.
    pub holes: Holes,
    /// The button that opens context menus was pressed.
    pub asks_for_menu: bool,
}

impl<'a> StepRunner<'a> {
    /// Makes the agent's presses pass the window manager by.
    ///
    /// Each window from the root down to the target gets a passive grab by us in front of the one that a
    /// window manager may have there; a press freezes in ours and is replayed below it, so theirs is never
    /// asked. The server does fake input at once and in order, so a press and its replays need no wait.
    /// Keys are hidden only when `hides_keys` says so: a grab makes the target believe for a moment that it
    /// lost the focus, which ends the editing of a table's cell.
    pub fn on(
        link: &'a Link,
        (own, person): (Pair, Pair),
        (target, before): (&'a Target, &'a PersonState),
        hides_keys: bool,
        holes: Holes,
    ) -> Result<Self, InputError> {
        let (buttons, keys) = (BTreeSet::new(), BTreeSet::new());
        let (events, device_grab, has_grabs, is_over) = (0, None, true, false);
        let runner = Self {
            link,
            own,
            person,
            before,
            target,
            hides_keys,
            buttons,
            keys,
            events,
            holes,
            device_grab,
            has_grabs,
            is_pressing: false,
            asks_for_menu: false,
            is_over,
        };
        for window in &target.chain {
            runner.grab(*window, own.pointer, GrabType::BUTTON, XIEventMask::BUTTON_PRESS)?;
            if hides_keys {
                runner.grab(*window, own.keyboard, GrabType::KEYCODE, XIEventMask::KEY_PRESS)?;
            }
        }
        Ok(runner)
    }

    /// Runs the steps until `wait` says, of a pause, that they are to halt; true when all were run.
    ///
    /// Fails with `window_covered` and `window_not_visible` when the pointer met something else than the target.
    pub fn run(&mut self, steps: &[Step], wait: CancellableWait<'_>) -> Result<bool, InputError> {
        self.run_then(steps, wait, |_| Ok(()))
    }

    /// Runs the steps as the last ones: with what they end, everything is let go at once.
    pub fn run_out(&mut self, steps: &[Step], wait: CancellableWait<'_>) -> Result<bool, InputError> {
        self.run_then(steps, wait, Self::let_go)
    }

    /// Waits between two steps; true when what is under way is to halt. A person whose devices are held gets them
    /// back as soon as the target has taken what was sent.
    pub fn wait(&mut self, time: Duration, wait: CancellableWait<'_>) -> Result<bool, InputError> {
        let begun = Instant::now();
        if self
            .device_grab
            .as_ref()
            .is_some_and(|device_grab| !time.is_zero() || device_grab.age() > PATIENCE)
        {
            // Also where this takes longer than the pause: a grab that comes later would not be refused.
            settle::by_toolkit(self.link, self.target.window, PATIENCE)?;
            self.device_grab = None;
        }
        Ok(wait(time.saturating_sub(begun.elapsed())))
    }

    /// Lets everything go.
    pub fn finish(mut self) -> Result<Done<'a>, InputError> {
        self.release()?;
        Ok(self.done(Holes::default()))
    }

    /// Lets everything go but the pointer, which stays where it is.
    pub fn stay(mut self) -> Result<Done<'a>, InputError> {
        self.is_over = true;
        self.ungrab()?;
        let holes = std::mem::take(&mut self.holes);
        Ok(self.done(holes))
    }

    fn done(&mut self, holes: Holes) -> Done<'a> {
        Done {
            events: self.events,
            device_grab: self.device_grab.take(),
            holes,
            asks_for_menu: self.asks_for_menu,
        }
    }

    fn run_then(
        &mut self,
        steps: &[Step],
        wait: CancellableWait<'_>,
        last: fn(&mut Self) -> Result<(), InputError>,
    ) -> Result<bool, InputError> {
        let link = self.link;
        let mut rest = steps;
        loop {
            let at_once = rest.iter().take_while(|step| !matches!(step, Step::Pause(_))).count();
            let (batch, later) = rest.split_at(at_once);
            // Nothing comes between the look at what is under the pointer and the press. What the application
            // does about it has to wait for so long, and no longer.
            link.alone(|| {
                self.batch(batch)?;
                if later.is_empty() { last(self) } else { Ok(()) }
            })?;
            let Some((Step::Pause(time), later)) = later.split_first() else { return Ok(true) };
            if self.wait(*time, wait)? {
                return Ok(false);
            }
            rest = later;
        }
    }

    fn batch(&mut self, steps: &[Step]) -> Result<(), InputError> {
        let presses = steps.iter().any(|step| matches!(step, Step::Button(..) | Step::Key(..)));
        self.is_pressing |= presses;
        // Who works in the same application sees its menus open, which it does by grabbing the person's devices.
        let is_same_client = same_client(self.link, self.before.focus, self.target.window);
        if presses && !is_same_client && self.device_grab.is_none() {
            self.device_grab = Some(DeviceGrab::hold(self.link, self.person, self.before)?);
        }
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Result<(), InputError> {
        match *step {
            Step::Move(at) => self.reach(at),
            Step::Return(at) => self.return_to(at),
            Step::Button(button, true) => {
                self.buttons.insert(button);
                self.asks_for_menu |= button == MENU_BUTTON;
                self.fake(BUTTON_PRESS_EVENT, button, Point::default())?;
                self.replay(self.own.pointer)
            }
            Step::Button(button, false) => {
                self.buttons.remove(&button);
                self.fake(BUTTON_RELEASE_EVENT, button, Point::default())
            }
            Step::Key(key, true) => {
                self.keys.insert(key);
                self.fake(KEY_PRESS_EVENT, key, Point::default())?;
                if self.hides_keys { self.replay(self.own.keyboard) } else { Ok(()) }
            }
            Step::Key(key, false) => {
                self.keys.remove(&key);
                self.fake(KEY_RELEASE_EVENT, key, Point::default())
            }
            Step::Pause(_) => Ok(()),
        }
    }

    /// Moves the agent's pointer over the target, through what covers it, and sees that it met the target. A
    /// pressed button's events go to the target wherever the pointer is.
    fn reach(&mut self, at: Point) -> Result<(), InputError> {
        let (link, own, frame) = (self.link, self.own, self.target.frame());
        let is_dragging = !self.buttons.is_empty();
        let mut at = at;
        self.holes.fit(link, own)?;
        // The person's pointer would fall through the same pixel.
        if self.holes.open(link, (own, self.person), frame, at)? == Opened::Occupied && !is_dragging {
            at = self.target.neighbour(at);
            self.holes.open(link, (own, self.person), frame, at)?;
        }
        self.fake(MOTION_NOTIFY_EVENT, 0, at)?;
        self.holes.keep(link, own, at)?;
        if is_dragging { Ok(()) } else { self.target.check(link, own, at) }
    }

    /// Sees that the agent's pointer is over the target still; what has moved is followed, and what has come between is
    /// reached through.
    ///
    /// Fails with `window_not_found` too, when the window is gone.
    fn return_to(&mut self, at: Point) -> Result<(), InputError> {
        if self.target.is_under(self.link, self.own)? {
            return self.holes.fit(self.link, self.own);
        }
        let now = Target::read(self.link, self.target.window_id)?;
        self.reach(now.place(self.target.local(at)))
    }

    fn fake(&mut self, kind: u8, detail: u8, at: Point) -> Result<(), InputError> {
        self.events += 1;
        fake(self.link, kind, detail, at)
    }

    fn replay(&self, device: u16) -> Result<(), InputError> {
        for window in &self.target.chain {
            let mode = EventMode::REPLAY_DEVICE;
            xinput::xi_allow_events(&self.link.conn, CURRENT_TIME, device, mode, 0, *window)?;
        }
        Ok(())
    }

    fn grab(&self, window: Window, device: u16, kind: GrabType, mask: XIEventMask) -> Result<(), InputError> {
        let grabbed = xinput::xi_passive_grab_device(
            &self.link.conn,
            CURRENT_TIME,
            window,
            NONE,
            ANY,
            device,
            kind,
            GrabMode22::SYNC,
            GrabMode::ASYNC,
            GrabOwner::NO_OWNER,
            &[mask.into()],
            &[ANY_MODIFIER],
        )?;
        grabbed.discard_reply_and_errors();
        Ok(())
    }

    fn release(&mut self) -> Result<(), InputError> {
        if !self.is_over {
            let link = self.link;
            link.alone(|| self.let_go())?;
        }
        self.ungrab()
    }

    /// Releases what is pressed, takes the pointer off the target and closes what was opened for it.
    fn let_go(&mut self) -> Result<(), InputError> {
        self.is_over = true;
        for button in std::mem::take(&mut self.buttons) {
            self.fake(BUTTON_RELEASE_EVENT, button, Point::default())?;
        }
        for key in std::mem::take(&mut self.keys) {
            self.fake(KEY_RELEASE_EVENT, key, Point::default())?;
        }
        park(self.link)?;
        self.holes.close(self.link, self.own)?;
        // Before the application hears of it: what it opens then is older than what the person did.
        if self.is_pressing { restore::raise_user_time(self.link, self.target.window) } else { Ok(()) }
    }

    fn ungrab(&mut self) -> Result<(), InputError> {
        if !std::mem::take(&mut self.has_grabs) {
            return Ok(());
        }
        for window in &self.target.chain {
            for (device, kind) in
                [(self.own.pointer, GrabType::BUTTON), (self.own.keyboard, GrabType::KEYCODE)]
            {
                let conn = &self.link.conn;
                xinput::xi_passive_ungrab_device(conn, *window, ANY, device, kind, &[ANY_MODIFIER])?
                    .ignore_error();
            }
        }
        self.link.drain()
    }
}

impl Drop for StepRunner<'_> {
    fn drop(&mut self) {
        // A connection that is lost has nothing left to let go: the server does it.
        let _ = self.release();
    }
}
