//! An X server that begins anew when its last client has gone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use desktop::Desktop;
use test_support::TestDisplay;
use x11rb::rust_connection::RustConnection;

#[test]
fn a_display_opens_while_its_server_resets_itself() {
    let display = TestDisplay::resetting().unwrap();
    let done = AtomicBool::new(false);
    let (opened, resets) = thread::scope(|scope| {
        // Each of these clients is the last one as often as not, so the server resets itself all the time.
        let coming_and_going = scope.spawn(|| {
            let mut refused = 0;
            while !done.load(Ordering::Relaxed) {
                refused += u32::from(RustConnection::connect(Some(display.name())).is_err());
            }
            refused
        });
        let opened: Vec<_> =
            (0..60).map(|_| Desktop::open(Some(display.name())).map(|desktop| desktop.close())).collect();
        done.store(true, Ordering::Relaxed);
        (opened, coming_and_going.join().unwrap())
    });
    assert!(resets > 0, "no plain client met a reset, so nothing was tried");
    for each in opened {
        each.unwrap();
    }
}
