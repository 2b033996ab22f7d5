//! `bare X Y`: for each line of standard input clicks there with the pointer of everybody, three XTEST requests in one
//! write, and prints the seconds since 1970 at which it began: what no click can do without.

use std::error::Error;
use std::io::{BufRead, Write};
use std::time::SystemTime;

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt as _, MOTION_NOTIFY_EVENT,
};
use x11rb::protocol::xtest::ConnectionExt as _;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut number =
        || words.next().ok_or("usage: bare X Y")?.parse::<i16>().map_err(|_| "a number is needed");
    let (left, top) = (number()?, number()?);
    let (x, screen) = x11rb::connect(None)?;
    let root = x.setup().roots.get(screen).ok_or("the display has no screen")?.root;
    for line in std::io::stdin().lock().lines() {
        line?;
        let start = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        x.xtest_fake_input(MOTION_NOTIFY_EVENT, 0, 0, root, left, top, 0)?;
        x.xtest_fake_input(BUTTON_PRESS_EVENT, 1, 0, x11rb::NONE, 0, 0, 0)?;
        x.xtest_fake_input(BUTTON_RELEASE_EVENT, 1, 0, x11rb::NONE, 0, 0, 0)?;
        x.flush()?;
        x.get_input_focus()?.reply()?;
        println!("{}", start.as_secs_f64());
        std::io::stdout().flush()?;
    }
    Ok(())
}
