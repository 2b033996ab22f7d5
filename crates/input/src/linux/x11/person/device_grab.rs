//! The person's devices held still while an application takes what an agent's press made it take.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::xinput::{self, GrabOwner};
use x11rb::protocol::xproto::{GrabMode, GrabStatus, Window};
use x11rb::{CURRENT_TIME, NONE};

use super::focus::has_focus;
use super::hold::Hold;
use super::state::Witness;
use crate::InputError;
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::devices::pair::Pair;
use crate::platform::x11::devices::pointer;

/// How long what the person does waits until it may arrive between two steps of what it waits for.
pub const BREATH: Duration = Duration::from_millis(30);
/// How long it waits until a wait for something else lets it arrive for the first time: most gestures are over by then.
const LULL: Duration = Duration::from_millis(100);
/// How long it waits at most, wherever the focus is by then: whoever could give it back has had the time.
const UTMOST: Duration = Duration::from_secs(1);
/// How long the devices are held at most: meanwhile no menu of the person's can grab them.
const LONGEST: Duration = Duration::from_secs(3);

static COUNT: AtomicU64 = AtomicU64::new(0);

/// The person's pointer and keyboard, frozen for as long as this lives: what they send waits in the server and
/// arrives afterwards, in order and where it was meant to.
///
/// Chromium grabs every master pointer when a button goes down in a page; Qt, GTK 4 and the old toolkits open
/// menus by grabbing the pointer and the keyboard that they were born with, which are the person's. While we hold
/// these, they are refused. The window of the grab is the one under the person's pointer, so nothing is
/// entered or left, and the keyboard is frozen by the pointer's grab, so no focus is seen to move.
pub struct Still<'a> {
    link: &'a Link,
    number: u64,
    begun: Instant,
}

impl<'a> Still<'a> {
    /// Holds the devices, unless another client has the person's pointer, with which nobody can grab it then. `before`
    /// tells where the person's keys belong. To be called with the server grabbed.
    pub fn hold(link: &'a Link, person: Pair, before: &Witness) -> Result<Self, InputError> {
        let under = pointer::under(link, person)?;
        Self::hold_over(link, person, before, under)
    }

    /// Holds the devices at once, with the window that the person's pointer is known to be in.
    pub fn hold_over(
        link: &'a Link,
        person: Pair,
        before: &Witness,
        under: Window,
    ) -> Result<Self, InputError> {
        let (number, begun) = (COUNT.fetch_add(1, Ordering::Relaxed), Instant::now());
        let still = Self { link, number, begun };
        let hold = Hold { number, person, home: before.home(), begun, since: begun };
        *lock(link) = grab(link, person, under)?.then_some(hold);
        Ok(still)
    }

    /// False where another client had the person's pointer, or when the devices have been held too long.
    pub fn is_held(&self) -> bool {
        lock(self.link).as_ref().is_some_and(|hold| hold.number == self.number)
    }

    /// For how long they are held.
    pub fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    /// For how long what the person does has not arrived.
    pub fn waited(&self) -> Duration {
        let since = lock(self.link).as_ref().filter(|hold| hold.number == self.number).map(|hold| hold.since);
        since.unwrap_or(self.begun).elapsed()
    }

    /// Lets go if `is_hers` says that the person's keys go where they belong. The server does nothing for anybody else
    /// between that and the arrival of what has waited. True when nothing is held any more.
    pub fn let_go(&mut self, is_hers: impl FnOnce() -> Result<bool, InputError>) -> Result<bool, InputError> {
        if !self.is_held() {
            return Ok(true);
        }
        self.link.alone(|| {
            let is_free = is_hers()?;
            if is_free {
                self.release();
            }
            Ok(is_free)
        })
    }

    /// Lets arrive what has waited and holds on, once it has waited for a while and if `is_hers` says that the person's
    /// keys go where they belong; as [`Still::let_go`] in between.
    pub fn breathe(&mut self, is_hers: impl FnOnce() -> Result<bool, InputError>) -> Result<(), InputError> {
        if self.is_held() { breathe_if(self.link, |_| true, |_| is_hers()) } else { Ok(()) }
    }

    fn release(&mut self) {
        let held = lock(self.link).take_if(|hold| hold.number == self.number);
        if let Some(hold) = held {
            ungrab(self.link, &hold);
        }
    }
}

impl Drop for Still<'_> {
    fn drop(&mut self) {
        self.release();
    }
}

/// Lets arrive what the person does, once it has waited for a while and if the person's keys go where they belong.
pub fn breathe(link: &Link) -> Result<(), InputError> {
    let is_long = |hold: &Hold| hold.begun.elapsed() >= LULL;
    breathe_if(link, is_long, |hold| has_focus(link, hold.person, hold.home))
}

