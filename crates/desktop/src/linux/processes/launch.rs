//! Launching an application in the background and waiting for its first window.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::spawn::{Started, spawn, startup_id};
use super::{plan, process, profile};
use crate::platform::Desktop;
use crate::platform::applications::identity::Identity;
use crate::platform::x11::focus::Focus;
use crate::platform::x11::unfocused_launch::UnfocusedLaunch;
use crate::{DesktopError, LaunchOptions, Launched, Window, WindowId, WindowKind};

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
        let catalog = self.catalog_cache.current();
        let own = profile::fresh();
        let plan = plan::in_terminal(&catalog, plan::plan(&catalog, options, &own)?)?;
        let own = (options.creates_new_application_instance && plan.family.has_profile()).then_some(own);
        let prior = self.focus()?;
        let before: HashSet<WindowId> = self.windows()?.iter().map(|window| window.window_id).collect();

        // On an empty desktop there is no focus to keep, and a window that nobody focuses helps nobody.
        let startup_id = startup_id();
        let unfocused = if prior.is_some() {
            self.ask("connections", |link| UnfocusedLaunch::begin(link, &startup_id))?
        } else {
            None
        };
        let unfocused = unfocused.map(|unfocused| self.inbox.add_launch(unfocused));
        let inbox = Arc::clone(&self.inbox);
        let started = spawn(
            &plan,
            (self.display_name(), Some(&startup_id)),
            options.webkit_inspector_port,
            own,
            move || inbox.wake(),
        );
        let result = match started {
            Ok(started) => {
                unfocused.into_iter().for_each(|number| self.inbox.started(number, started.pid));
                let launch = Launch { started, before, bundle_id: &plan.bundle_id, name: &plan.name };
                self.follow(&launch, prior, deadline)
            }
            Err(error) => Err(failed(&plan.name, error.to_string())),
        };
        if let Some(unfocused) = unfocused.and_then(|number| self.inbox.end_launch(number)) {
            self.ask("user time", |link| unfocused.end(link))?;
        }
        result
    }

    /// Waits for the first windows, and takes the focus from them where they took it.
    fn follow(
        &self,
        launch: &Launch<'_>,
        prior: Option<Focus>,
        deadline: Instant,
    ) -> Result<Launched, DesktopError> {
        let mut home = prior;
        let pids = self.first_windows(launch, &mut home, deadline)?;
        let mut launched = Launched {
            pid: pids.first().copied().unwrap_or(0),
            bundle_id: launch.bundle_id.to_owned(),
            name: launch.name.to_owned(),
            windows: Vec::new(),
            self_activation_suppressed: None,
            prior_window_restored: false,
        };
        if pids.is_empty() {
            // Without a window there is nothing that could have taken the focus.
            launched.pid = if launch.started.status().is_none() { launch.started.pid } else { 0 };
        }
        let is_launched = |window: &Window, identity: &Identity| {
            pids.contains(&window.pid) || launch.opened(window, identity)
        };
        let mut is_taken = false;
        self.settle(|| {
            is_taken = self.keep_home(&mut home, is_launched)?;
            Ok(())
        })?;
        if let Some(home) = home {
            launched.self_activation_suppressed = Some(!is_taken);
            launched.prior_window_restored = is_taken && self.give_back(home)?;
            self.put_behind(home, &pids)?;
        }
        launched.windows = self.windows()?;
        launched.windows.retain(|window| pids.contains(&window.pid));
        Ok(launched)
    }

    /// Notes where the person's focus is, unless what was launched has it; true when it has. Without a focus before the
    /// launch there is none to keep.
    fn keep_home(
        &self,
        home: &mut Option<Focus>,
        is_launched: impl Fn(&Window, &Identity) -> bool,
    ) -> Result<bool, DesktopError> {
        let (Some(kept), Some(now)) = (*home, self.focus()?) else { return Ok(false) };
        if now == kept {
            return Ok(false);
        }
        // After that, so that the window which has it is among them.
        let listed = self.listed(&self.catalog_cache.recent())?;
        let launched = listed.iter().filter(|(window, identity)| is_launched(window, identity));
        let launched: Vec<WindowId> = launched.map(|(window, _)| window.window_id).collect();
        let is_taken = self.is_at(now, &launched)?;
        if !is_taken && listed.iter().any(|(window, _)| window.window_id == now.active) {
            *home = Some(now);
        }
        Ok(is_taken)
    }

    /// The processes with windows of what was launched; none when no window came in time.
    fn first_windows(
        &self,
        launch: &Launch<'_>,
        home: &mut Option<Focus>,
        deadline: Instant,
    ) -> Result<Vec<u32>, DesktopError> {
        let mut handover: Option<Instant> = None;
        loop {
            let count = self.inbox.count();
            let status = launch.started.status();
            let listed = self.listed(&self.catalog_cache.recent())?;
            self.keep_home(home, |window, identity| launch.opened(window, identity))?;
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
    before: HashSet<WindowId>,
    bundle_id: &'l str,
    name: &'l str,
}

impl Launch<'_> {
    /// True for a window that the launch opened, as far as it is known by now.
    fn opened(&self, window: &Window, identity: &Identity) -> bool {
        let has_handed_over = || self.started.status().is_some_and(|status| status.success());
        self.is_own(window) || has_handed_over() && self.is_for(window, identity)
    }

    /// True for a window of the program itself, or of what it started.
    fn is_own(&self, window: &Window) -> bool {
        let pid = self.started.pid;
        window.pid == pid || (window.pid != 0 && process::session(window.pid) == Some(pid))
    }

    /// True for a new window of the same application.
    fn is_for(&self, window: &Window, identity: &Identity) -> bool {
        !self.before.contains(&window.window_id) && identity.bundle_id == self.bundle_id
    }

    /// Processes with windows that the program itself, or what it started, opened.
    fn own(&self, listed: &[(Window, Identity)]) -> Vec<u32> {
        pids(listed, |window, _| self.is_own(window))
    }

    /// Processes that opened a window for a program which handed over to them, or became them.
    fn handed_over(&self, listed: &[(Window, Identity)]) -> Vec<u32> {
        pids(listed, |window, identity| self.is_for(window, identity))
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
