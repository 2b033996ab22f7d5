//! Key names and modifiers: the one table that tools, scripts and documentation read.

use std::collections::HashMap;
use std::sync::LazyLock;

use xkeysym::{Keysym, key};

use crate::InputError;

/// Names that X does not know, or knows as something else, with their keysyms.
const NAMED: &[(&str, u32)] = &[
    ("return", key::Return),
    ("enter", key::Return),
    ("tab", key::Tab),
    ("escape", key::Escape),
    ("esc", key::Escape),
    ("up", key::Up),
    ("down", key::Down),
    ("left", key::Left),
    ("right", key::Right),
    ("space", key::space),
    ("delete", key::Delete),
    ("del", key::Delete),
    ("backspace", key::BackSpace),
    ("home", key::Home),
    ("end", key::End),
    ("pageup", key::Page_Up),
    ("page_up", key::Page_Up),
    ("pagedown", key::Page_Down),
    ("page_down", key::Page_Down),
    ("insert", key::Insert),
    ("ins", key::Insert),
    ("menu", key::Menu),
    ("print", key::Print),
    ("printscreen", key::Print),
    ("pause", key::Pause),
    ("capslock", key::Caps_Lock),
    ("minus", key::minus),
    ("equal", key::equal),
    ("equals", key::equal),
    ("plus", key::plus),
    ("comma", key::comma),
    ("period", key::period),
    ("dot", key::period),
    ("slash", key::slash),
    ("backslash", key::backslash),
    ("semicolon", key::semicolon),
    ("apostrophe", key::apostrophe),
    ("quote", key::apostrophe),
    ("grave", key::grave),
    ("backtick", key::grave),
    ("bracketleft", key::bracketleft),
    ("bracketright", key::bracketright),
    ("f1", key::F1),
    ("f2", key::F2),
    ("f3", key::F3),
    ("f4", key::F4),
    ("f5", key::F5),
    ("f6", key::F6),
    ("f7", key::F7),
    ("f8", key::F8),
    ("f9", key::F9),
    ("f10", key::F10),
    ("f11", key::F11),
    ("f12", key::F12),
    ("f13", key::F13),
    ("f14", key::F14),
    ("f15", key::F15),
    ("f16", key::F16),
    ("f17", key::F17),
    ("f18", key::F18),
    ("f19", key::F19),
    ("f20", key::F20),
    ("f21", key::F21),
    ("f22", key::F22),
    ("f23", key::F23),
    ("f24", key::F24),
];

/// What browsers (UI Events, `key` values) and libraries that play a keyboard call keys otherwise; accepted, and not listed.
const OTHERWISE: &[(&str, u32)] = &[
    ("arrowup", key::Up),
    ("arrowdown", key::Down),
    ("arrowleft", key::Left),
    ("arrowright", key::Right),
    ("up_arrow", key::Up),
    ("down_arrow", key::Down),
    ("left_arrow", key::Left),
    ("right_arrow", key::Right),
    ("pgup", key::Page_Up),
    ("pgdn", key::Page_Down),
    ("pgdown", key::Page_Down),
    ("back", key::BackSpace),
    ("spacebar", key::space),
    ("print_screen", key::Print),
    ("prtsc", key::Print),
    ("prtscr", key::Print),
    ("contextmenu", key::Menu),
    ("apps", key::Menu),
    ("altgraph", key::ISO_Level3_Shift),
    ("altgr", key::ISO_Level3_Shift),
    ("alt_gr", key::ISO_Level3_Shift),
    ("numlock", key::Num_Lock),
    ("scrolllock", key::Scroll_Lock),
    ("windows", key::Super_L),
    ("winleft", key::Super_L),
    ("winright", key::Super_R),
    ("ctrlleft", key::Control_L),
    ("ctrlright", key::Control_R),
    ("altleft", key::Alt_L),
    ("altright", key::Alt_R),
    ("shiftleft", key::Shift_L),
    ("shiftright", key::Shift_R),
    ("ctrl_l", key::Control_L),
    ("ctrl_r", key::Control_R),
];

/// A modifier that is held while something else happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modifier {
    /// Shift.
    Shift,
    /// Control.
    Control,
    /// Alt, called option on a Mac keyboard.
    Alt,
    /// Super, called cmd on a Mac keyboard and Windows key elsewhere.
    Super,
}

