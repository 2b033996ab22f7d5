//! New windows of an application that an agent works in, from their creation until they are in their place.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

use desktop::x11::frame_of;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xinput;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, PropMode, StackMode, Window,
};
use x11rb::wrapper::ConnectionExt as _;

use crate::InputError;
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::connection::window_tree::{is_inside, same_client};
use crate::platform::x11::connection::{settle, toolkit};
use crate::platform::x11::devices::pair::Pair;
use crate::platform::x11::devices::pointer;
use crate::platform::x11::gestures::key_messages;
use crate::platform::x11::person::device_grab::DeviceGrab;
use crate::platform::x11::person::focus::has_focus;
use crate::platform::x11::person::freeze::LET_THROUGH_EVERY;
use crate::platform::x11::person::restore::{self, tell};
use crate::platform::x11::person::state::PersonState;

/// How long a window that was made is waited for to be shown.
const COMING: Duration = Duration::from_millis(500);
/// How long an answer of an application or the window manager is waited for at a time.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long they are asked, again and again, until they have nothing to do any more.
const LONGEST: Duration = Duration::from_secs(1);
/// How long the person's keys wait for the window manager to give the focus back, before it is set. A key that waits
/// longer than half a second repeats.
const SET_FOCUS_AFTER: Duration = Duration::from_millis(250);
/// How long they wait while somebody else has the focus.
const LONGEST_DELAY: Duration = Duration::from_millis(400);
/// How long after an element's action was accepted Qt may click the element: it shows the button pressed for 100 ms.
const CLICK: Duration = Duration::from_millis(110);
/// How often it is looked whether a watch is over.
const ROUND: Duration = Duration::from_millis(200);
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// How long after it is shown a new window may not take the focus.
const GRACE_PERIOD: Duration = Duration::from_millis(1500);
/// How long ago the person did what activates a window.
const RECENT: Duration = Duration::from_millis(700);
/// Rows of the modifier map (core protocol, GetModifierMapping) whose keys switch windows: Control, Mod1, Mod4.
const SWITCHING: [usize; 3] = [2, 3, 6];
/// How long it is believed where the person's pointer is.
const FRESH: Duration = Duration::from_millis(150);

/// An element's own action, which may open a window.
#[derive(Clone, Copy, Debug)]
pub struct ElementAction {
    /// The window of the element.
    pub window: Window,
    /// When it was about to be asked for.
    pub since: Instant,
    /// When the application had answered.
    pub done: Option<Instant>,
}

/// What the person pressed last of what can activate a window.
#[derive(Clone, Copy)]
struct LastInput {
    at: Instant,
    is_key: bool,
}

/// The new windows, and how the person's things were before them.
pub struct NewWindows<'a> {
    link: &'a Link,
    person: Pair,
    before: PersonState,
    switching: BTreeSet<u8>,
    last_input: Option<LastInput>,
    /// Windows that somebody who acts for the person asked for.
    wanted: HashSet<Window>,
    /// When each was created, or shown.
    new: HashMap<Window, NewWindow>,
    /// When the last one was in its place.
    placed: Option<Instant>,
    /// The beginning of the last action that opened nothing.
    idle: Option<Instant>,
    device_grab: Option<DeviceGrab<'a>>,
    /// What the person's pointer was in a moment ago, for the hold to need one request.
    under: Window,
    looked: Instant,
}

#[derive(Clone, Copy)]
struct NewWindow {
    since: Instant,
    is_shown: bool,
}

impl<'a> NewWindows<'a> {
    /// Begins with how things are now.
    pub fn new(link: &'a Link, person: Pair) -> Result<Self, InputError> {
        let before = PersonState::look(link, person)?;
        let under = pointer::under(link, person)?;
        let map = link.conn.get_modifier_mapping()?.reply()?;
        let width = usize::from(map.keycodes_per_modifier()).max(1);
        let rows: Vec<&[u8]> = map.keycodes.chunks(width).collect();
        let switching = SWITCHING.iter().filter_map(|row| rows.get(*row)).flat_map(|row| row.iter().copied());
        let switching = switching.filter(|keycode| *keycode != 0).collect();
        Ok(Self {
            link,
            person,
            before,
            switching,
            last_input: None,
            wanted: HashSet::new(),
            new: HashMap::new(),
            placed: None,
            idle: None,
            device_grab: None,
            under,
            looked: Instant::now(),
        })
    }

