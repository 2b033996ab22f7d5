//! What is done to elements: actions, values, menus, text, scrolling.

pub mod act;
pub mod menu;
pub mod options;
pub mod page;
pub mod place;
pub mod set_value;
pub mod sheet;
pub mod text;
