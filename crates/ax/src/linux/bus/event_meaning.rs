//! Which events tell that an application did something.
//!
//! A pointer that comes for a moment, and a key that means nothing, are answered as well: the window says that it is
//! active, the element that it has the focus, the caret that it is where it was; and pages load by themselves, for which
//! a browser gives its own buttons other names ("Reload", "Stop").

use std::sync::Arc;

use crate::platform::dbus::Message;

/// What an application last said of its focus and of its caret.
#[derive(Default)]
pub struct ReportedFocus {
    focus: Option<Arc<str>>,
    /// How often it said that something got the focus.
    pub focuses: u64,
    caret: Option<(Arc<str>, i32)>,
    /// It is a browser, whose buttons get other names when nobody acts.
    pub is_browser: bool,
}

impl ReportedFocus {
    /// The path of what it last said to have got the focus.
    pub fn focus(&self) -> Option<&Arc<str>> {
        self.focus.as_ref()
    }

    /// Takes a signal in; true when it tells of more than of what was so already.
    pub fn is_changed_by(&mut self, message: &Message) -> bool {
        let mut body = message.body();
        let kind = body.string().unwrap_or_default();
        let detail = body.i32().unwrap_or_default();
        let event = (message.interface.rsplit('.').next().unwrap_or_default(), message.member.as_str());
        self.takes(event, &message.path, (kind, detail))
    }

    fn takes(&mut self, event: (&str, &str), path: &str, (kind, detail): (&str, i32)) -> bool {
        match (event, kind) {
            (("Object", "BoundsChanged" | "VisibleDataChanged"), _) => false,
            (("Object", "StateChanged"), "active" | "busy") => false,
            (("Object", "PropertyChange"), "accessible-name" | "accessible-description") => !self.is_browser,
            (("Object", "StateChanged"), "focused") if detail != 0 => {
                self.focuses += 1;
                is_other(&mut self.focus, Arc::from(path))
            }
            (("Object", "StateChanged"), "focused") => false,
            (("Object", "TextCaretMoved"), _) => is_other(&mut self.caret, (Arc::from(path), detail)),
            (("Object", _), _) => true,
            // Of windows, of documents, and the focus in its old form.
            _ => false,
        }
    }
}

/// Remembers what is said; true when something else was known.
fn is_other<T: PartialEq>(known: &mut Option<T>, said: T) -> bool {
    known.replace(said).is_some_and(|before| known.as_ref() != Some(&before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_with_any_key_tells_nothing() {
        let mut reported = ReportedFocus::default();
        for _ in 0..2 {
            for (event, path, detail) in [
                (("Window", "Activate"), "/window", ("", 0)),
                (("Object", "StateChanged"), "/window", ("active", 1)),
                (("Object", "StateChanged"), "/entry", ("focused", 1)),
                (("Object", "TextCaretMoved"), "/entry", ("", 5)),
                (("Object", "BoundsChanged"), "/entry", ("", 0)),
                (("Object", "StateChanged"), "/entry", ("focused", 0)),
                (("Document", "LoadComplete"), "/page", ("", 0)),
                (("Focus", "Focus"), "/entry", ("", 0)),
            ] {
                assert!(!reported.takes(event, path, detail), "{event:?}");
            }
        }
    }

    #[test]
    fn a_new_name_tells_but_in_a_browser() {
        let renamed = ("Object", "PropertyChange");
        for is_browser in [false, true] {
            let mut reported = ReportedFocus { is_browser, ..ReportedFocus::default() };
            for kind in ["accessible-name", "accessible-description"] {
                assert_eq!(reported.takes(renamed, "/reload", (kind, 0)), !is_browser, "{kind}");
            }
            assert!(reported.takes(renamed, "/slider", ("accessible-value", 0)));
        }
    }

    #[test]
    fn a_change_tells_and_another_focus_or_caret_does() {
        let mut reported = ReportedFocus::default();
        assert!(reported.takes(("Object", "TextChanged"), "/entry", ("insert", 5)));
        assert!(reported.takes(("Object", "StateChanged"), "/box", ("checked", 1)));
        let focused = |reported: &mut ReportedFocus, path| {
            reported.takes(("Object", "StateChanged"), path, ("focused", 1))
        };
        assert!(!focused(&mut reported, "/entry"));
        assert!(focused(&mut reported, "/box"));
        assert!(!reported.takes(("Object", "StateChanged"), "/box", ("focused", 0)));
        assert_eq!((reported.focus().map(AsRef::as_ref), reported.focuses), (Some("/box"), 2));
        let moved = |reported: &mut ReportedFocus, place| {
            reported.takes(("Object", "TextCaretMoved"), "/entry", ("", place))
        };
        assert!(!moved(&mut reported, 5));
        assert!(moved(&mut reported, 6));
    }
}
