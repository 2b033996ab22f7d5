//! Starting an application as a person does.

use super::spawn::spawn;
use super::{plan, profile};
use crate::platform::Desktop;
use crate::{DesktopError, LaunchOptions};

impl Desktop {
    /// Starts an application, which may take the focus, and waits for nothing; gives its pid.
    ///
    /// Fails with `app_not_named`, `app_not_found`, `terminal_not_found`, or `launch_failed` when the program cannot be
    /// run.
    pub fn start(&self, options: &LaunchOptions) -> Result<u32, DesktopError> {
        let catalog = self.catalog_cache.current();
        let own = profile::fresh();
        let plan = plan::in_terminal(&catalog, plan::plan(&catalog, options, &own)?)?;
        let own = (options.creates_new_application_instance && plan.family.has_profile()).then_some(own);
        let started =
            spawn(&plan, (self.display_name(), None), options.webkit_inspector_port, own, || ()).map_err(
                |error| DesktopError::LaunchFailed { name: plan.name.clone(), reason: error.to_string() },
            )?;
        Ok(started.pid)
    }
}
