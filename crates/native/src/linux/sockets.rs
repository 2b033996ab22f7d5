//! The sockets at the other ends of this process's TCP connections, asked of the kernel one by one (sock_diag(7)).

use std::fs::read_dir;
use std::io::Error;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, getpeername, getsockname, ipproto, netlink,
    recv, send, socket_with,
};

/// A socket of another program: its cookie is no other socket's until the machine starts again.
pub struct CallerSocket {
    pub cookie: u64,
    pub inode: u32,
    pub uid: u32,
}

/// The sockets that called this process's port `own_port` from `caller`; none for one that nobody has open here.
pub fn of_callers(caller: SocketAddr, own_port: u16) -> Result<Vec<Option<CallerSocket>>, Error> {
    connections(caller, own_port)?.iter().map(socket_of).collect()
}

/// A connection that lives, as the program has it that called; IPv4 as IPv4, also where it is spoken through IPv6 sockets.
struct Connection {
    near: SocketAddr,
    far: SocketAddr,
    /// The interface of addresses that are known on one alone; 0 for others.
    interface: u32,
}

/// The connections from the caller among the files of this process.
fn connections(caller: SocketAddr, own_port: u16) -> Result<Vec<Connection>, Error> {
    let caller = canonical(caller);
    let mut found = Vec::new();
    for file in read_dir("/proc/self/fd")? {
        let Some(fd) = file?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // SAFETY: the number is not negative, as the kernel lists it, and the borrow lasts for two calls, which fail
        // where another thread has closed it in the meantime and change nothing where it stands for another file.
        let file = unsafe { BorrowedFd::borrow_raw(fd) };
        let Ok(Some(Ok(peer))) = getpeername(file).map(|peer| peer.map(SocketAddr::try_from)) else {
            continue;
        };
        if canonical(peer) != caller {
            continue;
        }
        let Ok(Ok(own)) = getsockname(file).map(SocketAddr::try_from) else { continue };
        if own.port() == own_port {
            found.push(Connection { near: caller, far: canonical(own), interface: interface(peer) });
        }
    }
    Ok(found)
}

fn canonical(end: SocketAddr) -> SocketAddr {
    SocketAddr::new(end.ip().to_canonical(), end.port())
}

fn interface(end: SocketAddr) -> u32 {
    if let SocketAddr::V6(end) = end { end.scope_id() } else { 0 }
}

fn socket_of(connection: &Connection) -> Result<Option<CallerSocket>, Error> {
    let kernel =
        socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))?;
    let question = question(connection);
    send(&kernel, &question, SendFlags::empty())?;
    let mut answer = [0; 1024];
    // The kernel has answered when the question is sent.
    let (_, length) = recv(&kernel, &mut answer[..], RecvFlags::DONTWAIT)?;
    let ports = &question[QUESTION_ID..QUESTION_ID + PORTS];
    read(answer.get(..length).unwrap_or_default(), ports)
}

/// `NLM_F_REQUEST`, `NLMSG_ERROR` and `SOCK_DIAG_BY_FAMILY` (linux/netlink.h, linux/sock_diag.h).
const REQUEST: u16 = 1;
const ERROR: u16 = 2;
const BY_FAMILY: u16 = 20;
/// `ENOENT`: there is no such socket.
const MISSING: i32 = 2;
/// `TCP_LISTEN`: the answer where only a socket that waits for connections has the port.
const LISTENS: u8 = 10;

/// Bytes of `struct nlmsghdr`, before each message.
const HEADER: usize = 16;
/// Where `struct inet_diag_sockid` begins in question and answer, its length, and its parts (linux/inet_diag.h).
const QUESTION_ID: usize = HEADER + 8;
const ANSWER_ID: usize = HEADER + 4;
const ID: usize = 48;
const PORTS: usize = 4;
const SOURCE: usize = PORTS;
const DESTINATION: usize = SOURCE + 16;
const INTERFACE: usize = DESTINATION + 16;
const COOKIE: usize = INTERFACE + 4;
/// Where the answer, `struct inet_diag_msg`, has the state, the user and the number of the socket's file.
const STATE: usize = HEADER + 1;
const UID: usize = ANSWER_ID + ID + 12;
const INODE: usize = UID + 4;

/// Asks for one socket, whatever its cookie (`struct inet_diag_req_v2`).
fn question(connection: &Connection) -> [u8; QUESTION_ID + ID] {
    let mut bytes = [0; QUESTION_ID + ID];
    let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
    put(0, &((QUESTION_ID + ID) as u32).to_ne_bytes());
    put(4, &BY_FAMILY.to_ne_bytes());
    put(6, &REQUEST.to_ne_bytes());
    let family = if connection.near.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    put(HEADER, &[family.as_raw() as u8, ipproto::TCP.as_raw().get() as u8]);
    put(HEADER + 4, &[u8::MAX; 4]);
    for (at, address, end) in [(0, SOURCE, connection.near), (2, DESTINATION, connection.far)] {
        put(QUESTION_ID + at, &end.port().to_be_bytes());
        match end.ip() {
            IpAddr::V4(ip) => put(QUESTION_ID + address, &ip.octets()),
            IpAddr::V6(ip) => put(QUESTION_ID + address, &ip.octets()),
        }
    }
    put(QUESTION_ID + INTERFACE, &connection.interface.to_ne_bytes());
    put(QUESTION_ID + COOKIE, &[u8::MAX; 8]);
    bytes
}

fn read(answer: &[u8], ports: &[u8]) -> Result<Option<CallerSocket>, Error> {
    let number = |at| word(answer, at).map(u32::from_ne_bytes);
    let kind = answer.get(4..6).ok_or_else(short)?;
    if kind == ERROR.to_ne_bytes() {
        return match -i32::from_ne_bytes(word(answer, HEADER)?) {
            MISSING => Ok(None),
            code => Err(Error::from_raw_os_error(code)),
        };
    }
    let (inode, uid) = (number(INODE)?, number(UID)?);
    // One that was closed has no file any more, and one that waits for connections is not the one that called.
    let is_open = inode != 0 && answer.get(STATE) != Some(&LISTENS);
    if !is_open || answer.get(ANSWER_ID..ANSWER_ID + PORTS) != Some(ports) {
        return Ok(None);
    }
    let cookie = number(ANSWER_ID + COOKIE + 4)?;
    let cookie = u64::from(cookie) << 32 | u64::from(number(ANSWER_ID + COOKIE)?);
    Ok(Some(CallerSocket { cookie, inode, uid }))
}

fn word(bytes: &[u8], at: usize) -> Result<[u8; 4], Error> {
    bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).ok_or_else(short)
}

fn short() -> Error {
    Error::other("the kernel's answer about a socket is too short")
}
