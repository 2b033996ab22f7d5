//! Asking the window manager not to focus the windows of a program that is being launched.
//!
//! `_NET_WM_USER_TIME` 0 on a window before it is mapped means "do not activate" (EWMH). Toolkits do not set it,
//! so it is set here the moment a program of the launch creates a window. What the person starts meanwhile is left
//! alone.

use std::collections::{HashMap, HashSet};

use x11rb::connection::Connection;
use x11rb::errors::ReplyError;
use x11rb::protocol::res::{ClientIdMask, ClientIdSpec, ConnectionExt as _};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, PropMode};
use x11rb::wrapper::ConnectionExt as _;

use super::link::Link;
use super::properties::{numbers, property_of};
use crate::platform::processes::process;
use crate::platform::processes::spawn::STARTUP_ID;

/// One launch that goes on.
#[derive(Debug)]
pub(crate) struct UnfocusedLaunch {
    /// Connections that were there before, by the first id they may give.
    known: HashSet<u32>,
    /// What the programs of the launch have in their environment.
    startup_id: String,
    /// The process that was started, once it is.
    pid: Option<u32>,
    /// Which of the new connections are those of the launch.
    launched: HashMap<u32, bool>,
    /// Windows that were marked.
    marked: Vec<u32>,
}

impl UnfocusedLaunch {
    /// Notes who is connected now; none where the server cannot tell.
    pub(crate) fn begin(link: &Link, startup_id: &str) -> Result<Option<Self>, ReplyError> {
        if !link.names_processes {
            return Ok(None);
        }
        let clients = link.conn.res_query_clients()?.reply()?.clients;
        let known = clients.iter().map(|client| client.resource_base).collect();
        let (launched, marked) = (HashMap::new(), Vec::new());
        Ok(Some(Self { known, startup_id: startup_id.to_owned(), pid: None, launched, marked }))
    }

    /// Tells which process was started.
    pub(crate) fn started(&mut self, pid: u32) {
        self.pid = Some(pid);
    }

    /// Marks a new window if it is one of the launch; failing to is no harm, the focus is given back anyway.
    ///
    /// `maker` is the process that made it, where the server told.
    pub(crate) fn mark(&mut self, link: &Link, window: u32, maker: Option<u32>) {
        let client = link.client_of(window);
        if self.known.contains(&client) || !self.is_launched(client, maker) {
            return;
        }
        let (property, kind) = (link.atoms._NET_WM_USER_TIME, AtomEnum::CARDINAL);
        let _ = link.conn.change_property32(PropMode::REPLACE, window, property, kind, &[0]);
        let _ = link.conn.flush();
        self.marked.push(window);
    }

    fn is_launched(&mut self, client: u32, maker: Option<u32>) -> bool {
        if let Some(known) = self.launched.get(&client) {
            return *known;
        }
        // A process that is not seen from here may be any.
        let is_launched = maker.filter(|pid| process::exists(*pid)).is_none_or(|pid| {
            self.pid.is_some_and(|started| pid == started || process::session(pid) == Some(started))
                || process::variable(pid, STARTUP_ID).as_ref() == Some(&self.startup_id)
        });
        self.launched.insert(client, is_launched);
        is_launched
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

/// The process that made a window, where the server tells.
pub(crate) fn maker(link: &Link, window: u32) -> Option<u32> {
    let spec = ClientIdSpec { client: window, mask: ClientIdMask::LOCAL_CLIENT_PID };
    let ids = link.conn.res_query_client_ids(&[spec]).ok()?.reply().ok()?.ids;
    ids.first()?.value.first().copied()
}
