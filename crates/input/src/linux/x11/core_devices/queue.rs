//! Who may act with the display's own devices: one caller at a time, whatever process it is in, first come first served;
//! and what each of them holds, for those that find it dead.
//!
//! Both stand in properties of the pointer device, because the server keeps those when a client ends, and tells nobody of
//! them that did not ask. A caller is named by a window of its own, which goes with its connection.

use std::time::{Duration, Instant};

use x11rb::protocol::xinput;
use x11rb::protocol::xproto::{Atom, AtomEnum, ConnectionExt as _, PropMode, Window};

use super::held::Held;
use crate::InputError;
use crate::platform::x11::connection::link::Link;
use crate::platform::x11::gestures::steps::CancellableWait;

x11rb::atom_manager! {
    /// Names of the properties.
    pub Atoms: AtomsCookie {
        _BACKLOT_BORROWED_KEYS,
        _BACKLOT_CORE_CALLER,
        _BACKLOT_CORE_HELD,
        _BACKLOT_CORE_QUEUE,
    }
}

/// How long the others may take until a caller gives up.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// How long after each look at the queue the next comes.
const POLL_INTERVAL: Duration = Duration::from_millis(4);
/// How long the process that releases what a dead caller held may take for it.
const GUARD: Duration = Duration::from_secs(3);
/// Most words of a property that are read.
const MOST: u32 = 65_536;

/// What one caller holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The caller's window.
    pub caller: Window,
    /// The window of the process that releases it; 0 when there is none.
    pub guard: Window,
    /// What it holds.
    pub held: Held,
}

/// The queue of one display, as a connection sees it.
#[derive(Clone, Copy)]
pub struct Queue<'a> {
    /// The connection.
    pub link: &'a Link,
    /// Names of the properties.
    pub atoms: Atoms,
    /// The pointer device.
    pub pointer: u16,
}

