//! Memory that the X server writes pixels into (MIT-SHM 1.2, one memfd for the life of the connection).

use std::ffi::c_void;
use std::ptr::NonNull;

use desktop::x11::XConnection;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use x11rb::errors::ReplyOrIdError;
use x11rb::protocol::shm::{ConnectionExt as _, Seg};

/// A shared segment; attached to one connection.
pub(crate) struct Segment {
    pub(crate) id: Seg,
    start: NonNull<c_void>,
    len: usize,
}

// SAFETY: the mapping belongs to this value alone, and nothing in it is tied to a thread.
unsafe impl Send for Segment {}

/// Why there is no segment.
pub(crate) enum Refusal {
    /// This process cannot have the memory.
    Memory,
    /// The server does not take it.
    Server(ReplyOrIdError),
}

impl Segment {
    /// Makes a segment of at least `len` bytes and hands it to the server.
    pub(crate) fn attach(conn: &XConnection, len: usize) -> Result<Self, Refusal> {
        let len = len.next_multiple_of(1 << 20);
        let file = memfd_create("backlot-capture", MemfdFlags::CLOEXEC).map_err(|_| Refusal::Memory)?;
        ftruncate(&file, len as u64).map_err(|_| Refusal::Memory)?;
        // SAFETY: a fresh mapping at an address of the kernel's choice aliases nothing of ours.
        let start = unsafe {
            mmap(
                std::ptr::null_mut(),
                len,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::POPULATE,
                &file,
                0,
            )
        };
        let start = NonNull::new(start.map_err(|_| Refusal::Memory)?).ok_or(Refusal::Memory)?;
        // From here on dropping it unmaps the memory.
        let mut segment = Self { id: 0, start, len };
        segment.id = announce(conn, file).map_err(Refusal::Server)?;
        Ok(segment)
    }

    /// True when this many bytes fit.
    pub(crate) fn holds(&self, len: usize) -> bool {
        len <= self.len
    }

    /// The first bytes, as the server's last answer left them.
    ///
    /// The borrow is exclusive because the server writes only on a request, and requests need `&mut` too.
    pub(crate) fn bytes(&mut self, len: usize) -> &[u8] {
        let len = len.min(self.len);
        // SAFETY: the mapping is readable for its whole length; the server wrote before its reply came and
        // writes again only on another request, which this borrow excludes.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), len) }
    }
}

fn announce(conn: &XConnection, file: std::os::fd::OwnedFd) -> Result<Seg, ReplyOrIdError> {
    use x11rb::connection::Connection as _;
    let id = conn.generate_id()?;
    conn.shm_attach_fd(id, file, false)?.check()?;
    Ok(id)
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: exactly the range that was mapped, and no slice of it outlives the value.
        let _ = unsafe { munmap(self.start.as_ptr(), self.len) };
    }
}
