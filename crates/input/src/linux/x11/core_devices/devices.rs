//! The display's own devices in one caller's hands: its turn, what it holds, and the steps that it takes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use desktop::Point;
use desktop::x11::Session;
use x11rb::NONE;
use x11rb::protocol::xinput::{self, XIDeviceInfo};
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt as _, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
    MOTION_NOTIFY_EVENT,
};

use super::guard::Guard;
use super::held::{Held, Numbers};
use super::queue::{Atoms, Queue, Record};
use crate::InputError;
use crate::plan::{Layout, Step};
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::devices::pair::Pair;
use crate::platform::x11::devices::pointer::{self, fake};
use crate::platform::x11::devices::{keyboard, master};
use crate::platform::x11::gestures::steps::CancellableWait;

/// `XIAllDevices` of the X Input protocol.
const ALL_DEVICES: u16 = 0;

/// How long a window manager that looks at each press first may keep the pointer frozen.
const THAW_PATIENCE: Duration = Duration::from_millis(500);

/// What a caller acts with.
pub struct Devices {
    /// The connection.
    pub link: Arc<Link>,
    /// The display's own pointer and keyboard.
    pub person: Pair,
    /// What is held, from one call to the next.
    pub held: Held,
    session: Session,
    atoms: Atoms,
    numbers: Numbers,
    guard: Option<Guard>,
    /// What other callers hold; it does not change during a turn.
    others: Vec<Record>,
    /// Dead callers whose things were released.
    pub swept: usize,
}

impl Devices {
    /// Connects to a display.
    pub fn open(session: &Session) -> Result<Self, InputError> {
        let link = Arc::new(Link::open(session)?);
        let person = master::person(&link)?;
        xinput::xi_set_client_pointer(&link.conn, NONE, person.pointer)?.check()?;
        let atoms = Atoms::new(&link.conn)?.reply()?;
        let numbers = Numbers::of(&link, person.keyboard)?;
        let (held, others, session) = (Held::default(), Vec::new(), session.clone());
        let devices = Self { link, person, held, session, atoms, numbers, guard: None, others, swept: 0 };
        devices.queue().enlist()?;
        Ok(devices)
    }

    /// Does something while no other caller acts on the display, after what dead ones held is released; none when
    /// `wait` says that the caller is to halt before it is its turn.
    pub fn in_turn<T>(
        &mut self,
        wait: CancellableWait<'_>,
        work: impl FnOnce(&mut Self) -> Result<T, InputError>,
    ) -> Result<Option<T>, InputError> {
        if self.queue().enter(wait, self.session.display())? {
            return Ok(None);
        }
        let done = self.sweep().and_then(|()| work(self));
        let left = self.queue().leave().and_then(|()| self.link.sync());
        let done = done?;
        left.map(|()| Some(done))
    }

    /// Releases what dead callers held.
    fn sweep(&mut self) -> Result<(), InputError> {
        let queue = self.queue();
        let mut dead = Vec::new();
        let mut living = Vec::new();
        for record in queue.records()? {
            if record.caller == self.link.own {
                // This one, or a dead one whose number it got.
                dead.extend((record.held != self.held).then_some(record));
            } else if queue.lives(record.caller)? {
                living.push(record);
            } else {
                dead.push(record);
            }
        }
        for record in &dead {
            queue.await_guard(if record.caller == self.link.own { 0 } else { record.guard })?;
            record.held.undo(&self.link, &self.numbers)?;
        }
        self.others = living;
        if !dead.is_empty() {
            self.swept += dead.len();
            self.note()?;
        }
        Ok(())
    }

    /// Writes down what is held, for who finds it when this process has ended.
    pub fn note(&mut self) -> Result<(), InputError> {
        if !self.held.is_empty() && !self.guard.as_mut().is_some_and(Guard::lives) {
            self.guard = Guard::start(&self.session, self.person)?;
        }
        if let Some(guard) = &self.guard {
            guard.set(&self.held.undoing(&self.numbers))?;
        }
        let guard = self.guard.as_ref().map_or(0, |guard| guard.window);
        let own = Record { caller: self.link.own, guard, held: self.held.clone() };
        let records: Vec<Record> = self.others.iter().cloned().chain([own]).collect();
        self.queue().write_records(&records)
    }

