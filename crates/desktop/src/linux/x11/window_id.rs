//! The windows of an X server: their ids are their XIDs.

use x11rb::protocol::xproto::Window as Xid;

use crate::WindowId;

impl WindowId {
    /// The window with that XID.
    pub fn of_xid(xid: Xid) -> Self {
        Self::from_wire(xid)
    }

    /// The window's XID.
    pub fn xid(self) -> Xid {
        self.wire()
    }
}
