//! The records of accessibility trees and element actions, spelled as on the wire.

use napi_derive::napi;

use crate::desktop::Rect;

/// An application on the accessibility bus.
#[napi(object, object_from_js = false)]
pub struct AxApplication {
    /// Its process; 0 when the bus does not know it.
    pub pid: u32,
    /// Its name; empty when it did not answer.
    pub name: String,
    /// Toolkit and version.
    pub toolkit: String,
}

/// Which window's tree is read, and how much of it.
#[napi(object)]
pub struct AxRequest {
    /// Process that owns the window.
    pub pid: u32,
    /// The window.
    #[napi(js_name = "window_id")]
    pub window_id: u32,
    /// Its title.
    pub title: String,
    /// Its width without decorations.
    pub width: u32,
    /// Its height.
    pub height: u32,
    /// Where it is on the screen; null where the display server does not tell.
    #[napi(ts_type = "Rect | null")]
    pub bounds: Option<Rect>,
    /// Most elements that get an index; 0 for no limit.
    #[napi(js_name = "max_elements")]
    pub max_elements: u32,
    /// Deepest level below the window that is read; 0 for no limit.
    #[napi(js_name = "max_depth")]
    pub max_depth: u32,
    /// Whether what lies beyond the view is read too; false when absent.
    pub offscreen: Option<bool>,
    /// The name of a cell, such as `B500`, that is read too where the window shows a sheet; other words name none.
    pub cell: Option<String>,
    /// Whether the places of what nobody operates are read too, such as headings and texts; false when absent.
    #[napi(js_name = "all_places")]
    pub all_places: Option<bool>,
    /// Milliseconds that the application may take altogether.
    #[napi(js_name = "timeout_ms")]
    pub timeout_ms: u32,
}

/// Where an element is, in pixels from the window's top-left corner.
#[napi(object, object_from_js = false)]
pub struct AxFrame {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width.
    pub w: u32,
    /// Height.
    pub h: u32,
}

/// What a person would have to scroll to.
#[napi(object, object_from_js = false)]
pub struct AxOffscreen {
    /// Elements before those in view around them.
    pub above: u32,
    /// Elements behind those in view around them.
    pub below: u32,
    /// Texts that nobody operates.
    pub texts: u32,
    /// True when there may be more: a document without end is not counted to its end.
    #[napi(js_name = "at_least")]
    pub at_least: bool,
    /// True when the tree holds them, so far as it was not cut.
    pub listed: bool,
}

/// Where an element is, and the part of its window in which it would be seen.
#[napi(object, object_from_js = false)]
pub struct AxPlace {
    /// The element.
    pub frame: AxFrame,
    /// What shows it where it is in view.
    pub area: AxFrame,
    /// True when the element has no place, and that of its neighbours in view says where it would be.
    pub estimated: bool,
}

impl From<ax::Place> for AxPlace {
    fn from(place: ax::Place) -> Self {
        let (frame, area) = (place.frame, place.area);
        Self {
            frame: AxFrame { x: frame.x, y: frame.y, w: frame.width, h: frame.height },
            area: AxFrame { x: area.x, y: area.y, w: area.width, h: area.height },
            estimated: place.estimated,
        }
    }
}

/// What a cell of a sheet holds.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct AxCell {
    /// True when this cell alone is chosen: keys go to it.
    #[napi(js_name = "is_chosen")]
    pub is_chosen: bool,
    /// What it shows.
    pub text: String,
    /// Its formula without the equals sign; null where it holds none.
    pub formula: Option<String>,
    /// True when it holds what was asked for.
    pub holds: bool,
}

impl AxCell {
    /// A cell beside what it should hold.
    pub fn beside(cell: ax::CellContent, wanted: &str) -> Self {
        let holds = cell.holds(wanted);
        let ax::CellContent { is_chosen, text, formula } = cell;
        Self { is_chosen, text, formula, holds }
    }
}

/// One element that a person can operate.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct AxElement {
    /// Its index in the snapshot.
    #[napi(js_name = "element_index")]
    pub element_index: u32,
    /// Name of its role.
    pub role: String,
    /// Its name, or its text when it has no name.
    pub label: String,
    /// Text, number, or `checked`, `unchecked`, `mixed`.
    pub value: Option<String>,
    /// Names of its actions, as the toolkit spells them.
    pub actions: Vec<String>,
    /// Names of its states.
    pub states: Vec<String>,
    /// True when it can be operated now.
    pub enabled: bool,
    /// True when it is selected.
    pub selected: bool,
    /// Where it is in the window.
    pub frame: AxFrame,
    /// True when its text can be changed.
    pub editable: bool,
    /// True when it can have the keyboard focus.
    pub focusable: bool,
}

impl From<ax::Element> for AxElement {
    fn from(element: ax::Element) -> Self {
        let frame = element.frame;
        Self {
            element_index: element.element_index,
            role: element.role,
            label: element.label,
            value: element.value,
            actions: element.actions,
            states: element.states,
            enabled: element.enabled,
            selected: element.selected,
            frame: AxFrame { x: frame.x, y: frame.y, w: frame.width, h: frame.height },
            editable: element.editable,
            focusable: element.focusable,
        }
    }
}

/// What became of text that was inserted.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct AxInserted {
    /// How it was done: `editable_text`.
    pub route: String,
    /// True when the text was read back from the element.
    pub confirmed: bool,
    /// The element's whole text afterwards; null for passwords and where it could not be read.
    pub value: Option<String>,
}

/// The element that a token stands for.
#[napi(object, object_from_js = false)]
pub struct AxFound {
    /// Its index in the snapshot.
    #[napi(js_name = "element_index")]
    pub element_index: u32,
    /// Whether it is the same object.
    #[napi(ts_type = "'same' | 'lookalike'")]
    pub how: String,
}

/// What became of a value that was set.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct AxWritten {
    /// How it was done: `selection`, `action`, `value`, `editable_text`, or `none` when it was so before.
    pub route: String,
    /// True when the value was read back from the element.
    pub confirmed: bool,
    /// The element's value afterwards; null for passwords and where it could not be read.
    pub value: Option<String>,
}

/// One option inside a combo box, a list or a row of tabs.
#[napi(object, object_from_js = false)]
pub struct AxOption {
    /// Its name, or the text in it.
    pub label: String,
    /// True when it is the chosen one.
    pub chosen: bool,
    /// True when it can be chosen.
    pub enabled: bool,
}

/// A menu item that was chosen.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct AxChosen {
    /// The path as the application spells it.
    pub path: Vec<String>,
    /// The toolkit's name of the action that was done.
    pub action: String,
    /// `checked` or `unchecked` afterwards, for an item that is on or off and has changed; else null.
    pub value: Option<String>,
}
