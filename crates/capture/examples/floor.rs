//! `floor WINDOW`: for each line of standard input prints the milliseconds of one bare shared-memory frame of the
//! window's pixmap and of the PNG of that frame alone: what no screenshot can do without. The window must be redirected.

use std::error::Error;
use std::io::{BufRead, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::{dup, pread};
use x11rb::connection::Connection;
use x11rb::protocol::composite::ConnectionExt as _;
use x11rb::protocol::shm::ConnectionExt as _;
use x11rb::protocol::xproto::{ConnectionExt as _, ImageFormat};

fn main() -> Result<(), Box<dyn Error>> {
    let window: u32 = std::env::args().nth(1).ok_or("usage: floor WINDOW")?.parse()?;
    let (x, screen) = x11rb::connect(None)?;
    let root = x.setup().roots.get(screen).ok_or("the display has no screen")?.root;
    let (size, frame) = (x.get_geometry(window)?.reply()?, frame_of(&x, root, window)?);
    let place = x.translate_coordinates(window, frame, 0, 0)?.reply()?;
    let pixmap = x.generate_id()?;
    x.composite_query_version(0, 4)?.reply()?;
    x.composite_name_window_pixmap(frame, pixmap)?.check()?;

    let (width, height) = (u32::from(size.width), u32::from(size.height));
    let bytes = (width * height * 4) as usize;
    let memory: OwnedFd = memfd_create("floor", MemfdFlags::CLOEXEC)?;
    ftruncate(&memory, bytes as u64)?;
    let segment = x.generate_id()?;
    x.shm_attach_fd(segment, dup(memory.as_fd())?, false)?.check()?;

    let mut pixels = vec![0; bytes];
    let mut rgb = vec![0; bytes / 4 * 3];
    let mut png = Vec::with_capacity(bytes);
    for line in std::io::stdin().lock().lines() {
        line?;
        let start = Instant::now();
        x.shm_get_image(
            pixmap,
            place.dst_x,
            place.dst_y,
            size.width,
            size.height,
            u32::MAX,
            ImageFormat::Z_PIXMAP.into(),
            segment,
            0,
        )?
        .reply()?;
        let frame_time = start.elapsed();

        pread(&memory, &mut pixels, 0)?;
        let start = Instant::now();
        for (to, from) in rgb.chunks_exact_mut(3).zip(pixels.chunks_exact(4)) {
            to.copy_from_slice(&[from[2], from[1], from[0]]);
        }
        png.clear();
        encode(&mut png, (width, height), &rgb)?;
        let png_time = start.elapsed();
        println!("{} {}", frame_time.as_secs_f64() * 1e3, png_time.as_secs_f64() * 1e3);
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// Compresses a picture as quickly as the library can.
fn encode(png: &mut Vec<u8>, (width, height): (u32, u32), rgb: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut encoder = png::Encoder::new(png, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Fast);
    Ok(encoder.write_header()?.write_image_data(rgb)?)
}

/// The root's child around a window.
fn frame_of(x: &impl Connection, root: u32, window: u32) -> Result<u32, Box<dyn Error>> {
    let tree = x.query_tree(window)?.reply()?;
    if tree.parent == root { Ok(window) } else { frame_of(x, root, tree.parent) }
}
