//! Windows that an application opens because of a gesture, kept from the person's focus; and the application led to
//! the agent's devices meanwhile.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::setpriority_process;
use rustix::thread::gettid;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{self, EventMask as DeviceEventMask, XIEventMask};
use x11rb::protocol::xproto::{
    Atom, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask, Window,
};

use super::arrivals::{Act, Guests};
use super::pretended_focus::{Feigned, Found};
use crate::InputError;
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::connection::toolkit;
use crate::platform::x11::connection::window_tree::{self, same_client};
use crate::platform::x11::devices::pair::Pair;
use crate::platform::x11::devices::parking;

/// How long after a gesture its application is watched: a dialog of an office takes seconds.
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
struct Lease {
    /// The window of the last gesture.
    window: Window,
    /// The process that made it: the server gives the numbers of a client that has gone to the next.
    pid: Option<u32>,
    until: Instant,
}

#[derive(Default)]
struct Book {
    leases: Vec<Lease>,
    /// The last action of an element, which may open something.
    act: Option<Act>,
    /// Windows that are to be told that they have not the focus.
    feigned: Vec<Feigned>,
    is_closed: bool,
    /// How often it was asked whether all is heard.
    asked: u32,
    /// The last question that was met among the events: what happened before it is heard.
    heard: u32,
    /// A new window is on its way to its place.
    is_receiving: bool,
}

struct Post {
    /// Hears what happens.
    eyes: Link,
    /// Does what is done about it: questions of this connection throw its events away.
    hands: Link,
    own: Pair,
    person: Pair,
    /// Where the agent's pointer rests.
    parking: Window,
    book: Mutex<Book>,
    /// From the thread: it has heard more.
    calm: Condvar,
}

/// Watches the applications in which an agent has made gestures a while ago.
///
/// For so long the core requests of such an application go to the agent's devices (`XISetClientPointer`): grabs for
/// menus, and the focus that it takes. A window that it opens is not focused by the window manager, and where it is
/// all the same, the person has the focus back before the next key arrives.
pub struct Porter {
    post: Arc<Post>,
    thread: Option<JoinHandle<()>>,
}

impl Porter {
    /// Begins with nothing to watch.
    pub fn open(
        display: Option<&str>,
        (own, person): (Pair, Pair),
        parking: Window,
    ) -> Result<Self, InputError> {
        let (eyes, hands) = (Link::open(display)?, Link::open(display)?);
        let (book, calm) = (Mutex::default(), Condvar::new());
        let post = Arc::new(Post { eyes, hands, own, person, parking, book, calm });
        post.listen(false)?;
        let thread = std::thread::Builder::new().name("porter".to_owned()).spawn({
            let post = Arc::clone(&post);
            move || post.follow()
        });
        // Without a thread nothing is watched, and what is measured after gestures still holds.
        Ok(Self { post, thread: thread.ok() })
    }

    /// Watches the application of the window from now on; not where the person works in another window of it.
    pub fn watch(&self, window: Window) -> Result<(), InputError> {
        self.post.watch(window)
    }

    /// Waits until everything that has happened so far is heard, and new windows are in their places; does something
    /// every now and then `meanwhile`.
    pub fn catch_up(&self, meanwhile: impl FnMut() -> Result<(), InputError>) -> Result<(), InputError> {
        self.post.catch_up(meanwhile)
    }

    /// Has the person's devices held until [`Porter::end_act`], and until what an element of the watched window is made
    /// to do has opened a window or had the time for it.
    pub fn begin_act(&self, window: Window) -> Result<(), InputError> {
        self.post.expect(window, None);
        self.post.catch_up(|| Ok(()))
    }

    /// What the element was made to do was accepted or refused.
    pub fn end_act(&self) -> Result<(), InputError> {
        if let Some(act) = &mut self.post.lock().act {
            act.done = act.done.or(Some(Instant::now()));
        }
        self.post.ask().map(drop)
    }