impl Queue<'_> {
    /// Makes this connection's window a caller's.
    pub fn enlist(&self) -> Result<(), InputError> {
        let (own, name) = (self.link.own, self.atoms._BACKLOT_CORE_CALLER);
        x11rb::wrapper::ConnectionExt::change_property32(
            &self.link.conn,
            PropMode::REPLACE,
            own,
            name,
            AtomEnum::CARDINAL,
            &[own],
        )?;
        // A dead caller's window may have had the same number.
        self.leave()
    }

    /// Waits for the turn; every other caller waits until [`Queue::leave`]. True when `wait` says that the caller is
    /// to halt, and with `condition_not_met` when the others take too long: then it has left.
    pub fn enter(&self, wait: CancellableWait<'_>, display: &str) -> Result<bool, InputError> {
        let own = self.link.own;
        let mut first = self.change(|queue| {
            queue.retain(|caller| *caller != own);
            queue.push(own);
        })?;
        let deadline = Instant::now() + PATIENCE;
        while first != Some(own) {
            match first {
                Some(other) if !self.lives(other)? => {
                    first = self.change(|queue| queue.retain(|caller| *caller != other))?;
                    continue;
                }
                Some(_) => {}
                // Somebody has put the property away.
                None => drop(self.change(|queue| queue.push(own))?),
            }
            let is_late = Instant::now() > deadline;
            if is_late || wait(POLL_INTERVAL) {
                self.leave()?;
                let busy =
                    InputError::DevicesBusy { display: display.to_owned(), seconds: PATIENCE.as_secs() };
                return if is_late { Err(busy) } else { Ok(true) };
            }
            first = self.read(self.atoms._BACKLOT_CORE_QUEUE)?.first().copied();
        }
        Ok(false)
    }

    /// Lets the next caller act.
    pub fn leave(&self) -> Result<(), InputError> {
        let own = self.link.own;
        self.change(|queue| queue.retain(|caller| *caller != own)).map(drop)
    }

    /// What the callers hold; for who has the turn.
    pub fn records(&self) -> Result<Vec<Record>, InputError> {
        Ok(of_words(&self.read(self.atoms._BACKLOT_CORE_HELD)?))
    }

    /// Writes down what the callers hold; for who has the turn.
    pub fn write_records(&self, records: &[Record]) -> Result<(), InputError> {
        self.write(self.atoms._BACKLOT_CORE_HELD, &words(records))?;
        // Agents, which have keyboards of their own and lend keycodes too, keep away from these.
        let borrowed: Vec<u8> =
            records.iter().flat_map(|record| record.held.borrowed.iter().copied()).collect();
        let note = xinput::XIChangePropertyAux::Data8(borrowed);
        self.put(self.atoms._BACKLOT_BORROWED_KEYS, &note)
    }

    /// True while the caller's connection is open.
    pub fn lives(&self, caller: Window) -> Result<bool, InputError> {
        let name = self.atoms._BACKLOT_CORE_CALLER;
        let reply = self.link.conn.get_property(false, caller, name, AtomEnum::CARDINAL, 0, 1)?.reply();
        Ok(reply.is_ok_and(|reply| reply.value_len == 1))
    }

    /// Waits until the process that releases what a dead caller held has done so.
    pub fn await_guard(&self, guard: Window) -> Result<(), InputError> {
        let deadline = Instant::now() + GUARD;
        while guard != 0 && Instant::now() < deadline && self.link.conn.get_geometry(guard)?.reply().is_ok() {
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    /// Changes the queue while nobody else can; answers who is first then.
    fn change(&self, change: impl FnOnce(&mut Vec<Window>)) -> Result<Option<Window>, InputError> {
        let name = self.atoms._BACKLOT_CORE_QUEUE;
        self.link.alone(|| {
            let mut queue = self.read(name)?;
            let before = queue.clone();
            change(&mut queue);
            if queue != before {
                self.write(name, &queue)?;
            }
            Ok(queue.first().copied())
        })
    }

    fn read(&self, name: Atom) -> Result<Vec<u32>, InputError> {
        let any = AtomEnum::ANY.into();
        let reply =
            xinput::xi_get_property(&self.link.conn, self.pointer, false, name, any, 0, MOST)?.reply()?;
        match reply.items {
            xinput::XIGetPropertyItems::Data32(words) => Ok(words),
            _ => Ok(Vec::new()),
        }
    }

    fn write(&self, name: Atom, words: &[u32]) -> Result<(), InputError> {
        self.put(name, &xinput::XIChangePropertyAux::Data32(words.to_vec()))
    }

    fn put(&self, name: Atom, items: &xinput::XIChangePropertyAux) -> Result<(), InputError> {
        let count = match items {
            xinput::XIChangePropertyAux::Data8(bytes) => bytes.len(),
            xinput::XIChangePropertyAux::Data32(words) => words.len(),
            _ => 0,
        };
        let (kind, replace) = (AtomEnum::INTEGER.into(), PropMode::REPLACE);
        xinput::xi_change_property(&self.link.conn, self.pointer, replace, name, kind, count as u32, items)?;
        Ok(())
    }
}

/// Caller, guard, number of words and words, one record after the other.
fn words(records: &[Record]) -> Vec<u32> {
    let record = |record: &Record| {
        let held = record.held.words();
        let mut words = vec![record.caller, record.guard, held.len() as u32];
        words.extend(held);
        words
    };
    records.iter().filter(|record| !record.held.is_empty()).flat_map(record).collect()
}

fn of_words(mut words: &[u32]) -> Vec<Record> {
    let mut records = Vec::new();
    while let [caller, guard, count, rest @ ..] = words {
        let (held, rest) = rest.split_at(rest.len().min(*count as usize));
        records.push(Record { caller: *caller, guard: *guard, held: Held::of_words(held) });
        words = rest;
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_reads_messages_as_they_were_written() {
        let record = |caller, keys: &[u8]| Record {
            caller,
            guard: caller + 1,
            held: Held { keys: keys.to_vec(), ..Held::default() },
        };
        let (some, none) = (record(70, &[50, 38]), record(90, &[]));
        assert_eq!(of_words(&words(&[some.clone(), none, record(95, &[9])])), [some, record(95, &[9])]);
        assert_eq!(of_words(&[1, 2]), [] as [Record; 0]);
        assert_eq!(of_words(&[1, 2, 9]).len(), 1);
    }
}
