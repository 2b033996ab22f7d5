//! New windows of an application that an agent works in, from their creation until they are in their place.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xinput;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, PropMode, StackMode, Window,
};
use x11rb::wrapper::ConnectionExt as _;

use super::link::Link;
use super::master::Pair;
use super::person::{self, same_client, tell};
use super::still::{self, Still};
use super::witness::Witness;
use super::{messages, settle};
use crate::InputError;

/// How long the person's devices wait for a window that was made to be shown.
const COMING: Duration = Duration::from_millis(250);
/// How long they wait for the window manager.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long after it is shown a new window may not take the focus.
const YOUTH: Duration = Duration::from_millis(1500);
/// How long ago the person did what activates a window.
const DEED: Duration = Duration::from_millis(700);
/// Rows of the modifier map (core protocol, GetModifierMapping) whose keys switch windows: Control, Mod1, Mod4.
const SWITCHING: [usize; 3] = [2, 3, 6];
/// How long it is believed where the person's pointer is.
const FRESH: Duration = Duration::from_millis(150);
/// How often what was taken is given back, for a program that asks again.
const ATTEMPTS: u32 = 3;

/// What the person pressed last of what can activate a window.
#[derive(Clone, Copy)]
struct Deed {
    at: Instant,
    is_key: bool,
}

/// The new windows, and how the person's things were before them.
pub struct Guests<'a> {
    link: &'a Link,
    person: Pair,
    before: Witness,
    switching: BTreeSet<u8>,
    deed: Option<Deed>,
    /// Windows that somebody who acts for the person asked for.
    wanted: HashSet<Window>,
    /// When each was created, or shown.
    new: HashMap<Window, Guest>,
    still: Option<Still<'a>>,
    /// What the person's pointer was in a moment ago, for the hold to need one request.
    under: Window,
    looked: Instant,
}

#[derive(Clone, Copy)]
struct Guest {
    since: Instant,
    is_shown: bool,
}

