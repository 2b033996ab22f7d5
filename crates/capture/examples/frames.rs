//! `frames TITLE`: a full-screen window that begins with what the screen showed and prints its id. The line `new` of
//! standard input shows a picture in which every row is new, `touch` changes a spot of 24x24 pixels; each is answered
//! with the milliseconds that a copy of the frame's bytes takes when neither side is in the processor's caches.

use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead, Write};
use std::time::Instant;

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeGCAux, ConnectionExt as _, CreateGCAux, CreateWindowAux, EventMask, PropMode, Rectangle,
    SubwindowMode, WindowClass,
};
use x11rb::wrapper::ConnectionExt as _;

/// More than any cache of a processor holds.
const CACHES: usize = 256 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let title = std::env::args().nth(1).ok_or("usage: frames TITLE")?;
    let (x, screen) = x11rb::connect(None)?;
    let screen = x.setup().roots.get(screen).ok_or("the display has no screen")?;
    let (root, width, height) = (screen.root, screen.width_in_pixels, screen.height_in_pixels);

    let (picture, window, pen) = (x.generate_id()?, x.generate_id()?, x.generate_id()?);
    x.create_pixmap(screen.root_depth, picture, root, width, height)?;
    x.create_gc(pen, root, &CreateGCAux::new().subwindow_mode(SubwindowMode::INCLUDE_INFERIORS))?;
    x.copy_area(root, picture, pen, 0, 0, 0, 0, width, height)?;

    let look = CreateWindowAux::new().event_mask(EventMask::EXPOSURE);
    let class = WindowClass::INPUT_OUTPUT;
    x.create_window(0, window, root, 0, 0, width, height, 0, class, x11rb::COPY_FROM_PARENT, &look)?;
    let atom = |name: &str| Ok::<_, Box<dyn Error>>(x.intern_atom(false, name.as_bytes())?.reply()?.atom);
    let (state, full) = (atom("_NET_WM_STATE")?, atom("_NET_WM_STATE_FULLSCREEN")?);
    x.change_property32(PropMode::REPLACE, window, state, AtomEnum::ATOM, &[full])?;
    let pid = atom("_NET_WM_PID")?;
    x.change_property32(PropMode::REPLACE, window, pid, AtomEnum::CARDINAL, &[std::process::id()])?;
    x.change_property8(PropMode::REPLACE, window, AtomEnum::WM_NAME, AtomEnum::STRING, title.as_bytes())?;
    x.map_window(window)?;
    x.flush()?;
    x.wait_for_event()?;
    say(&window)?;

    let bytes = usize::from(width) * usize::from(height) * 4;
    let (from, mut to, mut other) = (vec![1u8; bytes], vec![2u8; bytes], vec![3u8; CACHES]);
    let whole = [Rectangle { x: 0, y: 0, width: 1, height }];
    let spot = [Rectangle { x: 700, y: 500, width: 24, height: 24 }];
    for (round, line) in (1u32..).zip(std::io::stdin().lock().lines()) {
        let is_new = line? == "new";
        if is_new {
            // The picture goes round by some pixels; what is the same all along a row still begins otherwise.
            let by = (round * 7 % u32::from(width)) as u16;
            x.copy_area(picture, window, pen, 0, 0, by as i16, 0, width - by, height)?;
            x.copy_area(picture, window, pen, (width - by) as i16, 0, 0, 0, by, height)?;
        }
        let colour = round.wrapping_mul(0x009e_3779) & 0x00ff_ffff;
        x.change_gc(pen, &ChangeGCAux::new().foreground(colour))?;
        x.poly_fill_rectangle(window, pen, if is_new { &whole } else { &spot })?;
        x.sync()?;
        other.fill(round as u8);
        let start = Instant::now();
        to.copy_from_slice(&from);
        let time = start.elapsed();
        black_box((&to, &other));
        say(&(time.as_secs_f64() * 1e3))?;
    }
    Ok(())
}

/// Writes a line that is read at once.
fn say(what: &dyn std::fmt::Display) -> std::io::Result<()> {
    println!("{what}");
    std::io::stdout().flush()
}
