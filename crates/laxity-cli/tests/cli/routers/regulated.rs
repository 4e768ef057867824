//! Routers that hold packets to the arrival curve of their class.

use std::time::{Duration, Instant};

use super::network::{PLAN, Routers};
use crate::datagrams::uninterrupted;
use crate::folder::Folder;

const COUNT: usize = 30;

/// Two packets at once, and one every 10 ms.
fn plan() -> String {
    let tdp = "kind = 'tdp', frame = '250us', frames = 40, guard = '122us'";
    let curve = "bucket = '284b', rate = '113600bit', packet = '150b'";
    PLAN.replace(tdp, "kind = 'fifo'")
        .replace("gap = '2ms'\n", "")
        .replace(", private = true", "")
        .replace("'r1', 'r2']", "'r1', 'r2'], regulate = true")
        .replace("bucket = '150b', rate = '600kbit', packet = '150b'", curve)
}

/// A burst comes spaced, other packets pass by, delays have in them how long packets were held, and
/// what is held at the end is sent.
#[test]
fn a_burst_is_spaced_and_nothing_is_lost() {
    let folder = Folder::with_plan(&plan());
    let Some(routers) = Routers::start(&folder, &[]) else { return };
    // Addresses are known from here on.
    routers.pass(0, 1, 6001, 1);
    let (sender, receiver, to) = routers.sockets(0, 1, 5000);
    receiver.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let begin = Instant::now();
    (0..COUNT).for_each(|_| assert_eq!(sender.send_to(&[7; 100], to).unwrap(), 100));
    routers.pass(0, 1, 6002, 1);
    let passed = begin.elapsed();
    let came: Vec<_> = (0..COUNT)
        .map(|_| uninterrupted(|| receiver.recv(&mut [0; 200])).map(|_| begin.elapsed()).unwrap())
        .collect();
    let held = Duration::from_millis(10) * (COUNT as u32 - 2);
    assert!(came[COUNT - 1] >= held, "{came:?}");
    assert!(passed < held, "{passed:?}: others are held, too");
    let status = folder.laxity(&["status", "--json", "--control", "laxity/r1-r2.sock"]).json(0);
    let longest = &status["ways"][0]["classes"][0]["delay_ns"]["max"];
    let held = held - Duration::from_millis(5);
    assert!(u128::from(longest.as_u64().unwrap()) >= held.as_nanos(), "{status}");

    (0..COUNT).for_each(|_| assert_eq!(sender.send_to(&[7; 100], to).unwrap(), 100));
    uninterrupted(|| receiver.recv(&mut [0; 200])).unwrap();
    let printed = routers.end();
    receiver.set_nonblocking(true).unwrap();
    let came = std::iter::from_fn(|| uninterrupted(|| receiver.recv(&mut [0; 200])).ok()).count();
    assert_eq!(came, COUNT - 1, "{printed}");
}
