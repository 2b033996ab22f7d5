//! Text through the display's own keyboard.

use std::collections::BTreeSet;
use std::time::Duration;

use desktop::WindowId;
use x11rb::protocol::xproto::Window;

use super::devices::{Devices, UNINTERRUPTED};
use super::modifiers::Lifted;
use super::reader;
use crate::InputError;
use crate::plan::{self, Batch, Layout, Step};
use crate::platform::x11::gestures::locale;
use crate::platform::x11::gestures::steps::CancellableWait;

/// Characters that are sent at once.
const CHUNK: usize = 32;
/// How often a modifier that somebody presses meanwhile is released again.
const PERSISTENCE: usize = 100;

/// A text under way.
struct Typing<'a> {
    layout: Layout,
    delay: Duration,
    wait: CancellableWait<'a>,
    /// The window that gets the keys when it begins.
    reader: Option<Window>,
    typed: usize,
    lifted: Lifted,
}

/// Types a text exactly; fails with `text_not_typable` before anything is sent, and with `cancelled`.
pub fn text(
    devices: &mut Devices,
    text: &str,
    delay: Duration,
    wait: CancellableWait<'_>,
) -> Result<(), InputError> {
    let reader = reader::current(&devices.link, devices.person)?;
    let window_id = WindowId::of_xid(reader.unwrap_or_default());
    let refuse = |characters| InputError::TextNotTypable { window_id, characters };
    let keysyms = plan::keysyms(text).map_err(refuse)?;
    if let Some(window) = reader {
        locale::check(&devices.link, window, text)?;
    }
    let layout = devices.layout()?;
    let batches = plan::batches(&keysyms, &layout).ok_or_else(|| refuse(unknown(text, &layout)))?;
    let typed: BTreeSet<u8> =
        batches.iter().flat_map(|batch| &batch.strokes).map(|stroke| stroke.keycode).collect();
    let lifted = devices.lift(&layout, &typed, true)?;
    let mut typing = Typing { layout, delay, wait, reader, typed: 0, lifted };
    let mut done = Ok(true);
    for batch in &batches {
        done = typing.batch(devices, batch);
        if !matches!(done, Ok(true)) {
            break;
        }
    }
    let Typing { typed, lifted, .. } = typing;
    devices.put_back(lifted)?;
    if done? { Ok(()) } else { Err(InputError::Cancelled { window_id, typed, count: keysyms.len() }) }
}

impl Typing<'_> {
    /// True when all of it is typed.
    fn batch(&mut self, devices: &mut Devices, batch: &Batch) -> Result<bool, InputError> {
        let borrowed: Vec<u8> = batch.assign.iter().map(|(keycode, _)| *keycode).collect();
        let known = devices.lend(&batch.assign).and_then(|()| self.wait_for_readers(devices, &borrowed));
        let typed = if matches!(known, Ok(true)) { self.strokes(devices, batch) } else { known };
        // It looks a key up when it comes to it.
        let read = self.wait_for_readers(devices, &borrowed);
        devices.give_back(&borrowed)?;
        Ok(typed? && read?)
    }

    fn strokes(&mut self, devices: &mut Devices, batch: &Batch) -> Result<bool, InputError> {
        let size = if self.delay.is_zero() { CHUNK } else { 1 };
        for chunk in batch.strokes.chunks(size) {
            if (self.wait)(Duration::ZERO) {
                return Ok(false);
            }
            let steps: Vec<Step> = chunk.iter().flat_map(|stroke| plan::press(stroke, &[])).collect();
            self.send(devices, &steps)?;
            self.typed += chunk.len();
            // What is sent faster than it is read could not be cancelled.
            if let Some(window) = self.reader
                && !reader::keep_pace(&devices.link, window, self.wait)?
            {
                return Ok(false);
            }
            if !self.delay.is_zero() && (self.wait)(self.delay) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sends the steps at a moment when nothing is held that changes what they mean.
    fn send(&mut self, devices: &mut Devices, steps: &[Step]) -> Result<(), InputError> {
        let keys: BTreeSet<u8> = steps
            .iter()
            .filter_map(|step| if let Step::Key(key, _) = step { Some(*key) } else { None })
            .collect();
        for nth in 0.. {
            let is_last = nth == PERSISTENCE;
            let layout = &self.layout;
            let is_sent = devices.press_alone(&keys, |devices| {
                if !is_last && devices.is_modified(layout)? {
                    return Ok(false);
                }
                devices.send(steps, UNINTERRUPTED)
            })?;
            if is_sent {
                break;
            }
            devices.lift_more(&self.layout, &keys, &mut self.lifted)?;
        }
        Ok(())
    }

    /// Waits until what gets the keys now, and what got them in the beginning, has read all; false when it is to halt.
    fn wait_for_readers(&self, devices: &Devices, borrowed: &[u8]) -> Result<bool, InputError> {
        if borrowed.is_empty() {
            return Ok(true);
        }
        let mut windows: Vec<Window> = self.reader.into_iter().collect();
        windows.extend(reader::current(&devices.link, devices.person)?.filter(|now| !windows.contains(now)));
        reader::wait_until_read(&devices.link, &windows, self.wait)
    }
}

/// The characters, each once, that the layout lacks.
fn unknown(text: &str, layout: &Layout) -> String {
    let is_known = |character: &char| {
        let keysyms = plan::keysyms(&character.to_string()).unwrap_or_default();
        keysyms.iter().all(|keysym| layout.strokes.contains_key(keysym))
    };
    let unknown: BTreeSet<char> = text.chars().filter(|character| !is_known(character)).collect();
    unknown.into_iter().collect()
}