    /// Hears an event; answers with a window of the `watched` whose application the person turned to.
    pub fn hear(
        &mut self,
        listener: &Link,
        event: &Event,
        watched: &[Window],
    ) -> Result<Option<Window>, InputError> {
        let link = self.link;
        match event {
            Event::CreateNotify(new)
                if new.parent == link.root
                    && !new.override_redirect
                    && watched.iter().any(|window| same_client(link, *window, new.window)) =>
            {
                self.expect(listener, new.window)?;
            }
            Event::ReparentNotify(shown) => self.receive(shown.window, watched)?,
            Event::MapNotify(shown) => self.receive(shown.window, watched)?,
            Event::DestroyNotify(gone) => {
                self.new.remove(&gone.window);
            }
            Event::ClientMessage(message) if message.type_ == link.atoms._NET_ACTIVE_WINDOW => {
                let [source, ..] = message.data.as_data32();
                self.asked(message.window, source, watched)?;
            }
            Event::FocusIn(_) => return self.check(watched),
            Event::PropertyNotify(changed) if changed.atom == link.atoms._NET_ACTIVE_WINDOW => {
                return self.check(watched);
            }
            Event::PropertyNotify(changed) if changed.atom == link.atoms._NET_WM_USER_TIME => {
                self.user_time_changed(changed.window)?;
            }
            Event::XinputRawButtonPress(_) | Event::XinputRawButtonRelease(_) => {
                self.last_input = Some(LastInput { at: Instant::now(), is_key: false });
            }
            Event::XinputRawKeyPress(raw) | Event::XinputRawKeyRelease(raw)
                if self.switching.contains(&(raw.detail as u8)) =>
            {
                self.last_input = Some(LastInput { at: Instant::now(), is_key: true });
            }
            _ => {}
        }
        Ok(None)
    }

    /// `_NET_WM_USER_TIME` was written for a window that is not shown yet, which asks for the focus with it.
    fn user_time_changed(&mut self, window: Window) -> Result<(), InputError> {
        let coming = self.new.get_mut(&window).filter(|new_window| !new_window.is_shown);
        if let Some(new_window) = coming
            && self.link.number(window, self.link.atoms._NET_WM_USER_TIME)? != Some(0)
        {
            // It is written just before a window is shown, however long it took to make it.
            new_window.since = Instant::now();
            // The window manager is about to read it.
            self.quieten(window)?;
            self.hold()?;
        }
        Ok(())
    }

    /// Lets the person go on where nothing is to come any more, and forgets the windows that are settled. Answers with how
    /// long nothing needs to be looked at.
    pub fn rest(
        &mut self,
        listener: &Link,
        action: Option<ElementAction>,
        watched: &[Window],
    ) -> Result<Duration, InputError> {
        self.new.retain(|_, new_window| !new_window.is_shown || new_window.since.elapsed() <= GRACE_PERIOD);
        if let Some(action) = action.filter(|action| self.may_open(action)) {
            self.hold()?;
            self.let_through(watched)?;
            if !self.is_over(&action)? {
                return Ok(LET_THROUGH_EVERY);
            }
            let has_answered = settle::by_toolkit(self.link, action.window, 2 * LET_THROUGH_EVERY)?;
            // What it made before it answered is heard next.
            listener.sync()?;
            if has_answered || action.done.unwrap_or(action.since).elapsed() > LONGEST {
                self.idle = Some(action.since);
            }
            return Ok(Duration::ZERO);
        }
        if let Some(patience) = self.patience() {
            self.let_through(watched)?;
            return Ok(patience.min(LET_THROUGH_EVERY));
        }
        self.let_go(watched)?;
        if self.looked.elapsed() > FRESH {
            self.under = pointer::under(self.link, self.person)?;
            self.looked = Instant::now();
        }
        Ok(ROUND)
    }

