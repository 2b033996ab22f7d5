//! The installed applications: all desktop files of the XDG folders, read again when they change.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use super::entry::{Entry, Reader, languages};
use crate::platform::x11::link::lock;

/// How long the window list trusts the catalog without looking at the folders.
const TRUST: Duration = Duration::from_secs(1);

/// How deep folders below `applications/` are followed.
const DEPTH: usize = 8;

/// The desktop files of one moment.
#[derive(Default)]
pub(crate) struct Catalog {
    pub(crate) entries: Vec<Entry>,
    /// Every file and folder that was read, with its time.
    seen: Vec<(PathBuf, Option<SystemTime>)>,
}

/// Holds the latest catalog.
#[derive(Default)]
pub(crate) struct CatalogCache(Mutex<Option<(Instant, Arc<Catalog>)>>);

impl CatalogCache {
    /// The catalog as of now.
    pub(crate) fn current(&self) -> Arc<Catalog> {
        self.checked(Duration::ZERO)
    }

    /// The catalog as of a moment ago.
    pub(crate) fn recent(&self) -> Arc<Catalog> {
        self.checked(TRUST)
    }

    fn checked(&self, trust: Duration) -> Arc<Catalog> {
        let mut catalog_cache = lock(&self.0);
        if let Some((looked, catalog)) = catalog_cache.as_mut() {
            if looked.elapsed() < trust {
                return Arc::clone(catalog);
            }
            if catalog.seen.iter().all(|(path, time)| changed(path) == *time) {
                *looked = Instant::now();
                return Arc::clone(catalog);
            }
        }
        let catalog = Arc::new(Catalog::read());
        *catalog_cache = Some((Instant::now(), Arc::clone(&catalog)));
        catalog
    }
}

impl Catalog {
    fn read() -> Self {
        let desktops = std::env::var("XDG_CURRENT_DESKTOP").unwrap_or_default();
        let reader = Reader {
            languages: languages(|name| std::env::var(name).ok()),
            desktops: desktops.split(':').filter(|part| !part.is_empty()).map(str::to_owned).collect(),
        };
        let mut catalog = Self::default();
        // The first file with an id hides all later ones, also where it says that the application is deleted.
        let mut known = HashSet::new();
        for folder in folders() {
            catalog.read_folder(&reader, &folder, "", DEPTH, &mut known);
        }
        catalog
    }

    fn read_folder(
        &mut self,
        reader: &Reader,
        folder: &Path,
        prefix: &str,
        depth: usize,
        known: &mut HashSet<String>,
    ) {
        self.seen.push((folder.to_owned(), changed(folder)));
        let Ok(files) = fs::read_dir(folder) else { return };
        for file in files.flatten() {
            let (path, name) = (file.path(), file.file_name().to_string_lossy().into_owned());
            if depth > 0 && path.is_dir() {
                self.read_folder(reader, &path, &format!("{prefix}{name}-"), depth - 1, known);
            } else if let Some(name) = name.strip_suffix(".desktop") {
                let id = format!("{prefix}{name}");
                if !known.insert(id.clone()) {
                    continue;
                }
                self.seen.push((path.clone(), changed(&path)));
                let text = String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned();
                let is_installed = |program: &str| find_program(program).is_some();
                self.entries.extend(reader.read(&id, &path, &text, is_installed));
            }
        }
    }

    /// The entry with an id; the suffix may be given too.
    pub(crate) fn by_id(&self, id: &str) -> Option<&Entry> {
        let id = id.strip_suffix(".desktop").unwrap_or(id);
        let exact = self.entries.iter().find(|entry| entry.id == id);
        exact.or_else(|| self.entries.iter().find(|entry| entry.id.eq_ignore_ascii_case(id)))
    }

    /// The entry with a display name, shown ones first.
    pub(crate) fn by_name(&self, name: &str) -> Option<&Entry> {
        let wanted = name.to_lowercase();
        let is_named =
            |entry: &&Entry| entry.name.to_lowercase() == wanted || entry.plain_name.to_lowercase() == wanted;
        self.preferred(is_named)
    }

    /// The first entry that fits, one that is shown before one that is not.
    pub(crate) fn preferred(&self, fits: impl Fn(&&Entry) -> bool) -> Option<&Entry> {
        let mut found = self.entries.iter().filter(fits);
        let first = found.next()?;
        if first.is_listed { Some(first) } else { found.find(|entry| entry.is_listed).or(Some(first)) }
    }
}

/// A program by name on PATH, or by absolute path; it can be executed.
pub(crate) fn find_program(program: &str) -> Option<PathBuf> {
    let is_executable = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    if program.starts_with('/') {
        return Some(PathBuf::from(program)).filter(is_executable);
    }
    if program.is_empty() || program.contains('/') {
        return None;
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(is_executable)
}

/// The `applications` folders, the person's own first (XDG Base Directory Specification, and where Flatpak and Snap export).
fn folders() -> Vec<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = variable("HOME").map(PathBuf::from);
    let in_home = |path| home.as_ref().map(|home| home.join(path));
    let own = variable("XDG_DATA_HOME").map(PathBuf::from).or_else(|| in_home(".local/share"));
    let shared = variable("XDG_DATA_DIRS").unwrap_or_else(|| "/usr/local/share:/usr/share".into());
    let mut folders: Vec<PathBuf> = own.into_iter().chain(std::env::split_paths(&shared)).collect();
    folders.extend(in_home(".local/share/flatpak/exports/share"));
    folders.extend(["/var/lib/flatpak/exports/share", "/var/lib/snapd/desktop"].map(PathBuf::from));
    let mut known = HashSet::new();
    folders.retain(|folder| folder.is_absolute() && known.insert(folder.clone()));
    folders.into_iter().map(|folder| folder.join("applications")).collect()
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}
