//! What is sent, worked out before anything is sent: the steps of a click, a key and a text.

use std::collections::HashMap;
use std::time::Duration;

use desktop::Point;

use crate::keysyms::keysym_of;

/// Time between two clicks of one double click.
const CLICK_INTERVAL: Duration = Duration::from_millis(80);

/// A button of the pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    /// The primary button.
    Left,
    /// The wheel's button.
    Middle,
    /// The button that opens context menus.
    Right,
}

impl Button {
    /// The number of the button in the X protocol.
    pub fn number(self) -> u8 {
        match self {
            Self::Left => 1,
            Self::Middle => 2,
            Self::Right => 3,
        }
    }
}

/// One thing that the agent's devices do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The pointer goes to a point of the screen.
    Move(Point),
    /// The pointer, which was moved to a point of the screen, is over its window still or goes there again.
    Return(Point),
    /// A button goes down or up.
    Button(u8, bool),
    /// A key goes down or up, by keycode.
    Key(u8, bool),
    /// Nothing for a while.
    Pause(Duration),
}

/// A key with what must be held so that it gives one keysym.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stroke {
    /// The key's keycode.
    pub keycode: u8,
    /// Keycodes of the modifiers, in the order in which they are pressed.
    pub held: Vec<u8>,
}

/// What a keyboard can type: the strokes of its keysyms, and the keycodes that mean nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The stroke of each keysym, with the fewest modifiers.
    pub strokes: HashMap<u32, Stroke>,
    /// Keycodes without a meaning.
    pub spare: Vec<u8>,
    /// The modifier bits that each keycode holds, as they stand in the state of an event.
    pub modifiers: HashMap<u8, u16>,
}

/// Strokes that a keyboard can make after some spare keycodes have been given a keysym.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Spare keycodes and the keysyms that they need.
    pub assign: Vec<(u8, u32)>,
    /// The strokes, one a character.
    pub strokes: Vec<Stroke>,
}

/// The steps of `count` clicks at a point of the screen with the keys of modifiers held around them.
pub fn click(at: Point, button: Button, count: u32, held: &[u8]) -> Vec<Step> {
    let mut steps = vec![Step::Move(at)];
    steps.extend(held.iter().map(|keycode| Step::Key(*keycode, true)));
    for nth in 0..count {
        if nth > 0 {
            steps.push(Step::Pause(CLICK_INTERVAL));
        }
        steps.push(Step::Button(button.number(), true));
        steps.push(Step::Button(button.number(), false));
    }
    steps.extend(held.iter().rev().map(|keycode| Step::Key(*keycode, false)));
    steps
}

/// The steps of one stroke with the keys of further modifiers held around it.
pub fn press(stroke: &Stroke, held: &[u8]) -> Vec<Step> {
    let mut all: Vec<u8> = held.to_vec();
    all.extend(stroke.held.iter().filter(|keycode| !held.contains(keycode)));
    let mut steps: Vec<Step> = all.iter().map(|keycode| Step::Key(*keycode, true)).collect();
    steps.extend([Step::Key(stroke.keycode, true), Step::Key(stroke.keycode, false)]);
    steps.extend(all.iter().rev().map(|keycode| Step::Key(*keycode, false)));
    steps
}

/// The steps of several strokes of one key at a point of the screen; between two of them is a moment at which they can be
/// halted.
pub fn presses(at: Point, stroke: &Stroke, held: &[u8], count: u32) -> Vec<Step> {
    let mut steps = vec![Step::Move(at)];
    steps.extend(press(stroke, held));
    for _ in 1..count {
        steps.extend([Step::Pause(Duration::ZERO), Step::Return(at)]);
        steps.extend(press(stroke, held));
    }
    steps
}

