//! Marshalling and bounds-checked unmarshalling of D-Bus values.

/// Data that breaks the D-Bus format, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed D-Bus data: {0}")]
pub struct Malformed(pub &'static str);

/// Largest array the protocol allows, in bytes.
const MAX_ARRAY: usize = 64 << 20;
/// Deepest nesting of containers that is followed.
const MAX_DEPTH: u32 = 64;

/// Appends little-endian D-Bus values to a buffer whose first byte is aligned to eight.
#[derive(Debug, Default, Clone)]
pub struct Writer {
    /// The marshalled bytes.
    pub bytes: Vec<u8>,
}

impl Writer {
    /// Pads with zeros to a multiple of `boundary`.
    pub fn align(&mut self, boundary: usize) -> &mut Self {
        let length = self.bytes.len().next_multiple_of(boundary);
        self.bytes.resize(length, 0);
        self
    }

    /// A byte (`y`).
    pub fn byte(&mut self, value: u8) -> &mut Self {
        self.bytes.push(value);
        self
    }

    /// An unsigned 32-bit integer (`u`).
    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.align(4).bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// A signed 32-bit integer (`i`).
    pub fn i32(&mut self, value: i32) -> &mut Self {
        self.align(4).bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// A string or an object path (`s`, `o`).
    pub fn string(&mut self, value: &str) -> &mut Self {
        self.u32(u32::try_from(value.len()).unwrap_or(u32::MAX));
        self.bytes.extend_from_slice(value.as_bytes());
        self.byte(0)
    }

    /// A signature (`g`).
    pub fn signature(&mut self, value: &str) -> &mut Self {
        self.byte(u8::try_from(value.len()).unwrap_or(u8::MAX));
        self.bytes.extend_from_slice(value.as_bytes());
        self.byte(0)
    }

    /// A boolean inside a variant (`v` holding `b`).
    pub fn boolean_variant(&mut self, value: bool) -> &mut Self {
        self.signature("b").u32(u32::from(value))
    }

    /// A double inside a variant (`v` holding `d`).
    pub fn double_variant(&mut self, value: f64) -> &mut Self {
        self.signature("d").align(8).bytes.extend_from_slice(&value.to_le_bytes());
        self
    }
}

/// Reads D-Bus values out of untrusted bytes whose first byte is aligned to eight.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    big_endian: bool,
}

impl<'a> Reader<'a> {
    /// A reader at the first of `bytes`.
    pub fn new(bytes: &'a [u8], big_endian: bool) -> Self {
        Self { bytes, at: 0, big_endian }
    }

    /// Offset of the next byte.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Skips padding to a multiple of `boundary`.
    pub fn align(&mut self, boundary: usize) -> Result<(), Malformed> {
        let at = self.at.next_multiple_of(boundary);
        if at > self.bytes.len() {
            return Err(Malformed("padding runs past the end"));
        }
        self.at = at;
        Ok(())
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let end = self.at.checked_add(count).ok_or(Malformed("length overflows"))?;
        let slice = self.bytes.get(self.at..end).ok_or(Malformed("value runs past the end"))?;
        self.at = end;
        Ok(slice)
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.align(N)?;
        let mut raw = [0; N];
        raw.copy_from_slice(self.take(N)?);
        if self.big_endian {
            raw.reverse();
        }
        Ok(raw)
    }

    /// A byte (`y`).
    pub fn byte(&mut self) -> Result<u8, Malformed> {
        Ok(self.fixed::<1>()?[0])
    }

    /// An unsigned 32-bit integer (`u`).
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.fixed().map(u32::from_le_bytes)
    }

    /// A signed 32-bit integer (`i`).
    pub fn i32(&mut self) -> Result<i32, Malformed> {
        self.fixed().map(i32::from_le_bytes)
    }

    /// A double (`d`).
    pub fn f64(&mut self) -> Result<f64, Malformed> {
        self.fixed().map(f64::from_le_bytes)
    }

    /// A boolean (`b`).
    pub fn boolean(&mut self) -> Result<bool, Malformed> {
        Ok(self.u32()? != 0)
    }

    /// A string or an object path (`s`, `o`).
    pub fn string(&mut self) -> Result<&'a str, Malformed> {
        let length = self.u32()? as usize;
        self.text(length)
    }

    /// A signature (`g`).
    pub fn signature(&mut self) -> Result<&'a str, Malformed> {
        let length = usize::from(self.byte()?);
        self.text(length)
    }

    fn text(&mut self, length: usize) -> Result<&'a str, Malformed> {
        let raw = self.take(length)?;
        if self.take(1)? != [0] {
            return Err(Malformed("string does not end with a zero"));
        }
        std::str::from_utf8(raw).map_err(|_| Malformed("string is not UTF-8"))
    }

    /// Enters an array whose elements are aligned to `boundary`; answers the offset behind its last element.
    pub fn array(&mut self, boundary: usize) -> Result<usize, Malformed> {
        let length = self.u32()? as usize;
        if length > MAX_ARRAY {
            return Err(Malformed("array is too long"));
        }
        self.align(boundary)?;
        let end = self.at.checked_add(length).ok_or(Malformed("length overflows"))?;
        if end > self.bytes.len() {
            return Err(Malformed("array runs past the end"));
        }
        Ok(end)
    }

    /// Opens a variant and checks that it holds a value of this signature.
    pub fn variant(&mut self, signature: &'static str) -> Result<(), Malformed> {
        if self.signature()? == signature { Ok(()) } else { Err(Malformed("variant of another type")) }
    }

    /// Passes over one complete value of `signature`; answers the rest of the signature.
    pub fn skip<'s>(&mut self, signature: &'s str) -> Result<&'s str, Malformed> {
        self.skip_nested(signature, 0)
    }

    fn skip_nested<'s>(&mut self, signature: &'s str, depth: u32) -> Result<&'s str, Malformed> {
        if depth > MAX_DEPTH {
            return Err(Malformed("nested too deeply"));
        }
        let code = signature.bytes().next().ok_or(Malformed("signature ends early"))?;
        let rest = signature.get(1..).ok_or(Malformed("signature is not ASCII"))?;
        match code {
            b'y' => self.byte().map(|_| rest),
            b'n' | b'q' => self.fixed::<2>().map(|_| rest),
            b'b' | b'i' | b'u' | b'h' => self.u32().map(|_| rest),
            b'x' | b't' | b'd' => self.fixed::<8>().map(|_| rest),
            b's' | b'o' => self.string().map(|_| rest),
            b'g' => self.signature().map(|_| rest),
            b'v' => {
                let inner = self.signature()?;
                self.skip_nested(inner, depth + 1)?;
                Ok(rest)
            }
            b'a' => {
                let end = self.array(alignment(rest.bytes().next().unwrap_or(b'y')))?;
                self.at = end;
                element_end(rest, depth + 1)
            }
            b'(' | b'{' => {
                self.align(8)?;
                let mut inside = rest;
                loop {
                    if let Some(after) = inside.strip_prefix([')', '}']) {
                        return Ok(after);
                    }
                    inside = self.skip_nested(inside, depth + 1)?;
                }
            }
            _ => Err(Malformed("unknown type in signature")),
        }
    }
}

