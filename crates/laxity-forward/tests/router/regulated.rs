//! Packets are held to the arrival curves of their classes.

use std::fmt::Write;
use std::path::Path;

use laxity::link::Link;
use laxity::scheduler::DropReason;
use laxity::units::{NANOBITS_PER_BYTE, Nanos, Rate};
use laxity_forward::router::{Differs, Router, agree};
use laxity_forward::{Refusal, Settings};
use laxity_plan::Plan;
use laxity_plan::model::{Hop, LinkId, NodeId};
use laxity_search::Generator;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};

use crate::network::{World, datagram};
use crate::plans;

fn plan(text: &str) -> Plan {
    Plan::parse(text, "plan.toml", Path::new("")).expect("a plan")
}

/// A host, a router, and a link behind it that is regulated. Hundred bytes of the class take 1 ms.
const PLAN: &str = "version = 1
link = { rate = '100mbit', max-packet = '700b', min-packet = '64b' }
scheduler.kind = 'fifo'
[class.flow]
arrival = { bucket = '200b', rate = '800kbit' }
match = 'udp dport 5000'
[class.bulk]
match = 'udp dport 5001'
[class.rest]
[network]
left = { between = ['a', 'r1'] }
other = { between = ['c', 'r1'] }
right = { between = ['r1', 'b'], regulate = true }
[[source]]
class = 'flow'
model = 'constant'
rate = '1mbit'
packet = '100b'
path = ['a', 'r1', 'b']
[[source]]
class = 'bulk'
model = 'constant'
rate = '1mbit'
packet = '100b'
path = ['a', 'r1', 'b']
";

const LEFT: Hop = Hop { link: LinkId(0), backward: false };
const OTHER: Hop = Hop { link: LinkId(1), backward: false };
const RIGHT: Hop = Hop { link: LinkId(2), backward: false };
const MS: u64 = 1_000_000;

fn on_time() -> Nanos {
    Nanos::ZERO
}

/// Sends `count` datagrams to a port, 20 µs apart and numbered from `first` on.
fn burst(world: &mut World, from: Hop, first: usize, port: u16, begin: u64, count: usize) {
    for number in 0..count {
        let comes = Nanos(begin + 20_000 * number as u64);
        world.put_in(from, comes, datagram(first + number, port, 100));
    }
}

/// When packets with these numbers joined the queue behind the router.
fn joined(world: &World, from: usize, to: usize) -> Vec<u64> {
    let of_them = world.fates.iter().filter(|fate| fate.hop == RIGHT);
    let of_them = of_them.filter(|fate| (from..to).contains(&fate.number));
    of_them.map(|fate| fate.sent.packet.arrival.0).collect()
}

#[test]
fn a_burst_is_spaced_by_the_curve_and_nothing_else_waits() {
    let mut world = World::new(&plan(PLAN));
    burst(&mut world, LEFT, 0, 5000, MS, 10);
    burst(&mut world, LEFT, 10, 5001, 2 * MS, 10);
    // The same class from elsewhere.
    burst(&mut world, OTHER, 20, 5000, 3 * MS, 10);
    world.run(Nanos(4 * MS + 1), on_time);
    assert_eq!(world.queued(), 5);
    world.run(Nanos(20 * MS), on_time);
    let spaced = [&[MS, MS + 20_000], &[2, 3, 4, 5, 6, 7, 8, 9].map(|at| at * MS)[..]].concat();
    assert_eq!(joined(&world, 0, 10), spaced);
    let numbers = world.fates.iter().filter(|fate| fate.hop == RIGHT).map(|fate| fate.number);
    assert!(numbers.filter(|number| *number < 10).is_sorted());
    for (first, begin) in [(10, 2 * MS), (20, 3 * MS)] {
        let as_they_came: Vec<_> = (0..10).map(|number| begin + 20_000 * number).collect();
        assert_eq!(joined(&world, first, first + 10), as_they_came);
    }
    assert_eq!((world.queued(), world.dropped.len()), (0, 0));
}