/// The batches that give the keysyms in order: keys that the layout has, and spare keycodes for the others,
/// as many new ones in a batch as there are spare keycodes. None when there is no spare keycode and one is
/// needed.
pub fn batches(keysyms: &[u32], layout: &Layout) -> Option<Vec<Batch>> {
    let mut done = Vec::new();
    let mut batch = Batch::default();
    for keysym in keysyms {
        if let Some(stroke) = layout.strokes.get(keysym) {
            batch.strokes.push(stroke.clone());
            continue;
        }
        let known = batch.assign.iter().find(|(_, assigned)| assigned == keysym).map(|(keycode, _)| *keycode);
        let keycode = match known {
            Some(keycode) => keycode,
            None => {
                if batch.assign.len() == layout.spare.len() {
                    done.push(std::mem::take(&mut batch));
                }
                let keycode = *layout.spare.get(batch.assign.len())?;
                batch.assign.push((keycode, *keysym));
                keycode
            }
        };
        batch.strokes.push(Stroke { keycode, held: Vec::new() });
    }
    done.push(batch);
    done.retain(|batch| !batch.strokes.is_empty());
    Some(done)
}

/// The keysyms of a text in order, or the characters, each once, that no key can mean.
pub fn keysyms(text: &str) -> Result<Vec<u32>, String> {
    let mut keysyms = Vec::new();
    let mut refused = String::new();
    for character in text.replace("\r\n", "\n").chars() {
        match keysym_of(character) {
            Some(keysym) => keysyms.push(keysym),
            None if refused.contains(character) => {}
            None => refused.push(character),
        }
    }
    if refused.is_empty() { Ok(keysyms) } else { Err(refused) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails panics")]
mod tests {
    use super::*;

    fn layout(spare: &[u8]) -> Layout {
        let plain = |keycode| Stroke { keycode, held: vec![] };
        let strokes = HashMap::from([
            (0x61, plain(38)),
            (0x62, plain(56)),
            (0x41, Stroke { keycode: 38, held: vec![50] }),
        ]);
        Layout { strokes, spare: spare.to_vec(), ..Layout::default() }
    }

    #[test]
    fn a_click_moves_presses_and_releases() {
        let at = Point { x: 3, y: 4 };
        let steps = click(at, Button::Right, 1, &[]);
        assert_eq!(steps, [Step::Move(at), Step::Button(3, true), Step::Button(3, false)]);
    }

    #[test]
    fn a_double_click_holds_its_modifiers_around_both() {
        let steps = click(Point::default(), Button::Left, 2, &[50, 37]);
        assert_eq!(steps[1..3], [Step::Key(50, true), Step::Key(37, true)]);
        assert_eq!(steps[5], Step::Pause(CLICK_INTERVAL));
        assert_eq!(steps[8..], [Step::Key(37, false), Step::Key(50, false)]);
    }

    #[test]
    fn a_modifier_of_the_stroke_is_held_once() {
        let shifted = Stroke { keycode: 38, held: vec![50] };
        let steps = press(&shifted, &[37, 50]);
        assert_eq!(steps.iter().filter(|step| **step == Step::Key(50, true)).count(), 1);
        assert_eq!(steps.len(), 6);
    }

    #[test]
    fn text_takes_mapped_keys_first_and_spare_ones_for_the_rest() {
        let keysyms = keysyms("aA世b世").unwrap();
        let batches = batches(&keysyms, &layout(&[97])).unwrap();
        assert_eq!(batches.len(), 1);
        assert_eq!(batches[0].assign, [(97, 0x0100_4e16)]);
        let keycodes: Vec<u8> = batches[0].strokes.iter().map(|stroke| stroke.keycode).collect();
        assert_eq!(keycodes, [38, 38, 97, 56, 97]);
        assert_eq!(batches[0].strokes[1].held, [50]);
    }

    #[test]
    fn more_new_characters_than_spare_keys_make_more_batches() {
        let keysyms = keysyms("世a界").unwrap();
        let two = batches(&keysyms, &layout(&[97])).unwrap();
        assert_eq!(two.len(), 2);
        assert_eq!(two[1].assign, [(97, 0x0100_754c)]);
        assert_eq!(batches(&keysyms, &layout(&[])), None);
    }

    #[test]
    fn characters_without_a_key_are_named_once() {
        assert_eq!(keysyms("a\u{1}b\u{1}\u{2}").unwrap_err(), "\u{1}\u{2}");
        assert_eq!(keysyms("a\r\nb").unwrap(), [0x61, 0xff0d, 0x62]);
        assert_eq!(batches(&[], &layout(&[])), Some(vec![]));
    }
}
