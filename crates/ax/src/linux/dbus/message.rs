//! Whole D-Bus messages: a call is encoded, anything that arrives is decoded.

use super::wire::{Malformed, Reader, Writer};

/// Largest message that is accepted, in bytes: a tree of 100,000 nodes is a fifth of it.
pub const MAX_MESSAGE: usize = 96 << 20;
/// Bytes of the fixed part of a header.
pub const FIXED_HEADER: usize = 16;

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A call that somebody makes on us.
    Call,
    /// The result of a call of ours.
    Return,
    /// The failure of a call of ours.
    Error,
    /// A signal.
    Signal,
    /// A kind this client does not know and therefore ignores.
    Other,
}

/// A method call that is to be sent.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// Bus name it goes to; none on a peer-to-peer socket.
    pub destination: Option<&'a str>,
    /// Object path.
    pub path: &'a str,
    /// Interface of the method.
    pub interface: &'static str,
    /// Name of the method.
    pub member: &'static str,
    /// Signature of the arguments; empty for none.
    pub signature: &'static str,
    /// Marshalled arguments.
    pub body: &'a [u8],
}

impl Call<'_> {
    /// Appends the encoded message to `out`.
    pub fn encode(&self, serial: u32, out: &mut Vec<u8>) {
        let mut header = Writer { bytes: Vec::with_capacity(160) };
        header.byte(b'l').byte(1).byte(0).byte(1);
        header.u32(u32::try_from(self.body.len()).unwrap_or(u32::MAX)).u32(serial).u32(0);
        header.byte(1).signature("o").string(self.path).align(8);
        header.byte(2).signature("s").string(self.interface).align(8);
        header.byte(3).signature("s").string(self.member);
        if let Some(destination) = self.destination {
            header.align(8).byte(6).signature("s").string(destination);
        }
        if !self.signature.is_empty() {
            header.align(8).byte(8).signature("g").signature(self.signature);
        }
        let fields = u32::try_from(header.bytes.len() - FIXED_HEADER).unwrap_or(u32::MAX);
        header.bytes[12..16].copy_from_slice(&fields.to_le_bytes());
        header.align(8);
        out.extend_from_slice(&header.bytes);
        out.extend_from_slice(self.body);
    }
}

/// A message that arrived.
#[derive(Debug, Clone)]
pub struct Message {
    /// What it is.
    pub kind: Kind,
    /// The sender's serial.
    pub serial: u32,
    /// True when the sender of a call wants no reply.
    pub no_reply: bool,
    /// Serial of the call that it answers.
    pub reply_serial: u32,
    /// Unique name of the sender; empty on a peer-to-peer socket.
    pub sender: String,
    /// Object path of a call or signal.
    pub path: String,
    /// Interface of a call or signal.
    pub interface: String,
    /// Method or signal name.
    pub member: String,
    /// Name of an error.
    pub error_name: String,
    /// Signature of the body.
    pub signature: String,
    body: Vec<u8>,
    big_endian: bool,
}

