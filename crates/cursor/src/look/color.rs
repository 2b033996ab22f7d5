//! Colours of cursors.

use std::fmt;
use std::str::FromStr;

use resvg::tiny_skia;

use crate::CursorError;

/// An opaque colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color {
    /// Red, 0 to 255.
    pub red: u8,
    /// Green, 0 to 255.
    pub green: u8,
    /// Blue, 0 to 255.
    pub blue: u8,
}

impl Color {
    /// The colour of a name such as a session's: always the same for it, and mostly another for another.
    pub fn of_name(name: &str) -> Self {
        // FNV-1a and the last step of MurmurHash3, whose results no version of a library changes.
        let sum = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let stirred = (sum ^ (sum >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        let hash = (stirred ^ (stirred >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        let hue = ((hash >> 40) % 360) as f32 / 60.0;
        let strength = 0.78;
        let light = 0.52;
        let chroma = (1.0_f32 - (2.0_f32 * light - 1.0).abs()) * strength;
        let second = chroma * (1.0 - (hue % 2.0 - 1.0).abs());
        let (red, green, blue) = match hue as u8 {
            0 => (chroma, second, 0.0),
            1 => (second, chroma, 0.0),
            2 => (0.0, chroma, second),
            3 => (0.0, second, chroma),
            4 => (second, 0.0, chroma),
            _ => (chroma, 0.0, second),
        };
        let byte = |part: f32| ((part + light - chroma / 2.0) * 255.0).round() as u8;
        Self { red: byte(red), green: byte(green), blue: byte(blue) }
    }

    /// Black or white, whichever is easier to read on this colour.
    pub(crate) fn ink(self) -> Self {
        let light =
            0.299 * f32::from(self.red) + 0.587 * f32::from(self.green) + 0.114 * f32::from(self.blue);
        let ink = if light > 150.0 { 0 } else { 255 };
        Self { red: ink, green: ink, blue: ink }
    }

    pub(crate) fn with_alpha(self, alpha: f32) -> tiny_skia::Color {
        let opaque = tiny_skia::Color::from_rgba8(self.red, self.green, self.blue, 255);
        let mut color = opaque;
        color.set_alpha(alpha);
        color
    }
}

/// Parses hex of three or six digits, or a CSS name; what is not opaque is `invalid_argument`.
impl FromStr for Color {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let text = text.trim();
        // The newest of the names, which came after SVG's list.
        if text.eq_ignore_ascii_case("rebeccapurple") {
            return Ok(Self { red: 0x66, green: 0x33, blue: 0x99 });
        }
        match svgtypes::Color::from_str(text) {
            Ok(color) if color.alpha == 255 => {
                Ok(Self { red: color.red, green: color.green, blue: color.blue })
            }
            _ => Err(CursorError::NoColor { text: text.to_owned() }),
        }
    }
}

/// Six hex digits with a number sign.
impl fmt::Display for Color {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_colour_for_ever() {
        let names = ["default", "anna", "bert", "run-1", "run-2", "run-3", ""];
        let colors = names.map(|name| format!("{name}: {}\n", Color::of_name(name))).concat();
        assert_eq!(colors, include_str!("../../tests/golden/colors.txt"));
    }

    #[test]
    fn hex_and_css_names_are_colours_and_nothing_else_is() {
        for (text, hex) in [
            ("#f80", "#ff8800"),
            ("#FF8800", "#ff8800"),
            ("Orange", "#ffa500"),
            (" rebeccapurple ", "#663399"),
        ] {
            assert_eq!(Color::from_str(text).unwrap().to_string(), hex);
        }
        for text in ["", "#12", "#ggg", "ff8800", "transparent", "#ff880080", "blurple", "url(#a)"] {
            assert_eq!(Color::from_str(text).unwrap_err().code(), "invalid_argument", "{text}");
        }
    }
}
