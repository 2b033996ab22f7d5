//! One connection: a writer shared by callers, and a thread that reads replies and signals.

use std::collections::{HashMap, HashSet};
use std::io::{ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use desktop::stat::{SLEEPING, StatFile};
use rustix::net::sockopt::socket_peercred;

use super::address;
use super::authentication::authenticate;
use super::locking::lock;
use super::message::{Call, Kind, Message};
use super::outgoing::Outgoing;
use super::wire::{Malformed, Writer};
use crate::platform::bus::limit::{CANCELLED_WITHIN, Limit};

/// Calls in flight on one connection: more makes libdbus in the application slower, fewer costs round trips.
const WINDOW: usize = 128;
/// Bytes asked of the socket at once.
const READ_CHUNK: usize = 128 << 10;

/// Most calls whose late replies are still expected.
const MANY_OVERDUE: usize = 4_096;

static ROUND_TRIPS: AtomicU32 = AtomicU32::new(0);

/// How often this process has waited for replies on any accessibility connection, wrapping: calls in flight together count once.
pub fn round_trips() -> u32 {
    ROUND_TRIPS.load(Ordering::Relaxed)
}

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError {
    /// The other side answered with an error.
    Remote {
        /// Error name, such as `org.freedesktop.DBus.Error.UnknownMethod`.
        name: String,
        /// Its text.
        text: String,
    },
    /// No answer before the deadline.
    TimedOut,
    /// The connection is closed.
    Closed(String),
}

impl From<Malformed> for CallError {
    fn from(error: Malformed) -> Self {
        Self::Closed(error.to_string())
    }
}

type Reply = Result<Message, CallError>;
type OnSignal = Box<dyn Fn(&Message) + Send>;

/// The replies of one `call_all`, filled by the reader.
#[derive(Default)]
struct Batch {
    progress: Mutex<Progress>,
    changed: Condvar,
}

#[derive(Default)]
struct Progress {
    replies: Vec<Option<Reply>>,
    done: usize,
    wake_at: usize,
}

#[derive(Default)]
struct Pending {
    calls: HashMap<u32, (Arc<Batch>, usize)>,
    /// Serials of calls that nobody waits for any longer and that have no reply yet.
    overdue: HashSet<u32>,
    closed: Option<String>,
}

struct Shared {
    outgoing: Outgoing,
    pending: Mutex<Pending>,
    /// False while the reader waits for the socket.
    handling: AtomicBool,
    /// The `stat` file of the reader's thread.
    reader: OnceLock<StatFile>,
}

/// An authenticated D-Bus connection; closed when dropped.
pub struct Connection {
    shared: Arc<Shared>,
    socket: UnixStream,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
    }
}

impl Connection {
    /// Connects, authenticates as the own user and starts the reader; `on_signal` runs on the reader's thread.
    pub fn open(addresses: &str, limit: &Limit, on_signal: OnSignal) -> std::io::Result<Self> {
        let stream = address::connect(addresses, Path::new("/"), limit)?;
        Self::over(stream, limit, on_signal)
    }