#[test]
fn best_effort_is_not_held() {
    let plan = plan(
        &PLAN.replace("match = 'udp dport 5000'", "match = 'udp dport 5000'\npolice = 'demote'"),
    );
    let mut world = World::new(&plan);
    burst(&mut world, LEFT, 0, 5000, MS, 10);
    world.run(Nanos(20 * MS), on_time);
    assert_eq!(
        joined(&world, 0, 10),
        (0..10).map(|number| MS + 20_000 * number).collect::<Vec<_>>()
    );
}

#[test]
fn what_is_held_counts_as_queued() {
    let mut settings = Settings::default();
    settings.backlog.packets = 4;
    let mut world = World::with(&plan(PLAN), settings);
    burst(&mut world, LEFT, 0, 5000, MS, 10);
    world.run(Nanos(2 * MS), on_time);
    assert_eq!(world.queued(), 4);
    let reasons: Vec<_> = world.dropped.iter().map(|lost| lost.reason).collect();
    assert_eq!(reasons, [DropReason::QueueFull; 4]);
    world.run(Nanos(20 * MS), on_time);
    assert_eq!((joined(&world, 0, 10).len(), world.queued()), (6, 0));
}

#[test]
fn another_plan_keeps_what_is_held_and_is_followed_by_what_comes() {
    let other = PLAN.replace("'200b', rate = '800kbit'", "'100b', rate = '1600kbit'");
    let other = plan(&other.replace("'fifo'", "'wfq'"));
    let mut world = World::new(&plan(PLAN));
    burst(&mut world, LEFT, 0, 5000, MS, 10);
    burst(&mut world, LEFT, 10, 5000, 4 * MS, 4);
    world.run(Nanos(2 * MS + MS / 2), on_time);
    assert_eq!(agree(&plan(PLAN), &other), Ok(()));
    world.reload(&other, Nanos(2 * MS + MS / 2));
    world.run(Nanos(20 * MS), on_time);
    let kept = [&[MS, MS + 20_000], &[2, 3, 4, 5, 6, 7, 8, 9].map(|at| at * MS)[..]].concat();
    assert_eq!(joined(&world, 0, 10), kept);
    assert_eq!(joined(&world, 10, 14), [18, 19, 20, 21].map(|half| half * MS / 2));
    assert_eq!((world.queued(), world.dropped.len()), (0, 0));
}

#[test]
fn where_packets_are_held_changes_at_all_routers_at_once() {
    let differs = |from: &str, to: &str| {
        assert!(PLAN.contains(from), "{from}");
        agree(&plan(PLAN), &plan(&PLAN.replace(from, to)))
    };
    let flow = || Err(Differs::Regulated("flow".into()));
    assert_eq!(differs("regulate = true", "regulate = false"), flow());
    assert_eq!(differs("arrival = { bucket = '200b', rate = '800kbit' }\n", ""), flow());
    assert_eq!(differs("800kbit", "900kbit"), Ok(()));
    assert_eq!(differs("'c', 'r1']", "'c', 'r1'], regulate = true"), Ok(()), "nobody goes there");
}

#[test]
fn who_is_best_effort_is_known_where_packets_are_held() {
    let further = PLAN
        .replace(
            "'r1', 'b'], regulate = true }",
            "'r1', 'r2'] }\nlast = { between = ['r2', 'b'], regulate = true }",
        )
        .replace("['a', 'r1', 'b']", "['a', 'r1', 'r2', 'b']");
    let routed = |police: &str| {
        let plan =
            plan(&further.replace("[class.bulk]", &format!("police = '{police}'\n[class.bulk]")));
        let analysis = plan.network_plan().expect("a network").analysis();
        let names = analysis.network.nodes.iter().map(|node| node.name.clone());
        let nodes = (0..).map(NodeId).zip(names).filter(|(_, name)| name.starts_with('r'));
        let router = |node| Router::new(&analysis, node, Settings::default()).err();
        nodes.map(|(node, _)| router(node)).collect::<Vec<_>>()
    };
    assert_eq!((routed("count"), routed("drop")), (vec![None, None], vec![None, None]));
    let refused = Refusal::Demoted { class: "flow".into(), node: "r2".into() };
    assert_eq!(routed("demote"), [None, Some(refused)]);
}

/// Bucket and rate of a class, if it has a curve.
type Curve = Option<(u64, u64)>;

