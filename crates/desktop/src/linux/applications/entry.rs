//! Desktop files (Desktop Entry Specification 1.5): what a file says, in the person's language.

use std::path::{Path, PathBuf};

/// An application as its desktop file describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Path below `applications/` with `-` for `/`, without the suffix.
    pub(crate) id: String,
    pub(crate) path: PathBuf,
    /// In the person's language.
    pub(crate) name: String,
    /// As written without a language.
    pub(crate) plain_name: String,
    pub(crate) exec: String,
    pub(crate) icon: Option<String>,
    pub(crate) working_folder: Option<String>,
    pub(crate) wm_class: Option<String>,
    pub(crate) wants_terminal: bool,
    /// False for what launchers do not show: helpers, entries of other desktops, programs that are not installed.
    pub(crate) is_listed: bool,
}

/// The languages to try, best first, such as `de_AT`, `de`.
pub(crate) fn languages(variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let set =
        ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(|name| variable(name).filter(|v| !v.is_empty()));
    let locale = set.unwrap_or_default();
    let (rest, modifier) = locale.split_once('@').map_or((locale.as_str(), None), |(a, b)| (a, Some(b)));
    let rest = rest.split('.').next().unwrap_or_default();
    if rest.is_empty() || rest == "C" || rest == "POSIX" {
        return Vec::new();
    }
    let language = rest.split('_').next().unwrap_or_default();
    let mut found = Vec::new();
    for base in if rest == language { vec![rest] } else { vec![rest, language] } {
        found.extend(modifier.map(|modifier| format!("{base}@{modifier}")));
        found.push(base.to_owned());
    }
    found
}

/// What the reading of a file depends on.
pub(crate) struct Reader {
    pub(crate) languages: Vec<String>,
    /// `XDG_CURRENT_DESKTOP`, split.
    pub(crate) desktops: Vec<String>,
}

impl Reader {
    /// Reads the text of a file; none for what is no application, or is marked as deleted.
    pub(crate) fn read(
        &self,
        id: &str,
        path: &Path,
        text: &str,
        is_installed: impl Fn(&str) -> bool,
    ) -> Option<Entry> {
        let group = Group::of(text);
        if group.string("Type")? != "Application" || group.is_true("Hidden") {
            return None;
        }
        let is_ours = |key| {
            group.string(key).map(|list| {
                list.split(';').any(|desktop| self.desktops.iter().any(|ours| ours == desktop.trim()))
            })
        };
        let plain_name = group.string("Name")?;
        let localized = self.languages.iter().find_map(|language| group.string(&format!("Name[{language}]")));
        let is_there = group.string("TryExec").is_none_or(|program| is_installed(&program));
        let is_for_us = is_ours("OnlyShowIn").unwrap_or(true) && !is_ours("NotShowIn").unwrap_or(false);
        let exec = group.string("Exec").unwrap_or_default();
        Some(Entry {
            id: id.to_owned(),
            path: path.to_owned(),
            name: localized.unwrap_or_else(|| plain_name.clone()),
            plain_name,
            icon: group.string("Icon").filter(|icon| !icon.is_empty()),
            working_folder: group.string("Path").filter(|folder| !folder.is_empty()),
            wm_class: group.string("StartupWMClass").filter(|class| !class.is_empty()),
            wants_terminal: group.is_true("Terminal"),
            is_listed: is_there && is_for_us && !group.is_true("NoDisplay") && !exec.is_empty(),
            exec,
        })
    }
}

/// The lines of the group `[Desktop Entry]`.
struct Group<'t>(Vec<(&'t str, &'t str)>);

impl<'t> Group<'t> {
    fn of(text: &'t str) -> Self {
        let mut is_inside = false;
        let mut pairs = Vec::new();
        for line in text.lines().map(str::trim) {
            if line.starts_with('[') {
                is_inside = line == "[Desktop Entry]";
            } else if is_inside && !line.starts_with('#') {
                pairs.extend(line.split_once('=').map(|(key, value)| (key.trim_end(), value.trim_start())));
            }
        }
        Self(pairs)
    }

    fn string(&self, key: &str) -> Option<String> {
        let (_, value) = self.0.iter().find(|(found, _)| *found == key)?;
        let mut text = String::with_capacity(value.len());
        let mut rest = value.chars();
        while let Some(letter) = rest.next() {
            match if letter == '\\' { rest.next() } else { None } {
                None => text.push(letter),
                Some('s') => text.push(' '),
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some('\\') => text.push('\\'),
                Some(other) => text.extend(['\\', other]),
            }
        }
        Some(text)
    }

    fn is_true(&self, key: &str) -> bool {
        self.string(key).is_some_and(|value| value == "true" || value == "1")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Entry> {
        let reader = Reader { languages: vec!["de_AT".into(), "de".into()], desktops: vec!["XFCE".into()] };
        reader.read("a-b", Path::new("/x/a/b.desktop"), text, |program| program == "there")
    }

    #[test]
    fn the_name_is_in_the_persons_language() {
        let text = "#c\n[Desktop Entry]\nType=Application\nName=Editor\nName[de]=Bearbeiter\nName[fr]=E\nExec=e %U\n\
                    [Desktop Action x]\nName=Other\n";
        let entry = read(text).unwrap();
        assert_eq!((entry.name.as_str(), entry.plain_name.as_str()), ("Bearbeiter", "Editor"));
        assert!(entry.is_listed && !entry.wants_terminal);
    }

    #[test]
    fn helpers_are_known_but_not_listed() {
        let with = |line: &str| read(&format!("[Desktop Entry]\nType=Application\nName=N\nExec=n\n{line}\n"));
        let is_listed = |line: &str| with(line).unwrap().is_listed;
        assert!(is_listed("OnlyShowIn=GNOME;XFCE;"));
        assert!(!is_listed("OnlyShowIn=GNOME;"));
        assert!(!is_listed("NotShowIn=XFCE;"));
        assert!(!is_listed("NoDisplay=true"));
        assert!(is_listed("TryExec=there"));
        assert!(!is_listed("TryExec=absent"));
        assert_eq!(with("Hidden=true"), None);
        assert_eq!(read("[Desktop Entry]\nType=Link\nName=N\n"), None);
        assert_eq!(read("no entry"), None);
    }

    #[test]
    fn values_are_unescaped() {
        let entry =
            read("[Desktop Entry]\nType=Application\nName=a\\sb\\\\c\nExec=\"x\\\\\\\\y\"\n").unwrap();
        assert_eq!(entry.name, "a b\\c");
        assert_eq!(entry.exec, "\"x\\\\y\"");
    }

    #[test]
    fn languages_come_from_the_locale_best_first() {
        let of = |value: &str| languages(|name| (name == "LANG").then(|| value.to_owned()));
        assert_eq!(of("de_AT.UTF-8"), ["de_AT", "de"]);
        assert_eq!(of("sr_RS@latin"), ["sr_RS@latin", "sr_RS", "sr@latin", "sr"]);
        assert_eq!(of("C.UTF-8"), Vec::<String>::new());
        assert_eq!(of("ja"), ["ja"]);
    }
}
