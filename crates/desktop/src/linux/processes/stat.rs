//! Processes and threads, the `stat` file of each, and what is counted of them (proc(5)).

use std::fs;
use std::path::Path;

/// The state of what waits for something.
pub const SLEEPING: char = 'S';

/// The fields after the name of the program, which may hold spaces and parentheses itself.
#[derive(Clone, Debug)]
pub struct Stat(String);

impl Stat {
    /// Of a process; none when it is gone.
    pub fn of_process(pid: u32) -> Option<Self> {
        Self::of_file(Path::new(&format!("/proc/{pid}/stat")))
    }

    /// Of a thread of a process; none when it is gone.
    pub fn of_thread(pid: u32, thread: u32) -> Option<Self> {
        Self::of_file(Path::new(&format!("/proc/{pid}/task/{thread}/stat")))
    }

    /// Of what a file tells.
    pub fn of_file(file: &Path) -> Option<Self> {
        let text = fs::read(file).ok()?;
        let text = String::from_utf8_lossy(&text);
        Some(Self(text.rsplit_once(')')?.1.to_owned()))
    }

    /// The state, one letter.
    pub fn state(&self) -> Option<char> {
        self.field(0)?.chars().next()
    }

    /// True for what has ended, and at most waits to be reaped.
    pub fn has_ended(&self) -> bool {
        matches!(self.state(), Some('Z' | 'X'))
    }

    /// The parent's process.
    pub fn parent(&self) -> Option<u32> {
        self.field(1)?.parse().ok()
    }

    /// The session: the pid of the process that founded it.
    pub fn session(&self) -> Option<u32> {
        self.field(3)?.parse().ok()
    }

    /// The start, in ticks since boot: with the pid it names a process for ever.
    pub fn started(&self) -> Option<u64> {
        self.field(19)?.parse().ok()
    }

    /// A field, counted from the state.
    fn field(&self, index: usize) -> Option<&str> {
        self.0.split_ascii_whitespace().nth(index)
    }
}

/// All processes.
pub fn processes() -> Vec<u32> {
    numbers("/proc").unwrap_or_default()
}

/// The threads of a process; none when it is gone.
pub fn threads(pid: u32) -> Option<Vec<u32>> {
    numbers(&format!("/proc/{pid}/task"))
}

/// Time of a thread on the processor, time of waiting for one, and how often it got one; none where the kernel does not
/// count.
pub fn counted(pid: u32, thread: u32) -> Option<String> {
    let counted = fs::read_to_string(format!("/proc/{pid}/task/{thread}/schedstat")).ok()?;
    counts(&counted).then_some(counted)
}

/// False for what a kernel says that does not count: a thread that was never on a processor does not exist.
fn counts(schedstat: &str) -> bool {
    schedstat.split_ascii_whitespace().nth(2).is_some_and(|times| times != "0")
}

/// The entries of a folder that are numbers.
fn numbers(folder: &str) -> Option<Vec<u32>> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    Some(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_does_not_count_is_not_believed() {
        assert!(counts("171953 20000 3\n"));
        assert!(!counts("0 0 0\n"));
        assert!(!counts(""));
    }

    #[test]
    fn fields_are_counted_from_behind_the_name() {
        let stat = Stat(" S 7 5 3 0".to_owned());
        assert_eq!((stat.state(), stat.parent(), stat.session()), (Some(SLEEPING), Some(7), Some(3)));
        assert!(!stat.has_ended() && Stat(" Z 1".to_owned()).has_ended());
    }

    #[test]
    fn a_process_that_is_gone_has_none() {
        assert!(Stat::of_process(std::process::id()).is_some_and(|stat| stat.started().is_some()));
        assert!(Stat::of_process(u32::MAX).is_none() && Stat::of_thread(u32::MAX, 1).is_none());
    }
}
