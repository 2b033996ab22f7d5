//! The web page in a window: its objects with the attributes that the browser gives them.

use std::fmt::Write;
use std::time::{Duration, Instant};

use crate::AxError;
use crate::elements::string;
use crate::platform::bus::ask::{self, Ask, Reply};
use crate::platform::bus::attributes::attributes;
use crate::platform::snapshot::Snapshot;
use crate::platform::tree::walk::Walk;
use crate::state::State;
use crate::tree::Node;

impl Snapshot {
    /// The shown objects of the web pages in the window as the text of a JSON array, parents before children: role, label,
    /// value, element_index (or null), parent (position in the array, or null), enabled, offscreen, attributes (a record) and frame
    /// {x, y, w, h} in screen pixels (or null). Empty where the window shows no page.
    pub fn page(&self, timeout: Duration) -> Result<String, AxError> {
        let members = self.page_members();
        let asks: Vec<Ask> = members
            .iter()
            .flat_map(|at| {
                let object = &self.objects[*at].object;
                [
                    Ask::plain(object, ask::ACCESSIBLE, "GetAttributes"),
                    Ask::extents(object, ask::COORD_SCREEN),
                ]
            })
            .collect();
        let deadline = Instant::now() + timeout;
        let mut walk = Walk::until(&self.app, deadline);
        let replies = walk.ask_all(&asks);
        if walk.timed_out {
            return Err(self.app.failure(&crate::platform::dbus::CallError::TimedOut, timeout));
        }
        let mut out = String::from("[");
        for (position, (at, replies)) in members.iter().zip(replies.chunks(2)).enumerate() {
            if position > 0 {
                out.push(',');
            }
            let node = &self.tree.nodes[*at];
            let parent = node.parent.and_then(|parent| members.binary_search(&parent).ok());
            member(&mut out, node, parent, replies);
        }
        out.push(']');
        Ok(out)
    }

    /// Positions of the nodes that are a web document or lie in one, ascending.
    fn page_members(&self) -> Vec<usize> {
        let mut inside = vec![false; self.tree.nodes.len()];
        for (at, node) in self.tree.nodes.iter().enumerate() {
            let is_document = matches!(node.role.name(), "document web" | "document frame");
            inside[at] = is_document || node.parent.is_some_and(|parent| inside[parent]);
        }
        (0..inside.len()).filter(|at| inside[*at]).collect()
    }
}

fn member(out: &mut String, node: &Node, parent: Option<usize>, replies: &[Reply]) {
    let optional = |number: Option<String>| number.unwrap_or_else(|| "null".to_owned());
    out.push_str("{\"role\":");
    string(out, node.role.name());
    out.push_str(",\"label\":");
    string(out, &node.label);
    out.push_str(",\"value\":");
    match &node.value {
        Some(value) => string(out, value),
        None => out.push_str("null"),
    }
    let _ = write!(
        out,
        ",\"element_index\":{},\"parent\":{},\"enabled\":{},\"focusable\":{},\"offscreen\":{},\"attributes\":{{",
        optional(node.index.map(|index| index.to_string())),
        optional(parent.map(|parent| parent.to_string())),
        node.states.operable(),
        node.states.has(State::Focusable),
        node.offscreen,
    );
    for (position, (name, value)) in attributes(&replies[0]).iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        string(out, name);
        out.push(':');
        string(out, value);
    }
    let frame = ask::rect(&replies[1]).map(|frame| {
        format!("{{\"x\":{},\"y\":{},\"w\":{},\"h\":{}}}", frame.x, frame.y, frame.width, frame.height)
    });
    let _ = write!(out, "}},\"frame\":{}}}", optional(frame));
}
