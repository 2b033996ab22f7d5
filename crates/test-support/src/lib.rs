//! What the tests of the other crates share: a private X display with a window manager and real programs, and folders.

mod folder;

use std::io::{BufRead, BufReader, Error};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

pub use folder::Folder;

/// How long a condition may take on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long after it was asked to end a program is asked again.
const ASKED_AGAIN: Duration = Duration::from_secs(1);
/// How long after each question the next is asked.
const GLANCE: Duration = Duration::from_millis(2);

/// A running display; everything on it ends when it is dropped.
pub struct TestDisplay {
    name: String,
    programs: Vec<Child>,
    server: Child,
}

impl TestDisplay {
    /// Starts a bare Xvfb of 1280x800 on a display number of its own choice.
    pub fn bare() -> Result<Self, Error> {
        Self::with(&["-noreset"])
    }

    /// The same, but the server begins anew when its last client has gone, as one does that a user starts without flags.
    pub fn resetting() -> Result<Self, Error> {
        Self::with(&[])
    }

    fn with(flags: &[&str]) -> Result<Self, Error> {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"])
            // Neither it nor its clients load what draws in three dimensions.
            .args(["-extension", "GLX"])
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut number = String::new();
        if let Some(stdout) = server.stdout.take() {
            BufReader::new(stdout).read_line(&mut number)?;
        }
        if number.trim().is_empty() {
            let _ = server.kill();
            return Err(Error::other("Xvfb named no display; is it installed?"));
        }
        Ok(Self { name: format!(":{}", number.trim()), programs: Vec::new(), server })
    }

    /// Starts a display with openbox on it; wait for `_NET_SUPPORTING_WM_CHECK` before relying on it.
    pub fn managed() -> Result<Self, Error> {
        let mut display = Self::bare()?;
        display.run("openbox", &["--sm-disable"])?;
        Ok(display)
    }

    /// The display's name, such as `:7`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The X server's process id.
    pub fn server_pid(&self) -> u32 {
        self.server.id()
    }

    /// The programs that were started, oldest first.
    pub fn programs(&self) -> Vec<u32> {
        self.programs.iter().map(Child::id).collect()
    }

    /// Runs a program on the display until this is dropped; answers its process id.
    pub fn run(&mut self, program: &str, arguments: &[&str]) -> Result<u32, Error> {
        let child = Command::new(program)
            .args(arguments)
            .env("DISPLAY", &self.name)
            .env_remove("WAYLAND_DISPLAY")
            .env("GDK_BACKEND", "x11")
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let pid = child.id();
        self.programs.push(child);
        Ok(pid)
    }

    /// Ends one program that [`TestDisplay::run`] started and waits until it is gone.
    pub fn end(&mut self, pid: u32) {
        for child in self.programs.iter_mut().filter(|child| child.id() == pid) {
            let _ = child.kill();
            let _ = child.wait();
        }
        self.programs.retain(|child| child.id() != pid);
    }

    /// Ends the server; its clients lose it at once, as in a crash of it.
    pub fn end_server(&mut self) {
        finish(&mut self.server);
    }
}

impl Drop for TestDisplay {
    fn drop(&mut self) {
        for child in &mut self.programs {
            let _ = child.kill();
            let _ = child.wait();
        }
        self.end_server();
    }
}

/// Asks a program to end, so that it takes its sockets and files away, and waits until it has.
pub fn finish(child: &mut Child) {
    let deadline = Instant::now() + PATIENCE;
    while !ended(child) && Instant::now() < deadline {
        // An X server that is told between its look for signals and its sleep hears it only with the next one.
        let _ = Command::new("kill").arg(child.id().to_string()).status();
        let again = Instant::now() + ASKED_AGAIN;
        while !ended(child) && Instant::now() < again {
            std::thread::sleep(GLANCE);
        }
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Ends a program that leads a process group, with all of the group: until then they write to its folder.
pub fn end_group(leader: &mut Child) {
    let group = leader.id().to_string();
    wait_for(|| {
        let _ = kill_process_group(Pid::from_child(leader), Signal::KILL);
        let _ = leader.kill();
        let _ = leader.wait();
        (!lives(&group)).then_some(())
    });
}

/// Whether a process of the group runs (proc(5), `/proc/PID/stat`).
fn lives(group: &str) -> bool {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|process| std::fs::read_to_string(process.path().join("stat")).ok()).any(|stat| {
        let mut fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
        fields.next() != Some("Z") && fields.nth(1) == Some(group)
    })
}

fn ended(child: &mut Child) -> bool {
    child.try_wait().is_ok_and(|status| status.is_some())
}

/// Asks until the answer is there; none when it did not come in a minute.
pub fn wait_for<T>(mut question: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = question() {
            return Some(answer);
        }
        if Instant::now() > deadline {
            return None;
        }
        // The processor is for what is awaited.
        std::thread::sleep(GLANCE);
    }
}
