//! Server addresses: `unix:path=…`, `unix:abstract=…`, `unix:runtime=yes`, several separated by semicolons.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect as connect_to, socket_with,
};

use crate::platform::bus::limit::Limit;

/// How long a server whose queue is full is left alone.
const FULL: Duration = Duration::from_millis(5);

/// Connects to the first address of the list that answers; paths lead from `root`.
pub fn connect(addresses: &str, root: &Path, limit: &Limit) -> io::Result<UnixStream> {
    let mut last = io::Error::new(io::ErrorKind::InvalidInput, "no Unix socket in the address");
    for address in addresses.split(';') {
        match socket(address, root) {
            Some(target) => match connect_one(&target?, limit) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            },
            None => continue,
        }
    }
    Err(last)
}

/// Connects to one address. A stopped server accepts nobody, and when its queue is full a connection would wait for ever.
fn connect_one(target: &SocketAddrUnix, limit: &Limit) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    while let Err(error) = connect_to(&socket, target) {
        if error != Errno::AGAIN && error != Errno::INTR {
            return Err(error.into());
        }
        if limit.is_over() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the server accepts no connection"));
        }
        std::thread::sleep(limit.left().min(FULL));
    }
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

fn socket(address: &str, root: &Path) -> Option<io::Result<SocketAddrUnix>> {
    let pairs = address.trim().strip_prefix("unix:")?;
    pairs.split(',').find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        let target = match key {
            "path" => SocketAddrUnix::new(below(root, PathBuf::from(OsString::from_vec(unescape(value))))),
            "abstract" => SocketAddrUnix::new_abstract_name(&unescape(value)),
            "runtime" => SocketAddrUnix::new(below(
                root,
                PathBuf::from(std::env::var_os("XDG_RUNTIME_DIR")?).join("bus"),
            )),
            _ => return None,
        };
        Some(target.map_err(io::Error::from))
    })
}

fn below(root: &Path, path: PathBuf) -> PathBuf {
    match path.strip_prefix("/") {
        Ok(rest) => root.join(rest),
        Err(_) => path,
    }
}

/// Undoes the percent escapes of an address value.
fn unescape(value: &str) -> Vec<u8> {
    let bytes = value.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = (bytes[at] == b'%').then(|| value.get(at + 1..at + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_abstract_names_are_understood() {
        let path = |root: &str| {
            let target = socket("unix:path=/tmp/a%20b,guid=00", Path::new(root)).unwrap().unwrap();
            target.path().unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(path("/"), "/tmp/a b");
        assert_eq!(path("/proc/5/view"), "/proc/5/view/tmp/a b");
        let name = socket("unix:abstract=/tmp/dbus-x,guid=00", Path::new("/proc/5/view")).unwrap().unwrap();
        assert_eq!(name.abstract_name(), Some(b"/tmp/dbus-x".as_slice()));
        assert!(socket("tcp:host=localhost,port=1", Path::new("/")).is_none());
    }

    #[test]
    fn a_server_that_accepts_nobody_costs_the_deadline_or_a_cancel() {
        let path = std::env::temp_dir().join(format!("backlot-ax-full-{}", std::process::id()));
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let address = format!("unix:path={}", path.display());
        let mut held = Vec::new();
        let short = || Limit::until(std::time::Instant::now() + Duration::from_millis(20));
        let error = loop {
            match connect(&address, Path::new("/"), &short()) {
                Ok(stream) => held.push(stream),
                Err(error) => break error,
            }
        };
        std::fs::remove_file(path).unwrap();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn garbage_is_an_error() {
        let limit = Limit::until(std::time::Instant::now() + Duration::from_secs(60));
        for garbage in ["", "unix:", "unix:path=%zz%"] {
            assert!(connect(garbage, Path::new("/"), &limit).is_err(), "{garbage}");
        }
    }
}
