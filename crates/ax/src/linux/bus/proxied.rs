//! Finds the processes of applications that are on the bus through a proxy, as those of Flatpak are.
//!
//! The bus knows the proxy's process alone, and one proxy serves many. Two things prove whose a connection is, and without
//! one of them it is nobody's:
//!
//! - Nobody but one process has connected to the proxy. The kernel tells of each of the proxy's sockets who did.
//! - The application says on the bus at which socket it listens, the process listens there in its own view of the files,
//!   and says there that it has that name on the bus.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::{socket_acceptconn, socket_peercred};
use rustix::net::{SocketAddrUnix, getsockname};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::application::through;
use super::ask::{self, Ask, ObjectRef};
use super::limit::Limit;
use crate::platform::dbus::{Call, Connection};
use crate::platform::tree::objects;

/// Name of the proxy's process (proc(5), `comm`).
const PROXY: &str = "xdg-dbus-proxy";
/// How long the applications may take to say at which sockets they listen.
const ADDRESSES_TIMEOUT: Duration = Duration::from_secs(1);

/// The process behind the one that the bus knows: where that is a proxy with one client, the client.
pub fn process(pid: u32) -> u32 {
    if is_proxy(pid) { sole_client(pid).unwrap_or(pid) } else { pid }
}

/// True when the process of an application is another than this one that the bus knows, or not known.
pub fn is_hidden(pid: u32) -> bool {
    pid == 0 || is_proxy(pid)
}

/// Those of these bus names that are proved to be of the process.
pub fn names_of(pid: u32, bus: &Connection, names: &[Arc<str>], limit: &Limit) -> Vec<Arc<str>> {
    let roots: Vec<ObjectRef> =
        names.iter().map(|name| ObjectRef { bus: Arc::clone(name), path: ask::ROOT.into() }).collect();
    let asks: Vec<Ask> =
        roots.iter().map(|root| Ask::plain(root, ask::APPLICATION, "GetApplicationBusAddress")).collect();
    let replies = through(bus, &asks, true, &limit.at_most(ADDRESSES_TIMEOUT));
    let addresses = replies.iter().map(|reply| ask::text(reply).filter(|address| !address.is_empty()));
    let own = |(name, address): &(&Arc<str>, Option<String>)| {
        address.as_ref().is_some_and(|address| listens(pid, address, name, limit))
    };
    names.iter().zip(addresses).filter(own).map(|(name, _)| Arc::clone(name)).collect()
}

/// True when the process listens at the address, and says there that it has this bus name.
fn listens(pid: u32, address: &str, name: &str, limit: &Limit) -> bool {
    let limit = limit.at_most(ADDRESSES_TIMEOUT);
    let Ok(socket) = Connection::open_of(pid, address, &limit, Box::new(|_| {})) else { return false };
    let call = Call {
        destination: None,
        path: ask::ROOT,
        interface: ask::ACCESSIBLE,
        member: "GetApplication",
        signature: "",
        body: &[],
    };
    let said = socket.call(call, &limit).ok().and_then(|reply| objects::single(&reply));
    said.is_some_and(|(bus, _)| bus == name)
}

fn is_proxy(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim_end() == PROXY)
}

/// The only process that has connected to a proxy; none when there are several, or it may not be looked at.
fn sole_client(proxy: u32) -> Option<u32> {
    let process = pidfd_open(Pid::from_raw(proxy.cast_signed())?, PidfdFlags::empty()).ok()?;
    let mut clients = BTreeSet::new();
    for entry in fs::read_dir(format!("/proc/{proxy}/fd")).ok()? {
        let entry = entry.ok()?;
        let is_socket =
            |path: std::path::PathBuf| path.to_str().is_some_and(|path| path.starts_with("socket:"));
        if !fs::read_link(entry.path()).is_ok_and(is_socket) {
            continue;
        }
        let number = entry.file_name().to_str()?.parse().ok()?;
        match pidfd_getfd(&process, number, PidfdGetfdFlags::empty()) {
            Ok(socket) => clients.extend(accepted_from(&socket)?),
            // It was closed meanwhile.
            Err(Errno::BADF) => {}
            Err(_) => return None,
        }
    }
    let mut clients = clients.into_iter();
    clients.next().filter(|_| clients.next().is_none())
}

/// The process from which a server accepted this connection; no process for any other socket, and none when it is hidden.
fn accepted_from(socket: &OwnedFd) -> Option<Option<u32>> {
    // What was accepted has the name of the socket that accepted it; what connected has none (unix(7)).
    let own = getsockname(socket).ok().and_then(|name| SocketAddrUnix::try_from(name).ok());
    let is_named = own.is_some_and(|own| {
        own.path_bytes().is_some() || own.abstract_name().is_some_and(|name| !name.is_empty())
    });
    if !is_named || socket_acceptconn(socket).ok()? {
        return Some(None);
    }
    let pid = socket_peercred(socket).ok()?.pid.as_raw_nonzero().get();
    u32::try_from(pid).ok().filter(|pid| *pid != 0).map(Some)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn only_an_accepted_connection_tells_of_a_client() {
        let path = std::env::temp_dir().join(format!("backlot-ax-proxied-{}", std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        let client = UnixStream::connect(&path).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        let (pair, _other) = UnixStream::pair().unwrap();
        fs::remove_file(path).unwrap();
        let from = |socket: OwnedFd| accepted_from(&socket);
        assert_eq!(from(accepted.into()), Some(Some(std::process::id())));
        for other in [OwnedFd::from(listener), client.into(), pair.into()] {
            assert_eq!(from(other), Some(None));
        }
    }

    #[test]
    fn a_process_that_is_no_proxy_is_itself() {
        let me = std::process::id();
        assert_eq!((process(me), is_hidden(me), is_hidden(0)), (me, false, true));
    }
}
