//! Processes, as `/proc` tells of them.

use std::fs;
use std::path::{Path, PathBuf};

use super::stat::Stat;

/// The process behind a window: what the window says where that is true, else whom the server knows.
///
/// 0 for a window of another machine and where nobody knows.
pub(crate) fn of_window(said: Option<u32>, known: Option<u32>, machine: Option<&str>) -> u32 {
    if machine.is_some_and(|machine| !is_here(machine)) {
        return 0;
    }
    // In another PID namespace a program says a number that means nobody here, or somebody else.
    let inside = known.filter(|pid| is_inside_another_namespace(*pid));
    inside.or_else(|| said.filter(|pid| *pid > 0 && exists(*pid))).or(known).unwrap_or(0)
}

/// True while the process lives; a zombie does not.
pub(crate) fn exists(pid: u32) -> bool {
    Stat::of_process(pid).is_some_and(|stat| !stat.has_ended())
}

/// True for a process of a PID namespace inside ours, as of a sandbox.
fn is_inside_another_namespace(pid: u32) -> bool {
    fs::read_to_string(proc(pid, "status")).is_ok_and(|status| has_several_numbers(&status))
}

/// True for the `status` file of a process that has another number in each of several PID namespaces (proc(5), `NSpid`).
fn has_several_numbers(status: &str) -> bool {
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    numbers.is_some_and(|numbers| numbers.split_ascii_whitespace().count() > 1)
}

/// The parent of a process.
pub(crate) fn parent(pid: u32) -> Option<u32> {
    Stat::of_process(pid).map(|stat| stat.parent)
}

/// The session that a process belongs to: the pid of the process that founded it.
pub(crate) fn session(pid: u32) -> Option<u32> {
    Stat::of_process(pid).map(|stat| stat.session)
}

/// When a process started, in ticks since boot: with the pid it names a process for ever.
pub(crate) fn started(pid: u32) -> Option<u64> {
    Stat::of_process(pid).map(|stat| stat.started)
}

/// The file a process runs.
pub(crate) fn executable(pid: u32) -> Option<PathBuf> {
    let path = fs::read_link(proc(pid, "exe")).ok()?;
    // The kernel marks a file that was replaced since by its package manager.
    let text = path.to_str().and_then(|text| text.strip_suffix(" (deleted)"));
    Some(text.map_or_else(|| path.clone(), PathBuf::from))
}

/// The name of a program: the last part of its path.
pub(crate) fn base(program: &Path) -> String {
    program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The arguments of a process, the program's name first.
pub(crate) fn arguments(pid: u32) -> Vec<String> {
    strings(&proc(pid, "cmdline"))
}

/// The value of a variable in a process's environment at its start; none where it may not be read.
pub(crate) fn variable(pid: u32, name: &str) -> Option<String> {
    let prefix = format!("{name}=");
    strings(&proc(pid, "environ")).iter().find_map(|pair| pair.strip_prefix(&prefix).map(str::to_owned))
}

fn is_here(machine: &str) -> bool {
    let uname = rustix::system::uname();
    let here = uname.nodename().to_string_lossy().into_owned();
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    machine.is_empty() || machine.eq_ignore_ascii_case("localhost") || short(machine) == short(&here)
}

fn proc(pid: u32, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{file}"))
}

fn strings(path: &Path) -> Vec<String> {
    let bytes = fs::read(path).unwrap_or_default();
    let parts = bytes.split(|byte| *byte == 0).map(|part| String::from_utf8_lossy(part).into_owned());
    let mut parts: Vec<String> = parts.collect();
    if parts.last().is_some_and(String::is_empty) {
        parts.pop();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_another_machine_has_no_process_here() {
        let me = std::process::id();
        assert_eq!(of_window(Some(me), Some(me), Some("elsewhere.example")), 0);
        assert_eq!(of_window(Some(me), None, Some("localhost")), me);
        assert_eq!(of_window(Some(me), None, None), me);
    }

    #[test]
    fn a_number_that_means_nobody_gives_way_to_what_the_server_knows() {
        let me = std::process::id();
        assert_eq!(of_window(Some(u32::MAX - 1), Some(me), None), me);
        assert_eq!(of_window(None, None, None), 0);
    }

    #[test]
    fn a_process_of_a_sandbox_has_several_numbers() {
        assert!(has_several_numbers("Name:\tgedit\nNSpid:\t4711\t2\nThreads:\t4\n"));
        assert!(!has_several_numbers("Name:\tgedit\nNSpid:\t4711\nThreads:\t4\n"));
        assert!(!is_inside_another_namespace(std::process::id()));
    }

    #[test]
    fn a_process_is_described_by_proc() {
        let me = std::process::id();
        assert!(exists(me));
        assert!(started(me).is_some());
        assert_eq!(parent(me), Some(std::os::unix::process::parent_id()));
        assert_eq!(executable(me), std::env::current_exe().ok());
    }
}
