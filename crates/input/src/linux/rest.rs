//! Whether an application's processes have anything left to do: what has been sent to a thread wakes it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use desktop::stat::{counted, processes, threads};

use super::process::{SLEEPING, parent, thread_state};

/// Time between two looks, and what each further one is longer by, up to a limit: who looks takes time from who works.
const FIRST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(20);

/// What the kernel counts of threads that all sleep (proc(5), `task/*/stat` and `schedstat`).
struct Rest(Vec<(u32, u32, String)>);

impl Rest {
    /// None while one of the threads runs, wants to or is stopped, and where the kernel does not count.
    fn of(processes: &[u32]) -> Option<Self> {
        let mut all = Vec::new();
        for pid in processes {
            for thread in threads(*pid)? {
                // What is counted is read first: one that runs in between is counted differently later.
                let counted = counted(*pid, thread)?;
                thread_state(*pid, thread).filter(|state| *state == SLEEPING)?;
                all.push((*pid, thread, counted));
            }
        }
        Some(Self(all))
    }

    /// True when none of the threads has run since.
    fn is_still_so(&self) -> bool {
        self.0.iter().all(|(pid, thread, before)| counted(*pid, *thread).as_ref() == Some(before))
    }
}

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
    loop {
        // One that started in between has a parent that ran.
        let rests = Rest::of(&family(pid)).is_some_and(|rest| rest.is_still_so());
        let left = deadline.saturating_duration_since(Instant::now());
        if rests || left.is_zero() {
            return Ok(rests);
        }
        pause(time.min(left))?;
        time = time.mul_f32(1.5).min(LONGEST);
    }
}

/// The process and all that descend from it.
fn family(pid: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for child in processes() {
        if let Some(parent) = parent(child) {
            children.entry(parent).or_default().push(child);
        }
    }
    let mut all = vec![pid];
    let mut next = 0;
    while let Some(pid) = all.get(next) {
        // A number that was given anew while this was read must not lead in a circle.
        all.extend(children.remove(pid).unwrap_or_default());
        next += 1;
    }
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails panics")]
mod tests {
    use std::convert::Infallible;
    use std::io::Read;
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
        let pids = family(child.id()).into_iter().map(|pid| pid.to_string());
        assert!(Command::new("kill").arg("-KILL").args(pids).status().unwrap().success());
        child.wait().unwrap();
    }

    #[test]
    fn processes_that_wait_rest_and_one_whose_child_works_does_not() {
        let waits = shell("exec sleep 1000");
        assert!(rests(&waits, Duration::from_secs(60)));
        end(waits);
        let works = shell("while :; do :; done");
        assert_eq!(family(works.id()).len(), 2);
        assert!(!rests(&works, Duration::from_millis(50)));
        end(works);
    }

    #[test]
    fn a_process_that_is_gone_is_not_said_to_rest() {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert!(!rests(&child, Duration::ZERO));
    }
}
