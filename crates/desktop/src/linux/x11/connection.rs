//! Connections to the X server on which nobody waits for an answer for ever.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};
use x11rb::errors::{ConnectError, DisplayParsingError};
use x11rb::reexports::x11rb_protocol::parse_display::{ParsedDisplay, parse_display};
use x11rb::reexports::x11rb_protocol::xauth::get_auth;
use x11rb::rust_connection::{DefaultStream, PollMode, RustConnection, Stream};
use x11rb::utils::RawFdContainer;

/// How long a server may be silent while an answer of it is waited for.
pub(crate) const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// A connection whose waits for the server fail after ten seconds of silence.
pub type XConnection = RustConnection<Socket>;

/// The socket of a [`XConnection`].
#[derive(Debug)]
pub struct Socket {
    stream: DefaultStream,
    waits_for_events: AtomicBool,
}

impl Socket {
    /// From now on waits last as long as the server is silent: for a connection on which a thread waits for events.
    pub fn wait_for_events(&self) {
        self.waits_for_events.store(true, Ordering::Relaxed);
    }

    /// Ends the connection, and every wait on it with a failure.
    pub fn end(&self) {
        // One that has ended already needs nothing.
        let _ = shutdown(&self.stream, Shutdown::Both);
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        AsFd::as_fd(&self.stream)
    }
}

impl Stream for Socket {
    fn poll(&self, mode: PollMode) -> Result<()> {
        let mut wanted = PollFlags::empty();
        wanted.set(PollFlags::IN, mode.readable());
        wanted.set(PollFlags::OUT, mode.writable());
        let limit = (!self.waits_for_events.load(Ordering::Relaxed)).then_some(ANSWER_LIMIT);
        wait(self, wanted, limit)
    }

    fn read(&self, buffer: &mut [u8], descriptors: &mut Vec<RawFdContainer>) -> Result<usize> {
        self.stream.read(buffer, descriptors)
    }

    fn write(&self, bytes: &[u8], descriptors: &mut Vec<RawFdContainer>) -> Result<usize> {
        self.stream.write(bytes, descriptors)
    }

    fn write_vectored(&self, bytes: &[IoSlice<'_>], descriptors: &mut Vec<RawFdContainer>) -> Result<usize> {
        self.stream.write_vectored(bytes, descriptors)
    }
}

/// Waits until a socket is ready; fails with `TimedOut` when it was not within the limit.
fn wait(socket: &impl AsFd, wanted: PollFlags, limit: Option<Duration>) -> Result<()> {
    let deadline = limit.map(|limit| Instant::now() + limit);
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let left = left.map(|left| Timespec {
            tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        });
        match poll(&mut [PollFd::new(socket, wanted)], left.as_ref()) {
            Ok(0) => return Err(Error::new(ErrorKind::TimedOut, silence())),
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// What is said of a server that did not answer in time.
pub(crate) fn silence() -> String {
    format!("the X server has not answered within {} s", ANSWER_LIMIT.as_secs())
}

/// How long a server that resets itself is tried again.
const RESET_LIMIT: Duration = Duration::from_secs(2);
/// How long after a connection that was reset the next is tried.
const RESET_PAUSE: Duration = Duration::from_millis(5);

/// Connects to a display; answers the number of its screen as well.
///
/// A server that was started without `-noreset` begins anew when its last client has gone (Xserver(1)), and closes who connects at
/// that moment: it is tried again. Fails where the server does not answer within ten seconds.
pub(super) fn connect(display: &str) -> std::result::Result<(XConnection, usize), ConnectError> {
    let named = parse_display(Some(display))?;
    let deadline = Instant::now() + RESET_LIMIT;
    loop {
        match connect_once(&named) {
            Err(error) if is_reset(&error) && Instant::now() < deadline => std::thread::sleep(RESET_PAUSE),
            connected => return connected,
        }
    }
}

fn connect_once(named: &ParsedDisplay) -> std::result::Result<(XConnection, usize), ConnectError> {
    let screen = usize::from(named.screen);
    let mut last = ConnectError::from(DisplayParsingError::Unknown);
    for address in named.connect_instruction() {
        match DefaultStream::connect(&address) {
            Ok((stream, (family, address))) => {
                // Without a cookie for the display the server may still let this user in.
                let cookie = get_auth(family, &address, named.display).ok().flatten();
                let (name, data) = cookie.unwrap_or_default();
                let socket = Socket { stream, waits_for_events: AtomicBool::new(false) };
                let conn = XConnection::connect_to_stream_with_auth_info(socket, screen, name, data)?;
                return Ok((conn, screen));
            }
            Err(error) => last = error.into(),
        }
    }
    Err(last)
}

/// Whether the server closed a connection that it had taken, before it said whether it lets anybody in.
fn is_reset(error: &ConnectError) -> bool {
    let closed = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe, ErrorKind::UnexpectedEof];
    matches!(error, ConnectError::IoError(error) if closed.contains(&error.kind()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_wait_ends_when_the_other_side_is_silent() -> Result<()> {
        let (own, _other) = UnixStream::pair()?;
        let waited = wait(&own, PollFlags::IN, Some(Duration::from_millis(1)));
        assert_eq!(waited.map_err(|error| error.kind()), Err(ErrorKind::TimedOut));
        Ok(())
    }

    #[test]
    fn a_wait_ends_when_the_connection_does() -> Result<()> {
        let (own, _other) = UnixStream::pair()?;
        let ending = own.try_clone()?;
        let waiting = std::thread::spawn(move || wait(&own, PollFlags::IN, None));
        shutdown(&ending, Shutdown::Both)?;
        assert!(waiting.join().is_ok_and(|waited| waited.is_ok()));
        Ok(())
    }
}