    /// How long a window that was made may still take to be shown.
    pub fn patience(&self) -> Option<Duration> {
        let coming = self.new.values().filter(|new_window| !new_window.is_shown);
        coming.filter_map(|new_window| COMING.checked_sub(new_window.since.elapsed())).max()
    }

    /// True until an action has opened a window, or has had the time for it.
    fn may_open(&self, action: &ElementAction) -> bool {
        self.idle != Some(action.since) && self.placed.is_none_or(|placed| placed < action.since)
    }

    fn is_over(&self, action: &ElementAction) -> Result<bool, InputError> {
        let Some(done) = action.done else { return Ok(action.since.elapsed() > LONGEST) };
        Ok(done.elapsed() > CLICK || !toolkit::reads_messages(self.link, action.window)?)
    }

    /// A window that does not want the focus when it is mapped: `_NET_WM_USER_TIME` 0 (EWMH). The person's keys wait
    /// until it is in its place.
    fn expect(&mut self, listener: &Link, window: Window) -> Result<(), InputError> {
        self.hold()?;
        self.quieten(window)?;
        let focus =
            ChangeWindowAttributesAux::new().event_mask(EventMask::FOCUS_CHANGE | EventMask::PROPERTY_CHANGE);
        listener.conn.change_window_attributes(window, &focus)?.ignore_error();
        listener.conn.flush()?;
        self.new.insert(window, NewWindow { since: Instant::now(), is_shown: false });
        Ok(())
    }

    /// Tells a window again that it has not the focus; false where its application shows a menu by now. Qt asks for the
    /// focus when it hears that, where it has opened a modal window.
    pub fn end_pretence(&mut self, window: Window, watched: &[Window]) -> Result<bool, InputError> {
        self.hold()?;
        let is_told = key_messages::send_focus_out(self.link, self.person, window)?;
        if is_told {
            self.wait_until_settled(window, watched)?;
        }
        self.let_go(watched)?;
        Ok(is_told)
    }

    fn quieten(&self, window: Window) -> Result<(), InputError> {
        let (conn, atoms) = (&self.link.conn, &self.link.atoms);
        // Qt writes it there, where the window manager looks there.
        let keeper = self.link.number(window, atoms._NET_WM_USER_TIME_WINDOW)?;
        for place in keeper.into_iter().chain([window]) {
            let (name, kind) = (atoms._NET_WM_USER_TIME, AtomEnum::CARDINAL);
            conn.change_property32(PropMode::REPLACE, place, name, kind, &[0])?.ignore_error();
        }
        conn.flush()?;
        Ok(())
    }

    fn hold(&mut self) -> Result<(), InputError> {
        // A gesture of the agent's may have held them until now.
        if self.device_grab.as_ref().is_none_or(|device_grab| !device_grab.is_held()) {
            let (link, person, before) = (self.link, self.person, &self.before);
            let known = DeviceGrab::hold_over(link, person, before, self.under);
            // The window may be gone since.
            self.device_grab = Some(known.or_else(|_| DeviceGrab::hold(link, person, before))?);
        }
        Ok(())
    }

    /// A new window is shown: waits for the window manager, and gives back what the window got.
    fn receive(&mut self, window: Window, watched: &[Window]) -> Result<(), InputError> {
        let link = self.link;
        let Some(new_window) = self.new.get_mut(&window).filter(|new_window| !new_window.is_shown) else {
            return Ok(());
        };
        *new_window = NewWindow { since: Instant::now(), is_shown: true };
        self.hold()?;
        self.wait_until_settled(window, watched)?;
        self.put_behind(window)?;
        if link.number(window, link.atoms._NET_WM_USER_TIME)? == Some(0) {
            link.conn.delete_property(window, link.atoms._NET_WM_USER_TIME)?.ignore_error();
        }
        link.drain()?;
        self.placed = Some(Instant::now());
        self.let_go(watched)
    }