    /// A gesture is over whose application has not answered yet: what it may still open is waited for as after an
    /// element's action.
    pub fn linger(&self, window: Window) -> Result<(), InputError> {
        self.post.expect(window, Some(Instant::now()));
        self.post.ask().map(drop)
    }

    /// A gesture begins, which holds the devices itself.
    pub fn forget_act(&self) {
        self.post.lock().act = None;
    }

    /// Windows that believe to have the focus are from now on told otherwise, as soon as their applications have settled
    /// and show no menu.
    pub fn take_over(&self, feigned: Vec<Window>) -> Result<(), InputError> {
        feigned.into_iter().try_for_each(|window| self.post.take_over(window))
    }

    /// The windows that are to be told so yet, which is not done here any more. What is under way goes on until
    /// [`Porter::catch_up`] returns.
    pub fn give_over(&self) -> Vec<Window> {
        std::mem::take(&mut self.post.lock().feigned).into_iter().map(|feigned| feigned.window).collect()
    }

    /// Ends all watches; what was led is led back when this returns.
    pub fn close(&mut self) {
        self.post.lock().is_closed = true;
        // Where the connection is lost the thread has ended.
        let _ = self.post.wake();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to say.
            let _ = thread.join();
        }
    }
}

impl Drop for Porter {
    fn drop(&mut self) {
        self.close();
    }
}

