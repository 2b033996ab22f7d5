//! The `Exec` line of a desktop file: quoting and field codes (Desktop Entry Specification 1.5, "The Exec key").

use super::entry::Entry;
use super::invocation::Invocation;

/// The command for an entry with these files or URLs; none when the line is malformed.
///
/// A line without a code for files gets them at its end, and one for a single file gets all of them.
pub(crate) fn command(entry: &Entry, urls: &[String]) -> Option<Vec<String>> {
    let mut arguments = Vec::new();
    let mut has_urls = false;
    for word in words(&entry.exec)? {
        match word.as_str() {
            "%f" | "%F" => {
                arguments.extend(urls.iter().map(|url| local_path(url)));
                has_urls = true;
            }
            "%u" | "%U" => {
                arguments.extend_from_slice(urls);
                has_urls = true;
            }
            "%i" => arguments.extend(entry.icon.iter().flat_map(|icon| ["--icon".to_owned(), icon.clone()])),
            _ => {
                let is_code = word.len() == 2 && word.starts_with('%') && word != "%%";
                let text = expand(&word, entry, urls, &mut has_urls);
                // A word that was nothing but a code without a value is no argument at all.
                if !(is_code && text.is_empty()) {
                    arguments.push(text);
                }
            }
        }
    }
    if !has_urls {
        arguments.extend_from_slice(urls);
    }
    (!arguments.is_empty()).then_some(arguments)
}

/// What an `Exec` line runs, as its processes are recognised; none where they could be any application's.
pub(crate) fn invocation(exec: &str) -> Option<Invocation> {
    Invocation::of(&words(exec)?)
}

/// A file URL as a path; everything else as it is.
pub(crate) fn local_path(url: &str) -> String {
    let Some(rest) = url.strip_prefix("file://") else { return url.to_owned() };
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let coded = match tail {
            [high, low, ..] if *first == b'%' => hex(*high).zip(hex(*low)),
            _ => None,
        };
        bytes.push(coded.map_or(*first, |(high, low)| high * 16 + low));
        rest = if coded.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn expand(word: &str, entry: &Entry, urls: &[String], has_urls: &mut bool) -> String {
    let mut text = String::new();
    let mut letters = word.chars();
    while let Some(letter) = letters.next() {
        match if letter == '%' { letters.next() } else { None } {
            None => text.push(letter),
            Some('%') => text.push('%'),
            Some('c') => text.push_str(&entry.name),
            Some('k') => text.push_str(&entry.path.to_string_lossy()),
            Some('f') => {
                text.push_str(&urls.first().map(|url| local_path(url)).unwrap_or_default());
                *has_urls = true;
            }
            Some('u') => {
                text.push_str(urls.first().map_or("", String::as_str));
                *has_urls = true;
            }
            // The others are deprecated or unknown: they are to be removed.
            Some(_) => {}
        }
    }
    text
}

/// Splits at spaces outside double quotes; inside, a backslash stands before `"`, `` ` ``, `$` and `\`.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '"' => {
                let quoted = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '"' => break,
                        '\\' => quoted.push(letters.next()?),
                        other => quoted.push(other),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(letters.next()?),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(exec: &str, urls: &[&str]) -> Option<Vec<String>> {
        let entry = Entry {
            name: "The App".into(),
            icon: Some("pic".into()),
            path: "/a/b.desktop".into(),
            exec: exec.into(),
            ..Entry::default()
        };
        command(&entry, &urls.iter().map(|url| (*url).to_owned()).collect::<Vec<_>>())
    }

    fn words_of(text: &[&str]) -> Option<Vec<String>> {
        Some(text.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn field_codes_become_arguments() {
        assert_eq!(run("app %U", &["http://x/", "/y"]), words_of(&["app", "http://x/", "/y"]));
        assert_eq!(run("app %F --", &["file:///a%20b"]), words_of(&["app", "/a b", "--"]));
        assert_eq!(run("app %u", &[]), words_of(&["app"]));
        assert_eq!(run("app --open=%f", &["file://localhost/x"]), words_of(&["app", "--open=/x"]));
        assert_eq!(run("app %i %c %k", &[]), words_of(&["app", "--icon", "pic", "The App", "/a/b.desktop"]));
        assert_eq!(run("app %m %d 100%%", &[]), words_of(&["app", "100%"]));
        assert_eq!(run("app", &["/y"]), words_of(&["app", "/y"]));
    }

    #[test]
    fn quoting_follows_the_specification() {
        assert_eq!(run(r#""/opt/my app" "a\"b\\c\$d""#, &[]), words_of(&["/opt/my app", "a\"b\\c$d"]));
        assert_eq!(run(r#"sh -c "echo 'x y'""#, &[]), words_of(&["sh", "-c", "echo 'x y'"]));
        assert_eq!(run("\"open", &[]), None);
        assert_eq!(run("  ", &[]), None);
    }

    #[test]
    fn the_program_is_found_behind_env() {
        let program = |name: &str| Some(Invocation::Program(name.to_owned()));
        assert_eq!(invocation("env A=b /usr/bin/app %U"), program("/usr/bin/app"));
        assert_eq!(invocation("\"my app\" x"), program("my app"));
    }
}