    /// Takes the steps; true when all were taken, false when `wait` said in between that they are to halt. What they
    /// press is released in either case, but for keys that were held before.
    pub fn run(&mut self, steps: &[Step], wait: CancellableWait<'_>) -> Result<bool, InputError> {
        let before = self.held.clone();
        let mut pressed = Held::default();
        for step in steps {
            match step {
                Step::Key(keycode, true)
                    if !before.keys.contains(keycode) && !pressed.keys.contains(keycode) =>
                {
                    pressed.keys.push(*keycode);
                }
                Step::Button(button, true) if !pressed.buttons.contains(button) => {
                    pressed.buttons.push(*button);
                }
                _ => {}
            }
        }
        let is_pressing = !pressed.keys.is_empty() || !pressed.buttons.is_empty();
        if is_pressing {
            self.held.keys.extend(&pressed.keys);
            self.held.buttons.extend(&pressed.buttons);
            self.note()?;
        }
        let steps = &without(steps, &before.keys);
        let done = self.send(steps, wait);
        if !matches!(done, Ok(true)) {
            pressed.undo(&self.link, &self.numbers)?;
        }
        if is_pressing {
            // The server has released them before another learns that they are not held.
            self.link.sync()?;
            self.held.keys = before.keys;
            self.held.buttons = before.buttons;
            self.held.buttons.retain(|button| !pressed.buttons.contains(button));
            self.note()?;
        }
        done
    }

    /// Does something with the keys that it presses and releases, while the server does nothing for anybody else.
    pub fn press_alone(
        &mut self,
        keys: &BTreeSet<u8>,
        work: impl FnOnce(&Self) -> Result<bool, InputError>,
    ) -> Result<bool, InputError> {
        let before = self.held.keys.clone();
        self.held.keys.extend(keys.iter().filter(|keycode| !before.contains(keycode)));
        self.note()?;
        let link = Arc::clone(&self.link);
        let done = link.alone(|| work(self));
        link.sync()?;
        self.held.keys = before;
        self.note()?;
        done
    }

    /// Sends the steps and nothing else; false when `wait` said in between that they are to halt.
    pub fn send(&self, steps: &[Step], wait: CancellableWait<'_>) -> Result<bool, InputError> {
        let link = &self.link;
        let mut due = Instant::now();
        for step in steps {
            match step {
                Step::Move(at) | Step::Return(at) => fake(link, MOTION_NOTIFY_EVENT, 0, *at)?,
                Step::Button(button, is_down) => self.button(*button, *is_down)?,
                Step::Key(keycode, true) => fake(link, KEY_PRESS_EVENT, *keycode, Point::default())?,
                Step::Key(keycode, false) => fake(link, KEY_RELEASE_EVENT, *keycode, Point::default())?,
                Step::Pause(time) => {
                    link.sync()?;
                    due += *time;
                    if wait(due.saturating_duration_since(Instant::now())) {
                        return Ok(false);
                    }
                }
            }
        }
        link.sync()?;
        Ok(true)
    }

    /// Presses keys and buttons that stay down.
    pub fn hold(&mut self, keys: &[u8], buttons: &[u8]) -> Result<(), InputError> {
        let new = |held: &[u8], asked: &[u8]| -> Vec<u8> {
            asked.iter().copied().filter(|one| !held.contains(one)).collect()
        };
        let (keys, buttons) = (new(&self.held.keys, keys), new(&self.held.buttons, buttons));
        self.held.keys.extend(&keys);
        self.held.buttons.extend(&buttons);
        self.note()?;
        for keycode in keys {
            fake(&self.link, KEY_PRESS_EVENT, keycode, Point::default())?;
        }
        for button in buttons {
            self.button(button, true)?;
        }
        self.link.sync()
    }

