//! Inserts text at the caret of an element and reads it back.

use std::time::{Duration, Instant};

use crate::platform::bus::ask::{self, Ask, ObjectRef, Reply};
use crate::platform::bus::toolkit::Toolkit;
use crate::platform::snapshot::Snapshot;
use crate::platform::tree::detail::MAX_TEXT;
use crate::tree::Abilities;
use crate::{AxError, Inserted};

/// How long the text may take to appear after an application has taken it that hands it on to a process of its own.
const APPEARS_ELSEWHERE: Duration = Duration::from_millis(1500);
/// The same for toolkits that change the text before they answer.
const APPEARS: Duration = Duration::from_millis(200);

/// The text of a field before the insertion.
struct Before {
    length: i32,
    text: Option<String>,
    from: i32,
    to: i32,
}

/// What was read after the insertion.
struct Seen {
    text: Option<String>,
    /// The text is the one before with what was inserted, and nothing else.
    is_expected: bool,
    /// Nothing has changed at all.
    is_as_before: bool,
}

impl Snapshot {
    /// Inserts text at the caret of an element, replacing its selection, and reads the element back. `text_not_supported`
    /// when it offers no way to or its text stays as it was, `stale_element` when it has gone.
    pub fn insert_text(&self, index: u32, text: &str, timeout: Duration) -> Result<Inserted, AxError> {
        let position = self.position(index)?;
        let node = &self.tree.nodes[position];
        let refused = || {
            let (role, label) = self.named(index);
            AxError::TextNotSupported { index, role, label }
        };
        // Gecko answers true and leaves the field as it was; keys arrive there.
        let is_deaf = self.app.toolkit == Toolkit::Gecko;
        let takes_text = node.abilities.has(Abilities::EDITABLE_TEXT) && node.abilities.has(Abilities::TEXT);
        if is_deaf || !takes_text {
            return Err(refused());
        }
        let deadline = Instant::now() + timeout;
        let before = self.before(index, deadline, timeout)?;
        let object = &self.objects[position].object;
        let mut asks = self.edits(object, &before, text);
        let edits = asks.len() - 1;
        asks.extend(self.look(position, &before, text));
        let replies = self.app.ask_all(&asks, deadline);
        for reply in &replies[..edits] {
            match reply {
                Err(error) => return Err(self.failure(index, error, timeout)),
                Ok(_) if ask::boolean(reply) == Some(false) => return Err(refused()),
                Ok(_) => {}
            }
        }
        let appears = match self.app.toolkit {
            Toolkit::Gtk3 | Toolkit::Gtk4 | Toolkit::Qt => APPEARS,
            _ => APPEARS_ELSEWHERE,
        };
        let seen = self.seen(position, &before, text, &replies[edits + 1..]);
        let until = deadline.min(Instant::now() + appears);
        let seen = self.await_text(position, &before, text, seen, until);
        // What takes a text and does nothing with it has not taken it: other ways are left to the caller.
        if seen.is_as_before && !text.is_empty() {
            return Err(refused());
        }
        let value = seen.text.filter(|_| !node.role.is_secret());
        Ok(Inserted { route: "editable_text".to_owned(), confirmed: seen.is_expected, value })
    }

    /// What replaces the selection by a text; the last one of these puts the caret behind it.
    fn edits(&self, object: &ObjectRef, before: &Before, text: &str) -> Vec<Ask> {
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
        asks
    }

    /// Length, text, caret and selection now.
    fn before(&self, index: u32, deadline: Instant, timeout: Duration) -> Result<Before, AxError> {
        let object = &self.objects[self.position(index)?].object;
        let replies = self.app.ask_all(
            &[
                Ask::property(object, ask::TEXT, "CharacterCount"),
                Ask::property(object, ask::TEXT, "CaretOffset"),
                Ask::integers(object, (ask::TEXT, "GetSelection"), "i", &[0]),
                Ask::integers(object, (ask::TEXT, "GetText"), "ii", &[0, self.end_of_text()]),
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

    /// The end that means all of a text: GTK 4 takes -1 for nothing.
    fn end_of_text(&self) -> i32 {
        if self.app.toolkit == Toolkit::Gtk4 { MAX_TEXT } else { -1 }
    }

    /// The questions whose answers say whether the text is there.
    fn look(&self, position: usize, before: &Before, text: &str) -> [Ask; 2] {
        let object = &self.objects[position].object;
        let end = self.length_after(before, text).max(before.length).clamp(0, MAX_TEXT);
        [
            Ask::property(object, ask::TEXT, "CharacterCount"),
            Ask::integers(object, (ask::TEXT, "GetText"), "ii", &[0, end]),
        ]
    }

    fn length_after(&self, before: &Before, text: &str) -> i32 {
        before.length - (before.to - before.from) + self.units(text)
    }

    /// What the answers to [`Snapshot::look`] say.
    fn seen(&self, position: usize, before: &Before, text: &str, replies: &[Reply]) -> Seen {
        let count = replies.first().and_then(ask::integer_property);
        let now = replies.get(1).and_then(ask::text);
        let length = self.length_after(before, text);
        let expected = before.text.as_ref().map(|old| self.splice(old, before.from, before.to, text));
        let unread = self.tree.nodes[position].role.is_secret() || length > MAX_TEXT;
        let is_expected = count == Some(length) && (unread || now.is_some() && now == expected);
        let is_same_text = unread || now.is_some() && now == before.text;
        let is_as_before = !is_expected && count == Some(before.length) && is_same_text;
        Seen { text: now, is_expected, is_as_before }
    }

    /// Waits until the text is there, or has become another, and answers what was seen last.
    fn await_text(
        &self,
        position: usize,
        before: &Before,
        text: &str,
        mut seen: Seen,
        deadline: Instant,
    ) -> Seen {
        while !seen.is_expected && Instant::now() < deadline {
            self.app.wait_for_change(deadline);
            let replies = self.app.ask_all(&self.look(position, before, text), deadline);
            // Answers that are cut off by the deadline say nothing.
            if replies.iter().all(Result::is_ok) {
                seen = self.seen(position, before, text, &replies);
            }
        }
        seen
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
