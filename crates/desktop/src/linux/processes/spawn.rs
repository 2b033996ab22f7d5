//! Starting a program so that it outlives the driver, leaves no zombie and offers its accessibility tree.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use super::plan::Plan;
use super::profile;
use crate::platform::x11::link::lock;

/// A program that was started.
pub(crate) struct Started {
    pub(crate) pid: u32,
    ended: Arc<Mutex<Option<ExitStatus>>>,
}

impl Started {
    /// How it ended, if it has.
    pub(crate) fn status(&self) -> Option<ExitStatus> {
        *lock(&self.ended)
    }
}

/// The variable that says for which launch a program was started (Startup Notification Protocol).
pub(crate) const STARTUP_ID: &str = "DESKTOP_STARTUP_ID";

/// A new value of it. Time 0 says that the person did not ask for it.
pub(crate) fn startup_id() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("backlot-{}-{}_TIME0", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Starts the program on a display, under the startup id by which its windows are known to be nobody's wish, if one is
/// given, and with a folder of its own if one is named; `on_end` is called from a thread of its own when it has ended.
pub(crate) fn spawn(
    plan: &Plan,
    (display, startup_id): (&str, Option<&str>),
    webkit_inspector_port: Option<u16>,
    own: Option<PathBuf>,
    on_end: impl FnOnce() + Send + 'static,
) -> std::io::Result<Started> {
    if let Some(own) = &own {
        profile::make(own)?;
    }
    let child = command(plan, display, startup_id, webkit_inspector_port).spawn();
    let mut child = child.inspect_err(|_| own.iter().for_each(|own| profile::remove(own)))?;
    let started = Started { pid: child.id(), ended: Arc::default() };
    let ended = Arc::clone(&started.ended);
    let reaper = move || {
        let status = child.wait();
        *lock(&ended) = status.ok();
        own.iter().for_each(|own| profile::remove(own));
        on_end();
    };
    std::thread::Builder::new().name("launched".to_owned()).spawn(reaper)?;
    Ok(started)
}

fn command(
    plan: &Plan,
    display: &str,
    startup_id: Option<&str>,
    webkit_inspector_port: Option<u16>,
) -> Command {
    let mut command = Command::new(&plan.program);
    command.args(&plan.arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
        .env("DISPLAY", display)
        // A program that finds a Wayland compositor as well would open its windows there, unseen.
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("NO_AT_BRIDGE")
        .env("ACCESSIBILITY_ENABLED", "1")
        .env("QT_ACCESSIBILITY", "1")
        .env("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1")
        .env_remove(STARTUP_ID);
    if let Some(startup_id) = startup_id {
        command.env(STARTUP_ID, startup_id);
    }
    if let Some(port) = webkit_inspector_port {
        command.env("WEBKIT_INSPECTOR_SERVER", format!("127.0.0.1:{port}"));
        command.env("TAURI_WEBVIEW_AUTOMATION", "1");
    }
    let home = || std::env::var_os("HOME").map(PathBuf::from);
    if let Some(folder) = plan.folder.clone().or_else(home).filter(|folder| folder.is_dir()) {
        command.current_dir(folder);
    }
    // SAFETY: setsid is async-signal-safe and touches no memory of the parent.
    unsafe {
        command.pre_exec(|| rustix::process::setsid().map(drop).map_err(Into::into));
    }
    command
}
