//! The authentication dialogue: SASL `EXTERNAL`, as the user that the socket says we are.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::platform::bus::limit::{CANCELLED_WITHIN, Limit};

/// Longest line of the dialogue.
const MAX_LINE: usize = 4096;

/// Says who we are and begins; fails with `PermissionDenied` when that is refused.
pub fn authenticate(stream: &mut UnixStream, limit: &Limit) -> std::io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let user = std::fs::metadata("/proc/self")?.uid().to_string();
    let hex: String = user.bytes().map(|byte| format!("{byte:02x}")).collect();
    stream.set_write_timeout(Some(limit.left().max(Duration::from_millis(1))))?;
    stream.write_all(format!("\0AUTH EXTERNAL {hex}\r\n").as_bytes())?;
    let mut line = Vec::new();
    let mut byte = [0];
    while !line.ends_with(b"\r\n") {
        let left = limit.left();
        if left.is_zero() || line.len() > MAX_LINE {
            return Err(std::io::Error::new(ErrorKind::TimedOut, "authentication was not answered"));
        }
        stream.set_read_timeout(Some(left.min(CANCELLED_WITHIN)))?;
        match stream.read(&mut byte) {
            Ok(0) => {
                return Err(std::io::Error::new(ErrorKind::UnexpectedEof, "closed during authentication"));
            }
            Ok(_) => line.push(byte[0]),
            Err(error) if is_wait(error.kind()) => {}
            Err(error) => return Err(error),
        }
    }
    if !line.starts_with(b"OK") {
        return Err(std::io::Error::new(ErrorKind::PermissionDenied, "authentication was refused"));
    }
    stream.write_all(b"BEGIN\r\n")
}

/// True for what a read says when its time has passed.
fn is_wait(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
