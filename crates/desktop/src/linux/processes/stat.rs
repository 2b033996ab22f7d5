//! Processes and threads, the `stat` file of each, and what is counted of them (proc(5)).

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The state of what waits for something.
pub const SLEEPING: char = 'S';

/// Bytes of a `stat` file that are read: all of its 52 numbers seldom need more, and the first 20 never do.
const STAT_BYTES: usize = 1024;
/// Bytes of a `schedstat` file: three numbers.
const COUNTS_BYTES: usize = 64;

/// The `stat` file of a process or a thread, kept open: it is of this one for ever, whoever has its number later.
#[derive(Debug)]
pub struct StatFile(File);

impl StatFile {
    /// Of a process; none when it is gone.
    pub fn of_process(pid: u32) -> Option<Self> {
        Self::at(Path::new(&format!("/proc/{pid}/stat")))
    }

    /// Of a thread of a process; none when it is gone.
    pub fn of_thread(pid: u32, thread: u32) -> Option<Self> {
        Self::at(Path::new(&format!("/proc/{pid}/task/{thread}/stat")))
    }

    /// A file of this form.
    pub fn at(path: &Path) -> Option<Self> {
        File::open(path).ok().map(Self)
    }

    /// What it tells now; none when its process or thread is gone.
    pub fn read(&self) -> Option<Stat> {
        let mut buffer = [0; STAT_BYTES];
        Stat::parse(text(&self.0, &mut buffer)?)
    }
}

/// What a `stat` file told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The state, one letter.
    pub state: char,
    /// The parent's process.
    pub parent: u32,
    /// The session: the pid of the process that founded it.
    pub session: u32,
    /// The start, in ticks since boot: with the pid it names a process for ever.
    pub started: u64,
}

impl Stat {
    /// Of a process; none when it is gone.
    pub fn of_process(pid: u32) -> Option<Self> {
        StatFile::of_process(pid)?.read()
    }

    /// Of a thread of a process; none when it is gone.
    pub fn of_thread(pid: u32, thread: u32) -> Option<Self> {
        StatFile::of_thread(pid, thread)?.read()
    }

    /// True for what has ended, and at most waits to be reaped.
    pub const fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }

    /// Fields are counted from behind the name of the program, which may hold spaces and parentheses itself.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let name_end = bytes.iter().rposition(|byte| *byte == b')')?;
        let mut fields = std::str::from_utf8(bytes.get(name_end + 1..)?).ok()?.split_ascii_whitespace();
        Some(Self {
            state: fields.next()?.chars().next()?,
            parent: fields.next()?.parse().ok()?,
            session: fields.nth(1)?.parse().ok()?,
            started: fields.nth(15)?.parse().ok()?,
        })
    }
}

/// What the kernel counts of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Nanoseconds on a processor.
    ran: u64,
    /// Nanoseconds of waiting for one.
    waited: u64,
    /// How often it got one.
    times: u64,
}

impl Counts {
    /// Of a thread of a process; none when it is gone and where the kernel does not count.
    pub fn of_thread(pid: u32, thread: u32) -> Option<Self> {
        CountsFile::of_thread(pid, thread)?.read()
    }

    /// A thread that was never on a processor does not exist: a kernel that says so does not count.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields =
            std::str::from_utf8(bytes).ok()?.split_ascii_whitespace().map_while(|field| field.parse().ok());
        let counts = Self { ran: fields.next()?, waited: fields.next()?, times: fields.next()? };
        (counts.times != 0).then_some(counts)
    }
}

/// The file of a thread's [`Counts`], kept open: it is of this thread for ever.
#[derive(Debug)]
pub struct CountsFile(File);

impl CountsFile {
    /// Of a thread of a process; none when it is gone.
    pub fn of_thread(pid: u32, thread: u32) -> Option<Self> {
        File::open(format!("/proc/{pid}/task/{thread}/schedstat")).ok().map(Self)
    }

    /// What is counted now; none when the thread is gone and where the kernel does not count.
    pub fn read(&self) -> Option<Counts> {
        let mut buffer = [0; COUNTS_BYTES];
        Counts::parse(text(&self.0, &mut buffer)?)
    }
}

/// What a file of the kernel's holds now, as far as there is room for it: the kernel writes it anew for each read from its
/// beginning.
fn text<'a>(file: &File, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let length = file.read_at(buffer, 0).ok()?;
    buffer.get(..length)
}

/// All processes.
pub fn processes() -> Vec<u32> {
    numbers("/proc").unwrap_or_default()
}

/// The threads of a process; none when it is gone.
pub fn threads(pid: u32) -> Option<Vec<u32>> {
    numbers(&format!("/proc/{pid}/task"))
}

/// The entries of a folder that are numbers.
fn numbers(folder: &str) -> Option<Vec<u32>> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    Some(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails panics")]
mod tests {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_kernel_that_does_not_count_is_not_believed() {
        let counts = Counts { ran: 171_953, waited: 20_000, times: 3 };
        assert_eq!(Counts::parse(b"171953 20000 3\n"), Some(counts));
        assert_eq!((Counts::parse(b"0 0 0\n"), Counts::parse(b"")), (None, None));
    }

    #[test]
    fn fields_are_counted_from_behind_the_name() {
        let text = b"9 (a) Z (b) S 7 5 3 0 -1 4194304 1 0 0 0 1 2 0 0 20 0 1 0 4711 8000000 900\n";
        let stat = Stat { state: SLEEPING, parent: 7, session: 3, started: 4711 };
        assert_eq!(Stat::parse(text), Some(stat));
        assert!(!stat.has_ended() && Stat { state: 'Z', ..stat }.has_ended());
        assert_eq!((Stat::parse(b""), Stat::parse(b"9 (a) S 7")), (None, None));
    }

    #[test]
    fn a_process_that_is_gone_has_none() {
        assert!(Stat::of_process(std::process::id()).is_some_and(|stat| stat.started > 0));
        assert!(Stat::of_process(u32::MAX).is_none() && Stat::of_thread(u32::MAX, 1).is_none());
    }

    #[test]
    fn files_that_are_kept_tell_of_their_process_anew_until_it_is_gone() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let pid = child.id();
        let (stat, counts) = (StatFile::of_process(pid).unwrap(), CountsFile::of_thread(pid, pid).unwrap());
        assert_eq!(stat.read().unwrap().parent, std::process::id());
        let before = counts.read().unwrap();
        child.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        assert_ne!(counts.read(), Some(before));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((stat.read(), counts.read()), (None, None));
    }
}
