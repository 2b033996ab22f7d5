//! The list of applications: those with windows, and those that are installed.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use super::catalog::Catalog;
use super::identity::Identity;
use crate::{App, Window, WindowId, WindowKind};

/// Running applications first, then installed ones, each by name.
///
/// An application runs when it has a window that a person could work in; helpers without windows are none.
pub(crate) fn list(catalog: &Catalog, windows: &[(Window, Identity)], active: Option<WindowId>) -> Vec<App> {
    let mut running: HashMap<u32, App> = HashMap::new();
    for (window, identity) in windows {
        if window.pid == 0 || window.kind == WindowKind::Popup {
            continue;
        }
        let app = running.entry(window.pid).or_insert_with(|| App {
            bundle_id: identity.bundle_id.clone(),
            name: identity.name.clone(),
            running: true,
            active: false,
            pid: window.pid,
            launch_path: None,
            last_used: None,
        });
        app.active |= active == Some(window.window_id);
    }
    let mut apps: Vec<App> = running.into_values().collect();
    let shown: HashSet<String> = apps.iter().map(|app| app.bundle_id.clone()).collect();
    let installed = catalog.entries.iter().filter(|entry| entry.is_listed && !shown.contains(&entry.id));
    apps.extend(installed.map(|entry| App {
        bundle_id: entry.id.clone(),
        name: entry.name.clone(),
        running: false,
        active: false,
        pid: 0,
        launch_path: None,
        last_used: None,
    }));
    for app in &mut apps {
        if let Some(entry) = catalog.by_id(&app.bundle_id) {
            app.launch_path = Some(entry.path.to_string_lossy().into_owned());
            app.last_used = modified(&entry.path);
        }
    }
    apps.sort_by_cached_key(|app| (!app.running, app.name.to_lowercase(), app.bundle_id.clone(), app.pid));
    apps
}

fn modified(path: &Path) -> Option<String> {
    let time = fs::metadata(path).and_then(|data| data.modified()).ok()?;
    Some(humantime::format_rfc3339_seconds(time).to_string())
}
