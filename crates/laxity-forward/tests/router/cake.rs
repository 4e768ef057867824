//! What CAKE does at routers: hosts share by their addresses, acknowledgements that later ones make
//! superfluous are dropped, and code points are cleared on the way out.

use std::path::Path;

use etherparse::{Ipv4HeaderSlice, PacketBuilder, TcpHeader};
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{Hop, LinkId};

use crate::network::{Flying, World};

const MS: u64 = 1_000_000;
/// From the host that sends to the first router.
const ACCESS: Hop = Hop { link: LinkId(0), backward: false };

/// Two routers behind a fast link; the second one sends to a host over a link of 8 Mbit/s, under
/// CAKE with these keys.
fn plan(keys: &str) -> Plan {
    let text = format!(
        "version = 1
link = {{ rate = '100mbit', max-packet = '1000b' }}
scheduler = {{ kind = 'fifo' }}
[class.all]
match = 'ip'
[class.rest]
[network]
access = {{ between = ['a', 'r1'] }}
core = {{ between = ['r1', 'r2'] }}
last = {{ between = ['r2', 'b'], rate = '8mbit', scheduler = {{ kind = 'cake', rtt = '1000s'{keys} }} }}
[[source]]
class = 'all'
model = 'constant'
rate = '1mbit'
packet = '125b'
path = ['a', 'r1', 'r2', 'b']
"
    );
    Plan::parse(&text, "plan.toml", Path::new("")).expect("a plan")
}

/// A datagram of 1000 bytes of a host, with this code point.
fn datagram(number: usize, host: u8, port: u16, dscp: u8) -> Flying {
    let ip = etherparse::Ipv4Header {
        source: [10, 0, 0, host],
        destination: [10, 9, 9, host],
        time_to_live: 8,
        dscp: dscp.try_into().expect("six bits"),
        ecn: 2.try_into().expect("two bits"),
        ..Default::default()
    };
    let mut bytes = Vec::new();
    let builder = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
    let builder = builder.ip(etherparse::IpHeaders::Ipv4(ip, Default::default()));
    builder.udp(port, 9).write(&mut bytes, &[0; 958]).expect("room in memory");
    Flying { number: Some(number), bytes }
}

/// What of the second host is sent over the last link, of all that is, while one with eight flows
/// and one with one send more than that takes.
fn share(mut world: World, reload: Option<&Plan>) -> f64 {
    for number in 0..600 {
        for (host, port) in [(1, 5_000 + number as u16 % 8), (2, 5_000)] {
            let flying = datagram(number * 2 + usize::from(host == 2), host, port, 0);
            world.put_in(ACCESS, Nanos(number as u64 * MS), flying);
        }
    }
    let begin = if let Some(plan) = reload {
        world.run(Nanos(200 * MS), || Nanos::ZERO);
        world.reload(plan, Nanos(200 * MS));
        world.fates.len()
    } else {
        0
    };
    world.run(Nanos(580 * MS), || Nanos::ZERO);
    let sent: Vec<_> =
        world.fates[begin..].iter().filter(|fate| fate.hop.link == LinkId(2)).collect();
    assert!(sent.len() > 370, "{}", sent.len());
    sent.iter().filter(|fate| fate.number % 2 == 1).count() as f64 / sent.len() as f64
}

#[test]
fn hosts_share_a_link_of_a_router() {
    let [hosts, flows] = ["dual-srchost", "flows"].map(|it| plan(&format!(", isolation = '{it}'")));
    let by_host = share(World::new(&hosts), None);
    assert!((by_host - 0.5).abs() < 0.02, "{by_host}");
    let by_flow = share(World::new(&flows), None);
    assert!((by_flow - 1.0 / 9.0).abs() < 0.02, "{by_flow}");
    // Flows that are known are introduced to the scheduler of another plan.
    let reloaded = share(World::new(&flows), Some(&hosts));
    assert!((reloaded - 0.5).abs() < 0.02, "{reloaded}");
}

#[test]
fn acknowledgements_are_filtered_where_they_wait() {
    let dropped = |filter: &str| {
        let mut world = World::new(&plan(&format!(", ack-filter = '{filter}'")));
        for number in 0..40 {
            let mut header = TcpHeader::new(80, 5_000, 7, 1_000);
            (header.ack, header.acknowledgment_number) = (true, 1_000 * number);
            let mut bytes = Vec::new();
            PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
                .ipv4([10, 0, 0, 1], [10, 9, 9, 9], 9)
                .tcp_header(header)
                .write(&mut bytes, &[])
                .expect("room in memory");
            let flying = Flying { number: Some(number as usize), bytes };
            world.put_in(ACCESS, Nanos(u64::from(number)), flying);
        }
        world.run(Nanos(100 * MS), || Nanos::ZERO);
        assert!(world.dropped.iter().all(|lost| lost.reason == DropReason::AckFilter));
        assert_eq!(world.dropped.len() + world.delivered.len(), 40);
        let last = world.delivered.last().and_then(|(_, flying)| flying.number);
        (world.dropped.len(), last)
    };
    assert_eq!(dropped("off"), (0, Some(39)));
    let (on, aggressive) = (dropped("on"), dropped("aggressive"));
    assert!(on.0 > 25 && aggressive.0 > on.0, "{on:?} {aggressive:?}");
    assert_eq!((on.1, aggressive.1), (Some(39), Some(39)));
}

/// The code point is there until the link that washes, and ECN stays behind it.
#[test]
fn code_points_are_cleared_on_the_way_out() {
    let field = |wash: bool| {
        let mut world = World::new(&plan(&format!(", wash = {wash}")));
        world.put_in(ACCESS, Nanos(0), datagram(0, 1, 5_000, 46));
        world.run(Nanos(100 * MS), || Nanos::ZERO);
        let (_, flying) = &world.delivered[0];
        let header = Ipv4HeaderSlice::from_slice(&flying.bytes[14..]).expect("whole").to_header();
        assert_eq!(header.header_checksum, header.calc_header_checksum());
        (header.dscp.value(), header.ecn.value())
    };
    assert_eq!(field(false), (46, 2));
    assert_eq!(field(true), (0, 2));
}