    /// Waits until the window's application and the window manager have nothing to do any more, and gives back what they
    /// take meanwhile: Qt asks to be activated once more when it hears that its window is shown, and again when it
    /// hears that it has not the focus.
    fn wait_until_settled(&mut self, window: Window, watched: &[Window]) -> Result<(), InputError> {
        let (link, begun) = (self.link, Instant::now());
        loop {
            let mut is_settled = self.take_back(watched)?;
            self.let_through(watched)?;
            is_settled &= settle::by_toolkit(link, window, PATIENCE)?;
            is_settled &= self.take_back(watched)?;
            let is_vain =
                self.device_grab.as_ref().is_none_or(|device_grab| device_grab.waited() > LONGEST_DELAY);
            if is_settled || is_vain || begun.elapsed() > LONGEST {
                return Ok(());
            }
            self.let_through(watched)?;
        }
    }

    /// Gives back what was taken when the window manager has done what it was asked to; false when there was something,
    /// or may still be.
    fn take_back(&mut self, watched: &[Window]) -> Result<bool, InputError> {
        let link = self.link;
        // It hears of a focus that it set after it set it.
        let is_done = settle::window_manager(link, PATIENCE)? && settle::window_manager(link, PATIENCE)?;
        Ok(!self.give_back(watched)? && is_done)
    }

    /// True when the person's keys go where the person wants them; sets the focus where an application has taken it and
    /// it `is_late`. To be called with the server grabbed.
    fn is_focus_back(&self, watched: &[Window], is_late: bool) -> Result<bool, InputError> {
        let (link, person) = (self.link, self.person);
        if has_focus(link, person, self.before.home())? {
            return Ok(true);
        }
        let is_taken = taken(link, &self.look()?, watched).is_some();
        if is_taken && is_late {
            restore::set_focus(link, person, &self.before)?;
            return has_focus(link, person, self.before.home());
        }
        Ok(!is_taken && self.is_turning())
    }

    fn let_through(&mut self, watched: &[Window]) -> Result<(), InputError> {
        let Some(mut device_grab) = self.device_grab.take() else { return Ok(()) };
        let is_late = device_grab.waited() > SET_FOCUS_AFTER;
        device_grab.let_through(|| self.is_focus_back(watched, is_late))?;
        self.device_grab = Some(device_grab);
        Ok(())
    }

    /// Lets the person go on, as soon as their keys go where they went before.
    fn let_go(&mut self, watched: &[Window]) -> Result<(), InputError> {
        let Some(mut device_grab) = self.device_grab.take() else { return Ok(()) };
        let begun = Instant::now();
        loop {
            let is_late = device_grab.waited() > SET_FOCUS_AFTER;
            if device_grab.let_go(|| self.is_focus_back(watched, is_late))? {
                break;
            }
            if device_grab.waited().max(begun.elapsed()) > LONGEST_DELAY {
                let now = self.look()?;
                if taken(self.link, &now, watched).is_none() {
                    // Somebody else gave the focus to what the person works in now.
                    self.before = now;
                }
                break;
            }
            if !self.give_back(watched)? {
                std::thread::sleep(POLL_INTERVAL);
            }
        }
        Ok(())
    }

    fn look(&self) -> Result<PersonState, InputError> {
        PersonState::look(self.link, self.person)
    }

    /// Sees whether an application took the focus, or the person turned to it.
    fn check(&mut self, watched: &[Window]) -> Result<Option<Window>, InputError> {
        let link = self.link;
        let now = PersonState::look(link, self.person)?;
        let Some(taken) = taken(link, &now, watched) else {
            let is_settled = now.active != Some(0) || self.is_turning();
            if self.device_grab.is_none() && is_settled {
                self.before = now;
            } else if !is_settled {
                self.remind(watched)?;
            }
            return Ok(None);
        };
        if self.is_meant(taken)? {
            return Ok(Some(taken));
        }
        self.hold()?;
        self.give_back(watched)?;
        self.wait_until_settled(taken, watched)?;
        self.let_go(watched)?;
        Ok(None)
    }

