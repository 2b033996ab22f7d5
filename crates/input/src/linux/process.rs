//! What the kernel says of a process, by proc(5).

pub use desktop::stat::SLEEPING;
use desktop::stat::Stat;

/// The one-letter state of a process; none when it is gone.
pub fn process_state(pid: u32) -> Option<char> {
    Stat::of_process(pid).map(|stat| stat.state)
}

/// The process that a process descends from; none when it is gone or has ended.
pub fn parent(pid: u32) -> Option<u32> {
    Stat::of_process(pid).filter(|stat| !stat.has_ended()).map(|stat| stat.parent)
}

/// How often a process has left the processor; none when it is gone.
pub fn turns(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let counts = status.lines().filter(|line| line.contains("voluntary_ctxt_switches:"));
    Some(counts.filter_map(|line| line.rsplit('\t').next()?.parse::<u64>().ok()).sum())
}

/// The start time of a process in clock ticks after boot; none when it is gone or only waits to be reaped.
pub fn start_time(pid: u32) -> Option<u64> {
    Stat::of_process(pid).filter(|stat| !stat.has_ended()).map(|stat| stat.started)
}

/// True when the process has mapped a file whose path ends so; false when it is gone or somebody else's.
pub fn has_mapped(pid: u32, path_end: &str) -> bool {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    maps.lines().any(|line| line.ends_with(path_end))
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