impl<'a> Guests<'a> {
    /// Begins with how things are now.
    pub fn new(link: &'a Link, person: Pair) -> Result<Self, InputError> {
        let before = Witness::look(link, person)?;
        let under = still::under(link, person)?;
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
            deed: None,
            wanted: HashSet::new(),
            new: HashMap::new(),
            still: None,
            under,
            looked: Instant::now(),
        })
    }

    /// Hears an event; answers with a window of the `watched` whose application the person turned to.
    pub fn hear(
        &mut self,
        eyes: &Link,
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
                self.expect(eyes, new.window)?;
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
                let is_coming = self.new.get(&changed.window).is_some_and(|guest| !guest.is_shown);
                if is_coming && link.number(changed.window, changed.atom)? != Some(0) {
                    // Qt writes it just before it shows its window, however long it took to make it.
                    self.hold()?;
                    self.quieten(changed.window)?;
                }
            }
            Event::XinputRawButtonPress(_) | Event::XinputRawButtonRelease(_) => {
                self.deed = Some(Deed { at: Instant::now(), is_key: false });
            }
            Event::XinputRawKeyPress(raw) | Event::XinputRawKeyRelease(raw)
                if self.switching.contains(&(raw.detail as u8)) =>
            {
                self.deed = Some(Deed { at: Instant::now(), is_key: true });
            }
            _ => {}
        }
        Ok(None)
    }

    /// Lets the person go on whom a window kept waiting that is not shown, and forgets the windows that are settled.
    pub fn rest(&mut self) -> Result<(), InputError> {
        if self.patience().is_none() {
            self.still = None;
        }
        if self.still.is_none() && self.looked.elapsed() > FRESH {
            self.under = still::under(self.link, self.person)?;
            self.looked = Instant::now();
        }
        let grown: Vec<Window> = self
            .new
            .iter()
            .filter(|(_, guest)| guest.is_shown && guest.since.elapsed() > YOUTH)
            .map(|(window, _)| *window)
            .collect();
        for window in grown {
            self.new.remove(&window);
        }
        Ok(())
    }

    /// How long the person's devices may still wait.
    pub fn patience(&self) -> Option<Duration> {
        let still = self.still.as_ref()?;
        let left = COMING.checked_sub(still.since.elapsed())?;
        self.new.values().any(|guest| !guest.is_shown).then_some(left)
    }

    /// A window that does not want the focus when it is mapped: `_NET_WM_USER_TIME` 0 (EWMH). The person's keys wait
    /// until it is in its place.
    fn expect(&mut self, eyes: &Link, window: Window) -> Result<(), InputError> {
        self.hold()?;
        self.quieten(window)?;
        let focus =
            ChangeWindowAttributesAux::new().event_mask(EventMask::FOCUS_CHANGE | EventMask::PROPERTY_CHANGE);
        eyes.conn.change_window_attributes(window, &focus)?.ignore_error();
        eyes.conn.flush()?;
        self.new.insert(window, Guest { since: Instant::now(), is_shown: false });
        Ok(())
    }

    fn quieten(&self, window: Window) -> Result<(), InputError> {
        let (conn, name) = (&self.link.conn, self.link.atoms._NET_WM_USER_TIME);
        conn.change_property32(PropMode::REPLACE, window, name, AtomEnum::CARDINAL, &[0])?.ignore_error();
        conn.flush()?;
        Ok(())
    }

    fn hold(&mut self) -> Result<(), InputError> {
        // A gesture of the agent's may have held them until now.
        if self.still.as_ref().is_none_or(|still| !still.is_held) {
            let known = Still::hold_over(self.link, self.person, self.under);
            // The window may be gone since.
            self.still = Some(known.or_else(|_| Still::hold(self.link, self.person))?);
        }
        Ok(())
    }

    /// A new window is shown: waits for the window manager, and gives back what the window got.
    fn receive(&mut self, window: Window, watched: &[Window]) -> Result<(), InputError> {
        let link = self.link;
        let Some(guest) = self.new.get_mut(&window).filter(|guest| !guest.is_shown) else { return Ok(()) };
        *guest = Guest { since: Instant::now(), is_shown: true };
        self.hold()?;
        if messages::are_read(link, window)? {
            // Qt asks to be activated once more when it hears that its window is shown.
            settle::twice(link, window, PATIENCE)?;
        }
        // It hears of a focus that it set after it set it.
        settle::window_manager(link, link.own, PATIENCE)?;
        settle::window_manager(link, link.own, PATIENCE)?;
        let after = self.give_back(watched)?;
        self.put_behind(window, &after)?;
        if link.number(window, link.atoms._NET_WM_USER_TIME)? == Some(0) {
            link.conn.delete_property(window, link.atoms._NET_WM_USER_TIME)?.ignore_error();
        }
        link.drain()?;
        self.still = None;
        Ok(())
    }

    /// Sees whether an application took the focus, or the person turned to it.
    fn check(&mut self, watched: &[Window]) -> Result<Option<Window>, InputError> {
        let link = self.link;
        let now = Witness::look(link, self.person)?;
        let Some(taken) = taken(link, &now, watched) else {
            let is_settled = now.active != Some(0) || self.is_turning();
            if self.still.is_none() && is_settled {
                self.before = now;
            } else if !is_settled {
                self.remind()?;
            }
            return Ok(None);
        };
        if self.is_meant(taken)? {
            return Ok(Some(taken));
        }
        self.hold()?;
        self.give_back(watched)?;
        self.still = None;
        Ok(None)
    }

    /// Says to a window manager that no window is the active one, as metacity does when one closes that it took for it,
    /// which is: the person works in it.
    fn remind(&mut self) -> Result<(), InputError> {
        let link = self.link;
        settle::window_manager(link, link.own, PATIENCE)?;
        let now = Witness::look(link, self.person)?;
        let Some(mine) = self.before.active else { return Ok(()) };
        if now.active == Some(0) && messages::is_inside(link, now.focus, mine)? {
            self.hold()?;
            person::give_back(link, self.person, &self.before, &now)?;
            self.still = None;
        }
        Ok(())
    }

    /// True when the person did a moment ago what activates a window.
    fn is_turning(&self) -> bool {
        self.deed.is_some_and(|deed| deed.at.elapsed() < DEED)
    }

    /// Hears that a window is to be activated: for the person, or because its application wants it.
    fn asked(&mut self, window: Window, source: u32, watched: &[Window]) -> Result<(), InputError> {
        let link = self.link;
        if source == person::FOR_THE_PERSON {
            self.wanted.insert(window);
        } else if watched.iter().any(|known| same_client(link, *known, window)) {
            self.hold()?;
            settle::window_manager(link, link.own, PATIENCE)?;
            settle::window_manager(link, link.own, PATIENCE)?;
            self.give_back(watched)?;
            self.still = None;
        }
        Ok(())
    }

    /// True when the person, or somebody who acts for her, wanted the window to be the active one.
    fn is_meant(&self, active: Window) -> Result<bool, InputError> {
        let link = self.link;
        if self.wanted.contains(&active) {
            return Ok(true);
        }
        let Some(deed) = self.deed.filter(|deed| deed.at.elapsed() < DEED) else { return Ok(false) };
        if deed.is_key {
            return Ok(true);
        }
        // A press in the window that she works in activates no other.
        let under = xinput::xi_query_pointer(&link.conn, link.root, self.person.pointer)?.reply()?.child;
        Ok(self.before.active.is_none_or(|mine| frame_of(link, mine).ok() != Some(under)))
    }

    fn give_back(&self, watched: &[Window]) -> Result<Witness, InputError> {
        let (link, person) = (self.link, self.person);
        let mut after = Witness::look(link, person)?;
        for _ in 0..ATTEMPTS {
            if taken(link, &after, watched).is_none() {
                break;
            }
            person::give_back(link, person, &self.before, &after)?;
            after = Witness::look(link, person)?;
        }
        Ok(after)
    }

    /// A dialog of a window that lies behind the person's lies there too.
    fn put_behind(&self, window: Window, after: &Witness) -> Result<(), InputError> {
        let link = self.link;
        let Some(mine) = self.before.active else { return Ok(()) };
        let place = |of: Window| after.stack.iter().position(|window| *window == of);
        let (Some(mine_at), Some(new_at)) = (place(mine), place(window)) else { return Ok(()) };
        let owner = link.number(window, AtomEnum::WM_TRANSIENT_FOR.into())?.and_then(place);
        if new_at < mine_at || owner.is_some_and(|owner| owner > mine_at) {
            return Ok(());
        }
        let below: u32 = StackMode::BELOW.into();
        tell(link, window, link.atoms._NET_RESTACK_WINDOW, [person::FOR_THE_PERSON, mine, below, 0, 0])?;
        settle::window_manager(link, link.own, PATIENCE)
    }
}

/// The window of a watched application that has the focus, or is the active one.
fn taken(link: &Link, now: &Witness, watched: &[Window]) -> Option<Window> {
    let is_of_one = |window: &Window| watched.iter().any(|known| same_client(link, *known, *window));
    let active = now.active.filter(|active| *active != 0 && is_of_one(active));
    active.or(Some(now.focus).filter(|focus| *focus > 1 && is_of_one(focus)))
}

/// The child of the root window that holds a window.
fn frame_of(link: &Link, window: Window) -> Result<Window, InputError> {
    let mut at = window;
    loop {
        let parent = link.conn.query_tree(at)?.reply()?.parent;
        if parent == link.root || parent == x11rb::NONE {
            return Ok(at);
        }
        at = parent;
    }
}
