//! Hosts and flows that fill a link, second by second.

mod frequent;
mod table;

use std::collections::HashMap;
use std::net::IpAddr;

use laxity::packet::{ClassId, FlowId};
use laxity::units::Nanos;
use laxity_forward::Event;
use laxity_linux::frames::Side;
use laxity_plan::Plan;
use laxity_plan::matching::{Headers, IpHeaders, Ports};

use self::frequent::{Amount, Frequent};
use self::table::{Table, TableFlow};
use crate::status::{EndpointsStatus, FlowStatus, HostStatus, TalkersStatus};

/// What the hosts and flows of a direction sent, as the link carried it.
///
/// It follows the events that books are kept of: arrivals say whose a flow is, and what is sent is
/// counted. A host is an address on the side of the interface where hosts are: the source of what
/// leaves, the destination of what comes back.
pub(super) struct Talkers {
    host_of: fn(&IpHeaders) -> IpAddr,
    table: Table,
    /// What was sent in the present second.
    all: Amount,
    /// What was sent of flows that are not known.
    unknown: u64,
    flows: Frequent<(Option<Endpoints>, ClassId)>,
    hosts: Frequent<(IpAddr, ClassId)>,
    last: Option<Second>,
}

/// Whose packets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Endpoints {
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    ports: Option<Ports>,
}

/// A second that is over.
struct Second {
    duration: Nanos,
    all: Amount,
    unknown: u64,
    missing: u64,
    /// The greatest, greatest first.
    flows: Vec<(Option<Endpoints>, ClassId, Amount)>,
    /// The greatest, greatest first, with the class of most of their bytes.
    hosts: Vec<(IpAddr, ClassId, Amount)>,
}

/// As many flows, and as many hosts in a class, are counted exactly in a second. With more of them
/// a flow or host misses at most a part in 1024 of all bytes.
const EXACT: usize = 2_048;
/// As many flows and hosts are told.
const MOST: usize = 20;

impl Talkers {
    /// Nothing yet of what arrives at a side.
    pub(super) fn new(at: Side) -> Self {
        let host_of = match at {
            Side::A => |ip: &IpHeaders| ip.source,
            Side::B => |ip: &IpHeaders| ip.destination,
        };
        Talkers {
            host_of,
            table: Table::new(),
            all: Amount::default(),
            unknown: 0,
            flows: Frequent::new(EXACT),
            hosts: Frequent::new(EXACT),
            last: None,
        }
    }

    /// Counts an event.
    pub(super) fn add(&mut self, event: &Event) {
        match event {
            Event::Arrived(arrived) => {
                let Talkers { table, flows, hosts, host_of, .. } = self;
                if let Some(gone) = table.note(arrived.class, arrived.flow, &arrived.headers) {
                    add(&gone, *host_of, flows, hosts);
                }
            }
            Event::Sent(sent) => self.sent(sent.packet.class, sent.packet.flow, sent.packet.length),
            Event::Nonconforming { .. }
            | Event::Dropped(_)
            | Event::Idle { .. }
            | Event::Reloaded { .. }
            | Event::Delivered(_)
            | Event::Lost(_)
            | Event::Rate { .. }
            | Event::Introduced { .. }
            | Event::Resumed { .. }
            | Event::Queued { .. }
            | Event::Kept { .. } => {}
        }
    }

    fn sent(&mut self, class: ClassId, flow: FlowId, length: u32) {
        let amount = Amount { bytes: length.into(), packets: 1, flows: 0 };
        self.all += amount;
        match self.table.find(class, flow) {
            Some(flow) => flow.amount += amount,
            None => self.unknown += amount.bytes,
        }
    }

    /// Ends the present second, which took so long.
    pub(super) fn turn(&mut self, duration: Nanos) {
        let Talkers { host_of, table, flows, hosts, .. } = self;
        table.turn(|flow| add(flow, *host_of, flows, hosts));
        let mut by_host: HashMap<IpAddr, Vec<(ClassId, Amount)>> = HashMap::new();
        for ((host, class), amount) in hosts.items() {
            by_host.entry(host).or_default().push((class, amount));
        }
        let by_host = by_host.into_iter().map(|(host, classes)| {
            let most = classes.iter().max_by_key(|(class, amount)| (amount.bytes, *class));
            let mut all = Amount::default();
            classes.iter().for_each(|(_, amount)| all += *amount);
            (host, most.map_or(ClassId::default(), |(class, _)| *class), all)
        });
        self.last = Some(Second {
            duration,
            all: std::mem::take(&mut self.all),
            unknown: std::mem::take(&mut self.unknown),
            missing: flows.missing().max(hosts.missing()),
            hosts: greatest(by_host.collect()),
            flows: greatest(flows.items().map(|((ends, class), of)| (ends, class, of)).collect()),
        });
        flows.clear();
        hosts.clear();
    }

