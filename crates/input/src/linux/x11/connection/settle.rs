//! Knowing that an application or the window manager has done what was sent to it before.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use desktop::stat::StatFile;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask,
    Window, WindowClass,
};

use super::link::Link;
use super::toolkit::{answers_pings, process_of, reads_messages};
use crate::InputError;
use crate::platform::process::{SLEEPING, process_state, turns};
use crate::platform::x11::person::device_grab;

/// Time that an application of another machine without `_NET_WM_PING` gets for what it has in its queue.
const UNSEEN: Duration = Duration::from_millis(500);
/// How often in a row a process must be found in the same sleep until it counts as waiting for events.
const ASLEEP: u32 = 12;
const POLL_SLEEP: Duration = Duration::from_millis(1);
/// Time between two looks at a process that is to fall asleep, and what each further one is longer by, up to a limit: who looks takes
/// time from who works.
const FIRST_LOOK: Duration = Duration::from_micros(100);
const LONGEST_LOOK: Duration = Duration::from_millis(2);
/// How often somebody who waits lets arrive what the person does.
const LET_THROUGH: Duration = Duration::from_millis(5);

/// The time in a ping of ours, by which window managers know the answers to their own: those of xfwm4, metacity and kwin
/// carry the server's time of their asking, those of openbox small numbers. 0 would not do: xfwm4 complains of it, and kwin
/// holds it for an answer to a ping that it has given up.
const OUR_TIME: u32 = u32::MAX - 1;

/// How many pings were sent: they come back as they were sent.
static PINGS: AtomicU32 = AtomicU32::new(0);

/// Waits until the application that owns the window has taken everything from its queue, for at most
/// `patience`. Of one that does not know `_NET_WM_PING` the process is watched until it sleeps, where
/// `thorough` asks for it. False when an answer is still to come.
pub fn application(
    link: &Link,
    window: Window,
    patience: Duration,
    thorough: bool,
) -> Result<bool, InputError> {
    if answers_pings(link, window)? {
        return ping(link, BTreeSet::from([window]), patience);
    }
    if thorough {
        match process_of(link, window)? {
            Some(pid) => asleep(link, pid, patience)?,
            None => pause(link, UNSEEN.min(patience))?,
        }
    }
    Ok(true)
}

/// Waits until the application has also done what it only queued when it took its events: Qt answers a ping while it
/// reads, and acts on what it has read afterwards. So it answers, goes to sleep, and answers again. False when an answer
/// is still to come.
pub fn twice(link: &Link, window: Window, patience: Duration) -> Result<bool, InputError> {
    let deadline = Instant::now() + patience;
    if !application(link, window, patience, false)? {
        return Ok(false);
    }
    if let Some(process) = process_of(link, window)?.and_then(StatFile::of_process) {
        let mut time = FIRST_LOOK;
        while process.read().is_some_and(|stat| stat.state != SLEEPING) && Instant::now() < deadline {
            pause(link, time)?;
            time = time.mul_f32(1.5).min(LONGEST_LOOK);
        }
    }
    application(link, window, deadline.saturating_duration_since(Instant::now()), false)
}

/// Waits until the window's application has done what it was sent, for at most `patience`; false when it has not.
pub fn by_toolkit(link: &Link, window: Window, patience: Duration) -> Result<bool, InputError> {
    if reads_messages(link, window)? {
        twice(link, window, patience)
    } else {
        application(link, window, patience, false)
    }
}

/// A process that has events to read runs, or waits for a processor; one that stays in one sleep while the server
/// answers us again and again has none. One that asks the server while it reads sleeps too, again and again.
fn asleep(link: &Link, pid: u32, patience: Duration) -> Result<(), InputError> {
    let deadline = Instant::now() + patience;
    let (mut found, mut sleep) = (0, None);
    while found < ASLEEP && Instant::now() < deadline {
        link.sync()?;
        pause(link, POLL_SLEEP)?;
        let now = process_state(pid).filter(|state| *state == SLEEPING).and_then(|_| turns(pid));
        found = if now.is_some() && now == sleep { found + 1 } else { 0 };
        sleep = now;
    }
    Ok(())
}

/// Waits until every application with a window has taken everything from its queue, for at most `patience`;
/// false when one has not.
pub fn everyone(link: &Link, patience: Duration) -> Result<bool, InputError> {
    let list = link.atoms._NET_CLIENT_LIST_STACKING;
    let clients = link.conn.get_property(false, link.root, list, AtomEnum::WINDOW, 0, 4096)?.reply()?;
    let mut asked = BTreeSet::new();
    for window in clients.value32().into_iter().flatten() {
        if answers_pings(link, window)? {
            asked.insert(window);
        }
    }
    ping(link, asked, patience)
}

