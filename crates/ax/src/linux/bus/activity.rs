//! Whether a process has run at all: what did not run has changed nothing.

use std::time::{Duration, Instant};

use desktop::stat::{self, Counts, SLEEPING, StatFile};

/// Time between two looks at a thread that is to fall asleep: who looks takes time from who works.
const PAUSE: Duration = Duration::from_micros(50);

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
    counts: Counts,
}

impl Activity {
    /// What is counted when all threads sleep, waited for for at most `patience`; none when they do not by then, and where
    /// the kernel does not count.
    pub fn of(pid: u32, patience: Duration) -> Option<Self> {
        let deadline = Instant::now() + patience;
        loop {
            let mut awake = None;
            let activity = Self::look(pid, &mut awake);
            if activity.is_some() || Instant::now() >= deadline {
                return activity;
            }
            std::thread::sleep(PAUSE);
            let works = |thread: &StatFile| thread.read().is_some_and(|stat| stat.state != SLEEPING);
            while awake.as_ref().is_some_and(works) && Instant::now() < deadline {
                std::thread::sleep(PAUSE);
            }
        }
    }

    /// What is counted now; none while a thread is `awake`.
    fn look(pid: u32, awake: &mut Option<StatFile>) -> Option<Self> {
        let asleep = |id| {
            // What is counted is read first: one that runs in between is counted differently later.
            let counts = Counts::of_thread(pid, id)?;
            let file = StatFile::of_thread(pid, id)?;
            if file.read()?.state != SLEEPING {
                *awake = Some(file);
                return None;
            }
            Some(Thread { id, counts })
        };
        let threads = threads_of(pid)?.into_iter().map(asleep).collect::<Option<_>>()?;
        Some(Self { pid, threads })
    }

    /// True when no thread of the process has run since.
    pub fn is_still_so(&self) -> bool {
        // A thread that gets a processor is counted at once. The main one wakes most often: as a rule it is enough for a no.
        let mut threads = self.threads.iter();
        threads.all(|thread| Counts::of_thread(self.pid, thread.id) == Some(thread.counts))
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
            if let Some(activity) = Activity::of(cat.id(), Duration::ZERO).filter(Activity::is_still_so) {
                break activity;
            }
        };
        assert!(before.is_still_so());
        answers(&mut cat);
        assert!(!before.is_still_so());
        cat.kill().unwrap();
        cat.wait().unwrap();
        assert!(!before.is_still_so());
        assert_eq!(Activity::of(cat.id(), Duration::ZERO), None);
    }

    #[test]
    fn a_process_that_runs_does_not_fall_asleep() {
        assert_eq!(Activity::of(std::process::id(), Duration::from_millis(1)), None);
    }
}
