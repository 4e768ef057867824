//! Four routers in a ring of network namespaces, a host at each, and datagrams the long way round.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use laxity::units::Nanos;
use laxity_linux::interface::Interface;
use laxity_linux::namespace::Namespace;
use laxity_linux::packet::{Options as Sockets, Ring};
use laxity_live::routers::NodeWiring;
use laxity_live::routers::{Host, NetworkMeasurement, Running};
use laxity_live::{Counts, Options};
use laxity_plan::Plan;
use laxity_plan::model::NodeId;
use laxity_plan::network::NetworkPlan;

/// The example's plan.
const PLAN: &str = include_str!("../../../../examples/live-ring.toml");
/// What a datagram has beside its 458 bytes, to be 500 bytes long.
const HEADERS: usize = 42;

/// Hosts and routers, by their numbers from 1.
pub(crate) struct Laboratory {
    hosts: [Namespace; 4],
    routers: [Namespace; 4],
}

/// What came of a run.
pub(crate) struct Ran {
    pub measured: NetworkMeasurement,
    pub counts: Counts,
    pub missed: u64,
    pub is_real_time: bool,
    pub sent: u64,
    pub received: u64,
    pub lasted: Duration,
}

/// The plan with a packet of each flow this often, under a scheduler; on links of a gigabit a
/// second if the plan's own carry less.
pub(crate) fn plan(gap: Nanos, scheduler: &str) -> Plan {
    let is_fast = gap < Nanos(1_500_000);
    // A sixteenth more is reserved than is sent, which is a whole number of frames for the gaps
    // tried.
    let reserved = gap.0 - gap.0 / 16;
    let rate = 500 * 8 * 1_000_000_000 / reserved + 1;
    let text = PLAN
        .replace("gap = \"3750us\"", &format!("gap = \"{reserved}ns\""))
        .replace("rate = \"1067kbit\"", &format!("rate = \"{rate}bit\""))
        .replace("bucket = \"1000b\"", "bucket = \"64000b\"");
    let text = if is_fast {
        text.replace("\"100mbit\"", "\"1gbit\"").replace("\"122us\"", "\"13us\"")
    } else {
        text
    };
    let plan = Plan::parse(&text, "live-ring.toml", Path::new("")).expect("the example is a plan");
    plan.under(scheduler).expect("a discipline of any network")
}

fn address(host: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, host as u8 + 1))
}

impl Laboratory {
    /// None where that is not allowed, and then it says so.
    pub(crate) fn new() -> Option<Laboratory> {
        let make = || match Namespace::new() {
            Ok(namespace) => Some(namespace),
            Err(error) if error.is_permission() => {
                eprintln!("SKIPPED: {error}; run as root or within `unshare -Urn`");
                None
            }
            Err(error) => panic!("{error}"),
        };
        let first = make()?;
        let rest: [Namespace; 7] = std::array::from_fn(|_| make().expect("another namespace"));
        let [r2, r3, r4, h1, h2, h3, h4] = rest;
        let laboratory = Laboratory { hosts: [h1, h2, h3, h4], routers: [first, r2, r3, r4] };
        let Laboratory { hosts, routers } = &laboratory;
        for number in 0..4 {
            let next = (number + 1) % 4;
            let names = [next, number].map(|router| format!("r{}", router + 1));
            routers[number].veth(&names[0], &routers[next], &names[1]).expect("a cable");
            let name = format!("h{}", number + 1);
            routers[number].veth(&name, &hosts[number], "eth").expect("a cable");
            hosts[number].address("eth", address(number), 24).expect("an address");
        }
        Some(laboratory)
    }

    /// Every router at its interfaces.
    fn wired(&self, on: NetworkPlan<'_>) -> Vec<NodeWiring> {
        let wire = |(number, namespace): (usize, &Namespace)| {
            let name = format!("r{}", number + 1);
            let node = on.network.nodes.iter().position(|node| node.name == name);
            let node = NodeId::from_index(node.expect("it is in the plan"));
            let hops = on.network.hops().filter(|hop| on.network.between(*hop)[0] == node);
            let interface = |hop| {
                let [_, neighbour] = on.network.ends(hop);
                let found = namespace.run(|| Interface::named(neighbour)).expect("entered");
                (found.expect("it is there"), Some(namespace.clone()))
            };
            NodeWiring { node, ports: hops.map(interface).collect() }
        };
        self.routers.iter().enumerate().map(wire).collect()
    }

