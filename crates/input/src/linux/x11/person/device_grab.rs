//! Grabs the person's devices while an application opens a menu or a dialog: what the person does waits in the server and
//! arrives afterwards.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::xinput::{self, GrabOwner};
use x11rb::protocol::xproto::{GrabMode, GrabStatus, Window};
use x11rb::{CURRENT_TIME, NONE};

use super::focus::has_focus;
use super::freeze::{Effect, Event, Freeze, next};
use super::hold::GrabState;
use super::state::PersonState;
use crate::InputError;
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::devices::pair::Pair;
use crate::platform::x11::devices::pointer;

static COUNT: AtomicU64 = AtomicU64::new(0);

/// The person's pointer and keyboard, frozen for as long as this lives: what they send waits in the server and
/// arrives afterwards, in order and where it was meant to.
///
/// Chromium grabs every master pointer when a button goes down in a page; Qt, GTK 4 and the old toolkits open
/// menus by grabbing the pointer and the keyboard that they were born with, which are the person's. While we hold
/// these, they are refused. The window of the grab is the one under the person's pointer, so nothing is
/// entered or left, and the keyboard is frozen by the pointer's grab, so no focus is seen to move.
pub struct DeviceGrab<'a> {
    link: &'a Link,
    number: u64,
    begun: Instant,
}

impl<'a> DeviceGrab<'a> {
    /// Holds the devices, unless another client has the person's pointer, with which nobody can grab it then. `before`
    /// tells where the person's keys belong. To be called with the server grabbed.
    pub fn hold(link: &'a Link, person: Pair, before: &PersonState) -> Result<Self, InputError> {
        let under = pointer::under(link, person)?;
        Self::hold_over(link, person, before, under)
    }

    /// Holds the devices at once, with the window that the person's pointer is known to be in.
    pub fn hold_over(
        link: &'a Link,
        person: Pair,
        before: &PersonState,
        under: Window,
    ) -> Result<Self, InputError> {
        let (number, begun) = (COUNT.fetch_add(1, Ordering::Relaxed), Instant::now());
        let device_grab = Self { link, number, begun };
        let hold = GrabState { number, person, home: before.home(), freeze: Freeze::begin(begun) };
        *lock(link) = grab(link, person, under)?.then_some(hold);
        Ok(device_grab)
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
        let since =
            lock(self.link).as_ref().filter(|hold| hold.number == self.number).map(|hold| hold.freeze.since);
        since.unwrap_or(self.begun).elapsed()
    }

    /// Lets go if `is_focus_back` says that the person's keys go where they belong. The server does nothing for anybody else
    /// between that and the arrival of what has waited. True when nothing is held any more.
    pub fn let_go(
        &mut self,
        is_focus_back: impl FnOnce() -> Result<bool, InputError>,
    ) -> Result<bool, InputError> {
        if !self.is_held() {
            return Ok(true);
        }
        self.link.alone(|| {
            let finished = Event::Finished { is_back: is_focus_back()? };
            let effect = lock(self.link).as_mut().map(|hold| hold.happens(finished));
            if effect == Some(Effect::Release) {
                self.release();
            }
            Ok(effect != Some(Effect::None))
        })
    }

    /// Lets the events of the person's devices that have waited arrive, and holds on, once it has waited for a while and if `is_focus_back` says that the person's
    /// keys go where they belong; as [`DeviceGrab::let_go`] in between.
    pub fn let_through(
        &mut self,
        is_focus_back: impl FnOnce() -> Result<bool, InputError>,
    ) -> Result<(), InputError> {
        if self.is_held() {
            let_through_at(self.link, Event::HolderWaits, |_| is_focus_back())
        } else {
            Ok(())
        }
    }

    fn release(&mut self) {
        let held = lock(self.link).take_if(|hold| hold.number == self.number);
        if let Some(hold) = held {
            ungrab(self.link, &hold);
        }
    }
}

impl Drop for DeviceGrab<'_> {
    fn drop(&mut self) {
        self.release();
    }
}

/// Lets arrive what the person does, once it has waited for a while and if the person's keys go where they belong.
pub fn let_through(link: &Link) -> Result<(), InputError> {
    let_through_at(link, Event::OtherWaits, |hold| has_focus(link, hold.person, hold.home))
}

fn let_through_at(
    link: &Link,
    wait: Event,
    is_focus_back: impl FnOnce(&GrabState) -> Result<bool, InputError>,
) -> Result<(), InputError> {
    let is_due = |hold: &mut GrabState| hold.happens(wait) == Effect::ReadFocus;
    let Some(hold) = lock(link).take_if(is_due) else { return Ok(()) };
    let mut opening = LetThrough { link, hold: Some(hold) };
    link.alone(|| opening.draw(is_focus_back))
}

impl GrabState {
    /// What is to be done about an event, now.
    fn happens(&mut self, event: Event) -> Effect {
        let (freeze, effect) = next(self.freeze, event, Instant::now());
        self.freeze = freeze;
        effect
    }
}

/// What is held, out of its place: let go when this is dropped before it is back there.
struct LetThrough<'a> {
    link: &'a Link,
    hold: Option<GrabState>,
}

impl LetThrough<'_> {
    fn draw(
        &mut self,
        is_focus_back: impl FnOnce(&GrabState) -> Result<bool, InputError>,
    ) -> Result<(), InputError> {
        let link = self.link;
        let Some(hold) = &mut self.hold else { return Ok(()) };
        let effect = hold.happens(Event::FocusRead { is_back: is_focus_back(hold)? });
        if effect != Effect::None {
            ungrab(link, hold);
            let is_over = effect == Effect::Release;
            if is_over || !grab(link, hold.person, pointer::under(link, hold.person)?)? {
                self.hold = None;
            }
        }
        *lock(link) = self.hold.take();
        Ok(())
    }
}

impl Drop for LetThrough<'_> {
    fn drop(&mut self) {
        if let Some(hold) = &self.hold {
            ungrab(self.link, hold);
        }
    }
}

fn lock(link: &Link) -> MutexGuard<'_, Option<GrabState>> {
    link.hold.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ungrab(link: &Link, hold: &GrabState) {
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

    use desktop::x11::Session;
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
        let display = test_support::TestDisplay::bare().unwrap();
        let (conn, window) = silent(display.name());
        let link = Link::open(&Session::of(Some(display.name())).unwrap()).unwrap();
        let person = master::person(&link).unwrap();
        let before = PersonState::look(&link, person).unwrap();
        let device_grab = link.alone(|| DeviceGrab::hold(&link, person, &before)).unwrap();
        let (sender, arrived) = channel();
        std::thread::spawn(move || {
            for kind in [KEY_PRESS_EVENT, KEY_RELEASE_EVENT] {
                conn.xtest_fake_input(kind, 38, CURRENT_TIME, NONE, 0, 0, 0).unwrap();
            }
            conn.flush().unwrap();
            while !matches!(conn.wait_for_event().unwrap(), Event::KeyPress(_)) {}
            sender.send(()).unwrap();
        });
        let is_answered = settle::application(&link, window, Duration::from_millis(1500), false).unwrap();
        assert!(!is_answered && device_grab.is_held());
        arrived.try_recv().unwrap();
    }
}