    /// Presses or releases a button, and waits until the server has passed it on.
    ///
    /// A window manager grabs presses over the windows of applications synchronously, so that it may focus them first,
    /// and the server keeps back what follows until it is told to go on. Where several presses are kept back at once,
    /// some never reach the application (openbox 3.6 on a busy machine). What is kept back has not changed the state of
    /// the device, by which it is told.
    fn button(&self, button: u8, is_down: bool) -> Result<(), InputError> {
        let before = self.buttons()?;
        let kind = if is_down { BUTTON_PRESS_EVENT } else { BUTTON_RELEASE_EVENT };
        fake(&self.link, kind, button, Point::default())?;
        // One that was down or up already changes nothing.
        let is_set = before.get(usize::from(button / 32)).is_some_and(|word| word >> (button % 32) & 1 == 1);
        let deadline = Instant::now() + THAW_PATIENCE;
        while is_set != is_down && self.buttons()? == before && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// The buttons that are down, as the bits of words.
    fn buttons(&self) -> Result<Vec<u32>, InputError> {
        let link = &self.link;
        Ok(xinput::xi_query_pointer(&link.conn, link.root, self.person.pointer)?.reply()?.buttons)
    }

    /// Releases keys, the last one first, and buttons.
    pub fn release(&mut self, keys: &[u8], buttons: &[u8]) -> Result<(), InputError> {
        let released = Held { keys: keys.to_vec(), ..Held::default() };
        released.undo(&self.link, &self.numbers)?;
        for button in buttons {
            self.button(*button, false)?;
        }
        self.link.sync()?;
        self.held.keys.retain(|keycode| !keys.contains(keycode));
        self.held.buttons.retain(|button| !buttons.contains(button));
        self.note()
    }

    /// Gives keycodes their keysyms, until [`Devices::give_back`].
    pub fn lend(&mut self, keys: &[(u8, u32)]) -> Result<(), InputError> {
        if keys.is_empty() {
            return Ok(());
        }
        self.held.borrowed.extend(keys.iter().map(|(keycode, _)| *keycode));
        self.note()?;
        for (keycode, keysym) in keys {
            // The same for both levels, so that a held Shift changes nothing.
            self.link.conn.change_keyboard_mapping(1, *keycode, 2, &[*keysym, *keysym])?;
        }
        self.link.sync()
    }

    /// Takes the meaning from keycodes that were borrowed.
    pub fn give_back(&mut self, keycodes: &[u8]) -> Result<(), InputError> {
        if keycodes.is_empty() {
            return Ok(());
        }
        let borrowed = Held { borrowed: keycodes.to_vec(), ..Held::default() };
        borrowed.undo(&self.link, &self.numbers)?;
        self.link.sync()?;
        self.held.borrowed.retain(|keycode| !keycodes.contains(keycode));
        self.note()
    }

    /// Releases everything.
    pub fn release_all(&mut self) -> Result<(), InputError> {
        let held = std::mem::take(&mut self.held);
        held.undo(&self.link, &self.numbers)?;
        self.link.sync()?;
        self.note()?;
        self.link.sync()
    }

    /// What the keyboard can type, without keycodes that somebody has borrowed; the spare ones are not those that agents
    /// take first.
    pub fn layout(&self) -> Result<Layout, InputError> {
        let mut layout = keyboard::layout(&self.link, self.person.keyboard)?;
        let borrowed = keyboard::noted(&self.link)?;
        layout.strokes.retain(|_, stroke| !borrowed.contains(&stroke.keycode));
        layout.spare.retain(|keycode| !borrowed.contains(keycode));
        layout.spare.reverse();
        layout.spare.truncate((layout.spare.len() / 2).max(1));
        Ok(layout)
    }

    /// All devices.
    pub fn devices(&self) -> Result<Vec<XIDeviceInfo>, InputError> {
        Ok(xinput::xi_query_device(&self.link.conn, ALL_DEVICES)?.reply()?.infos)
    }

    /// Where the pointer is.
    pub fn place(&self) -> Result<Point, InputError> {
        pointer::position(&self.link, self.person.pointer)
    }

    /// Fails with `invalid_argument` for a point that is not on the screen.
    pub fn check(&self, points: &[Point]) -> Result<(), InputError> {
        let size = self.link.conn.get_geometry(self.link.root)?.reply()?;
        let (width, height) = (i32::from(size.width), i32::from(size.height));
        let outside = points.iter().find(|at| !(0..width).contains(&at.x) || !(0..height).contains(&at.y));
        outside.map_or(Ok(()), |at| {
            Err(InputError::PointOutsideScreen {
                x: at.x,
                y: at.y,
                width: width as u32,
                height: height as u32,
            })
        })
    }

    /// The numbers of the server's extensions.
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    fn queue(&self) -> Queue<'_> {
        Queue { link: &self.link, atoms: self.atoms, pointer: self.person.pointer }
    }
}

/// The steps without those of keys that are held anyway.
fn without(steps: &[Step], keys: &[u8]) -> Vec<Step> {
    let is_held = |step: &&Step| matches!(step, Step::Key(keycode, _) if keys.contains(keycode));
    steps.iter().filter(|step| !is_held(step)).copied().collect()
}

/// The wait of what is over before anybody could halt it.
pub const UNINTERRUPTED: CancellableWait<'static> = &|time: Duration| {
    std::thread::sleep(time);
    false
};
