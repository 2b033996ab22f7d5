//! The thread that watches applications after a gesture: windows that they open are kept from the person's focus, and the
//! agent's pointer is their client pointer meanwhile.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use desktop::x11::Session;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::setpriority_process;
use rustix::thread::gettid;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{self, EventMask as DeviceEventMask, XIEventMask};
use x11rb::protocol::xproto::{
    Atom, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask, Window,
};

use super::arrivals::{ElementAction, NewWindows};
use super::pretended_focus::{Found, PretendedFocus};
use crate::InputError;
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::connection::toolkit;
use crate::platform::x11::connection::window_tree::{self, same_client};
use crate::platform::x11::devices::pair::Pair;
use crate::platform::x11::devices::parking;

/// How long after a gesture its application is watched: LibreOffice takes seconds to open a dialog.
const WATCH: Duration = Duration::from_secs(5);
/// How long a gesture waits for what it opened: longer than that takes to be put in its place.
const PATIENCE: Duration = Duration::from_millis(1500);
/// How long it waits at a time.
const ROUND: Duration = Duration::from_millis(30);

/// The code of the failure of a connection that has ended.
const LOST: &str = "display_lost";

/// The niceness of the thread that watches.
const URGENT: i32 = -15;

/// One watch of an application.
#[derive(Clone, Copy, Debug)]
struct Watch {
    /// The window of the last gesture.
    window: Window,
    /// The process that made it: the server gives the numbers of a client that has gone to the next.
    pid: Option<u32>,
    until: Instant,
}

#[derive(Default)]
struct State {
    watches: Vec<Watch>,
    /// The last action of an element, which may open something.
    element_action: Option<ElementAction>,
    /// Windows that were sent a FocusIn by us, and are to be sent the FocusOut.
    pretended: Vec<PretendedFocus>,
    is_closed: bool,
    /// How often it was asked whether all is heard.
    asked: u32,
    /// The last question that was met among the events: what happened before it is heard.
    heard: u32,
    /// A new window is on its way to its place.
    is_receiving: bool,
    /// A window of the application that the person turned to since the last gesture began.
    turned_to: Option<Window>,
}

struct Shared {
    /// Hears what happens.
    listener: Link,
    /// Does what is done about it: questions of this connection throw its events away.
    requester: Link,
    own: Pair,
    person: Pair,
    /// Where the agent's pointer rests.
    parking: Window,
    state: Mutex<State>,
    /// From the thread: it has heard more.
    progress: Condvar,
}

