//! Whose sockets the other ends of this process's TCP connections are.

use std::net::{IpAddr, SocketAddr};

use napi::{Error, Status};
use napi_derive::napi;

use crate::platform;

/// A TCP socket of this machine that a program called from.
#[napi(object)]
pub struct CallerSocket {
    /// A name that no other socket gets until the machine starts again.
    pub cookie: String,
    /// Number of its file, as `/proc/PID/fd` names it.
    pub inode: u32,
    /// The user whose socket it is.
    pub uid: u32,
}

/// The sockets of this machine at the other ends of the connections that this process has on the port `own_port` from
/// that address and port: one, unless this process listens on several addresses and was called on two of them from the
/// same port. null stands for one that no program of this machine has open; the list is empty where the connection
/// has ended. Throws where the kernel does not tell (sock_diag(7)).
#[napi(catch_unwind)]
pub fn caller_sockets(address: String, port: u16, own_port: u16) -> napi::Result<Vec<Option<CallerSocket>>> {
    // An interface may follow the address; this process's own end of the connection tells it too.
    let address = address.split('%').next().unwrap_or_default();
    let Ok(address) = address.parse::<IpAddr>() else {
        return Err(Error::new(Status::InvalidArg, format!("\"{address}\" is no address")));
    };
    let found = platform::sockets::of_callers(SocketAddr::new(address, port), own_port);
    let found = found.map_err(|error| Error::from_reason(error.to_string()))?;
    Ok(found.into_iter().map(|socket| socket.map(told)).collect())
}

/// Whether a process with one of these pids, or whose program's name begins with one of these words, may have the socket
/// open. Of a process that this one may not look into, that is taken to be so when it is a process of the socket's user
/// and nobody else is seen to have the socket. True on other systems than Linux.
#[napi(catch_unwind)]
pub fn may_hold_socket(inode: u32, uid: u32, pids: Vec<u32>, programs: Vec<String>) -> bool {
    platform::holders::may_hold(inode, uid, &pids, &programs)
}

fn told(socket: platform::sockets::CallerSocket) -> CallerSocket {
    CallerSocket { cookie: format!("{:x}", socket.cookie), inode: socket.inode, uid: socket.uid }
}
