//! Unix sockets, over which file descriptors travel too.

use std::io::{self, IoSlice, Read as _};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags,
    SocketType, connect, sendmsg, socket_with,
};

use crate::error::QmpError;

/// An open file that is handed to the hypervisor.
pub type Descriptor<'fd> = BorrowedFd<'fd>;

/// File descriptors that one command may carry.
const MOST_DESCRIPTORS: usize = 16;

/// A connection to a hypervisor.
#[derive(Debug)]
pub struct Link {
    stream: UnixStream,
}

impl Link {
    /// Connects to a socket; one whose queue is full is tried again until `deadline`.
    pub fn open(socket: &Path, deadline: Instant) -> Result<Self, QmpError> {
        Self::connect(socket, deadline)
            .map(|stream| Self { stream })
            .map_err(|error| QmpError::Unreachable { socket: socket.to_owned(), reason: error.to_string() })
    }

    fn connect(socket: &Path, deadline: Instant) -> io::Result<UnixStream> {
        let address = SocketAddrUnix::new(socket)?;
        loop {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let made = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
            match connect(&made, &address) {
                Ok(()) => {
                    let stream = UnixStream::from(made);
                    stream.set_nonblocking(false)?;
                    return Ok(stream);
                }
                // Others wait to be accepted; nothing tells when there is room.
                Err(rustix::io::Errno::AGAIN) if Instant::now() < deadline => {
                    sleep(Duration::from_millis(10))
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Waits for bytes; zero at the end.
    pub fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        (&self.stream).read(into)
    }

    /// Sends all of the bytes, the descriptors with the first of them, before `deadline`.
    pub fn send(&self, mut bytes: &[u8], mut with: &[Descriptor<'_>], deadline: Instant) -> io::Result<()> {
        while !bytes.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_write_timeout(Some(left))?;
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            if !with.is_empty() && !control.push(SendAncillaryMessage::ScmRights(with)) {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            match sendmsg(self.stream.as_fd(), &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL) {
                Ok(sent) => {
                    bytes = &bytes[sent..];
                    with = &[];
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Ends the connection; whoever reads sees its end.
    pub fn shut(&self) {
        // It may have ended already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// Fails where more are to be sent than fit.
pub fn check_descriptors(with: &[Descriptor<'_>]) -> Result<(), QmpError> {
    if with.len() <= MOST_DESCRIPTORS {
        return Ok(());
    }
    let what = format!("A command cannot carry {} files. Pass at most {MOST_DESCRIPTORS}.", with.len());
    Err(QmpError::Argument { what })
}
