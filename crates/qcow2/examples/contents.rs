//! Prints what a guest reads of a disk: `contents DISK`.

use std::io::Write as _;
use std::path::Path;

use qcow2::Contents;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name a disk")?;
    let mut contents = Contents::open(Path::new(&path))?;
    let mut out = std::io::stdout().lock();
    let mut buffer = vec![0; 1 << 20];
    let mut at = 0;
    while at < contents.size() {
        let count = (contents.size() - at).min(buffer.len() as u64) as usize;
        contents.read_at(at, &mut buffer[..count])?;
        out.write_all(&buffer[..count])?;
        at += count as u64;
    }
    Ok(())
}
