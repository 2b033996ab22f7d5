//! From what was asked for to the command that is run.

use std::path::{Path, PathBuf};

use super::process::base;
use crate::platform::applications::catalog::{Catalog, find_program};
use crate::platform::applications::entry::Entry;
use crate::platform::applications::exec;
use crate::platform::applications::family::Family;
use crate::platform::applications::invocation::Invocation;
use crate::{DesktopError, LaunchOptions};

/// A command, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) bundle_id: String,
    pub(crate) name: String,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) family: Family,
}

/// Terminal emulators and what they want before a command, the distribution's choice first.
const TERMINALS: [(&str, &[&str]); 9] = [
    ("x-terminal-emulator", &["-e"]),
    ("xterm", &["-e"]),
    ("gnome-terminal", &["--"]),
    ("konsole", &["-e"]),
    ("xfce4-terminal", &["-x"]),
    ("mate-terminal", &["-x"]),
    ("alacritty", &["-e"]),
    ("kitty", &[]),
    ("foot", &[]),
];

/// Finds the application and makes up its command; `profile` names a fresh folder for an instance of its own.
pub(crate) fn plan(catalog: &Catalog, options: &LaunchOptions, profile: &Path) -> Result<Plan, DesktopError> {
    let mut plan = match (&options.bundle_id, &options.name) {
        (Some(id), _) => {
            let entry = catalog.by_id(id).ok_or_else(|| not_found(catalog, id))?;
            from_entry(entry, options)?
        }
        (None, Some(name)) => from_name(catalog, name, options)?,
        (None, None) => return Err(DesktopError::AppNotNamed),
    };
    plan.arguments.extend(plan.family.accessible().iter().map(|switch| (*switch).to_owned()));
    if options.creates_new_application_instance {
        plan.arguments.extend(plan.family.new_instance(&plan.program, profile));
    }
    if let Some(port) = options.electron_debugging_port {
        plan.arguments.push(format!("--remote-debugging-port={port}"));
    }
    plan.arguments.extend(options.additional_arguments.iter().cloned());
    Ok(plan)
}

/// Puts a terminal emulator before the command of an entry that wants one.
pub(crate) fn in_terminal(catalog: &Catalog, plan: Plan) -> Result<Plan, DesktopError> {
    if !catalog.by_id(&plan.bundle_id).is_some_and(|entry| entry.wants_terminal) {
        return Ok(plan);
    }
    let found = TERMINALS.iter().find_map(|(name, before)| Some((find_program(name)?, before)));
    let (terminal, before) =
        found.ok_or_else(|| DesktopError::TerminalNotFound { name: plan.name.clone() })?;
    let program = plan.program.to_string_lossy().into_owned();
    let mut arguments: Vec<String> = before.iter().map(|word| (*word).to_owned()).collect();
    arguments.push(program);
    arguments.extend(plan.arguments);
    Ok(Plan { program: terminal, arguments, ..plan })
}

fn from_entry(entry: &Entry, options: &LaunchOptions) -> Result<Plan, DesktopError> {
    let failed = |reason: String| DesktopError::LaunchFailed { name: entry.name.clone(), reason };
    let mut words = exec::command(entry, &options.urls)
        .ok_or_else(|| failed(format!("the Exec line of \"{}\" is malformed", entry.path.display())))?;
    let program = words.remove(0);
    let program = find_program(&program)
        .ok_or_else(|| failed(format!("the program \"{program}\" is not installed")))?;
    Ok(Plan {
        bundle_id: entry.id.clone(),
        name: entry.name.clone(),
        family: Family::of(&program, &entry.id),
        program,
        arguments: words,
        folder: entry.working_folder.as_ref().map(PathBuf::from),
    })
}

