//! Inserts text at the caret of an element and reads it back.

use std::time::{Duration, Instant};

use super::application::Toolkit;
use super::ask::{self, Ask, Reply};
use super::detail::MAX_TEXT;
use super::snapshot::Snapshot;
use crate::tree::Abilities;
use crate::{AxError, Inserted};

/// How long the text may take to appear after the application has taken it.
const APPEARS: Duration = Duration::from_millis(500);

/// The text of a field before the insertion.
struct Before {
    length: i32,
    text: Option<String>,
    from: i32,
    to: i32,
}

impl Snapshot {
    /// Inserts text at the caret of an element, replacing its selection, and reads the element back. `text_not_supported`
    /// when it offers no way to, `stale_element` when it has gone.
    pub fn insert_text(&self, index: u32, text: &str, timeout: Duration) -> Result<Inserted, AxError> {
        let position = self.position(index)?;
        let node = &self.tree.nodes[position];
        if !node.abilities.has(Abilities::EDITABLE_TEXT) || !node.abilities.has(Abilities::TEXT) {
            let (role, label) = self.named(index);
            return Err(AxError::TextNotSupported { index, role, label });
        }
        let deadline = Instant::now() + timeout;
        let before = self.before(index, deadline, timeout)?;
        let object = &self.objects[position].object;
        let edit = |member| (ask::EDITABLE_TEXT, member);
        let caret = before.from.saturating_add(self.units(text));
        let mut asks = Vec::new();
        if before.to > before.from {
            asks.push(Ask::integers(object, edit("DeleteText"), "ii", &[before.from, before.to]));
        }
        asks.push(Ask::with(object, edit("InsertText"), "isi", |writer| {
            writer.i32(before.from).string(text).i32(self.insert_length(text));
        }));
        // GTK leaves the caret before what was inserted: the next text would land in front of it.
        asks.push(Ask::integers(object, (ask::TEXT, "SetCaretOffset"), "i", &[caret]));
        let replies = self.app.ask_all(&asks, deadline);
        for reply in &replies[..replies.len() - 1] {
            match reply {
                Err(error) => return Err(self.failure(index, error, timeout)),
                Ok(_) if ask::boolean(reply) == Some(false) => {
                    let (role, label) = self.named(index);
                    return Err(AxError::TextNotSupported { index, role, label });
                }
                Ok(_) => {}
            }
        }
        let (confirmed, value) =
            self.await_text(position, &before, text, deadline.min(Instant::now() + APPEARS));
        let value = value.filter(|_| !node.role.is_secret());
        Ok(Inserted { route: "editable_text".to_owned(), confirmed, value })
    }

    /// Length, text, caret and selection now.
    fn before(&self, index: u32, deadline: Instant, timeout: Duration) -> Result<Before, AxError> {
        let object = &self.objects[self.position(index)?].object;
        let replies = self.app.ask_all(
            &[
                Ask::property(object, ask::TEXT, "CharacterCount"),
                Ask::property(object, ask::TEXT, "CaretOffset"),
                Ask::integers(object, (ask::TEXT, "GetSelection"), "i", &[0]),
                Ask::integers(object, (ask::TEXT, "GetText"), "ii", &[0, -1]),
            ],
            deadline,
        );
        if let Err(error) = &replies[0] {
            return Err(self.failure(index, error, timeout));
        }
        let length = ask::integer_property(&replies[0]).unwrap_or(0).max(0);
        let caret = ask::integer_property(&replies[1]).filter(|caret| (0..=length).contains(caret));
        let caret = caret.unwrap_or(length);
        let (from, to) = selection(&replies[2])
            .filter(|(from, to)| 0 <= *from && from < to && *to <= length)
            .unwrap_or((caret, caret));
        Ok(Before { length, text: ask::text(&replies[3]), from, to })
    }

    /// Waits until the text is there; answers whether it is, and the text that was read last.
    fn await_text(
        &self,
        position: usize,
        before: &Before,
        text: &str,
        deadline: Instant,
    ) -> (bool, Option<String>) {
        let object = &self.objects[position].object;
        let expected = before.text.as_ref().map(|old| self.splice(old, before.from, before.to, text));
        let length = before.length - (before.to - before.from) + self.units(text);
        loop {
            let replies = self.app.ask_all(
                &[
                    Ask::property(object, ask::TEXT, "CharacterCount"),
                    Ask::integers(object, (ask::TEXT, "GetText"), "ii", &[0, length.clamp(0, MAX_TEXT)]),
                ],
                deadline,
            );
            let now = ask::text(&replies[1]);
            let secret = self.tree.nodes[position].role.is_secret();
            let same_length = ask::integer_property(&replies[0]) == Some(length);
            let cut = length > MAX_TEXT;
            let same = secret || cut || now.is_some() && now == expected;
            if same_length && same {
                return (true, now);
            }
            if Instant::now() >= deadline {
                return (false, now);
            }
            self.app.wait_for_change(deadline);
        }
    }

    /// Length of a text in the toolkit's units of position: characters, in Qt UTF-16 units.
    fn units(&self, text: &str) -> i32 {
        let count = match self.app.toolkit {
            Toolkit::Qt => text.encode_utf16().count(),
            _ => text.chars().count(),
        };
        i32::try_from(count).unwrap_or(i32::MAX)
    }

    /// Length as `InsertText` counts it: bytes, in Qt UTF-16 units.
    fn insert_length(&self, text: &str) -> i32 {
        match self.app.toolkit {
            Toolkit::Qt => self.units(text),
            _ => i32::try_from(text.len()).unwrap_or(i32::MAX),
        }
    }

    /// `old` with the units from `from` to `to` replaced.
    fn splice(&self, old: &str, from: i32, to: i32, text: &str) -> String {
        let (from, to) = (usize::try_from(from).unwrap_or(0), usize::try_from(to).unwrap_or(0));
        if self.app.toolkit == Toolkit::Qt {
            let units: Vec<u16> = old.encode_utf16().collect();
            let head = &units[..from.min(units.len())];
            let tail = &units[to.min(units.len())..];
            return String::from_utf16_lossy(head) + text + &String::from_utf16_lossy(tail);
        }
        let head: String = old.chars().take(from).collect();
        let tail: String = old.chars().skip(to).collect();
        head + text + &tail
    }
}

fn selection(reply: &Reply) -> Option<(i32, i32)> {
    let mut reader = reply.as_ref().ok()?.expect("ii").ok()?;
    Some((reader.i32().ok()?, reader.i32().ok()?))
}