/// Asks by the window manager protocol's `_NET_WM_PING`, which applications answer in the order of their
/// queue.
fn ping(link: &Link, mut asked: BTreeSet<Window>, patience: Duration) -> Result<bool, InputError> {
    let listening = |mask| ChangeWindowAttributesAux::new().event_mask(mask);
    // EWMH asks for the first; Qt sends its answers to those who watch the root window itself.
    let answers = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::STRUCTURE_NOTIFY;
    let conn = &link.conn;
    conn.change_window_attributes(link.root, &listening(answers))?;
    // An application that was given up may answer yet.
    let number = next_ping();
    for window in &asked {
        send_ping(link, *window, number)?;
    }
    let answered = asked.is_empty()
        || wait(link, patience, |event| {
            if let Some((window, _)) = answer_of(link, event).filter(|(_, answered)| *answered == number) {
                asked.remove(&window);
            }
            asked.is_empty()
        })?;
    conn.change_window_attributes(link.root, &listening(EventMask::NO_EVENT))?;
    link.drain()?;
    Ok(answered)
}

/// The number of a new ping.
pub fn next_ping() -> u32 {
    PINGS.fetch_add(1, Ordering::Relaxed)
}

/// Asks an application by its window whether it has read what was sent to it before.
pub fn send_ping(link: &Link, window: Window, number: u32) -> Result<(), InputError> {
    let atoms = &link.atoms;
    let data = [atoms._NET_WM_PING, OUR_TIME, window, number, 0];
    let ping = ClientMessageEvent::new(32, window, atoms.WM_PROTOCOLS, data);
    link.conn.send_event(false, window, EventMask::NO_EVENT, ping)?;
    Ok(())
}

/// The window that was asked and the number of the ping, if the event is an answer.
pub fn answer_of(link: &Link, event: &Event) -> Option<(Window, u32)> {
    let Event::ClientMessage(message) = event else { return None };
    let [kind, _, window, number, _] = message.data.as_data32();
    (message.window == link.root && kind == link.atoms._NET_WM_PING).then_some((window, number))
}

/// True when the process that made the window waits for something, or cannot be seen.
pub fn is_asleep(link: &Link, window: Window) -> Result<bool, InputError> {
    let state = process_of(link, window)?.and_then(process_state);
    Ok(state.is_none_or(|state| state == SLEEPING))
}

/// Waits until the window manager has done what it was asked before, for at most `patience`: it answers
/// `_NET_REQUEST_FRAME_EXTENTS` in order, by a property of the window that it is asked about. One that does
/// not know the request gets no time. False when its answer is still to come.
pub fn window_manager(link: &Link, patience: Duration) -> Result<bool, InputError> {
    let atoms = &link.atoms;
    let supported =
        link.conn.get_property(false, link.root, atoms._NET_SUPPORTED, AtomEnum::ATOM, 0, 1024)?.reply()?;
    let mut names = supported.value32().into_iter().flatten();
    if !names.any(|name| name == atoms._NET_REQUEST_FRAME_EXTENTS) {
        return Ok(true);
    }
    // A window for each question: an answer that was given up may come yet.
    let (asked, masks) =
        (link.conn.generate_id()?, CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE));
    let (depth, visual, kind) =
        (x11rb::COPY_DEPTH_FROM_PARENT, x11rb::COPY_FROM_PARENT, WindowClass::INPUT_OUTPUT);
    link.conn.create_window(depth, asked, link.root, 0, 0, 1, 1, 0, kind, visual, &masks)?;
    let request = ClientMessageEvent::new(32, asked, atoms._NET_REQUEST_FRAME_EXTENTS, [0; 5]);
    let to_manager = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
    link.conn.send_event(false, link.root, to_manager, request)?;
    let has_answered = wait(link, patience, |event| match event {
        Event::PropertyNotify(changed) => changed.window == asked && changed.atom == atoms._NET_FRAME_EXTENTS,
        _ => false,
    })?;
    link.conn.destroy_window(asked)?;
    link.drain()?;
    Ok(has_answered)
}

fn wait(link: &Link, patience: Duration, mut meant: impl FnMut(&Event) -> bool) -> Result<bool, InputError> {
    link.conn.flush()?;
    let deadline = Instant::now() + patience;
    loop {
        while let Some(event) = link.conn.poll_for_event()? {
            if meant(&event) {
                return Ok(true);
            }
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        await_event(link, left.min(LET_THROUGH));
        device_grab::let_through(link)?;
    }
}

/// Waits until the server has sent something, for a time of less than a second.
fn await_event(link: &Link, time: Duration) {
    let time = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
    // A signal only makes the next look come earlier; what is wrong with the connection it finds.
    let _ = poll(&mut [PollFd::new(link.conn.stream(), PollFlags::IN)], Some(&time));
}

/// Waits for a time, and lets arrive what the person does meanwhile.
pub fn pause(link: &Link, time: Duration) -> Result<(), InputError> {
    let until = Instant::now() + time;
    loop {
        device_grab::let_through(link)?;
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(LET_THROUGH));
    }
}