    /// Connects as [`Connection::open`] does to an address as the process `pid` sees it, paths leading from its root
    /// folder; fails with `PermissionDenied` when another process listens there.
    pub fn open_of(pid: u32, addresses: &str, limit: &Limit, on_signal: OnSignal) -> std::io::Result<Self> {
        let root = PathBuf::from(format!("/proc/{pid}/root"));
        let mut last = std::io::Error::from(ErrorKind::PermissionDenied);
        for root in [Path::new("/"), &root] {
            match address::connect(addresses, root, limit) {
                Ok(stream) if peer(&stream) == Some(pid) => return Self::over(stream, limit, on_signal),
                Ok(_) => {}
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn over(mut stream: UnixStream, limit: &Limit, on_signal: OnSignal) -> std::io::Result<Self> {
        authenticate(&mut stream, limit)?;
        stream.set_read_timeout(None)?;
        let socket = stream.try_clone()?;
        let incoming = stream.try_clone()?;
        let shared = Arc::new(Shared {
            outgoing: Outgoing::new(stream)?,
            pending: Mutex::new(Pending::default()),
            handling: AtomicBool::new(true),
            reader: OnceLock::new(),
        });
        let reader = Arc::clone(&shared);
        std::thread::Builder::new().name("ax-bus".into()).spawn(move || {
            if let Some(stat) = StatFile::at(Path::new("/proc/thread-self/stat")) {
                let _ = reader.reader.set(stat);
            }
            let reason = reader.read(incoming, &on_signal);
            reader.finish(&reason);
        })?;
        Ok(Self { shared, socket })
    }

    /// Ends the connection; calls in flight fail.
    pub fn close(&self) {
        // Failure means that the other side has closed it already.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        self.shared.finish("it was closed");
    }

    /// True when the connection has ended.
    pub fn is_closed(&self) -> bool {
        lock(&self.shared.pending).closed.is_some()
    }

    /// True while a call has no reply for which nobody waits any longer.
    pub fn is_stuck(&self) -> bool {
        !lock(&self.shared.pending).overdue.is_empty()
    }

    /// True when everything that has reached the socket has been handled: its reader sleeps on it.
    pub fn is_drained(&self) -> bool {
        let sleeps = |stat: &StatFile| stat.read().is_some_and(|stat| stat.state == SLEEPING);
        !self.shared.handling.load(Ordering::SeqCst) && self.shared.reader.get().is_some_and(sleeps)
    }

    /// Makes one call and waits for its reply.
    pub fn call(&self, call: Call<'_>, limit: &Limit) -> Reply {
        self.call_all(std::slice::from_ref(&call), limit).pop().unwrap_or(Err(CallError::TimedOut))
    }

    /// Makes all calls, many in flight at once, and answers their replies in the same order; gives up those that are in
    /// flight when they are cancelled.
    pub fn call_all(&self, calls: &[Call<'_>], limit: &Limit) -> Vec<Reply> {
        ROUND_TRIPS.fetch_add(1, Ordering::Relaxed);
        let batch = Arc::new(Batch::default());
        lock(&batch.progress).replies = (0..calls.len()).map(|_| None).collect();
        let mut sent = 0;
        let mut done = 0;
        while done < calls.len() {
            let in_flight = sent - done;
            if sent < calls.len() && in_flight <= WINDOW / 2 {
                let end = calls.len().min(sent + WINDOW - in_flight);
                if let Err(error) = self.send(&calls[sent..end], sent, &batch, limit) {
                    return self.abandon(&batch, &error);
                }
                sent = end;
            }
            let wake_at = if sent < calls.len() { sent - WINDOW / 2 } else { sent };
            let mut progress = lock(&batch.progress);
            progress.wake_at = wake_at;
            while progress.done < wake_at {
                let left = limit.left();
                if left.is_zero() {
                    drop(progress);
                    return self.abandon(&batch, &CallError::TimedOut);
                }
                progress = batch
                    .changed
                    .wait_timeout(progress, left.min(CANCELLED_WITHIN))
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
            }
            done = progress.done;
        }
        self.abandon(&batch, &CallError::TimedOut)
    }

    /// Takes the replies of a batch, `error` standing for those that are missing, and forgets its calls.
    fn abandon(&self, batch: &Arc<Batch>, error: &CallError) -> Vec<Reply> {
        let replies = std::mem::take(&mut lock(&batch.progress).replies);
        if replies.iter().any(Option::is_none) {
            let mut pending = lock(&self.shared.pending);
            let Pending { calls, overdue, .. } = &mut *pending;
            for (serial, _) in calls.extract_if(|_, (owner, _)| Arc::ptr_eq(owner, batch)) {
                if overdue.len() < MANY_OVERDUE {
                    overdue.insert(serial);
                }
            }
        }
        replies.into_iter().map(|reply| reply.unwrap_or_else(|| Err(error.clone()))).collect()
    }

    fn send(
        &self,
        calls: &[Call<'_>],
        first: usize,
        batch: &Arc<Batch>,
        limit: &Limit,
    ) -> Result<(), CallError> {
        let mut bytes = Vec::with_capacity(calls.len() * 224);
        let Some(mut turn) = self.shared.outgoing.turn(limit) else { return Err(CallError::TimedOut) };
        {
            let mut pending = lock(&self.shared.pending);
            if let Some(reason) = &pending.closed {
                return Err(CallError::Closed(reason.clone()));
            }
            for (offset, call) in calls.iter().enumerate() {
                let serial = turn.next_serial();
                call.encode(serial, &mut bytes);
                pending.calls.insert(serial, (Arc::clone(batch), first + offset));
            }
        }
        let written = turn.write(&bytes, limit);
        drop(turn);
        written.map_err(|error| {
            self.close();
            match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => CallError::TimedOut,
                _ => CallError::Closed(error.to_string()),
            }
        })
    }
}

/// The process that listens at the other end; none where that is not known.
fn peer(stream: &UnixStream) -> Option<u32> {
    let pid = socket_peercred(stream).ok()?.pid.as_raw_nonzero().get();
    u32::try_from(pid).ok().filter(|pid| *pid != 0)
}

impl Shared {
    /// Reads until the connection ends; answers why it did.
    fn read(&self, mut stream: UnixStream, on_signal: &OnSignal) -> String {
        let mut buffer = vec![0_u8; READ_CHUNK];
        let (mut start, mut end) = (0, 0);
        loop {
            match self.take_messages(&buffer[start..end], on_signal) {
                Ok((used, needed)) => {
                    start += used;
                    if start > 0 {
                        buffer.copy_within(start..end, 0);
                        end -= start;
                        start = 0;
                    }
                    if buffer.len() < needed.max(end + READ_CHUNK / 2) {
                        buffer.resize(needed.max(end + READ_CHUNK), 0);
                    } else if end == 0 && buffer.len() > READ_CHUNK * 64 {
                        buffer = vec![0; READ_CHUNK];
                    }
                }
                Err(error) => return error.to_string(),
            }
            self.handling.store(false, Ordering::SeqCst);
            let read = stream.read(&mut buffer[end..]);
            self.handling.store(true, Ordering::SeqCst);
            match read {
                Ok(0) => return "the other side closed it".into(),
                Ok(count) => end += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.to_string(),
            }
        }
    }

    /// Handles every whole message; answers the bytes used and the size of the message that is still incomplete.
    fn take_messages(&self, bytes: &[u8], on_signal: &OnSignal) -> Result<(usize, usize), Malformed> {
        let mut used = 0;
        while let Some(size) = Message::size(&bytes[used..])? {
            let Some(whole) = bytes.get(used..used + size) else { return Ok((used, size)) };
            let message = Message::decode(whole)?;
            used += size;
            match message.kind {
                Kind::Return | Kind::Error => self.deliver(message),
                Kind::Signal => on_signal(&message),
                Kind::Call if !message.no_reply => self.refuse(&message),
                Kind::Call | Kind::Other => {}
            }
        }
        Ok((used, 0))
    }

    fn deliver(&self, message: Message) {
        let mut pending = lock(&self.pending);
        let Some((batch, index)) = pending.calls.remove(&message.reply_serial) else {
            pending.overdue.remove(&message.reply_serial);
            return;
        };
        drop(pending);
        let reply = if message.kind == Kind::Error {
            let text = message.body().string().unwrap_or_default().to_owned();
            Err(CallError::Remote { name: message.error_name, text })
        } else {
            Ok(message)
        };
        batch.fill(index, reply);
    }

    /// Answers a call that somebody makes on us: nothing is offered here.
    fn refuse(&self, call: &Message) {
        let mut header = Writer::default();
        header.byte(b'l').byte(3).byte(1).byte(1).u32(0).u32(u32::MAX).u32(0);
        header.byte(4).signature("s").string("org.freedesktop.DBus.Error.UnknownMethod").align(8);
        header.byte(5).signature("u").u32(call.serial);
        if !call.sender.is_empty() {
            header.align(8).byte(6).signature("s").string(&call.sender);
        }
        let fields = u32::try_from(header.bytes.len() - super::message::FIXED_HEADER).unwrap_or(u32::MAX);
        header.bytes[12..16].copy_from_slice(&fields.to_le_bytes());
        header.align(8);
        // Replies must not wait: with a peer that reads nothing, a caller on us gets no answer.
        let now = Limit::until(Instant::now());
        if let Some(mut turn) = self.outgoing.turn(&now) {
            // A caller that cannot be answered has gone; the reader notices by itself.
            let _ = turn.write(&header.bytes, &now);
        }
    }

    /// Fails every call in flight and every later one.
    fn finish(&self, reason: &str) {
        let calls = {
            let mut pending = lock(&self.pending);
            pending.closed.get_or_insert_with(|| reason.to_owned());
            pending.overdue.clear();
            std::mem::take(&mut pending.calls)
        };
        for (batch, index) in calls.into_values() {
            batch.fill(index, Err(CallError::Closed(reason.to_owned())));
        }
    }
}

impl Batch {
    fn fill(&self, index: usize, reply: Reply) {
        let mut progress = lock(&self.progress);
        if let Some(slot @ None) = progress.replies.get_mut(index) {
            *slot = Some(reply);
            progress.done += 1;
            if progress.done >= progress.wake_at {
                self.changed.notify_all();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixListener;
    use std::time::Duration;

    use super::*;

    /// A peer that authenticates anybody, reads the first call and then does as it is told.
    fn peer(then: impl FnOnce(UnixStream) + Send + 'static) -> Connection {
        let name = format!("backlot-ax-{}-{:?}", std::process::id(), std::thread::current().id());
        let path = std::env::temp_dir().join(name.replace(['(', ')'], "-"));
        let listener = UnixListener::bind(&path).unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut received = [0; 4096];
            let mut count = stream.read(&mut received).unwrap();
            assert!(received[..count].starts_with(b"\0AUTH EXTERNAL "));
            stream.write_all(b"OK 0123\r\n").unwrap();
            count = stream.read(&mut received).unwrap();
            assert!(received[..count].starts_with(b"BEGIN"));
            if count == b"BEGIN\r\n".len() {
                let _ = stream.read(&mut received);
            }
            then(stream);
        });
        let address = format!("unix:path={}", path.display());
        let connection = Connection::open(&address, &soon(60_000), Box::new(|_| {})).unwrap();
        std::fs::remove_file(path).unwrap();
        connection
    }

    fn soon(milliseconds: u64) -> Limit {
        Limit::until(Instant::now() + Duration::from_millis(milliseconds))
    }

    fn ping(connection: &Connection, limit: Limit) -> Reply {
        let interface = "org.freedesktop.DBus.Peer";
        let call = Call { destination: None, path: "/", interface, member: "Ping", signature: "", body: &[] };
        connection.call(call, &limit)
    }

    #[test]
    fn garbage_ends_the_connection_and_not_the_process() {
        let connection = peer(|mut stream| {
            let _ = stream.write_all(&[b'l'; 4000]);
        });
        assert!(matches!(ping(&connection, soon(60_000)), Err(CallError::Closed(_))));
        assert!(connection.is_closed());
        assert!(matches!(ping(&connection, soon(60_000)), Err(CallError::Closed(_))));
    }

    #[test]
    fn a_peer_that_hangs_up_fails_the_call() {
        let connection = peer(drop);
        assert!(matches!(ping(&connection, soon(60_000)), Err(CallError::Closed(_))));
    }

    #[test]
    fn a_peer_that_is_silent_costs_the_deadline() {
        let (sender, held) = std::sync::mpsc::channel();
        let connection = peer(move |stream| sender.send(stream).unwrap());
        assert_eq!(ping(&connection, soon(50)).err(), Some(CallError::TimedOut));
        assert!(lock(&connection.shared.pending).calls.is_empty());
        drop(held);
    }

    #[test]
    fn a_peer_is_stuck_until_its_late_reply() {
        let (go, late) = std::sync::mpsc::channel::<()>();
        let connection = peer(move |mut stream| {
            late.recv().unwrap();
            let mut reply = Writer::default();
            reply.byte(b'l').byte(2).byte(1).byte(1).u32(0).u32(1).u32(8);
            reply.byte(5).signature("u").u32(1);
            stream.write_all(&reply.bytes).unwrap();
            // Held open until the other side has gone.
            let _ = stream.read(&mut [0; 16]);
        });
        assert!(ping(&connection, soon(50)).is_err());
        assert!(connection.is_stuck());
        go.send(()).unwrap();
        while connection.is_stuck() && !connection.is_closed() {
            std::thread::yield_now();
        }
        assert!(!connection.is_closed());
    }
}
