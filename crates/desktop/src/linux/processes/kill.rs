//! Ending a process, and those that are not ended.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use x11rb::protocol::xproto::ConnectionExt as _;

use super::process;
use crate::DesktopError;
use crate::platform::Desktop;
use crate::platform::x11::properties::{self, property_of};

/// How long the kernel may take to end a process; one in an uninterruptible read takes longer.
const LIMIT: Duration = Duration::from_secs(5);

/// Programs that belong to a session's buses.
const BUS_PROGRAMS: [&str; 5] =
    ["dbus-daemon", "dbus-broker", "dbus-broker-launch", "at-spi-bus-launcher", "at-spi2-registryd"];

impl Desktop {
    /// Ends a process at once (SIGKILL) and returns when it is gone.
    ///
    /// Fails with `process_not_found`, `protected_process`, or `process_not_killed` when this user may not end it.
    pub fn kill(&self, pid: u32) -> Result<(), DesktopError> {
        if let Some(what) = self.protects(pid)? {
            return Err(DesktopError::ProtectedProcess { pid, what });
        }
        let id = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let id = id.filter(|_| process::exists(pid)).ok_or(DesktopError::ProcessNotFound { pid })?;
        end(id).map_err(|error| match error {
            Errno::SRCH => DesktopError::ProcessNotFound { pid },
            other => DesktopError::ProcessNotKilled { pid, reason: other.to_string() },
        })
    }

    /// What a process is that keeps this desktop or the driver alive.
    fn protects(&self, pid: u32) -> Result<Option<&'static str>, DesktopError> {
        if pid <= 1 {
            return Ok(Some("the system itself"));
        }
        let me = std::process::id();
        if pid == me {
            return Ok(Some("the driver itself"));
        }
        let mut above = process::parent(me);
        while let Some(ancestor) = above.filter(|ancestor| *ancestor > 1) {
            if ancestor == pid {
                return Ok(Some("what started the driver"));
            }
            above = process::parent(ancestor);
        }
        if socket_owner(self.link.conn.stream()) == Some(pid) {
            return Ok(Some("the X server of this desktop"));
        }
        if let Some(manager) = self.x11_window_manager()? {
            let properties = self.ask("window manager", |link| {
                Ok(properties::request(link, manager.check_window)?.answer(&link.atoms)?)
            })?;
            if properties.pid == pid {
                return Ok(Some("the window manager of this desktop"));
            }
        }
        Ok(self.is_bus(pid)?.then_some("a message bus of this desktop"))
    }

    fn is_bus(&self, pid: u32) -> Result<bool, DesktopError> {
        let session = std::env::var("DBUS_SESSION_BUS_ADDRESS").ok();
        let accessibility = self.ask("accessibility bus", |link| {
            let atom = link.conn.intern_atom(false, b"AT_SPI_BUS")?.reply()?.atom;
            let address = property_of(link, link.root, atom)?;
            Ok(properties::string(&link.atoms, address.reply())?)
        })?;
        let owns = |address: &Option<String>| address.as_deref().and_then(bus_owner) == Some(pid);
        if owns(&session) || owns(&accessibility) {
            return Ok(true);
        }
        let name = process::executable(pid).map(|path| process::base(&path)).unwrap_or_default();
        let is_ours = process::variable(pid, "DISPLAY").as_deref() == Some(self.display_name())
            || (session.is_some() && process::variable(pid, "DBUS_SESSION_BUS_ADDRESS") == session);
        Ok(BUS_PROGRAMS.contains(&name.as_str()) && is_ours)
    }
}

fn end(pid: Pid) -> Result<(), Errno> {
    // The descriptor means this very process, also when its number is given to another meanwhile.
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    pidfd_send_signal(&process, Signal::KILL)?;
    let deadline = Instant::now() + LIMIT;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Errno::TIMEDOUT);
        }
        let mut watched = [PollFd::new(&process, PollFlags::IN)];
        let wait = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        match poll(&mut watched, Some(&wait)) {
            Ok(count) if count > 0 => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

/// The process that listens on a D-Bus address (`unix:path=…`, `unix:abstract=…`).
fn bus_owner(address: &str) -> Option<u32> {
    let pairs = address.split(';').find_map(|one| one.strip_prefix("unix:"))?;
    let value = |key: &str| pairs.split(',').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
    let place = match (value("path"), value("abstract")) {
        (Some(path), _) => SocketAddr::from_pathname(path).ok()?,
        (None, Some(name)) => SocketAddr::from_abstract_name(name).ok()?,
        (None, None) => return None,
    };
    socket_owner(&UnixStream::connect_addr(&place).ok()?)
}

/// The process at the other end of a local socket; none for a remote one.
fn socket_owner(socket: impl std::os::fd::AsFd) -> Option<u32> {
    let credentials = socket_peercred(socket).ok()?;
    u32::try_from(credentials.pid.as_raw_nonzero().get()).ok()
}
