//! What the kernel says of a process, by proc(5).

/// The state of a process that waits for something.
pub const SLEEPING: char = 'S';
const ZOMBIE: char = 'Z';

/// The one-letter state of a process; none when it is gone.
pub fn process_state(pid: u32) -> Option<char> {
    fields(pid)?.chars().next()
}

/// The one-letter state of a thread; none when it is gone.
pub fn thread_state(pid: u32, thread: u32) -> Option<char> {
    fields_in(&format!("/proc/{pid}/task/{thread}/stat"))?.chars().next()
}

/// The process that a process descends from; none when it is gone or has ended.
pub fn parent(pid: u32) -> Option<u32> {
    let fields = fields(pid)?;
    fields.split(' ').nth(1).filter(|_| !fields.starts_with(ZOMBIE))?.parse().ok()
}

/// How often a process has left the processor; none when it is gone.
pub fn turns(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let counts = status.lines().filter(|line| line.contains("voluntary_ctxt_switches:"));
    Some(counts.filter_map(|line| line.rsplit('\t').next()?.parse::<u64>().ok()).sum())
}

/// The start time of a process in clock ticks after boot; none when it is gone or only waits to be reaped.
pub fn start_time(pid: u32) -> Option<u64> {
    let fields = fields(pid)?;
    // The state is the third field of the file and the first here; the start time is the 22nd.
    fields.split(' ').nth(19).filter(|_| !fields.starts_with(ZOMBIE))?.parse().ok()
}

/// True when the process has mapped a file whose path ends so; false when it is gone or somebody else's.
pub fn has_mapped(pid: u32, path_end: &str) -> bool {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    maps.lines().any(|line| line.ends_with(path_end))
}

/// The fields after the command's name, which may hold spaces and parentheses itself.
fn fields(pid: u32) -> Option<String> {
    fields_in(&format!("/proc/{pid}/stat"))
}

fn fields_in(file: &str) -> Option<String> {
    let stat = std::fs::read_to_string(file).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    Some(fields.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_process_has_a_start_time_and_a_state() {
        let pid = std::process::id();
        assert!(start_time(pid).is_some());
        assert!(process_state(pid).is_some());
        assert!(turns(pid).is_some_and(|turns| turns > 0));
        assert_eq!((start_time(u32::MAX), process_state(u32::MAX)), (None, None));
    }
}
