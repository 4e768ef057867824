//! CAKE beside the kernel's: the same packets at the same times, and the same dispatches, drops and
//! marks, packet for packet.

mod acks;
mod replay;

use std::net::{Ipv4Addr, SocketAddrV4};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use laxity::aqm::Limit;
use laxity::packet::{Ecn, FlowId, HostId, Hosts};
use laxity::sched::cake::{AckFilter, CakeClass, CakeSettings, Diffserv, Isolation};
use laxity::units::{Nanos, Rate};
use laxity_linux::clock::Clock;
use laxity_linux::interface::Interface;
use laxity_linux::packet::{Tap, Way};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use socket2::{Domain, Socket, Type};

use crate::lab::run;
use crate::uml::{inside_alone, whole};
use replay::{Arrival, Departure, Outcome, replay};

const LIMIT: Duration = Duration::from_secs(1800);
/// Headers of Ethernet, IPv4 and UDP.
const HEADERS: u32 = 14 + 20 + 8;
/// Hosts of either side.
const HOSTS: u32 = 3;
/// The most flows of a host in a tin: a quantum of 300 bytes is divided by no more without a rest,
/// and so is one of 150 and of 100 by the lengths of packets.
const FLOWS_OF_HOST: usize = 3;
const GRAIN: u32 = 50;
/// The longest frame: what Ethernet carries.
const LONGEST: u32 = 1_500;
/// How long a run sends.
const SPAN: Nanos = Nanos(100_000_000);
/// How often a run is tried in which the machine stood still, or the kernel stamped no packet.
const TRIES: usize = 300;

/// How often a run may differ: where the machine stood still between the kernel's look at its clock
/// and the stamp, nobody saw it. What differs always is no matter of time.
const MOST_DIFFERENT: usize = 5;

const DIFFSERV: [(Diffserv, &str); 5] = [
    (Diffserv::Besteffort, "besteffort"),
    (Diffserv::Diffserv3, "diffserv3"),
    (Diffserv::Diffserv4, "diffserv4"),
    (Diffserv::Diffserv8, "diffserv8"),
    (Diffserv::Precedence, "precedence"),
];
const ISOLATION: [(Isolation, &str); 8] = [
    (Isolation::Flowblind, "flowblind"),
    (Isolation::Srchost, "srchost"),
    (Isolation::Dsthost, "dsthost"),
    (Isolation::Hosts, "hosts"),
    (Isolation::Flows, "flows"),
    (Isolation::DualSrchost, "dual-srchost"),
    (Isolation::DualDsthost, "dual-dsthost"),
    (Isolation::TripleIsolate, "triple-isolate"),
];

/// Settings, and the flows that send. Each is a class of its own.
struct Case {
    settings: CakeSettings,
    words: String,
    flows: Vec<Flow>,
    seed: u64,
}

#[derive(Clone, Copy)]
struct Flow {
    source: u32,
    destination: u32,
    dscp: u8,
    ecn: Ecn,
    /// Its part of what is sent.
    weight: u32,
}

#[test]
fn dispatches_are_the_kernels() {
    inside_alone("cake::dispatches_are_the_kernels", LIMIT, || {
        lay_cable();
        let first = std::env::var("LAXITY_KERNEL_SEED").ok().and_then(|seed| seed.parse().ok());
        let first: u64 = first.unwrap_or(1);
        let mut sum = Outcome::default();
        let left = Interface::named("left").expect("the cable");
        let mut tap = Tap::open(&left, Way::Out, 8 << 20).expect("a packet socket");
        // The kernel takes some milliseconds to begin with stamps.
        thread::sleep(Duration::from_millis(200));
        for seed in first..first + whole(6, 300) {
            let case = Case::draw(seed);
            let mut runs = (0..TRIES).filter_map(|_| case.measure(&mut tap));
            let outcome = loop {
                match runs.next().expect("the machine stands still all the time") {
                    Ok(outcome) => break outcome,
                    Err(why) if sum.differs(seed) == MOST_DIFFERENT => {
                        panic!("seed {seed}: {}: {why}", case.words)
                    }
                    Err(why) => println!("seed {seed} differs, and is measured again: {why}"),
                }
            };
            sum.add(&outcome);
        }
        println!("{sum}");
        assert!(sum.sent > 100 && sum.dropped > 0);
    });
}

