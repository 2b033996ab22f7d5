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
/// Other character sets are read as Latin-1, their escape sequences dropped.
pub(crate) fn compound(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut rest = bytes;
    while let Some(start) = rest.iter().position(|byte| *byte == 0x1b) {
        text.push_str(&latin1(&rest[..start]));
        rest = &rest[start..];
        if let Some(body) = rest.strip_prefix(b"\x1b%G") {
            let end = body.windows(3).position(|part| part == b"\x1b%@").unwrap_or(body.len());
            text.push_str(&String::from_utf8_lossy(&body[..end]));
            rest = body.get(end + 3..).unwrap_or_default();
        } else {
            // An escape sequence is ESC, intermediate bytes 0x20 to 0x2f, one final byte (ISO 2022).
            let middle = rest[1..].iter().take_while(|byte| (0x20..0x30).contains(*byte)).count();
            rest = rest.get(middle + 2..).unwrap_or_default();
        }
    }
    text.push_str(&latin1(rest));
    text
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
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
        assert_eq!(compound(b"cut\x1b%G\xe4\xb8\x96"), "cut世");
    }
}
