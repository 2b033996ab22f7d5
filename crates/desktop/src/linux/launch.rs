//! Launching an application in the background and waiting for its first window.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::focus::Focus;
use super::hush::Hush;
use super::identity::Identity;
use super::plan::Plan;
use super::spawn::{Started, spawn};
use super::{Desktop, plan, process, profile};
use crate::{DesktopError, LaunchOptions, Launched, Window, WindowKind};

/// How long a first window is awaited unless the caller says otherwise.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long after a program handed over to another process a new window is awaited.
const HANDOVER: Duration = Duration::from_millis(1500);

impl Desktop {
    /// Starts an application without giving it the focus, and waits for its first window.
    ///
    /// Fails with `app_not_named`, `app_not_found`, `terminal_not_found`, or `launch_failed` when the program
    /// cannot be run or ends with an error before it shows a window.
    pub fn launch(&self, options: &LaunchOptions) -> Result<Launched, DesktopError> {
        let deadline = Instant::now() + options.timeout.unwrap_or(PATIENCE);
        let catalog = self.shelf.current();
        let own = profile::fresh();
        let plan = plan::in_terminal(&catalog, plan::plan(&catalog, options, &own)?)?;
        let own = (options.creates_new_application_instance && plan.family.has_profile()).then_some(own);
        let prior = self.focus()?;
        let before: HashSet<u32> = self.windows()?.iter().map(|window| window.window_id).collect();

        // On an empty desktop there is no focus to keep, and a window that nobody focuses helps nobody.
        let hush = if prior.is_some() { self.ask("connections", Hush::begin)? } else { None };
        let hush = hush.map(|hush| self.inbox.hush(hush));
        let result = self.run(&plan, options, own, (prior, before), deadline);
        if let Some(hush) = hush.and_then(|number| self.inbox.unhush(number)) {
            self.ask("user time", |link| hush.end(link))?;
        }
        result
    }

    fn run(
        &self,
        plan: &Plan,
        options: &LaunchOptions,
        own: Option<PathBuf>,
        (prior, before): (Option<Focus>, HashSet<u32>),
        deadline: Instant,
    ) -> Result<Launched, DesktopError> {
        let inbox = Arc::clone(&self.inbox);
        let wake = move || inbox.wake();
        let started = spawn(plan, self.display_name(), options.webkit_inspector_port, own, wake)
            .map_err(|error| failed(&plan.name, error.to_string()))?;
        let launch = Launch { started, before, bundle_id: &plan.bundle_id, name: &plan.name };
        let pids = self.first_windows(&launch, deadline)?;

        let mut launched = Launched {
            pid: pids.first().copied().unwrap_or(0),
            bundle_id: plan.bundle_id.clone(),
            name: plan.name.clone(),
            windows: Vec::new(),
            self_activation_suppressed: None,
            prior_window_restored: false,
        };
        if pids.is_empty() {
            // Without a window there is nothing that could have taken the focus.
            launched.pid = if launch.started.status().is_none() { launch.started.pid } else { 0 };
        }
        self.settle();
        if let Some(prior) = prior {
            let has_stayed = self.focus()? == Some(prior);
            launched.self_activation_suppressed = Some(has_stayed);
            launched.prior_window_restored = !has_stayed && self.give_back(prior)?;
            self.put_behind(prior, &pids)?;
        }
        launched.windows = self.windows()?;
        launched.windows.retain(|window| pids.contains(&window.pid));
        Ok(launched)
    }

    /// The processes with windows of what was launched; none when no window came in time.
    fn first_windows(&self, launch: &Launch<'_>, deadline: Instant) -> Result<Vec<u32>, DesktopError> {
        let mut handover: Option<Instant> = None;
        loop {
            let count = self.inbox.count();
            let status = launch.started.status();
            let listed = self.listed(&self.shelf.recent())?;
            let found = launch.own(&listed);
            if !found.is_empty() {
                return Ok(found);
            }
            let mut until = deadline;
            if let Some(status) = status {
                if !status.success() {
                    return Err(failed(launch.name, format!("it ended with {status}")));
                }
                let found = launch.handed_over(&listed);
                if !found.is_empty() {
                    return Ok(found);
                }
                until = deadline.min(*handover.get_or_insert_with(|| Instant::now() + HANDOVER));
                if Instant::now() >= until {
                    return Ok(launch.same_app(&listed));
                }
            }
            if Instant::now() >= deadline {
                return Ok(Vec::new());
            }
            self.inbox.wait(count, until);
        }
    }
}

struct Launch<'l> {
    started: Started,
    before: HashSet<u32>,
    bundle_id: &'l str,
    name: &'l str,
}

impl Launch<'_> {
    /// Processes with windows that the program itself, or what it started, opened.
    fn own(&self, listed: &[(Window, Identity)]) -> Vec<u32> {
        let pid = self.started.pid;
        pids(listed, |window, _| {
            window.pid == pid || (window.pid != 0 && process::session(window.pid) == Some(pid))
        })
    }

    /// Processes that opened a window for a program which handed over to them, or became them.
    fn handed_over(&self, listed: &[(Window, Identity)]) -> Vec<u32> {
        pids(listed, |window, identity| {
            !self.before.contains(&window.window_id) && identity.bundle_id == self.bundle_id
        })
    }

    /// Processes of the same application with windows of before, where a program handed over without a new window.
    fn same_app(&self, listed: &[(Window, Identity)]) -> Vec<u32> {
        pids(listed, |_, identity| identity.bundle_id == self.bundle_id)
    }
}

fn pids(listed: &[(Window, Identity)], fits: impl Fn(&Window, &Identity) -> bool) -> Vec<u32> {
    let mut pids = Vec::new();
    for (window, identity) in listed {
        let is_shown = window.is_on_screen && window.kind != WindowKind::Popup;
        if is_shown && window.pid != 0 && fits(window, identity) && !pids.contains(&window.pid) {
            pids.push(window.pid);
        }
    }
    pids
}

fn failed(name: &str, reason: String) -> DesktopError {
    DesktopError::LaunchFailed { name: name.to_owned(), reason }
}