/// A cable whose far end takes all that comes, and nothing else is sent.
fn lay_cable() {
    run("ip", "link add left type veth peer name right");
    for path in ["left", "right"] {
        let path = format!("/proc/sys/net/ipv6/conf/{path}/disable_ipv6");
        if std::path::Path::new(&path).exists() {
            std::fs::write(&path, "1").expect("a setting");
        }
    }
    run("ip", "link set left address 02:00:00:00:00:01");
    run("ip", "link set right address 02:00:00:00:00:02");
    run("ip", "link set left up");
    run("ip", "link set right up");
    run("ip", "route add 10.9.0.0/16 dev left");
    for host in 1..=HOSTS {
        run("ip", &format!("addr add 10.8.{host}.1/32 dev left"));
        run("ip", &format!("neigh add 10.9.{host}.2 lladdr 02:00:00:00:00:02 dev left"));
    }
    // Nobody waits until some of it is sent.
    std::fs::write("/proc/sys/net/core/wmem_default", "8000000").expect("a setting");
}

impl Case {
    fn draw(seed: u64) -> Case {
        let mut draw = Pcg32::seed_from_u64(seed);
        let (diffserv, tins) = DIFFSERV[draw.random_range(0..DIFFSERV.len())];
        let (isolation, hosts) = ISOLATION[draw.random_range(0..ISOLATION.len())];
        let rate = draw.random_range(2_000_000..9_000_000u64) / 8 * 8;
        let rtt = [5, 20, 50, 100][draw.random_range(0..4)];
        let settings = CakeSettings {
            diffserv,
            isolation,
            rate: Rate(rate),
            shapes: true,
            rtt: Nanos(rtt * 1_000_000),
            limit: Limit::None,
            queues: 1_024,
            ingress: draw.random_bool(0.2),
            ack_filter: AckFilter::Off,
            max_packet: 1_514,
        };
        let way = if settings.ingress { "ingress" } else { "egress" };
        let words = format!(
            "bandwidth {rate}bit {tins} {hosts} rtt {rtt}ms {way} nonat nowash no-ack-filter raw memlimit 64mb"
        );
        let mut flows: Vec<Flow> = Vec::new();
        for _ in 0..draw.random_range(3..=8) {
            let flow = Flow {
                source: draw.random_range(1..=HOSTS),
                destination: draw.random_range(1..=HOSTS),
                dscp: [0, 0, 0, 8, 10, 16, 24, 34, 46, 48][draw.random_range(0..10)],
                ecn: if draw.random_bool(0.3) { Ecn::Capable } else { Ecn::NotCapable },
                weight: [1, 1, 2, 4, 8][draw.random_range(0..5)],
            };
            let same = |of: fn(&Flow) -> u32| {
                flows.iter().filter(|other| of(other) == of(&flow)).count() < FLOWS_OF_HOST
            };
            if same(|flow| flow.source) && same(|flow| flow.destination) {
                flows.push(flow);
            }
        }
        Case { settings, words, flows, seed }
    }

    /// Runs it in the kernel, and repeats that. `None` where the machine stood still.
    fn measure(&self, tap: &mut Tap) -> Option<Result<Outcome, String>> {
        let _none = Command::new("tc").args(["qdisc", "del", "dev", "left", "root"]).output();
        run("tc", &format!("qdisc add dev left root cake {}", self.words));
        // What a try before this one has left.
        while listen(tap, &mut Vec::new()) > 0 {}
        let missed = tap.missed().expect("a socket");
        let sockets: Vec<_> = self.flows.iter().map(Flow::socket).collect();
        let (arrivals, mut departures) = self.send(&sockets, tap)?;
        // All that is queued leaves, and nothing that was sent before is stamped by nobody.
        let since = Instant::now();
        while since.elapsed() < Duration::from_secs(20) && is_busy() {
            listen(tap, &mut departures);
            thread::sleep(Duration::from_millis(5));
        }
        while listen(tap, &mut departures) > 0 {}
        if tap.missed().expect("a socket") > missed {
            return None;
        }
        let hosts = |flow: &Flow| Hosts {
            source: HostId(flow.source),
            destination: HostId(flow.destination),
        };
        let class =
            |flow: &Flow| CakeClass { dscp: flow.dscp, hosts: [(FlowId(1), hosts(flow))].into() };
        let classes = self.flows.iter().map(class).collect();
        Some(replay(self.settings, classes, &arrivals, &departures))
    }

