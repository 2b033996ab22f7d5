//! What is asked for and what is answered, the same on every platform.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use desktop::{Point, Rect, Size, WindowId};

use crate::Cell;

/// Which window's tree is read, and how much of it.
#[derive(Clone, Debug)]
pub struct SnapshotRequest {
    /// Process that owns the window.
    pub pid: u32,
    /// The window.
    pub window_id: WindowId,
    /// Its title.
    pub title: String,
    /// How large it is without decorations.
    pub size: Size,
    /// Its top-left corner on the screen; none where the display server does not tell.
    pub place: Option<Point>,
    /// Most elements that get an index; 0 for no limit.
    pub max_elements: u32,
    /// Deepest level below the window that is read; 0 for no limit.
    pub max_depth: u32,
    /// Whether what lies beyond the view is read too.
    pub offscreen: bool,
    /// A cell of a sheet that is read too, wherever it is: of a sheet no other cell beyond the view is.
    pub cell: Option<Cell>,
    /// Whether the places of what nobody operates are read too, such as headings and texts.
    pub all_places: bool,
    /// How long the application may take altogether; what is not read by then is missing from the tree.
    pub timeout: Duration,
    /// Ends the reading early, as its time would.
    pub cancel: Cancel,
}

/// A switch that ends what waits for an application; all clones are one.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Ends it.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True when it was ended.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// An application on the accessibility bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// Its process; 0 when the bus does not know it.
    pub pid: u32,
    /// Its name; empty when it did not answer.
    pub name: String,
    /// Toolkit and version, such as `gtk 3.24.38`; empty when it did not answer.
    pub toolkit: String,
}

/// Where an element is, and the part of its window in which it would be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The element, in pixels from the window's top-left corner.
    pub frame: Rect,
    /// What shows it where it is in view, in the same pixels.
    pub area: Rect,
    /// True when the element has no place, and that of its neighbours in view says where it would be.
    pub estimated: bool,
}

/// What became of text that was inserted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inserted {
    /// How it was done: `editable_text`.
    pub route: String,
    /// True when the text was read back from the element.
    pub confirmed: bool,
    /// The element's whole text afterwards; none for passwords and where it could not be read.
    pub value: Option<String>,
}

/// What became of a value that was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// How it was done: `selection`, `action`, `value`, `editable_text`, or `none` when it was so before.
    pub route: String,
    /// True when the value was read back from the element.
    pub confirmed: bool,
    /// The element's value afterwards; none for passwords and where it could not be read.
    pub value: Option<String>,
}

/// A menu item that was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The path as the application spells it.
    pub path: Vec<String>,
    /// The toolkit's name of the action that was done.
    pub action: String,
    /// `checked` or `unchecked` afterwards, for an item that is on or off.
    pub value: Option<String>,
}