    /// Runs the plan while hosts send a packet of each flow every `gap`, and one of them `bulk`
    /// packets of 1514 bytes at once every ten milliseconds over two of the links; tells what came
    /// of it.
    pub(crate) fn run(&self, plan: &Plan, gap: Nanos, bulk: u32, lasts: Duration) -> Ran {
        let on = plan.network_plan().expect("a network").analysis();
        let wired = self.wired(on.network_plan());
        let ports: Vec<_> = wired.iter().flat_map(|wired| wired.ports.clone()).collect();
        let sockets =
            Sockets { frames: 4096, receive_buffer: 8 << 20, stamps: true, ..Sockets::default() };
        let backend = Ring::among(&ports, &sockets).expect("sockets");
        let options = Options::default();
        let host = Host::new(&on, &wired, backend).expect("a plan for routers");
        let (running, mut reports) = Running::start(host, options).expect("a thread");
        let is_real_time = running.not_real_time.is_none();
        let (ends, begin) = (AtomicBool::new(false), Instant::now());
        let (mut measured, received) = (NetworkMeasurement::new(&on), AtomicU64::new(0));
        let (sent, counts) = thread::scope(|scope| {
            let receivers: [_; 4] = std::array::from_fn(|flow| self.receiver(flow));
            for receiver in receivers {
                let (ends, received) = (&ends, &received);
                scope.spawn(move || count(&receiver, ends, received));
            }
            let reading = scope.spawn(|| {
                while !ends.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_millis(5));
                    reports.read(|report| measured.add(report.event));
                }
            });
            scope.spawn(|| self.send_bulk(bulk, &ends));
            let sent = self.send(gap, lasts, &received);
            thread::sleep(Duration::from_millis(200));
            let ended = running.drain(Nanos(1_000_000_000));
            // Nobody waits for the others whatever has happened.
            ends.store(true, Ordering::Relaxed);
            reading.join().expect("read");
            (sent, ended.expect("it ran to the end"))
        });
        let lasted = begin.elapsed();
        reports.read(|report| measured.add(report.event));
        let received = received.into_inner();
        Ran { measured, counts, missed: reports.lost, is_real_time, sent, received, lasted }
    }

    fn send_bulk(&self, bulk: u32, ends: &AtomicBool) {
        let bind = || UdpSocket::bind("0.0.0.0:0").expect("a socket");
        let socket = self.hosts[0].run(bind).expect("entered");
        while !ends.load(Ordering::Relaxed) {
            for _ in 0..bulk {
                // Nobody hears it, and says so now and then.
                let _refused = socket.send_to(&[0; 1514 - HEADERS], (address(2), 9));
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The host to which a flow goes: the one before that from which it comes.
    fn receiver(&self, flow: usize) -> UdpSocket {
        let host = (flow + 3) % 4;
        let at = SocketAddr::new(address(host), 5001 + flow as u16);
        let socket = self.hosts[host].run(|| UdpSocket::bind(at)).expect("entered");
        let socket = socket.expect("a socket");
        socket.set_read_timeout(Some(Duration::from_millis(50))).expect("a time");
        socket
    }

    /// Sends a packet of each flow every `gap`, and tells how many. Who is late makes up for no
    /// more than what is reserved beyond that: a flow is promised nothing for what it sends in
    /// bursts.
    fn send(&self, gap: Nanos, lasts: Duration, received: &AtomicU64) -> u64 {
        let senders: [UdpSocket; 4] = std::array::from_fn(|flow| {
            let socket = self.hosts[flow].run(|| UdpSocket::bind("0.0.0.0:0")).expect("entered");
            let socket = socket.expect("a socket");
            let to = SocketAddr::new(address((flow + 3) % 4), 5001 + flow as u16);
            socket.connect(to).expect("an address of this link");
            socket
        });
        // What waits for the answer who has an address leaves at once when that comes, as a burst.
        senders.iter().for_each(|sender| drop(sender.send(&[0; 500 - HEADERS])));
        let asked = Instant::now();
        while received.load(Ordering::Relaxed) < 4 && asked.elapsed() < Duration::from_secs(5) {
            thread::sleep(Duration::from_millis(10));
        }
        let (gap, mut sent) = (Duration::from_nanos(gap.0 / 4), 4u64);
        let (begin, mut due) = (Instant::now(), Instant::now());
        while begin.elapsed() < lasts {
            let payload = [(sent / 4) as u8; 500 - HEADERS];
            match senders[sent as usize % 4].send(&payload) {
                Ok(_) => sent += 1,
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(error) => panic!("{error}"),
            }
            due = (due + gap).max(Instant::now() + gap * 15 / 16);
            // Sleeping takes longer than many a gap.
            let left = due.saturating_duration_since(Instant::now());
            thread::sleep(left.saturating_sub(Duration::from_micros(100)));
            while Instant::now() < due {
                std::hint::spin_loop();
            }
        }
        sent
    }
}

fn count(receiver: &UdpSocket, ends: &AtomicBool, received: &AtomicU64) {
    let mut datagram = [0; 2000];
    while !ends.load(Ordering::Relaxed) {
        if receiver.recv(&mut datagram).is_ok() {
            received.fetch_add(1, Ordering::Relaxed);
        }
    }
}
