//! What programs of one family want on their command line.

use std::path::{Path, PathBuf};

use crate::platform::processes::process::base;

/// Programs that share their switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Chromium browsers and Electron programs.
    Chromium,
    /// Firefox and its relatives.
    Gecko,
    /// Everything else.
    Other,
}

const CHROMIUM: [&str; 8] =
    ["chromium", "google-chrome", "chrome", "brave", "microsoft-edge", "msedge", "vivaldi", "opera"];

const GECKO: [&str; 4] = ["firefox", "librewolf", "waterfox", "thunderbird"];

/// A file that stands beside every program with Chromium inside.
const CHROMIUM_MARK: &str = "chrome_100_percent.pak";

impl Family {
    /// The family of a program that was found at this path, started under this desktop-file id.
    pub(crate) fn of(program: &Path, id: &str) -> Self {
        let name = base(program).to_lowercase();
        let short = id.rsplit('.').next().unwrap_or_default().to_lowercase();
        let is_one_of = |names: &[&str]| {
            names.iter().any(|known| {
                [&name, &short].into_iter().any(|name| {
                    // `firefox-esr` is one, `chromedriver` is not.
                    name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
                })
            })
        };
        let real: PathBuf = program.canonicalize().unwrap_or_else(|_| program.to_owned());
        // A starter script may lie in a `bin` folder inside the program's own.
        let has_mark = real.ancestors().skip(1).take(2).any(|folder| folder.join(CHROMIUM_MARK).is_file());
        if has_mark || is_one_of(&CHROMIUM) {
            Self::Chromium
        } else if is_one_of(&GECKO) {
            Self::Gecko
        } else {
            Self::Other
        }
    }

    /// Switches without which the accessibility tree stays empty.
    pub(crate) fn accessible(self) -> &'static [&'static str] {
        match self {
            // Otherwise the web content is missing, whatever the environment says.
            Self::Chromium => &["--force-renderer-accessibility"],
            Self::Gecko | Self::Other => &[],
        }
    }

    /// Switches for an instance of its own; `profile` is a fresh folder.
    ///
    /// A program that is not known here gets none: if it is single-instance it hands over to the one that runs.
    pub(crate) fn new_instance(self, program: &Path, profile: &Path) -> Vec<String> {
        let profile = profile.to_string_lossy();
        match self {
            Self::Chromium => {
                vec![format!("--user-data-dir={profile}"), "--no-first-run".to_owned()]
            }
            Self::Gecko => {
                vec!["--new-instance".to_owned(), "--profile".to_owned(), profile.into_owned()]
            }
            Self::Other => ALONE
                .iter()
                .filter(|(name, _)| base(program) == *name)
                .map(|(_, switch)| (*switch).to_owned())
                .collect(),
        }
    }

    /// True when an instance of its own keeps its state in a folder of its own.
    pub(crate) fn has_profile(self) -> bool {
        self != Self::Other
    }
}

/// Programs that are one process for a session unless told otherwise.
const ALONE: [(&str, &str); 4] = [
    ("mousepad", "--disable-server"),
    ("xfce4-terminal", "--disable-server"),
    ("gedit", "--standalone"),
    ("gnome-text-editor", "--standalone"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_known_by_program_or_id() {
        let of = |program: &str, id: &str| Family::of(Path::new(program), id);
        assert_eq!(of("/usr/bin/google-chrome-stable", ""), Family::Chromium);
        assert_eq!(of("/usr/bin/flatpak", "org.chromium.Chromium"), Family::Chromium);
        assert_eq!(of("/usr/bin/firefox-esr", "firefox-esr"), Family::Gecko);
        assert_eq!(of("/usr/bin/chromedriver", "chromedriver"), Family::Other);
        assert_eq!(of("/usr/bin/xterm", "debian-xterm"), Family::Other);
    }
}
