//! What a plan does not know.

use std::path::Path;

use laxity::units::Nanos;
use laxity_forward::router::Router;
use laxity_forward::{Refusal, Settings};
use laxity_plan::Plan;
use laxity_plan::model::{Hop, LinkId, NodeId};

use crate::network::{Flying, World, datagram};

const RING: &str = "version = 1
link = { rate = '100mbit', max-packet = '700b', min-packet = '64b' }
scheduler = { kind = 'tdp', frame = '250us', frames = 8 }
[class.flow]
gap = '1ms'
match = 'udp dport 5000'
[class.rest]
[network]
h0 = { between = ['h0', 'r0'], private = true }
h1 = { between = ['h1', 'r1'], private = true }
h2 = { between = ['h2', 'r2'], private = true }
r0 = { between = ['r0', 'r1'] }
r1 = { between = ['r1', 'r2'] }
r2 = { between = ['r2', 'r0'] }
[[source]]
class = 'flow'
model = 'constant'
rate = '1mbit'
packet = '125b'
path = ['h0', 'r0', 'r1', 'r2', 'h2']
";

fn plan(text: &str) -> Plan {
    Plan::parse(text, "plan.toml", Path::new("")).expect("a plan")
}

const fn from_host(host: u32) -> Hop {
    Hop { link: LinkId(host), backward: false }
}

/// Where frames with these numbers came out, in the order in which they were put in.
fn delivered(world: &World) -> Vec<(usize, u32)> {
    let mut all: Vec<_> = world
        .delivered
        .iter()
        .filter_map(|(hop, flying)| Some((flying.number?, hop.link.0)))
        .collect();
    all.sort_unstable();
    all
}

fn addressed(number: usize, to: u8, from: u8) -> Flying {
    let mut flying = datagram(number, 9, 100);
    flying.bytes[..6].copy_from_slice(&[2, 0, 0, 0, 1, to]);
    flying.bytes[6..12].copy_from_slice(&[2, 0, 0, 0, 1, from]);
    flying
}

/// A question to all reaches all hosts once, however many circles there are, and the answer only
/// who asked.
#[test]
fn what_no_path_leads_finds_its_way() {
    let mut world = World::new(&plan(RING));
    let mut question = addressed(0, 0, 0);
    question.bytes[..6].fill(0xff);
    world.put_in(from_host(0), Nanos(1_000_000), question);
    world.put_in(from_host(2), Nanos(5_000_000), addressed(1, 0, 2));
    world.put_in(from_host(0), Nanos(9_000_000), addressed(2, 2, 0));
    world.run(Nanos(20_000_000), || Nanos::ZERO);
    assert_eq!(delivered(&world), [(0, 1), (0, 2), (1, 0), (2, 2)]);
    assert!(world.dropped.is_empty());
}

/// Packets of the reserved class that go another way than its path are best effort, and frames that
/// are not IP cannot be marked.
#[test]
fn a_reserved_class_has_frames_on_its_path_only() {
    let mut world = World::new(&plan(RING));
    let mut back = datagram(0, 5000, 125);
    back.bytes[..6].copy_from_slice(&[2, 0, 0, 0, 0, 9]);
    world.put_in(from_host(2), Nanos(1_000_000), back);
    world.put_in(from_host(0), Nanos(5_000_000), datagram(1, 5000, 125));
    world.run(Nanos(20_000_000), || Nanos::ZERO);
    let framed = |number| {
        let of_it = world.fates.iter().filter(move |fate| fate.number == number);
        of_it.filter(|fate| fate.sent.due.is_some()).count()
    };
    assert_eq!((framed(0), framed(1)), (0, 2));
    assert!(delivered(&world).contains(&(1, 2)));
}

/// A host cannot mark its own packets.
#[test]
fn a_mark_from_outside_is_taken_off() {
    use laxity_forward::router::marks;
    let mut world = World::new(&plan(RING));
    let mut marked = addressed(0, 7, 8);
    let mark = laxity::sched::tdp::Mark { odd_frame: true, odd_cycle: false };
    assert!(marks::write(&mut marked.bytes, Some(mark)));
    world.put_in(from_host(0), Nanos(1_000_000), marked);
    world.run(Nanos(20_000_000), || Nanos::ZERO);
    assert_eq!(delivered(&world), [(0, 1), (0, 2)]);
    assert!(world.delivered.iter().all(|(_, flying)| marks::packet_mark(&flying.bytes).is_none()));
}

#[test]
fn plans_that_no_router_can_follow_are_refused() {
    let refused = |text: &str, node: u32| {
        let plan = plan(text);
        let analysis = plan.network_plan().expect("a network").analysis();
        Router::new(&analysis, NodeId(node), Settings::default()).err().map(|why| why.to_string())
    };
    assert_eq!(refused(RING, 1), None);
    let says = |text: &str, what: &str| {
        let why = refused(text, 1).expect(what);
        assert!(why.contains(what), "{why}");
    };
    says(&RING.replace("match = 'udp dport 5000'\n", ""), "nothing tells its packets");
    says(&RING.replace("udp dport 5000", "dscp ef"), "matched by DSCP");
    says(&RING.replace("['h0', 'r0', 'r1',", "['r0', 'r1',"), "begins or ends at `r0`");
    let laps = RING.replace("'h0', 'r0', 'r1', 'r2', 'h2']", "'r0', 'r1', 'r2', 'r0']\nlaps = 2");
    says(&laps, "passes `r0` twice");
    let none = RING.replace("[class.rest]\n", "");
    let plan = plan(&none);
    let analysis = plan.network_plan().expect("a network").analysis();
    let why = Router::new(&analysis, NodeId(1), Settings::default()).err();
    assert_eq!(why, Some(Refusal::NoDefault));
}