    /// Sends a packet of each flow, so that all have queues, and then at random for a while. `None`
    /// where the machine stood still.
    fn send(&self, sockets: &[Socket], tap: &mut Tap) -> Option<(Vec<Arrival>, Vec<Departure>)> {
        let mut draw = Pcg32::seed_from_u64(!self.seed);
        let (mut arrivals, mut departures) = (Vec::new(), Vec::new());
        let weights: u32 = self.flows.iter().map(|flow| flow.weight).sum();
        let overload = draw.random_range(10..25u64);
        let begin = Clock::Realtime.now();
        let mut due = begin;
        while due < begin + SPAN {
            let number = arrivals.len();
            let flow = if number < sockets.len() {
                number
            } else {
                let mut at = draw.random_range(0..weights);
                let mut flows = self.flows.iter().map(|flow| flow.weight);
                flows
                    .position(|weight| {
                        let is_here = at < weight;
                        at = at.saturating_sub(weight);
                        is_here
                    })
                    .expect("within the sum")
            };
            let length = draw.random_range(2..=LONGEST / GRAIN) * GRAIN;
            let mut payload = vec![0; (length - HEADERS) as usize];
            payload[..4].copy_from_slice(&(number as u32).to_be_bytes());
            let before = Clock::Realtime.now();
            sockets[flow].send(&payload).expect("it is taken");
            let after = Clock::Realtime.now();
            let ecn = self.flows[flow].ecn;
            let arrival = Arrival { before, after, flow: flow as u32, length, ecn };
            if arrival.stood_still() {
                return None;
            }
            arrivals.push(arrival);
            listen(tap, &mut departures);
            if number < sockets.len() || draw.random_bool(0.4) {
                continue;
            }
            // Gaps that make up for bursts, at a multiple of the rate.
            let time = u64::from(length) * 80_000_000_000 / self.settings.rate.0 / overload;
            due = due.max(begin) + Nanos(draw.random_range(0..time * 3));
            let now = Clock::Realtime.now();
            if due > now + Nanos(50_000) {
                Clock::Realtime.sleep_until(due);
            }
        }
        Some((arrivals, departures))
    }
}

impl Flow {
    fn socket(&self) -> Socket {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).expect("a socket");
        let ecn = if self.ecn == Ecn::Capable { 2 } else { 0 };
        socket.set_tos_v4(u32::from(self.dscp) << 2 | ecn).expect("a code point");
        let host = |net, host, last| Ipv4Addr::new(10, net, host as u8, last);
        socket.bind(&SocketAddrV4::new(host(8, self.source, 1), 0).into()).expect("an address");
        let to = SocketAddrV4::new(host(9, self.destination, 2), 9);
        socket.connect(&to.into()).expect("a route");
        socket
    }
}

/// Whether anything is queued.
fn is_busy() -> bool {
    !run("tc", "-s qdisc show dev left").contains("backlog 0b 0p")
}

/// What has been sent since the last time, and how much that is.
fn listen(tap: &mut Tap, departures: &mut Vec<Departure>) -> usize {
    tap.look(|frame| {
        // IPv4 without options, and UDP.
        let number = frame.bytes.get(42..46).and_then(|bytes| bytes.try_into().ok());
        if let (Some(number), Some(tos)) = (number, frame.bytes.get(15)) {
            let packet = u32::from_be_bytes(number);
            departures.push(Departure { at: frame.at, packet, is_marked: tos & 3 == 3 });
        }
    })
    .expect("a socket")
}
