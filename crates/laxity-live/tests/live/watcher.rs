//! What watches, and what is held against it.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use laxity_linux::clock::Clock;
use laxity_linux::interface::Interface;
use laxity_linux::namespace::Namespace;
use laxity_linux::packet::{Tap, Way};
use laxity_live::status::Status;
use laxity_live::watch::{Behind, Settings, Taps};
use laxity_plan::Plan;

use crate::hosts::{A, B, Hosts};

/// Something that goes on in a thread of its own until it is told to end.
pub(crate) struct Background<T> {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<T>,
}

impl<T: Send + 'static> Background<T> {
    pub(crate) fn start(work: impl FnOnce(&AtomicBool) -> T + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let told = stop.clone();
        Background { stop, thread: thread::spawn(move || work(&told)) }
    }

    pub(crate) fn finish(self) -> T {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("it goes on")
    }
}

/// What is lost is known after so long.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(1);

/// Watches what goes from `a` to `b` between the hosts.
pub(crate) fn watch(hosts: &Hosts, plan: &Plan, behind: Behind) -> Background<Status> {
    let timeout = laxity::units::Nanos(TIMEOUT.as_nanos() as u64);
    let settings = Settings { timeout, ..Settings::default() };
    let [a, b] = hosts.ends();
    let open = || Taps::open([&a, &b], behind, plan.clone(), settings);
    let mut taps = hosts.between.run(open).expect("entered").expect("taps");
    Background::start(move |stop| {
        while !stop.load(Ordering::Relaxed) {
            taps.look().expect("looked");
        }
        taps.finish().expect("looked").status
    })
}

/// Sends `bursts` bursts of `burst` datagrams of `length` bytes from host to host.
///
/// Each datagram carries its number and the time. Returns, by number, the time when each was gone.
pub(crate) fn send(
    from: &Namespace,
    port: u16,
    length: usize,
    bursts: u32,
    burst: u32,
    rest: Duration,
) -> Vec<u64> {
    let socket = from.run(|| UdpSocket::bind(SocketAddr::new(A, 0)).expect("a socket"));
    let socket = socket.expect("entered");
    let (mut datagram, mut gone) = (vec![0; length], Vec::new());
    for at in 0..bursts {
        for number in at * burst..(at + 1) * burst {
            datagram[..4].copy_from_slice(&number.to_be_bytes());
            datagram[4..12].copy_from_slice(&Clock::Realtime.now().0.to_be_bytes());
            socket.send_to(&datagram, SocketAddr::new(B, port)).expect("sent");
            gone.push(Clock::Realtime.now().0);
        }
        thread::sleep(rest);
    }
    gone
}

/// Where the payload of a datagram begins in a frame.
const PAYLOAD: usize = 14 + 20 + 8;

/// A datagram that has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Came {
    pub number: u32,
    pub sent: u64,
    pub at: u64,
}

/// The datagrams with stamps in them that arrive at the host, by port.
pub(crate) fn stamped(to: &Namespace, ports: [u16; 2]) -> Background<[Vec<Came>; 2]> {
    stamped_at(to, "eth", ports)
}

/// Those that arrive at an interface.
pub(crate) fn stamped_at(
    place: &Namespace,
    interface: &str,
    ports: [u16; 2],
) -> Background<[Vec<Came>; 2]> {
    let open = || Tap::open(&Interface::named(interface).expect("it is there"), Way::In, 32 << 20);
    let mut tap = place.run(open).expect("entered").expect("a tap");
    // The kernel takes a moment to begin with stamps.
    thread::sleep(Duration::from_millis(50));
    Background::start(move |stop| {
        let mut all: [Vec<Came>; 2] = Default::default();
        let mut missed = None;
        loop {
            let is_last = stop.load(Ordering::Relaxed);
            let look = |tap: &mut Tap, all: &mut [Vec<Came>; 2]| {
                tap.look(|passed| {
                    let Some(stamp) = passed.bytes.get(PAYLOAD + 4..PAYLOAD + 12) else { return };
                    let port = u16::from_be_bytes([passed.bytes[36], passed.bytes[37]]);
                    let Some(of) = ports.iter().position(|wanted| *wanted == port) else { return };
                    let sent = u64::from_be_bytes(stamp.try_into().expect("eight bytes"));
                    let number = &passed.bytes[PAYLOAD..PAYLOAD + 4];
                    let number = u32::from_be_bytes(number.try_into().expect("four bytes"));
                    all[of].push(Came { number, sent, at: passed.at.0 });
                })
            };
            while look(&mut tap, &mut all).expect("looked") > 0 {}
            let now_missed = tap.missed().expect("counted");
            assert_eq!(*missed.get_or_insert(now_missed), now_missed, "all datagrams are seen");
            if is_last {
                return all;
            }
            thread::sleep(Duration::from_millis(2));
        }
    })
}

/// The quantile by its definition.
pub(crate) fn quantile(sorted: &[u64], percent: usize) -> u64 {
    sorted[(sorted.len() * percent).div_ceil(100) - 1]
}