impl Modifier {
    /// The keysym of the key that stands for it.
    pub fn keysym(self) -> u32 {
        match self {
            Self::Shift => key::Shift_L,
            Self::Control => key::Control_L,
            Self::Alt => key::Alt_L,
            Self::Super => key::Super_L,
        }
    }
}

const MODIFIERS: &[(&str, Modifier)] = &[
    ("cmd", Modifier::Super),
    ("command", Modifier::Super),
    ("super", Modifier::Super),
    ("win", Modifier::Super),
    ("meta", Modifier::Super),
    ("shift", Modifier::Shift),
    ("option", Modifier::Alt),
    ("alt", Modifier::Alt),
    ("ctrl", Modifier::Control),
    ("control", Modifier::Control),
];

/// Keysym ranges of X11's `keysymdef.h` and the XFree86 vendor keys.
const NAMED_RANGES: [std::ops::RangeInclusive<u32>; 3] =
    [0x20..=0xfff, 0x1000..=0xffff, 0x1008_fe00..=0x1008_ffff];

static X_NAMES: LazyLock<HashMap<String, u32>> = LazyLock::new(|| {
    let all = NAMED_RANGES.into_iter().flatten();
    all.filter_map(|raw| Some((x_name(raw)?, raw))).collect()
});

static X_NAMES_ANY_CASE: LazyLock<HashMap<String, u32>> = LazyLock::new(|| {
    let mut names = HashMap::new();
    for (name, raw) in X_NAMES.iter() {
        let lower = name.to_lowercase();
        // Where two names differ by case alone ("eacute", "Eacute"), the lower-case one is meant.
        if **name == lower {
            names.insert(lower, *raw);
        } else {
            names.entry(lower).or_insert(*raw);
        }
    }
    names
});

/// The name without the prefix of the C header: "XK_Return" is Return, "XF86XK_AudioMute" is XF86AudioMute.
fn x_name(raw: u32) -> Option<String> {
    Keysym::new(raw).name().map(|name| name.replacen("XK_", "", 1))
}

/// The names of keys that the documentation lists; letters, digits, punctuation and X keysym names are
/// accepted besides.
pub fn key_names() -> Vec<&'static str> {
    NAMED.iter().map(|(name, _)| *name).collect()
}

/// The keysym of a key's name: a name of [`key_names`], one character, an X keysym name in any case, a
/// modifier's name (its left key), or what browsers and other libraries call it. Letters mean the key, so "A" is "a".
///
/// Fails with `unknown_key`, naming near names, and with `unsupported_key` for "fn".
pub fn check_key(name: &str) -> Result<u32, InputError> {
    let mut characters = name.chars();
    if let (Some(character), None) = (characters.next(), characters.next()) {
        let lower = character.to_lowercase().next().unwrap_or(character);
        let keysym = Keysym::from_char(lower).raw();
        if keysym != 0 && !character.is_control() {
            return Ok(keysym);
        }
    }
    let lower = name.trim().to_lowercase();
    if lower == "fn" {
        return Err(InputError::UnsupportedKey { name: name.to_owned() });
    }
    let named = NAMED.iter().chain(OTHERWISE).find(|(known, _)| *known == lower).map(|(_, keysym)| *keysym);
    let modifier = || MODIFIERS.iter().find(|(known, _)| *known == lower).map(|(_, held)| held.keysym());
    let x_name = || X_NAMES.get(name.trim()).or_else(|| X_NAMES_ANY_CASE.get(&lower)).copied();
    named
        .or_else(modifier)
        .or_else(x_name)
        .ok_or_else(|| InputError::UnknownKey { name: name.to_owned(), near: near(&lower) })
}

/// The modifiers of the names, each once, in the order given: cmd, command, super, win and meta are Super;
/// shift; option and alt are Alt; ctrl and control are Control.
///
/// Fails with `unknown_modifier`, and with `unsupported_key` for "fn".
pub fn check_modifiers<Name: AsRef<str>>(names: &[Name]) -> Result<Vec<Modifier>, InputError> {
    let mut held = Vec::new();
    for name in names {
        let name = name.as_ref();
        let lower = name.trim().to_lowercase();
        if lower == "fn" {
            return Err(InputError::UnsupportedKey { name: name.to_owned() });
        }
        let known = MODIFIERS.iter().find(|(known, _)| *known == lower);
        let (_, modifier) = known.ok_or_else(|| InputError::UnknownModifier { name: name.to_owned() })?;
        if !held.contains(modifier) {
            held.push(*modifier);
        }
    }
    Ok(held)
}

