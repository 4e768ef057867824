//! What is watched of a shaper is what stamps in datagrams say, and what the forwarder says of
//! itself.

use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;

use laxity::port::Account;
use laxity::units::Nanos;
use laxity_linux::frames::Side;
use laxity_live::status::{ClassStatus, Status, WayWatch};
use laxity_live::watch::Behind;
use laxity_live::{Way, WayMeasurement};

use crate::hosts::{B, Hosts, plan};
use crate::traffic::{scheduled, start};
use crate::watcher::{Came, TIMEOUT, quantile, send, stamped, watch};

const PORTS: [u16; 2] = [5000, 6000];

/// A bridge of the kernel's speaks for itself now and then.
pub(crate) const SPOKEN: u64 = 20;

/// Delays by stamps, in their order. A sender may be kept waiting between its stamp and what it
/// sends.
pub(crate) struct ByStamps {
    /// By when each was gone.
    least: Vec<u64>,
    /// By the time in each.
    most: Vec<u64>,
}

impl ByStamps {
    fn new(came: &[Came], gone: &[u64]) -> Self {
        let mut least: Vec<_> =
            came.iter().map(|of| of.at.saturating_sub(gone[of.number as usize])).collect();
        let mut most: Vec<_> = came.iter().map(|of| of.at - of.sent).collect();
        least.sort_unstable();
        most.sort_unstable();
        ByStamps { least, most }
    }
}

/// Calls every millisecond, and more of the rest than the link carries, for some seconds; what is
/// watched meanwhile and the delays by stamps.
pub(crate) fn crowd(hosts: &Hosts, behind: Behind) -> (Status, [ByStamps; 2]) {
    let receive = |port| UdpSocket::bind(SocketAddr::new(B, port)).expect("a socket");
    let _open = hosts.b.run(|| PORTS.map(receive)).expect("entered");
    let coming = stamped(&hosts.b, PORTS);
    let watching = watch(hosts, &plan("edf"), behind);
    let gone = thread::scope(|scope| {
        let pause = Duration::from_millis(1);
        let calls = scope.spawn(move || send(&hosts.a, PORTS[0], 200, 2_000, 1, pause));
        let rest = scope.spawn(move || send(&hosts.a, PORTS[1], 1_200, 500, 12, 4 * pause));
        [calls, rest].map(|sender| sender.join().expect("sent"))
    });
    thread::sleep(TIMEOUT + Duration::from_millis(500));
    let came = coming.finish();
    (watching.finish(), [0, 1].map(|of| ByStamps::new(&came[of], &gone[of])))
}

/// What is known of the direction as it is watched from outside.
pub(crate) fn outside(watched: &Status) -> WayWatch {
    watched.ways[0].watched.expect("it is watched")
}

/// Frames that passed unseen.
pub(crate) fn unseen(watched: &Status) -> u64 {
    watched.interfaces.iter().map(|it| it.unseen.expect("it is watched")).sum()
}

/// Packets that did not leave.
pub(crate) fn lost(of: &ClassStatus) -> u64 {
    of.dropped.values().sum()
}

/// Within 1 % or 50 us at the median and the 99th percentile, with hardly any packet unpaired.
pub(crate) fn agree(watched: &Status, stamps: &[ByStamps; 2], sent: [u64; 2]) {
    let WayWatch { unclassed, unpaired, .. } = outside(watched);
    assert_eq!((unseen(watched), unclassed), (0, 0));
    for ((of, stamps), sent) in watched.ways[0].classes.iter().zip(stamps).zip(sent) {
        let delay = of.delay_ns.as_ref().expect("some have left");
        let (name, came) = (&of.name, stamps.most.len() as u64);
        // Beside the datagrams there are some frames of ARP.
        assert!(of.sent.abs_diff(came) * 1_000 <= came + 5_000, "{name}: {} of {came}", of.sent);
        assert!(of.arrived - sent < 10, "{name}: {} of {sent} arrived", of.arrived);
        assert_eq!(of.arrived, of.sent + lost(of), "{name}");
        for (watched, percent) in [(delay.p50, 50), (delay.p99, 99)] {
            let [least, most] = [&stamps.least, &stamps.most].map(|of| quantile(of, percent));
            let apart = least.saturating_sub(watched).max(watched.saturating_sub(most));
            let is_near = apart <= (most / 100).max(50_000);
            assert!(is_near, "{name}, p{percent}: {watched} for {least} to {most}");
        }
    }
    assert!(unpaired <= SPOKEN, "{unpaired}");
}

/// The books of the forwarder count to the last bit out, and begin when a frame is taken in.
fn agree_with_books(watched: &ClassStatus, account: &Account, transmission: u64) {
    // It may have begun a frame of ARP earlier.
    let pairs = [(watched.arrived, account.arrived), (watched.sent, account.sent)];
    assert!(pairs.iter().all(|(watched, booked)| watched.abs_diff(*booked) < 10), "{pairs:?}");
    let delay = watched.delay_ns.as_ref().expect("some have left");
    // A frame is taken in late, and handed over early, by as much as a thread without priority is
    // late. Its quantiles are at most 0.8 % too high.
    const LATE: u64 = 2_000_000;
    let mean = (delay.mean as u64, account.delay.mean() as u64);
    for (watched, booked) in [(delay.p50, account.delay.quantile(1, 2).0), mean] {
        let apart = (watched + transmission).abs_diff(booked);
        assert!(
            apart <= LATE + booked / 100,
            "{}: {watched} + {transmission} and {booked}",
            account.sent
        );
    }
}

#[test]
fn stamps_and_books_say_the_same_of_the_forwarder() {
    let Some(hosts) = Hosts::new() else { return };
    let plan = plan("edf");
    let (forwarding, mut recorder) = start(hosts.ring(), [scheduled(&plan), Way::Plain]);
    let (watched, stamps) = crowd(&hosts, Behind::Sent);
    forwarding.drain(Nanos(5_000_000_000)).expect("it forwarded to the end");
    let mut measured = WayMeasurement::new(plan.promises());
    recorder.read(|report| {
        if report.event.at == Side::A {
            measured.add(&report.event.event);
        }
    });
    agree(&watched, &stamps, [2_000, 6_000]);
    assert_eq!(outside(&watched).unpaired, 0);
    let lengths = [200, 1_200].map(|payload| plan.link.accounted(payload + 42));
    for ((watched, account), length) in
        watched.ways[0].classes.iter().zip(measured.accounts()).zip(lengths)
    {
        agree_with_books(watched, account, u64::from(length) * 8 * 1_000 / 20);
    }
}