fn breathe_if(
    link: &Link,
    is_due: impl FnOnce(&Hold) -> bool,
    is_hers: impl FnOnce(&Hold) -> Result<bool, InputError>,
) -> Result<(), InputError> {
    let is_due = |hold: &mut Hold| hold.since.elapsed() >= BREATH && is_due(hold);
    let Some(hold) = lock(link).take_if(is_due) else { return Ok(()) };
    let mut breath = Breath { link, hold: Some(hold) };
    link.alone(|| breath.draw(is_hers))
}

/// What is held, out of its place: let go when this is dropped before it is back there.
struct Breath<'a> {
    link: &'a Link,
    hold: Option<Hold>,
}

impl Breath<'_> {
    fn draw(&mut self, is_hers: impl FnOnce(&Hold) -> Result<bool, InputError>) -> Result<(), InputError> {
        let link = self.link;
        let Some(hold) = &mut self.hold else { return Ok(()) };
        if is_hers(hold)? || hold.since.elapsed() > UTMOST {
            ungrab(link, hold);
            hold.since = Instant::now();
            let is_over = hold.begun.elapsed() > LONGEST;
            if is_over || !grab(link, hold.person, pointer::under(link, hold.person)?)? {
                self.hold = None;
            }
        }
        *lock(link) = self.hold.take();
        Ok(())
    }
}

impl Drop for Breath<'_> {
    fn drop(&mut self) {
        if let Some(hold) = &self.hold {
            ungrab(self.link, hold);
        }
    }
}

fn lock(link: &Link) -> MutexGuard<'_, Option<Hold>> {
    link.hold.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ungrab(link: &Link, hold: &Hold) {
    // A connection that is lost holds nothing any more.
    if let Ok(cookie) = xinput::xi_ungrab_device(&link.conn, CURRENT_TIME, hold.person.pointer) {
        cookie.ignore_error();
        let _ = link.conn.flush();
    }
}

fn grab(link: &Link, person: Pair, window: Window) -> Result<bool, InputError> {
    let (conn, freeze, nobody) = (&link.conn, GrabMode::SYNC, GrabOwner::NO_OWNER);
    let device = person.pointer;
    let grabbed =
        xinput::xi_grab_device(conn, window, CURRENT_TIME, NONE, device, freeze, freeze, nobody, &[0])?;
    Ok(grabbed.reply()?.status == GrabStatus::SUCCESS)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails panics")]
mod tests {
    use std::sync::mpsc::channel;

    use x11rb::protocol::Event;
    use x11rb::protocol::xproto::{
        AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, InputFocus, KEY_PRESS_EVENT,
        KEY_RELEASE_EVENT, PropMode, WindowClass,
    };
    use x11rb::protocol::xtest::ConnectionExt as _;
    use x11rb::rust_connection::RustConnection;
    use x11rb::wrapper::ConnectionExt as _;

    use super::*;
    use crate::platform::x11::connection::settle;
    use crate::platform::x11::devices::master;

    /// The person's window, which has the focus; it says that it answers pings, and does not.
    fn silent(display: &str) -> (RustConnection, Window) {
        let (conn, screen) = RustConnection::connect(Some(display)).unwrap();
        let (root, window) = (conn.setup().roots[screen].root, conn.generate_id().unwrap());
        let (copy, kind) = (x11rb::COPY_DEPTH_FROM_PARENT, WindowClass::INPUT_OUTPUT);
        let aux = CreateWindowAux::new().event_mask(EventMask::KEY_PRESS);
        conn.create_window(copy, window, root, 0, 0, 10, 10, 0, kind, 0, &aux).unwrap();
        let atom = |name: &[u8]| conn.intern_atom(false, name).unwrap().reply().unwrap().atom;
        let (name, ping) = (atom(b"WM_PROTOCOLS"), atom(b"_NET_WM_PING"));
        conn.change_property32(PropMode::REPLACE, window, name, AtomEnum::ATOM, &[ping]).unwrap();
        conn.map_window(window).unwrap();
        conn.set_input_focus(InputFocus::PARENT, window, CURRENT_TIME).unwrap();
        conn.sync().unwrap();
        (conn, window)
    }

    #[test]
    fn keys_of_the_person_arrive_while_an_application_is_waited_for() {
        let stage = stage::Stage::bare().unwrap();
        let (conn, window) = silent(stage.display());
        let link = Link::open(Some(stage.display())).unwrap();
        let person = master::person(&link).unwrap();
        let before = Witness::look(&link, person).unwrap();
        let still = link.alone(|| Still::hold(&link, person, &before)).unwrap();
        let (sender, arrived) = channel();
        std::thread::spawn(move || {
            for kind in [KEY_PRESS_EVENT, KEY_RELEASE_EVENT] {
                conn.xtest_fake_input(kind, 38, CURRENT_TIME, NONE, 0, 0, 0).unwrap();
            }
            conn.flush().unwrap();
            while !matches!(conn.wait_for_event().unwrap(), Event::KeyPress(_)) {}
            sender.send(()).unwrap();
        });
        let is_answered = settle::application(&link, window, LONGEST / 2, false).unwrap();
        assert!(!is_answered && still.is_held());
        arrived.try_recv().unwrap();
    }
}
