//! Asking the window manager not to focus the windows of a program that is being launched.
//!
//! `_NET_WM_USER_TIME` 0 on a window before it is mapped means "do not activate" (EWMH). Toolkits do not set it,
//! so it is set here the moment a connection that was not there before the launch creates a window.

use std::collections::HashSet;

use x11rb::connection::Connection;
use x11rb::errors::ReplyError;
use x11rb::protocol::res::ConnectionExt as _;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, CreateNotifyEvent, PropMode};
use x11rb::wrapper::ConnectionExt as _;

use super::link::Link;
use super::properties::{numbers, property_of};

/// One launch that goes on.
#[derive(Debug)]
pub(crate) struct Hush {
    /// Connections that were there before, by the first id they may give.
    known: HashSet<u32>,
    /// Windows that were marked.
    marked: Vec<u32>,
}

impl Hush {
    /// Notes who is connected now; none where the server cannot tell.
    pub(crate) fn begin(link: &Link) -> Result<Option<Self>, ReplyError> {
        if !link.names_processes {
            return Ok(None);
        }
        let clients = link.conn.res_query_clients()?.reply()?.clients;
        let known = clients.iter().map(|client| client.resource_base).collect();
        Ok(Some(Self { known, marked: Vec::new() }))
    }

    /// Marks a new window when its maker is new; failing to is no harm, the focus is given back anyway.
    pub(crate) fn mark(&mut self, link: &Link, event: &CreateNotifyEvent) {
        let is_candidate = event.parent == link.root && !event.override_redirect;
        if !is_candidate || self.known.contains(&link.client_of(event.window)) {
            return;
        }
        let (property, kind) = (link.atoms._NET_WM_USER_TIME, AtomEnum::CARDINAL);
        let _ = link.conn.change_property32(PropMode::REPLACE, event.window, property, kind, &[0]);
        let _ = link.conn.flush();
        self.marked.push(event.window);
    }

    /// Takes the marks away again, where the program did not put its own time there.
    pub(crate) fn end(self, link: &Link) -> Result<(), ReplyError> {
        let property = link.atoms._NET_WM_USER_TIME;
        let mut sent = Vec::with_capacity(self.marked.len());
        for window in self.marked {
            sent.push((window, property_of(link, window, property)?));
        }
        for (window, answer) in sent {
            if numbers(answer.reply())? == [0] {
                link.conn.delete_property(window, property)?;
            }
        }
        Ok(link.conn.flush()?)
    }
}