/// A key and what is held around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combination {
    /// Names of the modifiers, as they were given.
    pub modifiers: Vec<String>,
    /// Name of the key, as it was given.
    pub key: String,
}

/// The combination of a list of names: modifiers first, and exactly one key that is none last.
///
/// Fails with `invalid_argument` for another order, as [`check_modifiers`] does for what stands before the last
/// name, and as [`check_key`] does for the last.
pub fn check_combination<Name: AsRef<str>>(names: &[Name]) -> Result<Combination, InputError> {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let refuse = |problem| InputError::InvalidCombination { given: names.join("+"), problem };
    let (key, held) = names.split_last().ok_or_else(|| refuse("names no key"))?;
    if is_modifier(key) {
        return Err(refuse("ends with a modifier"));
    }
    let is_key = |name: &&str| !is_modifier(name) && check_key(name).is_ok();
    if held.iter().any(is_key) {
        return Err(refuse("names a key before its end"));
    }
    check_modifiers(held)?;
    check_key(key)?;
    Ok(Combination {
        modifiers: held.iter().map(|name| (*name).to_owned()).collect(),
        key: (*key).to_owned(),
    })
}

fn is_modifier(name: &str) -> bool {
    let lower = name.trim().to_lowercase();
    MODIFIERS.iter().any(|(known, _)| *known == lower)
}

/// True when window managers commonly take the key for themselves: with Alt or Super, and keys that neither
/// type nor move a caret.
pub fn is_bindable(keysym: u32, modifiers: &[Modifier]) -> bool {
    let editing = matches!(keysym, key::BackSpace..=key::Escape | key::Delete | key::Home..=key::End)
        || matches!(keysym, key::Insert | key::KP_Space..=key::KP_9 | key::Shift_L..=key::Control_R);
    let typing = matches!(keysym, 0x20..=0xfcff | 0x0100_0000..=0x0110_ffff);
    are_commanding(modifiers) || !(typing || editing)
}

/// True when an application commonly looks the key up among its shortcuts.
pub fn is_shortcut(keysym: u32, modifiers: &[Modifier]) -> bool {
    modifiers.iter().any(|held| *held != Modifier::Shift) || matches!(keysym, key::F1..=key::F35)
}

/// True when window managers commonly act on what happens while the modifiers are held.
pub fn are_commanding(modifiers: &[Modifier]) -> bool {
    modifiers.iter().any(|held| matches!(held, Modifier::Alt | Modifier::Super))
}

