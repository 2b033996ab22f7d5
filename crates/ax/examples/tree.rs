//! Prints the tree of an application's window and how long reading took: `cargo run -p ax --example tree -- PID [TITLE [WxH+X+Y]]`.

use std::time::{Duration, Instant};

use ax::{Accessibility, SnapshotRequest};
use desktop::{Point, Size, WindowId};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let accessibility = Accessibility::open(None, None)?;
    let Some(pid) = arguments.next() else {
        for application in accessibility.applications()? {
            println!("{} {} ({})", application.pid, application.name, application.toolkit);
        }
        return Ok(());
    };
    let title = arguments.next().unwrap_or_default();
    let place = arguments.next().unwrap_or_else(|| "0x0+0+0".to_owned());
    let numbers: Vec<i32> = place.split(['x', '+']).filter_map(|number| number.parse().ok()).collect();
    let [width, height, x, y] = numbers.try_into().map_err(|_| "the place is WxH+X+Y")?;
    let request = SnapshotRequest {
        offscreen: false,
        cell: None,
        pid: pid.parse()?,
        window_id: WindowId::of_xid(0),
        title,
        size: Size { width: width.unsigned_abs(), height: height.unsigned_abs() },
        place: Some(Point { x, y }),
        max_elements: 0,
        max_depth: 0,
        all_places: false,
        timeout: Duration::from_secs(10),
        cancel: ax::Cancel::default(),
    };
    let (mut floors, mut trees) = (Vec::new(), Vec::new());
    let mut items = 0;
    for _ in 0..20 {
        let start = Instant::now();
        items = accessibility.cache_items(request.pid).unwrap_or(0);
        floors.push(start.elapsed());
        let start = Instant::now();
        accessibility.snapshot(&request)?;
        trees.push(start.elapsed());
    }
    let snapshot = accessibility.snapshot(&request)?;
    print!("{}", snapshot.markdown(None, false));
    eprintln!("elements={} partial={:?}", snapshot.element_count(), snapshot.partial());
    let first = trees[0];
    let (floor, least_floor) = median_and_least(&mut floors);
    let (tree, least_tree) = median_and_least(&mut trees);
    eprintln!(
        "GetItems ({items} items) median {floor:.2?} min {least_floor:.2?}; tree first {first:.2?} median {tree:.2?} min {least_tree:.2?}; ratio {:.2}",
        tree.as_secs_f64() / floor.as_secs_f64()
    );
    Ok(())
}

fn median_and_least(times: &mut [Duration]) -> (Duration, Duration) {
    times.sort();
    (times[times.len() / 2], times[0])
}