impl Message {
    /// A reader at the first argument.
    pub fn body(&self) -> Reader<'_> {
        Reader::new(&self.body, self.big_endian)
    }

    /// A reader at the first argument, when the arguments have this signature.
    pub fn expect(&self, signature: &'static str) -> Result<Reader<'_>, Malformed> {
        if self.signature == signature { Ok(self.body()) } else { Err(Malformed("reply of another type")) }
    }

    /// Size of the whole message that begins at `bytes`, when its fixed header is there.
    pub fn size(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
        if bytes.len() < FIXED_HEADER {
            return Ok(None);
        }
        let big_endian = endianness(bytes[0])?;
        let mut reader = Reader::new(&bytes[4..FIXED_HEADER], big_endian);
        let body = reader.u32()? as usize;
        reader.u32()?;
        let fields = reader.u32()? as usize;
        let size = FIXED_HEADER.saturating_add(fields).next_multiple_of(8).saturating_add(body);
        if body > MAX_MESSAGE || fields > MAX_MESSAGE || size > MAX_MESSAGE {
            return Err(Malformed("message is too long"));
        }
        Ok(Some(size))
    }

    /// Decodes exactly one message.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes, endianness(*bytes.first().ok_or(Malformed("empty message"))?)?);
        let big_endian = reader.byte()? == b'B';
        let kind = match reader.byte()? {
            0 => return Err(Malformed("message of type zero")),
            1 => Kind::Call,
            2 => Kind::Return,
            3 => Kind::Error,
            4 => Kind::Signal,
            _ => Kind::Other,
        };
        let no_reply = reader.byte()? & 1 != 0;
        if reader.byte()? != 1 {
            return Err(Malformed("unknown protocol version"));
        }
        let body_length = reader.u32()? as usize;
        let mut message = Self {
            kind,
            serial: reader.u32()?,
            no_reply,
            reply_serial: 0,
            sender: String::new(),
            path: String::new(),
            interface: String::new(),
            member: String::new(),
            error_name: String::new(),
            signature: String::new(),
            body: Vec::new(),
            big_endian,
        };
        let end = reader.array(8)?;
        while reader.position() < end {
            reader.align(8)?;
            message.field(&mut reader)?;
        }
        reader.align(8)?;
        let start = reader.position();
        let body = start.checked_add(body_length).and_then(|end| bytes.get(start..end));
        message.body = body.ok_or(Malformed("body runs past the end"))?.to_vec();
        Ok(message)
    }

    fn field(&mut self, reader: &mut Reader<'_>) -> Result<(), Malformed> {
        let code = reader.byte()?;
        let signature = reader.signature()?;
        let target = match (code, signature) {
            (1, "o") => &mut self.path,
            (2, "s") => &mut self.interface,
            (3, "s") => &mut self.member,
            (4, "s") => &mut self.error_name,
            (7, "s") => &mut self.sender,
            (5, "u") => {
                self.reply_serial = reader.u32()?;
                return Ok(());
            }
            (8, "g") => {
                reader.signature()?.clone_into(&mut self.signature);
                return Ok(());
            }
            _ => return reader.skip(signature).map(|_| ()),
        };
        reader.string()?.clone_into(target);
        Ok(())
    }
}

fn endianness(mark: u8) -> Result<bool, Malformed> {
    match mark {
        b'l' => Ok(false),
        b'B' => Ok(true),
        _ => Err(Malformed("unknown byte order")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut body = Writer::default();
        body.string("org.a11y.Status").string("IsEnabled").boolean_variant(true);
        let call = Call {
            destination: Some("org.a11y.Bus"),
            path: "/org/a11y/bus",
            interface: "org.freedesktop.DBus.Properties",
            member: "Set",
            signature: "ssv",
            body: &body.bytes,
        };
        let mut bytes = Vec::new();
        call.encode(77, &mut bytes);
        bytes
    }

    #[test]
    fn an_encoded_call_is_decoded_again() {
        let bytes = sample();
        assert_eq!(Message::size(&bytes), Ok(Some(bytes.len())));
        let message = Message::decode(&bytes).unwrap();
        assert_eq!((message.kind, message.serial), (Kind::Call, 77));
        assert_eq!((message.path.as_str(), message.member.as_str()), ("/org/a11y/bus", "Set"));
        let mut body = message.expect("ssv").unwrap();
        assert_eq!(body.string(), Ok("org.a11y.Status"));
    }

    #[test]
    fn mutated_bytes_never_panic() {
        let bytes = sample();
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        for _ in 0..200_000 {
            let mut mutated = bytes.clone();
            for _ in 0..3 {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                let at = (seed >> 8) as usize % mutated.len();
                mutated[at] = seed as u8;
            }
            mutated.truncate(1 + (seed >> 40) as usize % mutated.len());
            let _ = Message::size(&mutated);
            if let Ok(message) = Message::decode(&mutated) {
                let _ = message.body().skip(&message.signature);
            }
        }
    }

    #[test]
    fn a_message_over_the_limit_is_refused() {
        let mut bytes = sample();
        bytes[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(Message::size(&bytes).is_err());
    }
}
