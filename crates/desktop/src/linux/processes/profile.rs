//! Folders for instances of their own: made when a program starts, removed when it ends.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::process;
use super::stat;

/// Before the owner's pid and start time in a folder's name.
const PREFIX: &str = "backlot-profile-";

/// How often, and how far apart, a folder is removed that is still written to; what then stays is swept later.
const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(100);

/// A path that no other instance has.
pub(crate) fn fresh() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let pid = std::process::id();
    let started = process::started(pid).unwrap_or_default();
    std::env::temp_dir().join(format!("{PREFIX}{pid}-{started}-{count}"))
}

/// Makes the folder, for this user only, and removes those that dead drivers and their dead programs left.
pub(crate) fn make(profile: &Path) -> std::io::Result<()> {
    let folders = fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten();
    let mut left: Vec<PathBuf> = folders.map(|folder| folder.path()).filter(|path| is_orphan(path)).collect();
    if !left.is_empty() {
        // A program outlives the driver that started it.
        let lines = command_lines();
        left.retain(|path| !is_named(path, &lines));
    }
    for path in left {
        let _ = fs::remove_dir_all(path);
    }
    fs::DirBuilder::new().mode(0o700).create(profile)
}

/// Removes a folder, for some seconds if need be: a program's helpers write there until they notice its end.
pub(crate) fn remove(profile: &Path) {
    for _ in 0..ATTEMPTS {
        // Who still runs may make it again.
        let is_used = is_named(profile, &command_lines());
        let _ = fs::remove_dir_all(profile);
        if !is_used && !profile.exists() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// The command lines of all processes.
fn command_lines() -> Vec<String> {
    stat::processes().into_iter().map(|pid| process::arguments(pid).join(" ")).collect()
}

/// Whether a program uses the folder, or one of its helpers does: their command lines name it.
fn is_named(profile: &Path, lines: &[String]) -> bool {
    lines.iter().any(|line| line.contains(&*profile.to_string_lossy()))
}

fn is_orphan(path: &Path) -> bool {
    let name = process::base(path);
    let owner = name.strip_prefix(PREFIX).and_then(|rest| {
        let mut numbers = rest.split('-');
        Some((numbers.next()?.parse::<u32>().ok()?, numbers.next()?.parse::<u64>().ok()?))
    });
    owner.is_some_and(|(pid, started)| process::started(pid) != Some(started))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn only_what_dead_drivers_left_is_removed() {
        let dead = std::env::temp_dir().join(format!("{PREFIX}{}-1-0", std::process::id()));
        fs::create_dir_all(dead.join("inside")).unwrap();
        let (first, second) = (fresh(), fresh());
        make(&first).unwrap();
        make(&second).unwrap();
        assert!(!dead.exists());
        assert!(first.is_dir() && second.is_dir());
        remove(&first);
        remove(&second);
    }
}
