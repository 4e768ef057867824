//! Delays from the arrival at one interface to the other, beside a machine that is busy.

use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, Command};
use std::sync::atomic::Ordering;
use std::thread::{self, available_parallelism};
use std::time::Duration;

use laxity_forward::{Event, SentPacket};
use laxity_linux::frames::{Backend, Side};
use laxity_linux::xdp::{self, Xdp};
use laxity_live::Way;

use crate::hosts::{B, Hosts, plan};
use crate::traffic::{scheduled, start};
use crate::watcher::{Background, Came, send, stamped, stamped_at};

const PORTS: [u16; 2] = [5000, 6000];
const CALLS: usize = 600;

/// Work on all cores, as long as it is there.
enum Busy {
    Programs(Child),
    Threads(Vec<Background<()>>),
}

impl Busy {
    fn start() -> Busy {
        let count = 4 * available_parallelism().map_or(1, usize::from);
        let program = Command::new("stress-ng")
            .args(["--quiet", "--timeout", "60s", "--cpu", &count.to_string()])
            .spawn();
        program.map(Busy::Programs).unwrap_or_else(|_| {
            let spin = |_| Background::start(|stop| while !stop.load(Ordering::Relaxed) {});
            Busy::Threads((0..count).map(spin).collect())
        })
    }

    fn finish(self) {
        match self {
            Busy::Programs(mut child) => {
                // It ends those that it has started.
                let _ = Command::new("kill").arg(child.id().to_string()).status();
                let _ = child.wait();
            }
            Busy::Threads(threads) => threads.into_iter().for_each(Background::finish),
        }
    }
}

/// Calls, in the order of their numbers, which is that in which they were sent.
fn in_order(mut came: Vec<Came>) -> Vec<Came> {
    came.sort_by_key(|of| of.number);
    came
}

/// Calls beside a crowd; what the forwarder says of each, and how long it took from interface to
/// interface, at least.
fn measure(
    hosts: &Hosts,
    backend: impl Backend + Send + 'static,
    is_seen: bool,
) -> Vec<(SentPacket, u64)> {
    let plan = plan("edf");
    let (forwarding, mut recorder) = start(backend, [scheduled(&plan), Way::Plain]);
    let receive = |port| UdpSocket::bind(SocketAddr::new(B, port)).expect("a socket");
    let _open = hosts.b.run(|| PORTS.map(receive)).expect("entered");
    let entering = stamped_at(&hosts.between, "a", PORTS);
    let coming = stamped(&hosts.b, PORTS);
    let busy = Busy::start();
    let gone = thread::scope(|scope| {
        let pause = Duration::from_millis(5);
        scope.spawn(move || send(&hosts.a, PORTS[1], 1_200, CALLS as u32 / 2, 10, pause));
        scope.spawn(move || send(&hosts.a, PORTS[0], 200, CALLS as u32, 1, pause)).join()
    });
    thread::sleep(Duration::from_millis(500));
    busy.finish();
    let [[entered, _], [came, _]] = [entering, coming].map(Background::finish);
    forwarding.drain(laxity::units::Nanos(5_000_000_000)).expect("it forwarded to the end");
    let mut calls = Vec::new();
    recorder.read(|report| {
        if let (Side::A, Event::Sent(sent)) = (report.event.at, &report.event.event)
            && sent.packet.class.0 == 0
        {
            calls.push(*sent);
        }
    });
    assert_eq!((calls.len(), came.len()), (CALLS, CALLS), "none is lost");
    let (entered, came, gone) = (in_order(entered), in_order(came), gone.expect("sent"));
    let took = came.iter().enumerate().map(|(at, of)| {
        let from = if is_seen { entered[at].at } else { gone[at] };
        of.at.saturating_sub(from)
    });
    calls.into_iter().zip(took).collect()
}

/// Readings of two clocks, and the times of stamps.
const CLOCKS: u64 = 60_000;

fn judge(name: &str, measured: &[(SentPacket, u64)]) -> u64 {
    let bounds = plan("edf").bounds();
    let bound = *bounds[0].as_ref().expect("calls have one");
    let mut longest = 0;
    for (sent, took) in measured {
        longest = longest.max(*took);
        let allowed = bound.0 + sent.late().0 + CLOCKS;
        assert!(sent.packet.demoted || *took <= allowed, "{name}: {took} ns, {sent:?}");
        assert!(sent.delay().0 + CLOCKS >= *took, "{name}: {took} ns, {sent:?}");
    }
    let demoted = measured.iter().filter(|(sent, _)| sent.packet.demoted).count();
    let above = measured.iter().filter(|(_, took)| *took > bound.0).count();
    println!("{name}: longest {longest} ns, {above} above {bound}, {demoted} demoted");
    longest
}

#[test]
fn no_packet_takes_longer_than_its_bound_and_what_is_recorded_as_late() {
    let Some(hosts) = Hosts::new() else { return };
    let ring = measure(&hosts, hosts.ring(), true);
    let mmsg = measure(&hosts, hosts.mmsg(), true);
    let longest = judge("ring", &ring).max(judge("packet", &mmsg));
    assert!(longest > 1_000_000, "the machine was busy: {longest} ns");
    let [a, b] = hosts.ends();
    let open = || Xdp::open([&a, &b], &xdp::Options::default());
    match hosts.between.run(open).expect("entered") {
        // A tap does not see frames before AF_XDP takes them.
        Ok(xdp) => drop(judge("xdp", &measure(&hosts, xdp, false))),
        Err(error) => eprintln!("SKIPPED: {error}"),
    }
}
