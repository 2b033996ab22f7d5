//! Whether an application's processes have anything left to do: what has been sent to a thread wakes it.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use desktop::stat::{Counts, StatFile, processes, threads};

use super::process::{SLEEPING, parent};

/// Time between two looks, and what each further one is longer by, up to a limit: who looks takes time from who works.
const FIRST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(20);
/// How many looks in a row only ask the thread that was awake at the one before: its process may have got another parent.
const SHORT_LOOKS: u32 = 4;

/// Waits until a process and all that descend from it sleep at one moment, for at most `patience`; `pause` waits. False
/// when they have not by then, and where they cannot be seen.
///
/// A message to a thread wakes it at once, so at such a moment nothing is under way between them. Timers, and answers of
/// other machines and processes, can be.
pub fn wait<E>(
    pid: u32,
    patience: Duration,
    mut pause: impl FnMut(Duration) -> Result<(), E>,
) -> Result<bool, E> {
    let deadline = Instant::now() + patience;
    let mut time = FIRST;
    let mut application = Application::of(pid);
    loop {
        let rests = application.rests();
        let left = deadline.saturating_duration_since(Instant::now());
        if rests || left.is_zero() {
            return Ok(rests);
        }
        pause(time.min(left))?;
        time = time.mul_f32(1.5).min(LONGEST);
    }
}

/// An application's processes, and what earlier looks have found out about them.
struct Application {
    pid: u32,
    /// The parent of each process, as it was read.
    parents: HashMap<u32, u32>,
    /// A thread that was awake at the last look, and how many have only asked it since.
    awake: Option<(StatFile, u32)>,
}

/// Threads that all slept when their counts were read (proc(5), `task/*/stat` and `schedstat`).
#[derive(Default)]
struct Asleep(Vec<(u32, u32, Counts)>);

impl Application {
    fn of(pid: u32) -> Self {
        Self { pid, parents: HashMap::new(), awake: None }
    }

    /// True when all threads sleep at one moment.
    fn rests(&mut self) -> bool {
        if let Some((thread, looks)) = &mut self.awake
            && *looks < SHORT_LOOKS
            && thread.read().is_some_and(|stat| stat.state != SLEEPING)
        {
            *looks += 1;
            return false;
        }
        self.awake = None;
        let mut asleep = Asleep::default();
        // Most often it is the application's own process that works: the others are asked for when it sleeps.
        if self.add(self.pid, &mut asleep).is_none() {
            return false;
        }
        for pid in self.family().into_iter().skip(1) {
            if self.add(pid, &mut asleep).is_none() {
                // It may have ended.
                self.parents.remove(&pid);
                return false;
            }
        }
        // One that started in between has a parent that ran.
        asleep.is_still_so()
    }

    /// Adds the threads of a process; none while one of them runs, wants to or is stopped, and where the kernel does not
    /// count.
    fn add(&mut self, pid: u32, asleep: &mut Asleep) -> Option<()> {
        for thread in threads(pid)? {
            // What is counted is read first: one that runs in between is counted differently later.
            let counts = Counts::of_thread(pid, thread)?;
            let file = StatFile::of_thread(pid, thread)?;
            let stat = file.read()?;
            if stat.state != SLEEPING {
                self.awake = (!stat.has_ended()).then_some((file, 0));
                return None;
            }
            asleep.0.push((pid, thread, counts));
        }
        Some(())
    }

    /// The process, and behind it all that descend from it.
    fn family(&mut self) -> Vec<u32> {
        let now = processes();
        let living: HashSet<u32> = now.iter().copied().collect();
        // Whose parent has ended has another one.
        self.parents.retain(|child, parent| living.contains(child) && living.contains(parent));
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        for child in now {
            let known = self.parents.get(&child).copied();
            if let Some(parent) = known.or_else(|| parent(child)) {
                self.parents.insert(child, parent);
                children.entry(parent).or_default().push(child);
            }
        }
        let mut all = vec![self.pid];
        let mut next = 0;
        while let Some(pid) = all.get(next) {
            // A number that was given anew while this was read must not lead in a circle.
            all.extend(children.remove(pid).unwrap_or_default());
            next += 1;
        }
        all
    }
}

impl Asleep {
    /// True when none of the threads has run since.
    fn is_still_so(&self) -> bool {
        self.0.iter().all(|(pid, thread, before)| Counts::of_thread(*pid, *thread) == Some(*before))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails panics")]
mod tests {
    use std::convert::Infallible;
    use std::io::{Read, Write};
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn rests(child: &Child, patience: Duration) -> bool {
        let pause = |time| {
            std::thread::sleep(time);
            Ok::<_, Infallible>(())
        };
        let Ok(rests) = wait(child.id(), patience, pause);
        rests
    }

    /// A shell that runs another one, which says that it is there and goes on as told.
    fn shell(then: &str) -> Child {
        let script = format!("sh -c 'echo x; {then}' & wait");
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        child
    }

    fn end(mut child: Child) {
        let pids = Application::of(child.id()).family().into_iter().map(|pid| pid.to_string());
        assert!(Command::new("kill").arg("-KILL").args(pids).status().unwrap().success());
        child.wait().unwrap();
    }

    #[test]
    fn processes_that_wait_rest_and_one_whose_child_works_does_not() {
        let waits = shell("exec sleep 1000");
        assert!(rests(&waits, Duration::from_secs(60)));
        end(waits);
        let works = shell("while :; do :; done");
        assert_eq!(Application::of(works.id()).family().len(), 2);
        assert!(!rests(&works, Duration::from_millis(50)));
        end(works);
    }

    #[test]
    fn who_works_on_under_another_parent_is_waited_for_no_more() {
        // The shell between them ends when it is told to; nobody else adopts than process 1, or who adopts for all.
        let mut above = Command::new("sh")
            .args(["-c", "sh -c 'sh -c \"echo x; while :; do :; done\" & read line; exit'; exec sleep 1000"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        above.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let mut application = Application::of(above.id());
        let works = *application.family().last().unwrap();
        assert_eq!(application.family().len(), 3);
        assert!(!application.rests() && application.awake.is_some());
        above.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        let rests = rests(&above, Duration::from_secs(60));
        assert!(Command::new("kill").args(["-KILL", &works.to_string()]).status().unwrap().success());
        end(above);
        assert!(rests);
    }

    #[test]
    fn a_process_that_is_gone_is_not_said_to_rest() {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert!(!rests(&child, Duration::ZERO));
    }
}
