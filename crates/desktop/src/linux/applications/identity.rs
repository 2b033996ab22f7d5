//! Which application a window or a process belongs to.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::catalog::Catalog;
use super::entry::Entry;
use super::exec;
use super::invocation::{Invocation, is_interpreter};
use crate::platform::processes::process::{self, base};
use crate::platform::x11::properties::Properties;

/// An application, with or without a desktop file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) bundle_id: String,
    pub(crate) name: String,
}

/// What was found out; asked anew when the catalog changes.
#[derive(Default)]
pub(crate) struct Identities {
    catalog: Arc<Catalog>,
    known: HashMap<(u32, String, String), Identity>,
}

/// How many windows' identities are remembered; programs that come and go make more.
const REMEMBERED: usize = 512;

impl Identities {
    /// The identity of a window.
    pub(crate) fn of_window(&mut self, catalog: &Arc<Catalog>, properties: &Properties) -> Identity {
        if !Arc::ptr_eq(&self.catalog, catalog) || self.known.len() > REMEMBERED {
            self.catalog = Arc::clone(catalog);
            self.known.clear();
        }
        let key = (properties.pid, properties.instance.clone(), properties.class.clone());
        self.known.entry(key).or_insert_with(|| find(catalog, properties)).clone()
    }
}

fn find(catalog: &Catalog, properties: &Properties) -> Identity {
    let process = Process::of(properties.pid);
    if let Some(entry) = entry(catalog, properties, &process) {
        return Identity { bundle_id: entry.id.clone(), name: entry.name.clone() };
    }
    let class = [&properties.class, &properties.instance].into_iter().find(|class| !class.is_empty());
    let program = process.names.first();
    let title = Some(&properties.title).filter(|title| !title.is_empty());
    let name = class.or(program).or(title).cloned().unwrap_or_default();
    let bundle_id = program.or(class).cloned().unwrap_or_else(|| name.clone());
    Identity { bundle_id, name }
}

/// What a process says about its application.
struct Process {
    /// The desktop file it was started from.
    launched: Option<String>,
    /// Base names of its executable and of what it was called as.
    names: Vec<String>,
    /// The script that it runs, when its executable is an interpreter.
    script: Option<Invocation>,
}

impl Process {
    fn of(pid: u32) -> Self {
        if pid == 0 {
            return Self { launched: None, names: Vec::new(), script: None };
        }
        // The variable is inherited; only together with the pid it speaks of this process (GLib).
        let is_own = process::variable(pid, "GIO_LAUNCHED_DESKTOP_FILE_PID")
            .is_some_and(|owner| owner == pid.to_string());
        let launched = if is_own { process::variable(pid, "GIO_LAUNCHED_DESKTOP_FILE") } else { None };
        let executable = process::executable(pid).map(|path| base(&path));
        let mut arguments = process::arguments(pid);
        let called = arguments.first().map(|program| base(Path::new(program)));
        // Who is called by another name is still the interpreter that it is.
        if let (Some(name), Some(first)) = (&executable, arguments.first_mut())
            && is_interpreter(name)
        {
            first.clone_from(name);
        }
        let script = Invocation::of(&arguments).filter(|own| matches!(own, Invocation::Script(_)));
        let mut names: Vec<String> = executable.into_iter().chain(called).collect();
        names.retain(|name| !name.is_empty() && !name.starts_with('-'));
        names.dedup();
        Self { launched, names, script }
    }

    /// True for what an `Exec` line starts.
    fn is_of(&self, exec: &str) -> bool {
        match exec::invocation(exec) {
            Some(Invocation::Program(program)) => {
                let program = base(Path::new(&program));
                self.names.contains(&program)
                    || self.script.as_ref().is_some_and(|own| own.is_named(&program))
            }
            Some(Invocation::Script(script)) => {
                self.script.as_ref().is_some_and(|own| own.is_script(&script))
            }
            None => false,
        }
    }
}