impl Post {
    fn watch(&self, window: Window) -> Result<(), InputError> {
        let (hands, now) = (&self.hands, Instant::now());
        let focus = xinput::xi_get_focus(&hands.conn, self.person.keyboard)?.reply()?.focus;
        if focus > 1 && same_client(hands, focus, window) {
            // Nor is it watched any more, or one that had its ids and is gone.
            let feigned = self.lock().feigned.clone();
            let is_feigned = feigned.iter().any(|feigned| same_client(hands, feigned.window, window));
            return self.end(|lease| same_client(hands, lease.window, window) && !is_feigned);
        }
        let pid = toolkit::process_of(hands, window)?;
        let mut book = self.lock();
        if book.is_closed {
            return Ok(());
        }
        let was_idle = book.leases.is_empty();
        let lease = Lease { window, pid, until: now + WATCH };
        book.leases.retain(|known| known.pid == pid || !same_client(hands, known.window, window));
        match book.leases.iter_mut().find(|known| same_client(hands, known.window, window)) {
            Some(known) => *known = lease,
            None => {
                book.leases.push(lease);
                if toolkit::may_be_led(hands, window)? {
                    xinput::xi_set_client_pointer(&hands.conn, window, self.own.pointer)?.ignore_error();
                    hands.sync()?;
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

    fn take_over(&self, window: Window) -> Result<(), InputError> {
        let is_watched =
            |book: &Book| book.leases.iter().any(|lease| same_client(&self.hands, lease.window, window));
        if !is_watched(&self.lock()) {
            self.watch(window)?;
        }
        let mut book = self.lock();
        // Otherwise the person works in the application, and has given it the focus.
        if is_watched(&book) {
            book.feigned.push(Feigned::new(window));
        }
        drop(book);
        self.wake()
    }

    fn expect(&self, window: Window, done: Option<Instant>) {
        let mut book = self.lock();
        // Where the person works in the same application, it is not watched.
        if book.leases.iter().any(|lease| same_client(&self.hands, lease.window, window)) {
            book.act = Some(Act { window, since: Instant::now(), done });
        }
    }

    /// Puts a question among the events of the thread, and gives its number; none where nobody listens.
    fn ask(&self) -> Result<Option<u32>, InputError> {
        let mut book = self.lock();
        if book.leases.is_empty() || book.is_closed {
            return Ok(None);
        }
        book.asked += 1;
        let asked = book.asked;
        // It takes its place among the events.
        self.send(self.eyes.atoms._BACKLOT_HEARD, asked)?;
        Ok(Some(asked))
    }

    /// Has the thread look what there is to do.
    fn wake(&self) -> Result<(), InputError> {
        self.send(self.eyes.atoms.WM_PROTOCOLS, 0)
    }

    fn send(&self, kind: Atom, number: u32) -> Result<(), InputError> {
        let message = ClientMessageEvent::new(32, self.eyes.own, kind, [number, 0, 0, 0, 0]);
        self.hands.conn.send_event(false, self.eyes.own, EventMask::NO_EVENT, message)?;
        self.hands.conn.flush()?;
        Ok(())
    }

    fn catch_up(&self, mut meanwhile: impl FnMut() -> Result<(), InputError>) -> Result<(), InputError> {
        let Some(asked) = self.ask()? else { return Ok(()) };
        let deadline = Instant::now() + PATIENCE;
        let is_behind = |book: &mut Book| {
            !book.is_closed && !book.leases.is_empty() && (book.heard < asked || book.is_receiving)
        };
        // Where the thread hangs, the window manager does.
        while Instant::now() < deadline {
            let waited = self.calm.wait_timeout_while(self.lock(), ROUND, is_behind);
            if !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out() {
                break;
            }
            meanwhile()?;
        }
        Ok(())
    }

    /// Hears of new windows, of the active window and of what the person presses; always of the screen's size.
    fn listen(&self, listens: bool) -> Result<(), InputError> {
        let (conn, root) = (&self.eyes.conn, self.eyes.root);
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
        self.eyes.sync()
    }

    fn follow(&self) {
        // Where it is permitted: whoever hears first that a window wants the focus has the say.
        let _ = setpriority_process(Some(gettid()), URGENT);
        let _end = End(self);
        loop {
            // A window may be gone when it is asked about: then it begins anew with how things are.
            match self.attend() {
                Ok(()) if self.lock().is_closed => return,
                Err(error) if error.code() == LOST => return,
                Err(_) => {
                    let now = Instant::now();
                    let _ = self.end(|lease| lease.until <= now);
                }
                Ok(()) => {}
            }
        }
    }

    /// Waits until there is something to watch, and watches until nothing is left.
    fn attend(&self) -> Result<(), InputError> {
        while self.is_idle() {
            let mut is_news = false;
            while let Some(event) = self.eyes.conn.poll_for_event()? {
                self.keep_parked(&event)?;
                is_news = true;
            }
            if !is_news {
                self.doze(None)?;
            }
        }
        let mut guests = Guests::new(&self.hands, self.person)?;
        loop {
            let (is_closed, leases) = {
                let book = self.lock();
                (book.is_closed, book.leases.iter().map(|lease| lease.window).collect::<Vec<_>>())
            };
            if is_closed {
                return Ok(());
            }
            let (mut heard, mut is_gone) = (None, false);
            while let Some(event) = self.eyes.conn.poll_for_event()? {
                heard = self.question(&event).or(heard);
                is_gone |= matches!(event, Event::DestroyNotify(_));
                self.keep_parked(&event)?;
                self.lock().feigned.iter_mut().for_each(|feigned| feigned.hear(&self.hands, &event));
                if let Some(left) = guests.hear(&self.eyes, &event, &leases)? {
                    self.end(|lease| same_client(&self.hands, lease.window, left))?;
                }
            }
            if is_gone {
                self.end(|lease| toolkit::process_of(&self.hands, lease.window).ok().flatten() != lease.pid)?;
            }
            self.unfeign(&mut guests, &leases)?;
            let act = self.lock().act;
            let nap = guests.rest(&self.eyes, act, &leases)?;
            self.answer(heard, guests.patience().is_some());
            let (now, feigned) = (Instant::now(), self.lock().feigned.clone());
            self.end(|lease| {
                let is_feigned =
                    feigned.iter().any(|feigned| same_client(&self.hands, feigned.window, lease.window));
                lease.until <= now && !is_feigned && !self.shows_menu(lease.window).unwrap_or(false)
            })?;
            let mut book = self.lock();
            if book.leases.is_empty() {
                book.act = None;
                self.listen(false)?;
                return Ok(());
            }
            drop(book);
            self.doze(Some(nap))?;
        }
    }

    fn is_idle(&self) -> bool {
        let book = self.lock();
        book.leases.is_empty() && !book.is_closed
    }

    /// Takes the agent's pointer off what it came to lie on when the screen became smaller.
    fn keep_parked(&self, event: &Event) -> Result<(), InputError> {
        match event {
            Event::ConfigureNotify(changed) if changed.window == self.eyes.root => {
                parking::park_again(&self.hands, self.parking, self.own.pointer)
            }
            _ => Ok(()),
        }
    }

    /// Tells those windows that they have not the focus whose applications have settled.
    fn unfeign(&self, guests: &mut Guests<'_>, watched: &[Window]) -> Result<(), InputError> {
        let mut settled = Vec::new();
        {
            let mut book = self.lock();
            let mut kept = Vec::new();
            for mut feigned in book.feigned.drain(..) {
                match feigned.look(&self.hands)? {
                    Found::Busy => kept.push(feigned),
                    Found::Settled => settled.push(feigned.window),
                    Found::Gone => {}
                }
            }
            book.feigned = kept;
        }
        for window in settled {
            if !guests.unfeign(window, watched)? {
                self.lock().feigned.push(Feigned::new(window));
            }
        }
        Ok(())
    }

    /// The number of a question whether all is heard.
    fn question(&self, event: &Event) -> Option<u32> {
        match event {
            Event::ClientMessage(message) if message.type_ == self.eyes.atoms._BACKLOT_HEARD => {
                message.data.as_data32().first().copied()
            }
            _ => None,
        }
    }

    fn answer(&self, heard: Option<u32>, is_receiving: bool) {
        let mut book = self.lock();
        book.heard = heard.unwrap_or(book.heard);
        book.is_receiving = is_receiving;
        self.calm.notify_all();
    }

    /// Ends the watches that are over.
    fn end(&self, is_over: impl Fn(&Lease) -> bool) -> Result<(), InputError> {
        let mut book = self.lock();
        let (over, kept) = book.leases.drain(..).partition::<Vec<_>, _>(is_over);
        book.leases = kept;
        over.into_iter().try_for_each(|lease| self.lead_back(lease.window))
    }

    /// Gives the application the person's devices again, where it still has ours.
    fn lead_back(&self, window: Window) -> Result<(), InputError> {
        let conn = &self.hands.conn;
        let led = xinput::xi_get_client_pointer(conn, window)?.reply();
        if led.is_ok_and(|led| led.deviceid == self.own.pointer) {
            xinput::xi_set_client_pointer(conn, window, self.person.pointer)?.ignore_error();
            self.hands.sync()?;
        }
        Ok(())
    }

    fn shows_menu(&self, window: Window) -> Result<bool, InputError> {
        window_tree::menus(&self.hands, window).map(|menus| !menus.is_empty())
    }

    /// Waits for an event, at most for a time of less than a second.
    fn doze(&self, time: Option<Duration>) -> Result<(), InputError> {
        self.eyes.conn.flush()?;
        let mut fds = [PollFd::new(self.eyes.conn.stream(), PollFlags::IN)];
        let time = time.map(|time| Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() });
        // A signal only makes the next look come earlier.
        let _ = poll(&mut fds, time.as_ref());
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends all watches when the thread ends, however it does: nobody waits for it then.
struct End<'a>(&'a Post);

impl Drop for End<'_> {
    fn drop(&mut self) {
        let mut book = self.0.lock();
        book.is_closed = true;
        for lease in std::mem::take(&mut book.leases) {
            // Where the connection is lost, the server has nobody to lead.
            let _ = self.0.lead_back(lease.window);
        }
        drop(book);
        self.0.calm.notify_all();
    }
}
