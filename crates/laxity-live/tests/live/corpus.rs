//! Whatever a fuzzer makes of frames passes a live link unchanged, and none as a class that it is
//! not.

use std::path::Path;
use std::time::{Duration, Instant};

use etherparse::{IpNumber, LaxNetSlice, LaxSlicedPacket};
use laxity::units::Nanos;
use laxity_forward::{Event, Forwarder, Settings};
use laxity_linux::frames::{BATCH, Backend, Side};
use laxity_live::{Bridge, Forwarding, Options, Way};
use laxity_plan::Plan;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::hosts::Hosts;
use crate::wire::{receive, send, wire};

const PLAN: &str = "version = 1
link = { rate = '1gbit', max-packet = '2000b' }
scheduler.kind = 'fifo'
[class.call]
match = 'udp dport 5000-5003'
[class.web]
match = 'tcp port {80, 443}'
[class.six]
match = 'ip6 and not tcp'
[class.urgent]
match = 'dscp ef'
[class.rest]
";

/// Whether a frame is what the `match` of a class says, by other means.
fn belongs(class: &str, frame: &[u8]) -> bool {
    let Ok(found) = LaxSlicedPacket::from_ethernet(frame) else { return class == "rest" };
    let (dscp, is_six, above) = match &found.net {
        Some(LaxNetSlice::Ipv4(ip)) => (ip.header().dcp().value(), false, ip.payload()),
        Some(LaxNetSlice::Ipv6(ip)) => (ip.header().dscp().value(), true, ip.payload()),
        _ => return class == "rest",
    };
    // Of a header that is cut short the ports may be there.
    let ports = match above.payload {
        [a, b, c, d, ..] if !above.fragmented => {
            Some([u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])])
        }
        _ => None,
    };
    match class {
        "call" => {
            above.ip_number == IpNumber::UDP
                && ports.is_some_and(|[_, to]| (5000..=5003).contains(&to))
        }
        "web" => {
            above.ip_number == IpNumber::TCP
                && ports.is_some_and(|ports| ports.iter().any(|port| [80, 443].contains(port)))
        }
        "six" => is_six && above.ip_number != IpNumber::TCP,
        "urgent" => dscp == 46,
        _ => true,
    }
}

/// The fuzzer's frames, and what some seed makes of them.
fn corpus(seed: u64, count: usize) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/frames");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("seeds")
        .map(|file| file.expect("a file").path())
        .filter(|path| path.extension().is_none())
        .collect();
    files.sort();
    let whole: Vec<Vec<u8>> = files.iter().map(|path| std::fs::read(path).expect("read")).collect();
    let mut draw = Pcg64::seed_from_u64(seed);
    let mut changed = |number: usize| {
        let mut frame = whole[draw.random_range(0..whole.len())].clone();
        let ports = [5000u16, 5003, 5004, 80, 443, 9];
        if frame.len() > 38 && draw.random_bool(0.5) {
            let port = ports[draw.random_range(0..ports.len())];
            let at = if draw.random_bool(0.5) { 36 } else { 34 };
            frame[at..at + 2].copy_from_slice(&port.to_be_bytes());
        }
        for _ in 0..draw.random_range(0..4u32) {
            let at = draw.random_range(12..frame.len());
            frame[at] = draw.random();
        }
        if draw.random_bool(0.3) {
            // The kernel itself drops what ends with a VLAN tag.
            frame.truncate(draw.random_range(20..=frame.len()));
        }
        // The kernel's own frames come from other addresses, and each is known by its number.
        frame[..6].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
        frame[6] = 6;
        frame[7] = 0xc0;
        frame[8..12].copy_from_slice(&(number as u32).to_be_bytes());
        frame
    };
    (0..count).map(&mut changed).collect()
}

#[test]
fn whatever_comes_passes_and_as_what_it_is() {
    let Some(hosts) = Hosts::new() else { return };
    let plan = Plan::parse(PLAN, "plan.toml", Path::new("")).expect("a plan");
    let way = Forwarder::new(plan.clone(), Settings::default()).expect("a plan of a link");
    let bridge = Bridge::new(hosts.ring(), [Way::Scheduled(Box::new(way)), Way::Plain]);
    let options = Options { priority: None, capture: 16 << 20, ..Options::default() };
    let (forwarding, mut recorder) = Forwarding::start(bridge, options).expect("a thread");
    let (mut near, mut far) = (wire(&hosts.a), wire(&hosts.b));

    let frames: Vec<Vec<u8>> = [1, 2, 3].into_iter().flat_map(|seed| corpus(seed, 1500)).collect();
    let mut came = Vec::new();
    for batch in frames.chunks(BATCH) {
        batch.iter().for_each(|frame| send(&mut near, frame));
        assert_eq!(near.flush(Side::A).expect("sent"), 0);
        // A few at a time, so that no queue is full.
        let due = came.len() + batch.len();
        let until = Instant::now() + Duration::from_secs(3);
        while came.len() < due && Instant::now() < until {
            std::thread::sleep(Duration::from_micros(200));
            receive(&mut far, &mut came);
        }
    }
    let refused = near.statistics(Side::A).expect("counted").refused;
    assert_eq!(refused, 0, "the kernel takes them all");
    assert_eq!(came.len(), frames.len());
    assert!(came == frames, "unchanged and in order");

    forwarding.drain(Nanos(5_000_000_000)).expect("it forwarded to the end");
    let mut classes = vec![0; plan.classes.len()];
    recorder.read(|report| {
        let Event::Sent(sent) = &report.event.event else { return };
        let frame = report.frame.expect("room for all that is captured");
        let class = &plan.classes[sent.packet.class.index()].name;
        assert!(belongs(class, frame), "{class}: {frame:02x?}");
        classes[sent.packet.class.index()] += 1;
    });
    assert_eq!(recorder.lost, 0);
    assert!(classes.iter().all(|count| *count > 20), "{classes:?}");
}