    /// What the last whole second was like under a plan; `None` before there was one.
    pub(super) fn status(&self, plan: &Plan) -> Option<TalkersStatus> {
        let Second { duration, all, unknown, missing, flows, hosts } = self.last.as_ref()?;
        let class = |class: &ClassId| plan.classes[class.index()].name.clone();
        Some(TalkersStatus {
            over_ns: duration.0,
            bytes: all.bytes,
            packets: all.packets,
            unknown_bytes: *unknown,
            missing_bytes: *missing,
            hosts: hosts
                .iter()
                .map(|(address, of, amount)| HostStatus {
                    address: *address,
                    class: class(of),
                    flows: amount.flows,
                    packets: amount.packets,
                    bytes: amount.bytes,
                })
                .collect(),
            flows: flows
                .iter()
                .map(|(ends, of, amount)| FlowStatus {
                    ends: ends.as_ref().map(EndpointsStatus::from),
                    class: class(of),
                    packets: amount.packets,
                    bytes: amount.bytes,
                })
                .collect(),
            names: Default::default(),
        })
    }
}

/// Adds what was sent of a flow in a second.
fn add(
    flow: &TableFlow,
    host_of: fn(&IpHeaders) -> IpAddr,
    flows: &mut Frequent<(Option<Endpoints>, ClassId)>,
    hosts: &mut Frequent<(IpAddr, ClassId)>,
) {
    let amount = Amount { flows: 1, ..flow.amount };
    flows.add((Endpoints::new(&flow.headers), flow.class), amount);
    if let Some(ip) = &flow.headers.ip {
        hosts.add((host_of(ip), flow.class), amount);
    }
}

/// The first [`MOST`] by bytes, the greatest first, and in one order whatever they are.
fn greatest<T: Copy + std::fmt::Debug>(
    mut all: Vec<(T, ClassId, Amount)>,
) -> Vec<(T, ClassId, Amount)> {
    all.sort_by_cached_key(|(of, class, amount)| {
        (std::cmp::Reverse(amount.bytes), *class, format!("{of:?}"))
    });
    all.truncate(MOST);
    all
}

impl Endpoints {
    /// Of a frame; `None` of one without IP.
    fn new(headers: &Headers) -> Option<Endpoints> {
        let IpHeaders { source, destination, protocol, .. } = headers.ip?;
        Some(Endpoints { source, destination, protocol, ports: headers.ports })
    }
}

impl From<&Endpoints> for EndpointsStatus {
    fn from(ends: &Endpoints) -> Self {
        let Endpoints { source, destination, protocol, ports } = *ends;
        let ip = IpHeaders { source, destination, protocol, dscp: 0, ecn: 0 };
        EndpointsStatus {
            protocol: ip.protocol_name().map_or(protocol.to_string(), str::to_string),
            source,
            source_port: ports.map(|ports| ports.source),
            destination,
            destination_port: ports.map(|ports| ports.destination),
        }
    }
}

#[cfg(test)]
mod tests {
    use laxity::packet::Packet;

    use super::*;
    use crate::bridge::samples::{self, plan};

    fn headers(source: u8, port: u16) -> Headers {
        let [source, destination] = [source, 99].map(|last| IpAddr::from([10, 0, 0, last]));
        let ip = IpHeaders { source, destination, protocol: 17, dscp: 46, ecn: 0 };
        let ports = Some(Ports { source: port, destination: 53 });
        Headers { ip: Some(ip), ports, ..Headers::default() }
    }

    fn packet(class: u32, flow: u32, length: u32) -> Packet {
        Packet { class: ClassId(class), flow: FlowId(flow), length, ..Packet::default() }
    }

    fn arrived(class: u32, flow: u32, headers: Headers) -> Event {
        samples::arrived(packet(class, flow, 100), headers)
    }

    fn sent(class: u32, flow: u32, length: u32) -> Event {
        Event::Sent(samples::sent(packet(class, flow, length), Nanos::ZERO, Nanos::ZERO))
    }

