//! Keys of the display's own keyboard that are pressed together, or held from one call to the next.

use std::collections::BTreeSet;
use std::time::Duration;

use desktop::WindowId;
use xkeysym::key;

use super::devices::Devices;
use super::reader;
use crate::InputError;
use crate::plan::{self, Layout, Step, Stroke};
use crate::platform::x11::connection::toolkit;
use crate::platform::x11::devices::key_positions;
use crate::platform::x11::gestures::steps::CancellableWait;

/// What a key pressed by its keysym holds down.
#[derive(Clone, Debug, Default)]
pub struct Down {
    /// The keysym.
    pub keysym: u32,
    /// Its modifiers and itself.
    pub keycodes: Vec<u8>,
    /// The keycode that was borrowed for it.
    pub borrowed: Option<u8>,
}

/// The strokes of keysyms, and the keycodes that are borrowed for them.
struct Planned {
    strokes: Vec<Stroke>,
    assign: Vec<(u8, u32)>,
}

/// Presses keys in their order and releases them in the reverse one; true unless it was halted.
pub fn chord(devices: &mut Devices, keysyms: &[u32], wait: CancellableWait<'_>) -> Result<bool, InputError> {
    let layout = devices.layout()?;
    let planned = plan(devices, &layout, keysyms)?;
    let borrowed: Vec<u8> = planned.assign.iter().map(|(keycode, _)| *keycode).collect();
    let mut order: Vec<u8> = Vec::new();
    for stroke in &planned.strokes {
        for keycode in stroke.held.iter().chain([&stroke.keycode]) {
            if !order.contains(keycode) {
                order.push(*keycode);
            }
        }
    }
    let mut steps: Vec<Step> = order.iter().map(|keycode| Step::Key(*keycode, true)).collect();
    steps.push(Step::Pause(Duration::ZERO));
    steps.extend(order.iter().rev().map(|keycode| Step::Key(*keycode, false)));
    let reader: Vec<u32> = reader::current(&devices.link, devices.person)?.into_iter().collect();
    // The layout's first group is the one that was looked up.
    let lifted = devices.lift(&layout, &BTreeSet::new(), false)?;
    let known =
        devices.lend(&planned.assign).and_then(|()| wait_until_read(devices, &borrowed, &reader, wait));
    let done = if matches!(known, Ok(true)) { devices.run(&steps, wait) } else { known };
    let read = wait_until_read(devices, &borrowed, &reader, wait);
    devices.give_back(&borrowed)?;
    devices.put_back(lifted)?;
    Ok(done? && read?)
}

/// Presses a key that stays down; none when it was halted before.
pub fn down(
    devices: &mut Devices,
    keysym: u32,
    wait: CancellableWait<'_>,
) -> Result<Option<Down>, InputError> {
    let layout = devices.layout()?;
    let planned = plan(devices, &layout, &[keysym])?;
    let borrowed = planned.assign.first().map(|(keycode, _)| *keycode);
    let reader: Vec<u32> = reader::current(&devices.link, devices.person)?.into_iter().collect();
    let lend: Vec<u8> = borrowed.into_iter().collect();
    devices.lend(&planned.assign)?;
    let known = wait_until_read(devices, &lend, &reader, wait);
    if !matches!(known, Ok(true)) {
        devices.give_back(&lend)?;
        return known.map(|_| None);
    }
    let stroke = planned.strokes.first().cloned().unwrap_or_default();
    let keycodes: Vec<u8> = stroke.held.iter().chain([&stroke.keycode]).copied().collect();
    devices.hold(&keycodes, &[])?;
    Ok(Some(Down { keysym, keycodes, borrowed }))
}

/// Releases a key, but for keycodes that others of the keys that are down need.
pub fn up(
    devices: &mut Devices,
    key: &Down,
    others: &[Down],
    wait: CancellableWait<'_>,
) -> Result<(), InputError> {
    let needed = |keycode: &&u8| others.iter().any(|other| other.keycodes.contains(keycode));
    let released: Vec<u8> = key.keycodes.iter().filter(|keycode| !needed(keycode)).copied().collect();
    devices.release(&released, &[])?;
    let borrowed: Vec<u8> = key.borrowed.into_iter().collect();
    let reader: Vec<u32> = reader::current(&devices.link, devices.person)?.into_iter().collect();
    let read = wait_until_read(devices, &borrowed, &reader, wait);
    devices.give_back(&borrowed)?;
    read.map(drop)
}

/// The keycodes by which a key that nobody pressed here is released; none when the layout lacks it.
pub fn keycodes(devices: &Devices, keysym: u32) -> Result<Vec<u8>, InputError> {
    Ok(devices.layout()?.strokes.get(&keysym).map(|stroke| vec![stroke.keycode]).unwrap_or_default())
}

fn wait_until_read(
    devices: &Devices,
    borrowed: &[u8],
    reader: &[u32],
    wait: CancellableWait<'_>,
) -> Result<bool, InputError> {
    if borrowed.is_empty() { Ok(true) } else { reader::wait_until_read(&devices.link, reader, wait) }
}

/// Keycodes are borrowed for what the layout lacks, but for the letters of shortcuts in applications that go by the place.
fn plan(devices: &Devices, layout: &Layout, keysyms: &[u32]) -> Result<Planned, InputError> {
    let window = reader::current(&devices.link, devices.person)?;
    let is_shortcut = keysyms.iter().any(|keysym| is_command(*keysym));
    let mut layout = layout.clone();
    if let Some(window) = window
        && is_shortcut
        && keysyms.iter().any(|keysym| !layout.strokes.contains_key(keysym))
        && toolkit::is_chromium(&devices.link, window)?
    {
        for keysym in keysyms {
            if let Some(keycode) = key_positions::key_of(&devices.link, devices.person.keyboard, *keysym)? {
                layout.strokes.entry(*keysym).or_insert(Stroke { keycode, held: Vec::new() });
            }
        }
    }
    let refuse = || {
        let window_id = WindowId::of_xid(window.unwrap_or_default());
        InputError::untypable(window_id, keysyms.last().copied().unwrap_or_default())
    };
    let mut batches = plan::batches(keysyms, &layout).ok_or_else(refuse)?;
    // What is pressed together has to be there together.
    match (batches.pop(), batches.is_empty()) {
        (Some(batch), true) => Ok(Planned { strokes: batch.strokes, assign: batch.assign }),
        (None, _) => Ok(Planned { strokes: Vec::new(), assign: Vec::new() }),
        (Some(_), false) => Err(refuse()),
    }
}

/// True for keys with which applications look others up among their shortcuts.
fn is_command(keysym: u32) -> bool {
    matches!(keysym, key::Control_L | key::Control_R | key::Meta_L..=key::Hyper_R)
}
