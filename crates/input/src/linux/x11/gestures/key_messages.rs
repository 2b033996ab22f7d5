//! Keys sent to one window as messages, for the toolkit that cannot read a second keyboard.
//!
//! Qt takes the modifiers, the locks and the group of a key from the person's keyboard, whichever keyboard the key
//! comes from; of an event that a client sent (`SendEvent` of the X protocol) it takes those that stand in the
//! event. A sent event needs no pointer, so the window may be covered, minimised or on another workspace.

use std::collections::HashMap;
use std::time::Duration;

use desktop::WindowId;
use x11rb::NONE;
use x11rb::connection::Connection;
use x11rb::protocol::xinput;
use x11rb::protocol::xproto::{
    ConnectionExt as _, EventMask, FOCUS_IN_EVENT, FOCUS_OUT_EVENT, FocusInEvent, KEY_PRESS_EVENT,
    KEY_RELEASE_EVENT, KeyButMask, KeyPressEvent, NotifyDetail, NotifyMode, Timestamp, Window,
};

use crate::InputError;
use crate::plan::Step;
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::connection::settle;
use crate::platform::x11::connection::toolkit::reads_messages;
use crate::platform::x11::connection::window_tree::{self, is_inside, same_client};
use crate::platform::x11::devices::pair::Pair;
use crate::platform::x11::person::restore;

/// How long the application may take to believe that it has the focus.
const PATIENCE: Duration = Duration::from_millis(100);

/// Keys under way to one window: what is down goes up when it is dropped.
pub struct Messages<'a> {
    link: &'a Link,
    window: Window,
    time: Timestamp,
    modifiers: &'a HashMap<u8, u16>,
    down: Vec<u8>,
    focus: Option<FocusByMessage<'a>>,
    events: u32,
}

/// Tells a window that reads messages that it has the focus, before buttons go down in it; the focus itself stays where
/// it is. Pressed without the focus, Qt asks the window manager to be activated. False, and untold, for windows of
/// other toolkits, for one that the window manager does not know (a menu), and where the person works in the same
/// application, which would take their keys there.
pub fn send_focus_in(link: &Link, person: Pair, window: Window) -> Result<bool, InputError> {
    if !reads_messages(link, window)? || link.conn.get_window_attributes(window)?.reply()?.override_redirect {
        return Ok(false);
    }
    let focus = xinput::xi_get_focus(&link.conn, person.keyboard)?.reply()?.focus;
    if focus > 1 && same_client(link, focus, window) {
        return Ok(false);
    }
    tell_focus(link, window, FOCUS_IN_EVENT)?;
    settle::twice(link, window, PATIENCE)?;
    Ok(true)
}

/// Tells a window again that it has not the focus, unless its application shows a menu, which would close, or has the
/// person's focus by now; true when there is nothing more to tell.
pub fn send_focus_out(link: &Link, person: Pair, window: Window) -> Result<bool, InputError> {
    if !window_tree::menus(link, window)?.is_empty() {
        return Ok(false);
    }
    take_focus(link, person, window)?;
    Ok(true)
}

/// Tells a window that it has not the focus, if that is so: Qt has one focus for all windows of the application, and the
/// person may have given it to one of them meanwhile.
fn take_focus(link: &Link, person: Pair, window: Window) -> Result<(), InputError> {
    link.alone(|| {
        let focus = xinput::xi_get_focus(&link.conn, person.keyboard)?.reply()?.focus;
        if focus > 1 && same_client(link, focus, window) {
            return Ok(());
        }
        tell_focus(link, window, FOCUS_OUT_EVENT)
    })
}

fn tell_focus(link: &Link, window: Window, kind: u8) -> Result<(), InputError> {
    let (detail, mode) = (NotifyDetail::NONLINEAR, NotifyMode::NORMAL);
    let event = FocusInEvent { response_type: kind, detail, sequence: 0, event: window, mode };
    link.conn.send_event(false, window, EventMask::NO_EVENT, event)?;
    link.conn.flush()?;
    Ok(())
}

