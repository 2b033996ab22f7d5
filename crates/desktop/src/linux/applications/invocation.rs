//! What a command line is known by: its program, or the script that an interpreter runs.

use std::path::Path;

use crate::platform::processes::process::base;

/// Programs that become the one named behind them.
const WRAPPERS: [&str; 10] = [
    "env",
    "pkexec",
    "sudo",
    "nice",
    "ionice",
    "nohup",
    "setsid",
    "dbus-launch",
    "dbus-run-session",
    "gamemoderun",
];
/// Programs that have another process start any application: theirs says nothing.
const LAUNCHERS: [&str; 10] = [
    "flatpak",
    "snap",
    "gtk-launch",
    "gio",
    "xdg-open",
    "exo-open",
    "kioclient",
    "systemd-run",
    "wine",
    "x-terminal-emulator",
];
/// Programs that run any script, without the version that their file names may end with.
const INTERPRETERS: [&str; 26] = [
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "fish",
    "busybox",
    "python",
    "pypy",
    "perl",
    "ruby",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "wish",
    "guile",
    "node",
    "nodejs",
    "deno",
    "bun",
    "java",
    "mono",
    "gjs",
    "gjs-console",
    "electron",
];

/// What tells processes of one command line from those of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Invocation {
    /// A program: its name or path.
    Program(String),
    /// The first argument of an interpreter that is no option: a path, a module, a class or the commands themselves.
    Script(String),
}

impl Invocation {
    /// Of a command line, the program first; none where it could be any application's.
    pub(crate) fn of(words: &[String]) -> Option<Self> {
        let mut words = words.iter().skip_while(|word| is_wrapper(word) || is_set_up(word));
        let program = words.next()?;
        let name = base(Path::new(program));
        if LAUNCHERS.contains(&name.as_str()) {
            return None;
        }
        if !is_interpreter(&name) {
            return Some(Self::Program(program.clone()));
        }
        words.find(|word| !is_option(word)).cloned().map(Self::Script)
    }

    /// True when it names the same script: one of the paths may lack its leading folders.
    pub(crate) fn is_script(&self, script: &str) -> bool {
        let Self::Script(own) = self else { return false };
        Path::new(own).ends_with(script) || Path::new(script).ends_with(own)
    }

    /// True when its file has this name.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        let (Self::Program(own) | Self::Script(own)) = self;
        base(Path::new(own)) == name
    }
}

/// True for the file name of a program that runs any script.
pub(crate) fn is_interpreter(name: &str) -> bool {
    let plain = name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.' || last == '-');
    INTERPRETERS.contains(&plain)
}

fn is_wrapper(word: &str) -> bool {
    WRAPPERS.contains(&base(Path::new(word)).as_str())
}

/// True for options and variables before a program.
fn is_set_up(word: &str) -> bool {
    word.starts_with('-') || word.contains('=')
}

/// True for options and for field codes of a desktop file.
fn is_option(word: &str) -> bool {
    word.is_empty() || word.starts_with('-') || word.starts_with('%')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<Invocation> {
        Invocation::of(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    fn program(name: &str) -> Option<Invocation> {
        Some(Invocation::Program(name.to_owned()))
    }

    fn script(name: &str) -> Option<Invocation> {
        Some(Invocation::Script(name.to_owned()))
    }

    #[test]
    fn programs_are_found_behind_what_becomes_them() {
        assert_eq!(of("/usr/bin/app --new %U"), program("/usr/bin/app"));
        assert_eq!(of("env A=b pkexec --disable-internal-agent app"), program("app"));
        assert_eq!(of("env A=b"), None);
    }

    #[test]
    fn interpreters_are_known_by_their_script() {
        assert_eq!(of("python3.11 -u /opt/a.py"), script("/opt/a.py"));
        assert_eq!(of("/usr/bin/env python3 -m tool"), script("tool"));
        assert_eq!(of("java -jar %k /opt/a.jar"), script("/opt/a.jar"));
        assert_eq!(of("bash -i %F"), None);
    }

    #[test]
    fn launchers_are_nobody() {
        assert_eq!(of("flatpak run --command=app org.app"), None);
        assert_eq!(of("gtk-launch app"), None);
    }

    #[test]
    fn scripts_are_compared_by_their_paths() {
        let own = Invocation::Script("/opt/a/main.py".into());
        assert!(own.is_script("main.py") && own.is_script("a/main.py"));
        assert!(!own.is_script("/opt/b/main.py") && !own.is_script("ain.py"));
        assert!(!Invocation::Program("main.py".into()).is_script("main.py"));
    }
}