fn near(name: &str) -> Vec<&'static str> {
    let mut scored: Vec<(usize, &'static str)> = NAMED
        .iter()
        .map(|(known, _)| {
            let starts = name.len() > 1 && (known.starts_with(name) || name.starts_with(known));
            (if starts && known.len() > 2 { 1 } else { strsim::damerau_levenshtein(name, known) }, *known)
        })
        .filter(|(distance, known)| *distance <= known.len() / 2 && *distance <= 3)
        .collect();
    scored.sort_by_key(|(distance, _)| *distance);
    scored.into_iter().map(|(_, known)| known).take(3).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails panics")]
mod tests {
    use super::*;
    use crate::keysyms::{character_of, keysym_of};

    #[test]
    fn every_documented_name_has_a_keysym() {
        for name in key_names() {
            assert!(check_key(name).is_ok(), "{name}");
            assert_eq!(check_key(name).unwrap(), check_key(&name.to_uppercase()).unwrap(), "{name}");
        }
    }

    #[test]
    fn letters_digits_and_punctuation_are_keys() {
        assert_eq!(check_key("a").unwrap(), 0x61);
        assert_eq!(check_key("A").unwrap(), 0x61);
        assert_eq!(check_key("7").unwrap(), 0x37);
        assert_eq!(check_key("/").unwrap(), 0x2f);
        assert_eq!(check_key("ß").unwrap(), 0xdf);
        assert_eq!(check_key("世").unwrap(), 0x0100_4e16);
    }

    #[test]
    fn x_keysym_names_are_accepted_in_any_case() {
        assert_eq!(check_key("Page_Up").unwrap(), 0xff55);
        assert_eq!(check_key("kp_enter").unwrap(), 0xff8d);
        assert_eq!(check_key("eacute").unwrap(), 0xe9);
        assert_eq!(check_key("Eacute").unwrap(), 0xc9);
        assert_eq!(check_key("EACUTE").unwrap(), 0xe9);
        assert_eq!(check_key("xf86audiomute").unwrap(), 0x1008_ff12);
    }

    #[test]
    fn an_unknown_key_names_near_ones() {
        let error = check_key("retrun").unwrap_err();
        assert_eq!(error.code(), "unknown_key");
        assert!(
            error.to_string().contains("\"retrun\"") && error.to_string().contains("\"return\""),
            "{error}"
        );
        assert_eq!(check_key("").unwrap_err().code(), "unknown_key");
        assert_eq!(check_key("\u{7}").unwrap_err().code(), "unknown_key");
    }

    #[test]
    fn fn_is_refused_with_its_reason() {
        assert_eq!(check_key("fn").unwrap_err().code(), "unsupported_key");
        assert_eq!(check_modifiers(&["ctrl", "Fn"]).unwrap_err().code(), "unsupported_key");
    }

    #[test]
    fn modifiers_have_their_usual_names() {
        use Modifier::{Alt, Control, Shift, Super};
        let held = check_modifiers(&["Cmd", "super", "shift", "option", "control", "ctrl"]).unwrap();
        assert_eq!(held, [Super, Shift, Alt, Control]);
        assert_eq!(check_modifiers(&["hyper"]).unwrap_err().code(), "unknown_modifier");
    }

    #[test]
    fn a_combination_is_modifiers_and_one_key_at_its_end() {
        let combination = check_combination(&["Ctrl", "shift", "Left"]).unwrap();
        assert_eq!((combination.modifiers.join(" "), &*combination.key), ("Ctrl shift".to_owned(), "Left"));
        assert_eq!(check_combination(&["f5"]).unwrap().modifiers, [] as [&str; 0]);
        for (names, problem) in [
            (&["a", "ctrl"][..], "\"a+ctrl\" ends with a modifier"),
            (&["ctrl", "a", "b"], "\"ctrl+a+b\" names a key before its end"),
            (&["ctrl", "shift"], "\"ctrl+shift\" ends with a modifier"),
            (&[], "names no key"),
        ] {
            let error = check_combination(names).unwrap_err();
            assert_eq!(error.code(), "invalid_argument");
            assert!(error.to_string().contains(problem), "{error}");
        }
        assert_eq!(check_combination(&["fn", "f1"]).unwrap_err().code(), "unsupported_key");
        assert_eq!(check_combination(&["hyper", "f1"]).unwrap_err().code(), "unknown_modifier");
        assert_eq!(check_combination(&["ctrl", "retrun"]).unwrap_err().code(), "unknown_key");
    }

    #[test]
    fn window_managers_take_commands_and_function_keys() {
        assert!(is_bindable(check_key("f4").unwrap(), &[]));
        assert!(is_bindable(check_key("a").unwrap(), &[Modifier::Super]));
        assert!(is_bindable(check_key("print").unwrap(), &[]));
        assert!(is_bindable(check_key("xf86audiomute").unwrap(), &[]));
        assert!(!is_bindable(check_key("return").unwrap(), &[Modifier::Control]));
        assert!(!is_bindable(check_key("page_up").unwrap(), &[Modifier::Shift]));
        assert!(!is_bindable(check_key("世").unwrap(), &[]));
    }

    #[test]
    fn characters_outside_the_old_tables_are_unicode_keysyms() {
        assert_eq!(keysym_of('a'), Some(0x61));
        assert_eq!(keysym_of('\n'), Some(0xff0d));
        assert_eq!(keysym_of('😀'), Some(0x0101_f600));
        assert_eq!(keysym_of('\u{1}'), None);
        assert_eq!(character_of(0x0101_f600), Some('😀'));
    }
}
