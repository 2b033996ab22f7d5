//! The processes that have a socket open, as `/proc` shows them (proc(5)).

use std::fs::{read, read_dir, read_link, read_to_string};
use std::io::{Error, ErrorKind};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Whether one of these processes, or one whose program's name begins so, may have the socket open.
pub fn may_hold(inode: u32, uid: u32, pids: &[u32], programs: &[String]) -> bool {
    let socket = PathBuf::from(format!("socket:[{inode}]"));
    // Where the names of others are hidden (the mount option `hidepid`), any of them may be meant.
    let mut is_unclear = read("/proc/1/comm").is_err();
    for pid in processes() {
        if !pids.contains(&pid) && !is_named(pid, programs) {
            continue;
        }
        match holds(pid, &socket) {
            Some(true) => return true,
            Some(false) => {}
            None => is_unclear |= has_user(pid, uid),
        }
    }
    is_unclear && !processes().any(|pid| holds(pid, &socket) == Some(true))
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Whether it has the socket open; none where this process may not look into it.
fn holds(pid: u32, socket: &Path) -> Option<bool> {
    let is_denied = |error: &Error| error.kind() == ErrorKind::PermissionDenied;
    let files = match read_dir(format!("/proc/{pid}/fd")) {
        Ok(files) => files,
        Err(error) if is_denied(&error) => return None,
        // It has ended.
        Err(_) => return Some(false),
    };
    let mut is_unclear = false;
    for file in files {
        match file.and_then(|file| read_link(file.path())) {
            Ok(target) if target == socket => return Some(true),
            // A file that was closed in the meantime is none.
            Ok(_) => {}
            Err(error) => is_unclear |= is_denied(&error),
        }
    }
    (!is_unclear).then_some(false)
}

/// Whether the name of its program begins with one of these words, behind the dots of a wrapped one: that of its file,
/// which is shown to whoever may look into it, or else what it is called, of which the kernel keeps 15 bytes, or its first
/// argument.
fn is_named(pid: u32, programs: &[String]) -> bool {
    let begins = |path: &[u8]| {
        let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        let name = &name[name.iter().take_while(|&&byte| byte == b'.').count()..];
        programs.iter().any(|program| name.starts_with(program.as_bytes()))
    };
    match read_link(format!("/proc/{pid}/exe")) {
        Ok(file) => begins(file.as_os_str().as_bytes()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let words = read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            begins(words.split(|&byte| byte == 0).next().unwrap_or_default())
                || read(format!("/proc/{pid}/comm")).is_ok_and(|name| begins(&name))
        }
        // It has ended, or is the kernel's own and has none.
        Err(_) => false,
    }
}

/// Whether it acts for that user, by any of its four ids; true where that cannot be read.
fn has_user(pid: u32, uid: u32) -> bool {
    let Ok(status) = read_to_string(format!("/proc/{pid}/status")) else { return true };
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
    ids.split_whitespace().any(|id| id.parse() == Ok(uid))
}
