//! What is watched of a shaper is what stamps in datagrams say, and what the forwarder says of itself.

use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;

use laxity::port::Account;
use laxity::units::Nanos;
use laxity_linux::frames::Side;
use laxity_live::status::ClassStatus;
use laxity_live::watch::{Behind, Watched};
use laxity_live::{Measured, Way};

use crate::hosts::{B, Hosts, plan};
use crate::traffic::{scheduled, start};
use crate::watcher::{TIMEOUT, quantile, send, stamped, watch};

const PORTS: [u16; 2] = [5000, 6000];

/// A bridge of the kernel's speaks for itself now and then.
pub const SPOKEN: u64 = 20;

/// Calls every millisecond, and more of the rest than the link carries, for some seconds; what is watched
/// meanwhile and the delays by stamps.
pub fn crowd(hosts: &Hosts, behind: Behind) -> (Watched, [Vec<u64>; 2]) {
    let receive = |port| UdpSocket::bind(SocketAddr::new(B, port)).expect("a socket");
    let _open = hosts.b.run(|| PORTS.map(receive)).expect("entered");
    let delays = stamped(&hosts.b, PORTS);
    let watching = watch(hosts, &plan("edf"), behind);
    thread::scope(|scope| {
        let pause = Duration::from_millis(1);
        scope.spawn(move || send(&hosts.a, PORTS[0], 200, 2_000, 1, pause));
        scope.spawn(move || send(&hosts.a, PORTS[1], 1_200, 500, 12, 4 * pause));
    });
    thread::sleep(TIMEOUT + Duration::from_millis(500));
    let mut delays = delays.finish();
    delays.iter_mut().for_each(|delays| delays.sort_unstable());
    (watching.finish(), delays)
}

/// Packets that did not leave.
pub fn lost(of: &ClassStatus) -> u64 {
    of.dropped.values().sum()
}

/// Within 1 % or 50 us at the median and the 99th percentile, with hardly any packet unpaired.
pub fn agree(watched: &Watched, stamps: &[Vec<u64>; 2], sent: [u64; 2]) {
    assert_eq!((watched.missed, watched.unclassed), ([0, 0], 0));
    for ((of, stamps), sent) in watched.classes().iter().zip(stamps).zip(sent) {
        let delay = of.delay_ns.as_ref().expect("some have left");
        let name = &of.name;
        // Beside the datagrams there are some frames of ARP.
        let apart = of.sent.abs_diff(stamps.len() as u64);
        assert!(
            apart * 1_000 <= stamps.len() as u64 + 5_000,
            "{name}: {} of {}",
            of.sent,
            stamps.len()
        );
        assert!(of.arrived - sent < 10, "{name}: {} of {sent} arrived", of.arrived);
        assert_eq!(of.arrived, of.sent + lost(of), "{name}");
        for (watched, percent) in [(delay.p50, 50), (delay.p99, 99)] {
            let exact = quantile(stamps, percent);
            let apart = watched.abs_diff(exact);
            assert!(
                apart <= (exact / 100).max(50_000),
                "{name}, p{percent}: {watched} for {exact}"
            );
        }
    }
    assert!(watched.unpaired <= SPOKEN, "{}", watched.unpaired);
}

/// The books of the forwarder count to the last bit out, and begin when a frame is taken in.
fn agree_with_books(watched: &ClassStatus, account: &Account, transmission: u64) {
    // It may have begun a frame of ARP earlier.
    let pairs = [(watched.arrived, account.arrived), (watched.sent, account.sent)];
    assert!(pairs.iter().all(|(watched, booked)| watched.abs_diff(*booked) < 10), "{pairs:?}");
    let delay = watched.delay_ns.as_ref().expect("some have left");
    // A frame is taken in late, and handed over early, by as much as a thread without priority is late.
    // Its quantiles are at most 0.8 % too high.
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
    let mut measured = Measured::new(plan.promises());
    recorder.read(|happened, _| {
        if happened.at == Side::A {
            measured.add(&happened.event);
        }
    });
    agree(&watched, &stamps, [2_000, 6_000]);
    assert_eq!(watched.unpaired, 0);
    let lengths = [200, 1_200].map(|payload| plan.link.accounted(payload + 42));
    for ((watched, account), length) in
        watched.classes().iter().zip(measured.accounts()).zip(lengths)
    {
        agree_with_books(watched, account, u64::from(length) * 8 * 1_000 / 20);
    }
}