    #[test]
    fn hosts_are_sums_of_flows_and_what_is_not_known_is_told() {
        let mut talkers = Talkers::new(Side::A);
        let arrivals = [
            arrived(0, 0, headers(1, 7)),
            arrived(1, 0, headers(1, 8)),
            arrived(1, 1, headers(2, 7)),
        ];
        arrivals.iter().for_each(|event| talkers.add(event));
        talkers.add(&arrived(1, 2, Headers::default()));
        let sizes =
            [(0, 0, 100), (1, 0, 1_500), (1, 0, 1_500), (1, 1, 700), (1, 2, 60), (0, 9, 40)];
        sizes.iter().for_each(|(class, flow, length)| talkers.add(&sent(*class, *flow, *length)));
        assert!(talkers.status(&plan()).is_none(), "the second is not over");
        talkers.turn(Nanos(1_000_000_007));
        let status = talkers.status(&plan()).expect("a second is over");
        assert_eq!((status.over_ns, status.bytes, status.packets), (1_000_000_007, 3_900, 6));
        assert_eq!((status.unknown_bytes, status.missing_bytes), (40, 0));
        let flows: Vec<_> = status.flows.iter().map(|it| (status.flow(it), it.bytes)).collect();
        let called = |last, port| format!("udp 10.0.0.{last}:{port} → 10.0.0.99:53");
        let expected = [
            (called(1, 8), 3_000),
            (called(2, 7), 700),
            (called(1, 7), 100),
            ("not IP".to_string(), 60),
        ];
        assert_eq!(flows, expected);
        let hosts =
            status.hosts.iter().map(|it| (it.address.to_string(), &*it.class, it.bytes, it.flows));
        let hosts: Vec<_> = hosts.collect();
        assert_eq!(hosts[0], ("10.0.0.1".to_string(), "rest", 3_100, 2));
        assert_eq!(hosts[1], ("10.0.0.2".to_string(), "rest", 700, 1));
        talkers.turn(Nanos(1_000_000_000));
        let status = talkers.status(&plan()).expect("another second");
        assert_eq!((status.bytes, status.flows.len(), status.hosts.len()), (0, 0, 0));
        talkers.add(&sent(0, 0, 100));
        talkers.turn(Nanos(1_000_000_000));
        let status = talkers.status(&plan()).expect("a third");
        assert_eq!(status.flow(&status.flows[0]), called(1, 7), "it is known still");
    }

    #[test]
    fn what_comes_back_belongs_to_its_destination() {
        let mut talkers = Talkers::new(Side::B);
        talkers.add(&arrived(0, 0, headers(1, 7)));
        talkers.add(&sent(0, 0, 100));
        talkers.turn(Nanos(1_000_000_000));
        let status = talkers.status(&plan()).expect("a second is over");
        assert_eq!(status.hosts[0].address, IpAddr::from([10, 0, 0, 99]));
    }

    /// A flow for each packet, beside one that sends a tenth of all bytes.
    #[test]
    fn a_flood_of_flows_hides_none_that_fills_the_link() {
        let mut talkers = Talkers::new(Side::A);
        talkers.add(&arrived(0, 0, headers(250, 7)));
        let mut all = 0;
        for flow in 0..100_000u32 {
            let [_, a, b, c] = flow.to_be_bytes();
            let mut stranger = headers(c, (flow % 60_000) as u16);
            stranger.ip.as_mut().expect("set above").source = IpAddr::from([172, a, b, c]);
            talkers.add(&arrived(1, flow, stranger));
            talkers.add(&sent(1, flow, 100));
            all += 100;
            if flow % 10 == 0 {
                talkers.add(&sent(0, 0, 100));
                all += 100;
            }
        }
        talkers.turn(Nanos(1_000_000_000));
        let status = talkers.status(&plan()).expect("a second is over");
        assert_eq!(status.bytes, all);
        assert!(status.missing_bytes <= 2 * all / EXACT as u64 && status.unknown_bytes == 0);
        let greatest = &status.hosts[0];
        assert_eq!(greatest.address, IpAddr::from([10, 0, 0, 250]));
        assert!(greatest.bytes + status.missing_bytes >= 1_000_000 && greatest.bytes <= 1_000_000);
        assert_eq!((status.hosts.len(), status.flows.len()), (MOST, MOST));
    }
}