/// Watches the applications in which an agent has made gestures a while ago.
///
/// For so long the core requests of such an application go to the agent's devices (`XISetClientPointer`): grabs for
/// menus, and the focus that it takes. A window that it opens is not focused by the window manager, and where it is
/// all the same, the person has the focus back before the next key arrives.
pub struct Watcher {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Begins with nothing to watch.
    pub fn open(session: &Session, (own, person): (Pair, Pair), parking: Window) -> Result<Self, InputError> {
        let (listener, requester) = (Link::open(session)?, Link::open(session)?);
        let (state, progress) = (Mutex::default(), Condvar::new());
        let shared = Arc::new(Shared { listener, requester, own, person, parking, state, progress });
        shared.listen(false)?;
        let thread = std::thread::Builder::new().name("new-windows".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.follow()
        });
        // Without a thread nothing is watched, and what is measured after gestures still holds.
        Ok(Self { shared, thread: thread.ok() })
    }

    /// Watches the application of the window from now on; not where the person works in another window of it.
    pub fn watch(&self, window: Window) -> Result<(), InputError> {
        self.shared.watch(window)
    }

    /// Waits until everything that has happened so far is heard, and new windows are in their places; does something
    /// every now and then `meanwhile`.
    pub fn catch_up(&self, meanwhile: impl FnMut() -> Result<(), InputError>) -> Result<(), InputError> {
        self.shared.catch_up(meanwhile)
    }

    /// Has the person's devices held until [`Watcher::end_element_action`], and until what an element of the watched
    /// window is made to do has opened a window or had the time for it.
    pub fn begin_element_action(&self, window: Window) -> Result<(), InputError> {
        self.shared.set_element_action(window, None);
        self.shared.catch_up(|| Ok(()))
    }

    /// What the element was made to do was accepted or refused.
    pub fn end_element_action(&self) -> Result<(), InputError> {
        if let Some(action) = &mut self.shared.lock().element_action {
            action.done = action.done.or(Some(Instant::now()));
        }
        self.shared.ask().map(drop)
    }

    /// A gesture is over whose application has not answered yet: what it may still open is waited for as after an
    /// element's action.
    pub fn expect_late_windows(&self, window: Window) -> Result<(), InputError> {
        self.shared.set_element_action(window, Some(Instant::now()));
        self.shared.ask().map(drop)
    }

    /// A gesture begins, which holds the devices itself.
    pub fn begin_gesture(&self) {
        let mut state = self.shared.lock();
        (state.element_action, state.turned_to) = (None, None);
    }

    /// Watches the application of a window for some time longer than after a gesture that ends now.
    pub fn prolong(&self, window: Window, time: Duration) {
        let until = Instant::now() + time + WATCH;
        let mut state = self.shared.lock();
        let is_of = |watch: &&mut Watch| same_client(&self.shared.requester, watch.window, window);
        state.watches.iter_mut().filter(is_of).for_each(|watch| watch.until = watch.until.max(until));
    }

    /// True where the person has turned to the application of a window since the gesture began.
    pub fn has_turned_to(&self, window: Window) -> bool {
        let turned_to = self.shared.lock().turned_to;
        turned_to.is_some_and(|chosen| same_client(&self.shared.requester, chosen, window))
    }

    /// Windows that were told that they have the focus are from now on told otherwise, as soon as their applications
    /// have settled and show no menu.
    pub fn add_pretended(&self, pretended: Vec<Window>) -> Result<(), InputError> {
        pretended.into_iter().try_for_each(|window| self.shared.add_pretended(window))
    }

    /// The windows that are to be told so yet, which is not done here any more. What is under way goes on until
    /// [`Watcher::catch_up`] returns.
    pub fn take_pretended(&self) -> Vec<Window> {
        std::mem::take(&mut self.shared.lock().pretended)
            .into_iter()
            .map(|pretended| pretended.window)
            .collect()
    }

    /// Ends all watches; the client pointers of the applications are the person's again when this returns.
    pub fn close(&mut self) {
        self.shared.lock().is_closed = true;
        // Where the connection is lost the thread has ended.
        let _ = self.shared.wake();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to say.
            let _ = thread.join();
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn watch(&self, window: Window) -> Result<(), InputError> {
        let (requester, now) = (&self.requester, Instant::now());
        let focus = xinput::xi_get_focus(&requester.conn, self.person.keyboard)?.reply()?.focus;
        if focus > 1 && same_client(requester, focus, window) {
            // Nor is it watched any more, or one that had its ids and is gone.
            let pretended = self.lock().pretended.clone();
            let is_pretended =
                pretended.iter().any(|pretended| same_client(requester, pretended.window, window));
            return self.end(|watch| same_client(requester, watch.window, window) && !is_pretended);
        }
        let pid = toolkit::process_of(requester, window)?;
        let mut state = self.lock();
        if state.is_closed {
            return Ok(());
        }
        let was_idle = state.watches.is_empty();
        let watch = Watch { window, pid, until: now + WATCH };
        state.watches.retain(|known| known.pid == pid || !same_client(requester, known.window, window));
        match state.watches.iter_mut().find(|known| same_client(requester, known.window, window)) {
            Some(known) => *known = watch,
            None => {
                state.watches.push(watch);
                if toolkit::may_be_led(requester, window)? {
                    xinput::xi_set_client_pointer(&requester.conn, window, self.own.pointer)?.ignore_error();
                    requester.sync()?;
                }
            }
        }
        if was_idle {
            self.listen(true)?;
            // After that: what is read meanwhile wakes nobody.
            self.wake()?;
        }
        Ok(())
    }

    fn add_pretended(&self, window: Window) -> Result<(), InputError> {
        let is_watched = |state: &State| {
            state.watches.iter().any(|watch| same_client(&self.requester, watch.window, window))
        };
        if !is_watched(&self.lock()) {
            self.watch(window)?;
        }
        let mut state = self.lock();
        // Otherwise the person works in the application, and has given it the focus.
        if is_watched(&state) {
            state.pretended.push(PretendedFocus::new(window));
        }
        drop(state);
        self.wake()
    }

    fn set_element_action(&self, window: Window, done: Option<Instant>) {
        let mut state = self.lock();
        // Where the person works in the same application, it is not watched.
        if state.watches.iter().any(|watch| same_client(&self.requester, watch.window, window)) {
            state.element_action = Some(ElementAction { window, since: Instant::now(), done });
        }
    }

    /// Puts a question among the events of the thread, and gives its number; none where nobody listens.
    fn ask(&self) -> Result<Option<u32>, InputError> {
        let mut state = self.lock();
        if state.watches.is_empty() || state.is_closed {
            return Ok(None);
        }
        state.asked += 1;
        let asked = state.asked;
        // It takes its place among the events.
        self.send(self.listener.atoms._BACKLOT_HEARD, asked)?;
        Ok(Some(asked))
    }

    /// Has the thread look what there is to do.
    fn wake(&self) -> Result<(), InputError> {
        self.send(self.listener.atoms.WM_PROTOCOLS, 0)
    }

    fn send(&self, kind: Atom, number: u32) -> Result<(), InputError> {
        let message = ClientMessageEvent::new(32, self.listener.own, kind, [number, 0, 0, 0, 0]);
        self.requester.conn.send_event(false, self.listener.own, EventMask::NO_EVENT, message)?;
        self.requester.conn.flush()?;
        Ok(())
    }

    fn catch_up(&self, mut meanwhile: impl FnMut() -> Result<(), InputError>) -> Result<(), InputError> {
        let Some(asked) = self.ask()? else { return Ok(()) };
        let deadline = Instant::now() + PATIENCE;
        let is_behind = |state: &mut State| {
            !state.is_closed && !state.watches.is_empty() && (state.heard < asked || state.is_receiving)
        };
        // Where the thread hangs, the window manager does.
        while Instant::now() < deadline {
            let waited = self.progress.wait_timeout_while(self.lock(), ROUND, is_behind);
            if !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out() {
                break;
            }
            meanwhile()?;
        }
        Ok(())
    }

    /// Hears of new windows, of the active window and of what the person presses; always of the screen's size.
    fn listen(&self, listens: bool) -> Result<(), InputError> {
        let (conn, root) = (&self.listener.conn, self.listener.root);
        let events =
            EventMask::STRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_NOTIFY | EventMask::PROPERTY_CHANGE;
        let events = if listens { events } else { EventMask::STRUCTURE_NOTIFY };
        conn.change_window_attributes(root, &ChangeWindowAttributesAux::new().event_mask(events))?;
        let raw = |mask: XIEventMask| if listens { mask } else { XIEventMask::from(0u32) };
        let buttons = raw(XIEventMask::RAW_BUTTON_PRESS | XIEventMask::RAW_BUTTON_RELEASE);
        let keys = raw(XIEventMask::RAW_KEY_PRESS | XIEventMask::RAW_KEY_RELEASE);
        let masks = [
            DeviceEventMask { deviceid: self.person.pointer, mask: vec![buttons] },
            DeviceEventMask { deviceid: self.person.keyboard, mask: vec![keys] },
        ];
        xinput::xi_select_events(conn, root, &masks)?;
        self.listener.sync()
    }

    fn follow(&self) {
        // Where it is permitted: whoever hears first that a window wants the focus has the say.
        let _ = setpriority_process(Some(gettid()), URGENT);
        let _end = End(self);
        loop {
            // A window may be gone when it is asked about: then it begins anew with how things are.
            match self.watch_new_windows() {
                Ok(()) if self.lock().is_closed => return,
                Err(error) if error.code() == LOST => return,
                Err(_) => {
                    // Its application may be gone as well, and nothing else says so once the event was read.
                    let now = Instant::now();
                    let _ = self.end(|watch| watch.until <= now || self.is_orphan(watch));
                }
                Ok(()) => {}
            }
        }
    }

    /// Waits until there is something to watch, and watches until nothing is left.
    fn watch_new_windows(&self) -> Result<(), InputError> {
        self.wait_for_watch()?;
        let mut new_windows = NewWindows::new(&self.requester, self.person)?;
        loop {
            let (is_closed, watches) = {
                let state = self.lock();
                (state.is_closed, state.watches.iter().map(|watch| watch.window).collect::<Vec<_>>())
            };
            if is_closed {
                return Ok(());
            }
            let (mut heard, mut is_gone) = (None, false);
            while let Some(event) = self.listener.conn.poll_for_event()? {
                heard = self.question(&event).or(heard);
                is_gone |= matches!(event, Event::DestroyNotify(_));
                self.keep_parked(&event)?;
                self.lock()
                    .pretended
                    .iter_mut()
                    .for_each(|pretended| pretended.hear(&self.requester, &event));
                if let Some(left) = new_windows.hear(&self.listener, &event, &watches)? {
                    self.lock().turned_to = Some(left);
                    self.end(|watch| same_client(&self.requester, watch.window, left))?;
                }
            }
            if is_gone {
                self.end(|watch| self.is_orphan(watch))?;
            }
            self.end_pretence(&mut new_windows, &watches)?;
            let action = self.lock().element_action;
            let nap = new_windows.rest(&self.listener, action, &watches)?;
            self.answer(heard, new_windows.patience().is_some());
            self.end_due()?;
            let mut state = self.lock();
            if state.watches.is_empty() {
                state.element_action = None;
                self.listen(false)?;
                return Ok(());
            }
            drop(state);
            self.doze(Some(nap))?;
        }
    }

    /// Waits until there is something to watch; meanwhile the agent's pointer stays parked.
    fn wait_for_watch(&self) -> Result<(), InputError> {
        while self.is_idle() {
            let mut is_news = false;
            while let Some(event) = self.listener.conn.poll_for_event()? {
                self.keep_parked(&event)?;
                is_news = true;
            }
            if !is_news {
                self.doze(None)?;
            }
        }
        Ok(())
    }

    /// Ends the watches whose time is over, but for applications that show a menu or have a window that was told that
    /// it has the focus.
    fn end_due(&self) -> Result<(), InputError> {
        let (now, pretended) = (Instant::now(), self.lock().pretended.clone());
        self.end(|watch| {
            let is_pretended = pretended
                .iter()
                .any(|pretended| same_client(&self.requester, pretended.window, watch.window));
            watch.until <= now && !is_pretended && !self.shows_menu(watch.window).unwrap_or(false)
        })
    }

    fn is_idle(&self) -> bool {
        let state = self.lock();
        state.watches.is_empty() && !state.is_closed
    }

    /// Takes the agent's pointer off what it came to lie on when the screen became smaller.
    fn keep_parked(&self, event: &Event) -> Result<(), InputError> {
        match event {
            Event::ConfigureNotify(changed) if changed.window == self.listener.root => {
                parking::park_again(&self.requester, self.parking, self.own.pointer)
            }
            _ => Ok(()),
        }
    }

    /// Tells those windows that they have not the focus whose applications have settled.
    fn end_pretence(&self, new_windows: &mut NewWindows<'_>, watched: &[Window]) -> Result<(), InputError> {
        let mut settled = Vec::new();
        {
            let mut state = self.lock();
            let mut kept = Vec::new();
            for mut pretended in state.pretended.drain(..) {
                match pretended.look(&self.requester)? {
                    Found::Busy => kept.push(pretended),
                    Found::Settled => settled.push(pretended.window),
                    Found::Gone => {}
                }
            }
            state.pretended = kept;
        }
        for window in settled {
            if !new_windows.end_pretence(window, watched)? {
                self.lock().pretended.push(PretendedFocus::new(window));
            }
        }
        Ok(())
    }

    /// The number of a question whether all is heard.
    fn question(&self, event: &Event) -> Option<u32> {
        match event {
            Event::ClientMessage(message) if message.type_ == self.listener.atoms._BACKLOT_HEARD => {
                message.data.as_data32().first().copied()
            }
            _ => None,
        }
    }

    fn answer(&self, heard: Option<u32>, is_receiving: bool) {
        let mut state = self.lock();
        state.heard = heard.unwrap_or(state.heard);
        state.is_receiving = is_receiving;
        self.progress.notify_all();
    }

    /// Ends the watches that are over.
    fn end(&self, is_over: impl Fn(&Watch) -> bool) -> Result<(), InputError> {
        let mut state = self.lock();
        let (over, kept) = state.watches.drain(..).partition::<Vec<_>, _>(is_over);
        state.watches = kept;
        over.into_iter().try_for_each(|watch| self.lead_back(watch.window))
    }

    /// True when the application of a watch has ended: the server may have given the numbers of its windows to the next.
    fn is_orphan(&self, watch: &Watch) -> bool {
        toolkit::process_of(&self.requester, watch.window).ok().flatten() != watch.pid
    }

    /// Gives the application the person's devices again, where it still has ours.
    fn lead_back(&self, window: Window) -> Result<(), InputError> {
        let conn = &self.requester.conn;
        let led = xinput::xi_get_client_pointer(conn, window)?.reply();
        if led.is_ok_and(|led| led.deviceid == self.own.pointer) {
            xinput::xi_set_client_pointer(conn, window, self.person.pointer)?.ignore_error();
            self.requester.sync()?;
        }
        Ok(())
    }

    fn shows_menu(&self, window: Window) -> Result<bool, InputError> {
        window_tree::menus(&self.requester, window).map(|menus| !menus.is_empty())
    }

    /// Waits for an event, at most for a time of less than a second.
    fn doze(&self, time: Option<Duration>) -> Result<(), InputError> {
        self.listener.conn.flush()?;
        let mut fds = [PollFd::new(self.listener.conn.stream(), PollFlags::IN)];
        let time = time.map(|time| Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() });
        // A signal only makes the next look come earlier.
        let _ = poll(&mut fds, time.as_ref());
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends all watches when the thread ends, however it does: nobody waits for it then.
struct End<'a>(&'a Shared);

impl Drop for End<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_closed = true;
        for watch in std::mem::take(&mut state.watches) {
            // Where the connection is lost, the server has nobody to lead.
            let _ = self.0.lead_back(watch.window);
        }
        drop(state);
        self.0.progress.notify_all();
    }
}
