//! Whether a process has run at all: what did not run has changed nothing.

use std::path::Path;

use desktop::stat::{self, SLEEPING, Stat, counted};

/// What the kernel counts of the threads of a process that all sleep; the same at two times when none has run between
/// (proc(5): `task/*/stat` and `schedstat`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    pid: u32,
    threads: Vec<Thread>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Thread {
    id: u32,
    /// Time on the processor, time of waiting for one, and how often it got one.
    counted: String,
}

impl Activity {
    /// What is counted now; none while a thread runs, wants to or is stopped, and where the kernel does not count.
    pub fn of(pid: u32) -> Option<Self> {
        let threads = threads_of(pid)?;
        let threads = threads.into_iter().map(|id| Some(Thread { id, counted: asleep(pid, id)? }));
        Some(Self { pid, threads: threads.collect::<Option<_>>()? })
    }

    /// True when no thread of the process has run since.
    pub fn is_still_so(&self) -> bool {
        // A thread that gets a processor is counted at once. The main one wakes most often: as a rule it is enough for a no.
        let mut threads = self.threads.iter();
        threads.all(|thread| counted(self.pid, thread.id).as_ref() == Some(&thread.counted))
            && threads_of(self.pid)
                .is_some_and(|now| now.iter().eq(self.threads.iter().map(|thread| &thread.id)))
    }
}

/// The threads of a process, the main one first.
fn threads_of(pid: u32) -> Option<Vec<u32>> {
    let mut threads = stat::threads(pid)?;
    threads.sort_by_key(|thread| (*thread != pid, *thread));
    Some(threads)
}

/// What is counted of a thread that sleeps; none when it does not.
fn asleep(pid: u32, thread: u32) -> Option<String> {
    let counted = counted(pid, thread)?;
    let stat = Stat::of_thread(pid, thread)?;
    (stat.state() == Some(SLEEPING)).then_some(counted)
}

/// True when the thread of this `stat` file sleeps until something wakes it.
pub fn is_asleep(stat: &Path) -> bool {
    Stat::of_file(stat).and_then(|stat| stat.state()) == Some(SLEEPING)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    #[test]
    fn a_process_that_waits_has_not_run_and_one_that_answered_has() {
        use std::io::{Read, Write};
        let mut cat = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let answers = |cat: &mut Child| {
            cat.stdin.as_mut().unwrap().write_all(b"x").unwrap();
            cat.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        };
        // It has started when it answers.
        answers(&mut cat);
        // Until it waits again it may be counted once more.
        let before = loop {
            if let Some(activity) = Activity::of(cat.id()).filter(Activity::is_still_so) {
                break activity;
            }
        };
        assert!(before.is_still_so());
        answers(&mut cat);
        assert!(!before.is_still_so());
        cat.kill().unwrap();
        cat.wait().unwrap();
        assert!(!before.is_still_so());
        assert_eq!(Activity::of(cat.id()), None);
    }

    #[test]
    fn a_process_that_runs_is_not_asleep() {
        assert_eq!(Activity::of(std::process::id()), None);
    }
}