fn entry<'c>(catalog: &'c Catalog, properties: &Properties, process: &Process) -> Option<&'c Entry> {
    let classes = [properties.class.as_str(), properties.instance.as_str()];
    let has_class = |name: &str| classes.iter().any(|class| !class.is_empty() && *class == name);
    let is_class =
        |name: &str| classes.iter().any(|class| !class.is_empty() && class.eq_ignore_ascii_case(name));
    let launched = process.launched.as_deref().map(Path::new);
    catalog
        .entries
        .iter()
        .find(|entry| launched == Some(entry.path.as_path()))
        .or_else(|| catalog.preferred(|entry| entry.wm_class.as_deref().is_some_and(has_class)))
        .or_else(|| catalog.preferred(|entry| is_class(&entry.id)))
        .or_else(|| catalog.preferred(|entry| is_class(entry.id.rsplit('.').next().unwrap_or_default())))
        .or_else(|| catalog.preferred(|entry| entry.wm_class.is_none() && process.is_of(&entry.exec)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn catalog() -> Catalog {
        let entry = |id: &str, exec: &str, class: Option<&str>| Entry {
            id: id.into(),
            name: id.to_uppercase(),
            exec: exec.into(),
            path: format!("/apps/{id}.desktop").into(),
            wm_class: class.map(Into::into),
            is_listed: true,
            ..Entry::default()
        };
        let mut catalog = Catalog::default();
        catalog.entries = vec![
            entry("settings", "edit --settings", None),
            entry("org.x.edit", "edit %U", None),
            entry("uterm", "uterm", Some("UTerm")),
            entry("tool", "/usr/bin/tool", None),
            entry("python", "/usr/bin/python3.11", None),
            entry("notes", "python3 /opt/notes/main.py %U", None),
            entry("sealed", "/usr/bin/flatpak run org.sealed", None),
        ];
        catalog.entries[0].is_listed = false;
        catalog
    }

    fn found(class: &str, words: &[&str], launched: Option<&str>) -> Option<String> {
        let properties = Properties { class: class.into(), ..Properties::default() };
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let process = Process {
            launched: launched.map(Into::into),
            names: words.first().map(|program| base(Path::new(program))).into_iter().collect(),
            script: Invocation::of(&words).filter(|own| matches!(own, Invocation::Script(_))),
        };
        entry(&catalog(), &properties, &process).map(|entry| entry.id.clone())
    }

    #[test]
    fn an_application_is_known_by_launch_class_id_and_program_in_that_order() {
        assert_eq!(found("UTerm", &["tool"], Some("/apps/tool.desktop")).as_deref(), Some("tool"));
        assert_eq!(found("UTerm", &["tool"], None).as_deref(), Some("uterm"));
        assert_eq!(found("Edit", &[], None).as_deref(), Some("org.x.edit"));
        assert_eq!(found("Other", &["python3", "/usr/bin/tool"], None).as_deref(), Some("tool"));
        assert_eq!(found("Other", &["edit"], None).as_deref(), Some("org.x.edit"));
        assert_eq!(found("Other", &["unknown"], None), None);
        assert_eq!(found("", &[], None), None);
    }

    #[test]
    fn an_interpreter_is_the_application_of_its_script_alone() {
        let notes = ["/usr/bin/python3", "-u", "/opt/notes/main.py", "/a.txt"];
        assert_eq!(found("", &notes, None).as_deref(), Some("notes"));
        assert_eq!(found("", &["python3.11", "/opt/other/main.py"], None), None);
        assert_eq!(found("", &["python3.11"], None), None);
        assert_eq!(found("Notes", &["python3"], None).as_deref(), Some("notes"));
        assert_eq!(found("", &["python3"], Some("/apps/notes.desktop")).as_deref(), Some("notes"));
        assert_eq!(found("", &["/usr/bin/flatpak", "run", "org.other"], None), None);
        assert_eq!(found("", &["viewer", "tool"], None), None);
    }

    #[test]
    fn a_program_without_a_desktop_file_is_named_by_its_class() {
        let properties = Properties { class: "Odd".into(), ..Properties::default() };
        let identity = find(&catalog(), &properties);
        assert_eq!((identity.name.as_str(), identity.bundle_id.as_str()), ("Odd", "Odd"));
    }
}
