//! The thread that reads what a hypervisor says.

use std::io;

use crate::error::QmpError;
use crate::message::{Event, Message, parse};
use crate::shared::Shared;

/// Longest line that is read; what QEMU sends is under one of these sixteen megabytes.
pub const MOST_LINE_BYTES: usize = 16 << 20;

/// Who is told what a hypervisor says of its own accord, on a thread that must not be kept.
pub trait Listener: Send {
    /// Something happened; false ends the connection, because events come faster than they are taken.
    fn event(&mut self, event: &Event) -> bool;
    /// The connection ended, and nobody had closed it.
    fn end(&mut self, error: &QmpError);
}

/// Reads until the connection ends.
pub(crate) fn run(shared: &Shared, mut listener: Box<dyn Listener>) {
    // A panic of the listener ends the connection too, instead of leaving it without a reader.
    let ends = Ends { shared };
    let error = read(shared, listener.as_mut());
    shared.end(error);
    drop(ends);
    let (is_closed, ended) = {
        let state = shared.lock();
        (state.is_closed, state.ended.clone())
    };
    if let Some(error) = ended.filter(|_| !is_closed) {
        listener.end(&error);
    }
}

struct Ends<'a> {
    shared: &'a Shared,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        let reason = "its reader ended".to_owned();
        self.shared.end(QmpError::Lost { socket: self.shared.socket.clone(), reason });
    }
}

/// Takes line after line, and answers why there are no more.
fn read(shared: &Shared, listener: &mut dyn Listener) -> QmpError {
    let lost = |reason: String| QmpError::Lost { socket: shared.socket.clone(), reason };
    let mut line = Vec::new();
    let mut part = [0; 16 << 10];
    loop {
        let bytes = match shared.link.read(&mut part) {
            Ok(0) => return lost("the hypervisor closed it".to_owned()),
            Ok(count) => &part[..count],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return lost(error.to_string()),
        };
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(piece);
            let taken = match line.last() {
                Some(b'\n') => take(shared, listener, &line),
                _ if line.len() > MOST_LINE_BYTES => {
                    Err(format!("a line is longer than {MOST_LINE_BYTES} bytes"))
                }
                _ => continue,
            };
            if let Err(what) = taken {
                return QmpError::Garbled { socket: shared.socket.clone(), what };
            }
            line.clear();
            line.shrink_to(64 << 10);
        }
    }
}

fn take(shared: &Shared, listener: &mut dyn Listener, line: &[u8]) -> Result<(), String> {
    if line.trim_ascii().is_empty() {
        return Ok(());
    }
    let message = parse(line)?;
    if shared.lock().greeting.is_none() && !matches!(message, Message::Greeting(_)) {
        return Err("it does not begin with a greeting".to_owned());
    }
    match message {
        Message::Greeting(greeting) => shared.change(|state| state.greeting = Some(greeting)),
        Message::Event(event) => {
            if event.name.starts_with("JOB_") || event.name.starts_with("BLOCK_JOB_") {
                shared.change(|state| state.job_events += 1);
            }
            if !listener.event(&event) {
                return Err("events come faster than they are taken".to_owned());
            }
        }
        Message::Reply(None, _) => return Err("an answer does not say to what".to_owned()),
        // Whoever waited for an answer that is not expected any more was told so.
        Message::Reply(Some(id), reply) => shared.change(|state| {
            if let Some(slot) = state.replies.get_mut(&id) {
                *slot = Some(reply);
            }
        }),
    }
    Ok(())
}