/// A window that believes to have the focus for as long as this lives.
struct FocusByMessage<'a> {
    link: &'a Link,
    person: Pair,
    window: Window,
}

impl<'a> FocusByMessage<'a> {
    fn begin(link: &'a Link, person: Pair, window: Window) -> Result<Self, InputError> {
        tell_focus(link, window, FOCUS_IN_EVENT)?;
        Ok(Self { link, person, window })
    }
}

impl Drop for FocusByMessage<'_> {
    fn drop(&mut self) {
        // Where the connection is lost nobody can be told.
        let _ = take_focus(self.link, self.person, self.window);
    }
}

/// True where the window has the person's focus; fails with `application_in_use` where another one of its application has.
pub fn has_persons_focus(link: &Link, person: Pair, window: Window) -> Result<bool, InputError> {
    let focus = xinput::xi_get_focus(&link.conn, person.keyboard)?.reply()?.focus;
    let is_persons = focus == window || is_inside(link, focus, window)?;
    if !is_persons && focus > 1 && same_client(link, focus, window) {
        return Err(InputError::ApplicationInUse { window_id: WindowId::of_xid(window) });
    }
    Ok(is_persons)
}

impl<'a> Messages<'a> {
    /// Begins with nothing held. With `active` the application is told that the window has the focus for as long as
    /// this lives, because shortcuts of a window without it are not looked up; the focus itself stays where it is.
    ///
    /// Fails with `application_in_use` where the person works in another window of the same application: Qt sends
    /// every key to the window that has the focus.
    pub fn to(
        link: &'a Link,
        person: Pair,
        window: Window,
        modifiers: &'a HashMap<u8, u16>,
        active: bool,
    ) -> Result<Self, InputError> {
        let is_persons = has_persons_focus(link, person, window)?;
        let time = link.time()?;
        restore::raise_user_time(link, window)?;
        let focus =
            if active && !is_persons { Some(FocusByMessage::begin(link, person, window)?) } else { None };
        Ok(Self { link, window, time, modifiers, down: vec![], focus, events: 0 })
    }

    /// Sends the steps that are keys.
    pub fn run(&mut self, steps: &[Step]) -> Result<(), InputError> {
        for step in steps {
            if let Step::Key(keycode, goes_down) = *step {
                self.key(keycode, goes_down)?;
            }
        }
        self.link.conn.flush()?;
        Ok(())
    }

    /// True when the application was told that the window has the focus.
    pub fn pretends_focus(&self) -> bool {
        self.focus.is_some()
    }

    /// Lets everything go and answers with the number of events sent.
    pub fn finish(mut self) -> Result<u32, InputError> {
        self.release()?;
        Ok(self.events)
    }

    fn key(&mut self, keycode: u8, goes_down: bool) -> Result<(), InputError> {
        // The state is that before the event, as the server writes it.
        let state =
            self.down.iter().filter_map(|held| self.modifiers.get(held)).fold(0, |all, one| all | one);
        let event = KeyPressEvent {
            response_type: if goes_down { KEY_PRESS_EVENT } else { KEY_RELEASE_EVENT },
            detail: keycode,
            sequence: 0,
            time: self.time,
            root: self.link.root,
            event: self.window,
            child: NONE,
            root_x: 0,
            root_y: 0,
            event_x: 0,
            event_y: 0,
            state: KeyButMask::from(state),
            same_screen: true,
        };
        self.down.retain(|held| *held != keycode);
        if goes_down {
            self.down.push(keycode);
        }
        self.events += 1;
        self.link.conn.send_event(false, self.window, EventMask::NO_EVENT, event)?;
        Ok(())
    }

    fn release(&mut self) -> Result<(), InputError> {
        for keycode in self.down.clone().into_iter().rev() {
            self.key(keycode, false)?;
        }
        self.focus = None;
        self.link.drain()
    }
}

impl Drop for Messages<'_> {
    fn drop(&mut self) {
        // Where the connection is lost nobody can be told.
        let _ = self.release();
    }
}
