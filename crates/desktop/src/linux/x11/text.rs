//! The text of X properties.

/// UTF-8 where it is valid, Latin-1 where not: many programs put UTF-8 into properties of type STRING.
pub(crate) fn plain(bytes: &[u8]) -> String {
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// Compound text, as far as programs of today write it: Latin-1 and the UTF-8 segments `ESC % G` … `ESC % @`.
///
/// Characters of the old East Asian sets become U+FFFD.
pub(crate) fn compound(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut rest = bytes;
    let mut set = Sets { is_left_wide: false, is_right_wide: false };
    while let Some(start) = rest.iter().position(|byte| *byte == ESCAPE) {
        set.push(&rest[..start], &mut text);
        rest = &rest[start..];
        if let Some(body) = rest.strip_prefix(b"\x1b%G") {
            let end = body.windows(3).position(|part| part == b"\x1b%@").unwrap_or(body.len());
            text.push_str(&String::from_utf8_lossy(&body[..end]));
            rest = body.get(end + 3..).unwrap_or_default();
        } else {
            // An escape sequence is ESC, intermediate bytes 0x20 to 0x2f, one final byte (ISO 2022).
            let middle = rest[1..].iter().take_while(|byte| (0x20..0x30).contains(*byte)).count();
            set.designate(&rest[1..=middle]);
            rest = rest.get(middle + 2..).unwrap_or_default();
        }
    }
    set.push(rest, &mut text);
    text
}

const ESCAPE: u8 = 0x1b;

/// Which halves of the code table hold characters of two bytes.
struct Sets {
    is_left_wide: bool,
    is_right_wide: bool,
}

impl Sets {
    fn designate(&mut self, middle: &[u8]) {
        match middle {
            [b'(', ..] => self.is_left_wide = false,
            [b')' | b'-', ..] => self.is_right_wide = false,
            [b'$', b')', ..] => self.is_right_wide = true,
            [b'$', ..] => self.is_left_wide = true,
            _ => {}
        }
    }

    fn push(&self, bytes: &[u8], text: &mut String) {
        let mut bytes = bytes.iter();
        while let Some(byte) = bytes.next() {
            if (*byte < 0x80 && self.is_left_wide) || (*byte >= 0x80 && self.is_right_wide) {
                bytes.next();
                text.push(char::REPLACEMENT_CHARACTER);
            } else {
                text.push(char::from(*byte));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_utf8_or_latin1() {
        assert_eq!(plain("Grüße 世界".as_bytes()), "Grüße 世界");
        assert_eq!(plain(b"Gr\xfc\xdfe\0"), "Grüße");
    }

    #[test]
    fn compound_text_keeps_its_utf8_segments() {
        assert_eq!(compound(b"a \x1b%G\xe4\xb8\x96\x1b%@ b"), "a 世 b");
        assert_eq!(compound(b"caf\xe9"), "café");
        assert_eq!(compound(b"\x1b-Acaf\xe9"), "café");
        assert_eq!(compound(b"a\x1b$(B@$3&\x1b(B b"), "a\u{fffd}\u{fffd} b");
        assert_eq!(compound(b"cut\x1b%G\xe4\xb8\x96"), "cut世");
    }
}