fn alignment(code: u8) -> usize {
    match code {
        b'y' | b'g' | b'v' => 1,
        b'n' | b'q' => 2,
        b'x' | b't' | b'd' | b'(' | b'{' => 8,
        _ => 4,
    }
}

/// The rest of a signature behind its first complete type.
fn element_end(signature: &str, depth: u32) -> Result<&str, Malformed> {
    if depth > MAX_DEPTH {
        return Err(Malformed("nested too deeply"));
    }
    let rest = signature.get(1..).ok_or(Malformed("signature ends early"))?;
    match signature.as_bytes()[0] {
        b'a' => element_end(rest, depth + 1),
        b'(' | b'{' => {
            let mut inside = rest;
            loop {
                if let Some(after) = inside.strip_prefix([')', '}']) {
                    return Ok(after);
                }
                inside = element_end(inside, depth + 1)?;
            }
        }
        _ => Ok(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut writer = Writer::default();
        writer.byte(7).u32(9).string("grüße").i32(-4).signature("a(so)").boolean_variant(true);
        let mut reader = Reader::new(&writer.bytes, false);
        assert_eq!(reader.byte(), Ok(7));
        assert_eq!(reader.u32(), Ok(9));
        assert_eq!(reader.string(), Ok("grüße"));
        assert_eq!(reader.i32(), Ok(-4));
        assert_eq!(reader.signature(), Ok("a(so)"));
        assert_eq!(reader.variant("b"), Ok(()));
        assert_eq!(reader.boolean(), Ok(true));
        assert_eq!(reader.position(), writer.bytes.len());
    }

    #[test]
    fn big_endian_numbers_are_read() {
        assert_eq!(Reader::new(&[0, 0, 1, 2], true).u32(), Ok(258));
    }

    #[test]
    fn lengths_past_the_end_are_refused() {
        assert!(Reader::new(&[255, 255, 255, 255, 0], false).string().is_err());
        assert!(Reader::new(&[8, 0, 0, 0, 0], false).array(4).is_err());
        assert!(Reader::new(&[255, 255, 255, 255], false).array(8).is_err());
        assert!(Reader::new(&[1, 0, 0, 0, b'a', 7], false).string().is_err());
    }

    #[test]
    fn values_are_skipped_by_signature() {
        let mut writer = Writer::default();
        writer.u32(8).align(8).i32(1).i32(2).string("x").signature("u").u32(3).byte(42);
        let mut reader = Reader::new(&writer.bytes, false);
        let rest =
            reader.skip("a(ii)svy").and_then(|rest| reader.skip(rest)).and_then(|rest| reader.skip(rest));
        assert_eq!(rest, Ok("y"));
        assert_eq!(reader.byte(), Ok(42));
    }

    #[test]
    fn endless_nesting_is_refused() {
        assert!(Reader::new(&[0; 64], false).skip(&"(".repeat(200)).is_err());
        assert!(Reader::new(&[0; 64], false).skip(&"a".repeat(200)).is_err());
    }
}