/// One router between two hosts and a third; classes alternate between the two.
fn star(curves: &[Curve]) -> Plan {
    let mut text = String::from(
        "version = 1\nlink = { rate = '50mbit', max-packet = '700b', min-packet = '64b' }\n\
         scheduler.kind = 'fifo'\n[network]\n\
         left = { between = ['a', 'r1'] }\nother = { between = ['c', 'r1'] }\n\
         right = { between = ['r1', 'b'], regulate = true }\n",
    );
    for (class, curve) in curves.iter().enumerate() {
        let arrival = curve.map(|(bucket, rate)| {
            format!("arrival = {{ bucket = '{bucket}b', rate = '{rate}bit' }}\n")
        });
        let _ = writeln!(
            text,
            "[class.c{class}]\nmatch = 'udp dport {}'\n{}\
             [[source]]\nclass = 'c{class}'\nmodel = 'constant'\nrate = '1mbit'\npacket = '100b'\n\
             path = ['{}', 'r1', 'b']",
            plans::port(class),
            arrival.unwrap_or_default(),
            ["a", "c"][class % 2],
        );
    }
    plan(&(text + "[class.rest]\n"))
}

/// Release times by definition, in nanoseconds and by number. Each is the earliest time, from the
/// arrival on and in order, at which the packets of the class still conform to its curve.
fn releases(curves: &[Curve], came: &[(usize, u64, u32)]) -> Vec<u64> {
    let mut times: Vec<u64> = Vec::new();
    for (number, &(class, arrival, length)) in came.iter().enumerate() {
        let (mut time, mut bytes) = (arrival, u64::from(length));
        if let Some((bucket, rate)) = curves[class] {
            for before in (0..number).rev().filter(|before| came[*before].0 == class) {
                bytes += u64::from(came[before].2);
                let more = u128::from(bytes.saturating_sub(bucket)) * u128::from(NANOBITS_PER_BYTE);
                time = time.max(times[before] + more.div_ceil(rate.into()) as u64);
            }
        }
        times.push(time);
    }
    times
}

fn curve() -> impl Strategy<Value = Curve> {
    prop::option::weighted(0.8, (700u64..2_000, 500_000u64..50_000_000))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Every packet joins the queue behind its regulator when the definition says, in that order,
    /// however late the caller is, and leaves as the link allows if nobody is.
    #[test]
    fn packets_join_as_the_definition_says(
        curves in prop::collection::vec(curve(), 1..6),
        frames in prop::collection::vec(
            (0usize..6, prop_oneof![Just(0u64), 0..3u64, 0..400_000u64], 64..=700u32), 1..150,
        ),
        lateness in prop_oneof![Just(0u64), Just(1_000), Just(2_000_000)],
        seed: u64,
    ) {
        let mut world = World::new(&star(&curves));
        let (mut now, mut came) = (MS, Vec::new());
        for (number, (class, gap, length)) in frames.into_iter().enumerate() {
            now += gap;
            let class = class % curves.len();
            let from = [LEFT, OTHER][class % 2];
            world.put_in(from, Nanos(now), datagram(number, plans::port(class), length));
            came.push((class, now, length));
        }
        let draw = &mut Generator::seed_from_u64(seed);
        world.run(Nanos::MAX, || Nanos(draw.random_range(0..=lateness)));
        let mut expected: Vec<_> = releases(&curves, &came).into_iter().zip(0..).collect();
        expected.sort_unstable();
        let joined: Vec<_> =
            world.fates.iter().map(|fate| (fate.sent.packet.arrival.0, fate.number)).collect();
        prop_assert_eq!(&joined, &expected);
        prop_assert_eq!((world.queued(), world.dropped.len()), (0, 0));
        let mut line = Link::new(Rate(50_000_000));
        for fate in &world.fates {
            let sent = &fate.sent;
            prop_assert!(sent.start >= sent.packet.arrival);
            if lateness == 0 {
                let start = sent.packet.arrival.max(line.free_at());
                let departure = line.transmit(start, sent.packet.length);
                prop_assert_eq!((sent.start, sent.departure), (start, departure));
            }
        }
    }
}
