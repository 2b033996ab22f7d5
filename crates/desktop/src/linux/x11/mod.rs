//! The X server: its connection, windows, focus, clipboard and events.

pub mod clipboard;
pub mod connection;
pub mod events;
pub mod focus;
pub mod link;
pub mod listing;
pub mod placing;
pub mod properties;
pub mod session;
pub mod stacking;
pub mod states;
pub mod text;
pub mod unfocused_launch;
pub mod wallpaper;
pub mod window_cache;
pub mod window_id;

pub use connection::XConnection;
pub use listing::Placed;
pub use session::{Session, failed};
pub use stacking::{Frame, frame_of};
pub use window_cache::WindowManager;
