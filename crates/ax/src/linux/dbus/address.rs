//! Server addresses: `unix:path=…`, `unix:abstract=…`, `unix:runtime=yes`, several separated by semicolons.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};

/// Connects to the first address of the list that answers.
pub fn connect(addresses: &str) -> io::Result<UnixStream> {
    let mut last = io::Error::new(io::ErrorKind::InvalidInput, "no Unix socket in the address");
    for address in addresses.split(';') {
        match socket(address) {
            Some(target) => match UnixStream::connect_addr(&target?) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            },
            None => continue,
        }
    }
    Err(last)
}

fn socket(address: &str) -> Option<io::Result<SocketAddr>> {
    let pairs = address.trim().strip_prefix("unix:")?;
    pairs.split(',').find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        match key {
            "path" => Some(SocketAddr::from_pathname(os_string(unescape(value)))),
            "abstract" => Some(SocketAddr::from_abstract_name(unescape(value))),
            "runtime" => {
                let folder = std::env::var_os("XDG_RUNTIME_DIR")?;
                Some(SocketAddr::from_pathname(std::path::Path::new(&folder).join("bus")))
            }
            _ => None,
        }
    })
}

fn os_string(bytes: Vec<u8>) -> std::ffi::OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
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
        let path = socket("unix:path=/tmp/a%20b,guid=00").unwrap().unwrap();
        assert_eq!(path.as_pathname(), Some(std::path::Path::new("/tmp/a b")));
        let name = socket("unix:abstract=/tmp/dbus-x,guid=00").unwrap().unwrap();
        assert_eq!(name.as_abstract_name(), Some(b"/tmp/dbus-x".as_slice()));
        assert!(socket("tcp:host=localhost,port=1").is_none());
    }

    #[test]
    fn garbage_is_an_error() {
        assert!(connect("").is_err());
        assert!(connect("unix:").is_err());
        assert!(connect("unix:path=%zz%").is_err());
    }
}
