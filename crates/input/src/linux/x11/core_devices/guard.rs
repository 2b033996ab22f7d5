//! A process that releases what its parent held when the parent ends, however that ends.

use std::fs::File;
use std::io::Error;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use desktop::x11::{Session, XConnection};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::fcntl_dupfd_cloexec;
use x11rb::NONE;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{ConnectionExt as _, CreateWindowAux, Window, WindowClass};
use x11rb::protocol::{xinput, xkb, xtest};

use crate::InputError;
use crate::platform::x11::devices::pair::Pair;

/// Bytes of the requests that it would send; always as many, so that one write replaces all.
const LENGTH: usize = 8192;
/// `NoOperation` of the core protocol, which may be as long as one likes.
const NO_OPERATION: u8 = 127;

/// Waits for the end of its standard input, whose other end only the parent has. Until the server has done what the
/// parent sent last it waits a little more; then it sends what the file holds (its standard error) to the server (its
/// standard output), and stays until that is read: where something is left to be read on a socket that is closed, its
/// peer loses what is left there too. Nothing else wakes or ends it.
const SCRIPT: &str =
    "exec 3<&2 2>/dev/null; trap '' HUP INT QUIT TERM; read -r _; sleep 0.1; cat <&3; exec sleep 1";

/// The process, with a connection to the server of its own.
pub struct Guard {
    process: Child,
    requests: File,
    conn: XConnection,
    /// A window that is there until the process has ended.
    pub window: Window,
}

impl Guard {
    /// Starts the process for a display; none where the system lacks what it needs (a shell): then what is left is for
    /// the next caller.
    pub fn start(session: &Session, person: Pair) -> Result<Option<Self>, InputError> {
        let Ok((conn, screen)) = session.connect() else { return Ok(None) };
        conn.stream().wait_for_events();
        xinput::xi_query_version(&conn, 2, 2)?.reply()?;
        xkb::use_extension(&conn, 1, 0)?.reply()?;
        xinput::xi_set_client_pointer(&conn, NONE, person.pointer)?.check()?;
        // It also acts where another program holds the server for itself, and hangs.
        xtest::grab_control(&conn, true)?.check()?;
        let root = conn.setup().roots.get(screen).map(|screen| screen.root).unwrap_or_default();
        let window = conn.generate_id()?;
        let unmanaged = CreateWindowAux::new().override_redirect(1);
        conn.create_window(0, window, root, 0, 0, 1, 1, 0, WindowClass::INPUT_ONLY, 0, &unmanaged)?
            .check()?;
        let Ok((process, requests)) = start(&conn) else { return Ok(None) };
        Ok(Some(Self { process, requests, conn, window }))
    }

    /// True while the process lives.
    pub fn lives(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// From now on it would send these requests. What the server told its connection is forgotten.
    pub fn set(&self, requests: &[Vec<u8>]) -> Result<(), InputError> {
        // A failed write leaves an older list, and what is written on the display is there for the next caller.
        let _ = self.requests.write_all_at(&padded(requests), 0);
        while self.conn.poll_for_event()?.is_some() {}
        Ok(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Whoever drops it has released everything, or has lost the display.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn start(conn: &XConnection) -> Result<(Child, File), Error> {
    let requests = File::from(memfd_create("backlot-held", MemfdFlags::CLOEXEC)?);
    requests.write_all_at(&padded(&[]), 0)?;
    let server = fcntl_dupfd_cloexec(conn.stream().as_fd(), 3)?;
    let process = Command::new("/bin/sh")
        .args(["-c", SCRIPT])
        .current_dir("/")
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        // What ends the parent's group does not end it.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(server)
        .stderr(requests.try_clone()?)
        .spawn()?;
    Ok((process, requests))
}

/// The requests, as many as fit, and after them one that does nothing.
fn padded(requests: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(LENGTH);
    for request in requests {
        // The last four bytes are the least that the one after them needs.
        if bytes.len() + request.len() + 4 <= LENGTH {
            bytes.extend_from_slice(request);
        }
    }
    let words = ((LENGTH - bytes.len()) / 4) as u16;
    bytes.extend([NO_OPERATION, 0]);
    bytes.extend(words.to_ne_bytes());
    bytes.resize(LENGTH, 0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_of_requests_is_as_long_and_ends_with_one_that_does_nothing() {
        for requests in [vec![], vec![vec![1; 36]; 3], vec![vec![1; 36]; 500]] {
            let bytes = padded(&requests);
            assert_eq!(bytes.len(), LENGTH);
            let count = requests.len().min((LENGTH - 4) / 36);
            let rest = &bytes[count * 36..];
            assert_eq!(rest[0], NO_OPERATION);
            assert_eq!(usize::from(u16::from_ne_bytes([rest[2], rest[3]])) * 4, rest.len());
        }
    }
}