    /// Says to a window manager that no window is the active one, as metacity does when one closes that it took for it,
    /// which is: the person works in it.
    fn remind(&mut self, watched: &[Window]) -> Result<(), InputError> {
        let link = self.link;
        settle::window_manager(link, PATIENCE)?;
        let now = PersonState::look(link, self.person)?;
        let Some(mine) = self.before.active else { return Ok(()) };
        if now.active == Some(0) && is_inside(link, now.focus, mine)? {
            self.hold()?;
            restore::give_back(link, self.person, &self.before, &now)?;
            self.let_go(watched)?;
        }
        Ok(())
    }

    /// True when the person did a moment ago what activates a window.
    fn is_turning(&self) -> bool {
        self.last_input.is_some_and(|last_input| last_input.at.elapsed() < RECENT)
    }

    /// Hears that a window is to be activated: for the person, or because its application wants it.
    fn asked(&mut self, window: Window, source: u32, watched: &[Window]) -> Result<(), InputError> {
        let link = self.link;
        if source == restore::FOR_THE_PERSON {
            self.wanted.insert(window);
        } else if watched.iter().any(|known| same_client(link, *known, window)) {
            self.hold()?;
            self.wait_until_settled(window, watched)?;
            self.let_go(watched)?;
        }
        Ok(())
    }

    /// True when the person, or somebody who acts for them, wanted the window to be the active one.
    fn is_meant(&self, active: Window) -> Result<bool, InputError> {
        let link = self.link;
        if self.wanted.contains(&active) {
            return Ok(true);
        }
        let Some(last_input) = self.last_input.filter(|last_input| last_input.at.elapsed() < RECENT) else {
            return Ok(false);
        };
        if last_input.is_key {
            return Ok(true);
        }
        // A press in the window that the person works in activates no other.
        let under = xinput::xi_query_pointer(&link.conn, link.root, self.person.pointer)?.reply()?.child;
        Ok(self
            .before
            .active
            .is_none_or(|mine| frame_of(&link.conn, link.root, mine).ok().flatten() != Some(under)))
    }

    /// Gives the person back what an application took; true when one had.
    fn give_back(&self, watched: &[Window]) -> Result<bool, InputError> {
        let after = self.look()?;
        let is_taken = taken(self.link, &after, watched).is_some();
        if is_taken {
            restore::give_back(self.link, self.person, &self.before, &after)?;
        }
        Ok(is_taken)
    }

    /// A dialog of a window that lies behind the person's lies there too.
    fn put_behind(&self, window: Window) -> Result<(), InputError> {
        let (link, after) = (self.link, self.look()?);
        let Some(mine) = self.before.active else { return Ok(()) };
        let place = |of: Window| after.stack.iter().position(|window| *window == of);
        let (Some(mine_at), Some(new_at)) = (place(mine), place(window)) else { return Ok(()) };
        let owner = link.number(window, AtomEnum::WM_TRANSIENT_FOR.into())?.and_then(place);
        if new_at < mine_at || owner.is_some_and(|owner| owner > mine_at) {
            return Ok(());
        }
        let below: u32 = StackMode::BELOW.into();
        tell(link, window, link.atoms._NET_RESTACK_WINDOW, [restore::FOR_THE_PERSON, mine, below, 0, 0])?;
        settle::window_manager(link, PATIENCE)?;
        Ok(())
    }
}

/// The window of a watched application that has the focus, or is the active one.
fn taken(link: &Link, now: &PersonState, watched: &[Window]) -> Option<Window> {
    let is_of_one = |window: &Window| watched.iter().any(|known| same_client(link, *known, *window));
    let active = now.active.filter(|active| *active != 0 && is_of_one(active));
    active.or(Some(now.focus).filter(|focus| *focus > 1 && is_of_one(focus)))
}
