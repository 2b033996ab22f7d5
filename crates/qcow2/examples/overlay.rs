//! Prints how many microseconds making an overlay takes: `overlay FOLDER BACKING COUNT`, a line each: before the sync, and
//! with the sync and its name.

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use qcow2::{Format, Naming, Overlay, Step};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, backing, count] = words.as_slice() else {
        return Err("name a folder, a disk and a number".into());
    };
    let request = Overlay { backing: backing.clone(), format: Format::Qcow2, size: None };
    for number in 0..count.parse()? {
        let path = Path::new(folder).join(format!("written-{number}"));
        let started = Instant::now();
        let steps = qcow2::plan_overlay(&path, &request)?;
        let file = File::create_new(&path)?;
        for step in steps.iter().filter(|step| **step != Step::Sync) {
            step.deliver(&file)?;
        }
        let written = started.elapsed();
        let durable = Path::new(folder).join(format!("durable-{number}"));
        let started = Instant::now();
        qcow2::overlay(&durable, &request, Naming::Synced)?;
        println!("{} {}", written.as_secs_f64() * 1e6, started.elapsed().as_secs_f64() * 1e6);
    }
    Ok(())
}
