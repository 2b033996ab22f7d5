//! What a clipboard holds, and how lists of files are written on it.

/// The content of a clipboard, in as many forms as it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clip {
    /// Text.
    pub text: Option<String>,
    /// A picture, as a PNG.
    pub image: Option<Vec<u8>>,
    /// Absolute paths.
    pub files: Vec<String>,
    /// Names of the forms in which its owner offers it; ignored when it is written.
    pub formats: Vec<String>,
}

/// The paths as `text/uri-list` (RFC 2483).
pub fn uri_list(files: &[String]) -> String {
    files.iter().map(|path| format!("{}\r\n", uri_of(path))).collect()
}

/// The paths as `x-special/gnome-copied-files`, by which file managers tell copies from moves.
pub fn copied_files(files: &[String]) -> String {
    let uris: Vec<String> = files.iter().map(|path| uri_of(path)).collect();
    format!("copy\n{}", uris.join("\n"))
}

/// The local paths among the lines of either list; comments, verbs and other addresses are left out.
pub fn paths_in(list: &str) -> Vec<String> {
    list.lines().filter_map(|line| path_of(line.trim())).collect()
}

/// RFC 8089; every byte but unreserved characters and slashes is escaped (RFC 3986).
fn uri_of(path: &str) -> String {
    let mut uri = String::from("file://");
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte.into());
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

fn path_of(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix("file://")?;
    // `file:///path`, `file://localhost/path`, or the name of this very machine.
    let encoded = &rest[rest.find('/')?..];
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut left = encoded.as_bytes();
    while let [first, rest @ ..] = left {
        let digits = rest.get(..2).filter(|_| *first == b'%');
        let escaped = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        left = if byte.is_some() { &rest[2..] } else { rest };
        bytes.push(byte.unwrap_or(*first));
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_both_lists() {
        let files = ["/tmp/a b.txt", "/tmp/Grüße 100%.png", "/x/#?&"].map(str::to_owned).to_vec();
        assert_eq!(paths_in(&uri_list(&files)), files);
        assert_eq!(paths_in(&copied_files(&files)), files);
        assert_eq!(uri_list(&files[..1]), "file:///tmp/a%20b.txt\r\n");
    }

    #[test]
    fn what_is_no_local_file_is_left_out() {
        let list =
            "# comment\r\nhttps://example.org/\r\nfile://localhost/etc/hosts\r\ncut\r\nfile:///a%2\r\n";
        assert_eq!(paths_in(list), ["/etc/hosts", "/a%2"]);
    }
}