fn from_name(catalog: &Catalog, name: &str, options: &LaunchOptions) -> Result<Plan, DesktopError> {
    if let Some(entry) = catalog.by_name(name) {
        return from_entry(entry, options);
    }
    let Some(program) = find_program(name) else {
        // What the list of applications calls `chromium` is often asked for as `Chromium`.
        let is_meant = |entry: &&Entry| entry.id.to_lowercase() == name.to_lowercase();
        let entry = catalog.preferred(is_meant).ok_or_else(|| not_found(catalog, name))?;
        return from_entry(entry, options);
    };
    // A program that a desktop file starts is that application, though it is started without its file.
    let file = base(&program);
    let is_its = |entry: &&Entry| {
        !entry.wants_terminal
            && matches!(exec::invocation(&entry.exec), Some(Invocation::Program(own)) if base(Path::new(&own)) == file)
    };
    let entry = catalog.preferred(is_its);
    let bundle_id = entry.map_or_else(|| file.clone(), |entry| entry.id.clone());
    Ok(Plan {
        name: entry.map_or(file, |entry| entry.name.clone()),
        family: Family::of(&program, &bundle_id),
        bundle_id,
        program,
        arguments: options.urls.clone(),
        folder: None,
    })
}

fn not_found(catalog: &Catalog, name: &str) -> DesktopError {
    let wanted = name.strip_suffix(".desktop").unwrap_or(name).to_lowercase();
    let is_near = |text: &str| {
        let text = text.to_lowercase();
        !text.is_empty() && !wanted.is_empty() && (text.contains(&wanted) || wanted.contains(&text))
    };
    let near: Vec<String> = catalog
        .entries
        .iter()
        .filter(|entry| entry.is_listed && (is_near(&entry.id) || is_near(&entry.name)))
        .take(3)
        .map(|entry| format!("\"{}\"", entry.id))
        .collect();
    let near = if near.is_empty() { String::new() } else { format!(" Near it: {}.", near.join(", ")) };
    DesktopError::AppNotFound { name: name.to_owned(), near }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn catalog() -> Catalog {
        let mut catalog = Catalog::default();
        catalog.entries = vec![Entry {
            id: "org.x.Lister".into(),
            name: "The Lister".into(),
            plain_name: "The Lister".into(),
            exec: "/bin/ls -i %F".into(),
            is_listed: true,
            ..Entry::default()
        }];
        catalog
    }

    fn planned(options: &LaunchOptions) -> Result<Plan, DesktopError> {
        plan(&catalog(), options, Path::new("/profile"))
    }

    #[test]
    fn the_bundle_id_wins_over_the_name() {
        let options = LaunchOptions {
            bundle_id: Some("org.x.Lister".into()),
            name: Some("absent".into()),
            urls: vec!["/a".into()],
            electron_debugging_port: Some(9222),
            additional_arguments: vec!["--last".into()],
            ..LaunchOptions::default()
        };
        let plan = planned(&options).unwrap();
        assert_eq!((plan.bundle_id.as_str(), plan.name.as_str()), ("org.x.Lister", "The Lister"));
        assert_eq!(plan.arguments, ["-i", "/a", "--remote-debugging-port=9222", "--last"]);
    }

    #[test]
    fn a_name_is_a_display_name_a_program_a_path_or_an_id() {
        let by_name =
            |name: &str| planned(&LaunchOptions { name: Some(name.into()), ..LaunchOptions::default() });
        assert_eq!(by_name("the lister").unwrap().arguments, ["-i"]);
        assert_eq!(by_name("ls").unwrap().bundle_id, "org.x.Lister");
        assert_eq!(by_name("Org.X.lister").unwrap().arguments, ["-i"]);
        assert_eq!(by_name("/bin/true").unwrap().bundle_id, "true");
        assert_eq!(by_name("./true").unwrap_err().code(), "app_not_found");
        let text = by_name("lister").unwrap_err().to_string();
        assert!(text.contains("\"org.x.Lister\""), "{text}");
        assert_eq!(planned(&LaunchOptions::default()).unwrap_err().code(), "app_not_named");
    }
}
