//! The writing side of a connection, which callers use in turn.
//!
//! A peer that is stopped does not empty its socket. Half a message would garble all that follow, so what a caller could
//! not write within its limit is kept, and written before what the next caller has to say.

use std::io::{ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Condvar, Mutex, PoisonError};

use super::locking::lock;
use crate::platform::bus::limit::{CANCELLED_WITHIN, Limit};

/// Most bytes that are kept for a peer which reads nothing.
const MANY_UNSENT: usize = 4 << 20;

/// The writing side; whoever has the turn has what stands in it.
pub struct Outgoing {
    free: Mutex<Option<Writing>>,
    given_back: Condvar,
}

struct Writing {
    stream: UnixStream,
    serial: u32,
    unsent: Vec<u8>,
}

/// The turn of one caller; given back when dropped.
pub struct Turn<'a> {
    owner: &'a Outgoing,
    writing: Option<Writing>,
}

impl Outgoing {
    /// The writing side of a stream.
    pub fn new(stream: UnixStream) -> std::io::Result<Self> {
        stream.set_write_timeout(Some(CANCELLED_WITHIN))?;
        let writing = Writing { stream, serial: 0, unsent: Vec::new() };
        Ok(Self { free: Mutex::new(Some(writing)), given_back: Condvar::new() })
    }

    /// Waits for the turn; none when it does not come within the limit.
    pub fn turn(&self, limit: &Limit) -> Option<Turn<'_>> {
        let mut free = lock(&self.free);
        loop {
            if let Some(writing) = free.take() {
                return Some(Turn { owner: self, writing: Some(writing) });
            }
            let left = limit.left();
            if left.is_zero() {
                return None;
            }
            free = self
                .given_back
                .wait_timeout(free, left.min(CANCELLED_WITHIN))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

impl Turn<'_> {
    /// A serial that no other message of the connection has.
    pub fn next_serial(&mut self) -> u32 {
        self.writing.as_mut().map_or(1, |writing| {
            writing.serial = writing.serial.checked_add(1).unwrap_or(1);
            writing.serial
        })
    }

    /// Writes what earlier callers left and then whole messages. What the peer does not take within the limit is kept for
    /// the next caller; `TimedOut` when that has become too much.
    pub fn write(&mut self, messages: &[u8], limit: &Limit) -> std::io::Result<()> {
        let Some(writing) = &mut self.writing else { return Ok(()) };
        writing.unsent.extend_from_slice(messages);
        let mut sent = 0;
        let ended = loop {
            if sent == writing.unsent.len() {
                break Ok(());
            }
            match writing.stream.write(&writing.unsent[sent..]) {
                Ok(0) => break Err(ErrorKind::WriteZero.into()),
                Ok(count) => sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    break Err(error);
                }
                Err(_) if !limit.is_over() => {}
                Err(_) if writing.unsent.len() - sent > MANY_UNSENT => break Err(ErrorKind::TimedOut.into()),
                Err(_) => break Ok(()),
            }
        };
        writing.unsent.drain(..sent);
        ended
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *lock(&self.owner.free) = self.writing.take();
        self.owner.given_back.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::time::{Duration, Instant};

    use super::*;

    fn soon() -> Limit {
        Limit::until(Instant::now() + Duration::from_millis(50))
    }

    fn late() -> Limit {
        Limit::until(Instant::now() + Duration::from_secs(60))
    }

    #[test]
    fn the_turn_of_one_costs_another_only_its_own_time() {
        let (near, _far) = UnixStream::pair().unwrap();
        let outgoing = Outgoing::new(near).unwrap();
        let held = outgoing.turn(&late()).unwrap();
        assert!(outgoing.turn(&soon()).is_none());
        let cancelled = late();
        cancelled.cancel.cancel();
        assert!(outgoing.turn(&cancelled).is_none());
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| outgoing.turn(&late()).is_some());
            drop(held);
            assert!(waits.join().unwrap());
        });
    }

    #[test]
    fn what_a_peer_did_not_take_goes_before_what_comes_next() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let outgoing = Outgoing::new(near).unwrap();
        let first = vec![1; 1 << 20];
        outgoing.turn(&late()).unwrap().write(&first, &soon()).unwrap();
        let cancelled = late();
        cancelled.cancel.cancel();
        outgoing.turn(&late()).unwrap().write(&[2; 8], &cancelled).unwrap();
        let mut taken = vec![0; first.len() + 16];
        std::thread::scope(|scope| {
            scope.spawn(|| far.read_exact(&mut taken).unwrap());
            outgoing.turn(&late()).unwrap().write(&[3; 8], &late()).unwrap();
        });
        assert!(taken[..first.len()] == first);
        assert_eq!(taken[first.len()..], [[2; 8], [3; 8]].concat());
    }

    #[test]
    fn a_peer_that_takes_nothing_for_ever_ends_it() {
        let (near, _far) = UnixStream::pair().unwrap();
        let outgoing = Outgoing::new(near).unwrap();
        let ended = outgoing.turn(&late()).unwrap().write(&vec![0; MANY_UNSENT * 2], &soon());
        assert_eq!(ended.unwrap_err().kind(), ErrorKind::TimedOut);
    }
}
