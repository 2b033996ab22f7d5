//! The toolkits whose behaviour differs.

/// The toolkits whose behaviour differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toolkit {
    /// GTK 3 through the ATK bridge.
    Gtk3,
    /// GTK 4, which speaks AT-SPI itself.
    Gtk4,
    /// Qt 5 and 6.
    Qt,
    /// Chromium and Electron.
    Chromium,
    /// Firefox and Thunderbird.
    Gecko,
    /// Any other.
    Other,
}

impl Toolkit {
    /// True for those whose events tell of every change but scrolling.
    pub fn tells_all(self) -> bool {
        matches!(self, Self::Gtk3 | Self::Chromium | Self::Gecko)
    }

    /// True for those that are wrong about where a window's content begins in the window: Qt, and Gecko, which counts from
    /// the corner of the frame that the window manager drew around it.
    pub fn misplaces_windows(self) -> bool {
        matches!(self, Self::Qt | Self::Gecko)
    }

    /// True for those of which only what changed is read again: large trees with events that say where.
    pub fn is_read_in_part(self) -> bool {
        matches!(self, Self::Chromium | Self::Gecko)
    }
}

/// The toolkit of an application that names it so.
pub fn toolkit(name: &str, version: &str) -> Toolkit {
    match name.to_lowercase().as_str() {
        "gtk" if version.starts_with("4.") => Toolkit::Gtk4,
        "gtk" | "gail" => Toolkit::Gtk3,
        "qt" => Toolkit::Qt,
        "chromium" => Toolkit::Chromium,
        "gecko" => Toolkit::Gecko,
        _ => Toolkit::Other,
    }
}
