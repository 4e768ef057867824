//! Rings in which packets are held are what the simulator says they are.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::Path;

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_forward::router::agree;
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_plan::model::LinkId;
use laxity_search::Generator;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};

use crate::network::{Fate, World};
use crate::plans;
use crate::repeated::{DURATION, SentPacket, is_same, of_routers, of_simulator, put_in, simulated};

/// A ring of routers, hosts at each, some links regulated, and one discipline everywhere.
fn ring(draw: &mut Generator) -> Plan {
    let routers = draw.random_range(3..=5usize);
    // These hash flows with a seed of each output, which routers draw otherwise, and may drop
    // packets that waited for long.
    let hashes = |kind| matches!(kind, Kind::FqCodel | Kind::Cake);
    let is_alike = |kind: &&Kind| !kind.room().is_of_networks && !hashes(**kind);
    let others: Vec<_> = Kind::ALL.iter().filter(is_alike).collect();
    let kind = if draw.random() { &Kind::Fifo } else { others[draw.random_range(0..others.len())] };
    let kind = kind.word();
    let mut text = format!(
        "version = 1\nlink = {{ rate = '10mbit', max-packet = '700b', min-packet = '64b' }}\n\
         scheduler.kind = '{kind}'\n[network]\n"
    );
    for router in 0..routers {
        for (name, from, to) in [("r", "r", (router + 1) % routers), ("h", "h", router)] {
            let rate = draw.random_range(6_000..20_000u32);
            let delay = draw.random_range(1_000..400_000u32);
            let regulate = draw.random_range(0..3u32) > 0;
            let _ = writeln!(
                text,
                "{name}{router} = {{ between = ['{from}{router}', 'r{to}'], rate = '{rate}kbit', \
                 delay = '{delay}ns', regulate = {regulate} }}"
            );
        }
    }
    for class in 0..draw.random_range(3..=8usize) {
        let hops = draw.random_range(1..routers);
        let first = draw.random_range(0..routers);
        let mut path = vec![format!("h{first}")];
        path.extend((0..=hops).map(|hop| format!("r{}", (first + hop) % routers)));
        path.push(format!("h{}", (first + hops) % routers));
        let rate = draw.random_range(200..2_000u32);
        let _ = writeln!(text, "[class.c{class}]\nmatch = 'udp dport {}'", plans::port(class));
        if draw.random_range(0..4u32) > 0 {
            let bucket = draw.random_range(700..2_000u32);
            let _ = writeln!(text, "arrival = {{ bucket = '{bucket}b', rate = '{rate}kbit' }}");
            let _ = writeln!(text, "deadline = '{}us'", draw.random_range(1_000..20_000u32));
        }
        let load = rate * draw.random_range(50..150u32) / 100;
        let _ = writeln!(
            text,
            "[[source]]\nclass = 'c{class}'\nmodel = 'poisson'\nrate = '{load}kbit'\n\
             packet = {{ uniform = ['64b', '700b'] }}\npath = {path:?}"
        );
    }
    let text = text + "[class.rest]\n";
    Plan::parse(&text, "plan.toml", Path::new("")).expect("a plan")
}

/// How many packets came to an output later than to their router.
fn held(plan: &Plan, world: &World) -> usize {
    let network = plan.network.as_ref().expect("a network");
    let from_router = |fate: &&Fate| network.ends(fate.hop)[0].starts_with('r');
    let mut last = HashMap::new();
    let mut count = 0;
    for fate in world.fates.iter().filter(from_router) {
        let comes = fate.sent.departure + network.links[fate.hop.link.index()].delay;
        let before = last.insert(fate.number, comes);
        count += usize::from(before.is_some_and(|came| fate.sent.packet.arrival > came));
    }
    count
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// At every output of the routers the same packets come, start and end at the same nanoseconds.
    #[test]
    fn the_simulator_holds_the_same_packets(seed: u64) {
        let plan = ring(&mut Generator::seed_from_u64(seed));
        let records = simulated(&plan, seed);
        let mut world = World::new(&plan);
        put_in(&plan, &mut world, &records);
        world.run(DURATION, || Nanos::ZERO);
        let simulated = of_simulator(&plan, &records);
        let ties = |sent: &Vec<SentPacket>| {
            let mut arrivals: Vec<_> = sent.iter().map(|one| one.2).collect();
            arrivals.sort_unstable();
            arrivals.windows(2).any(|two| two[0] == two[1])
        };
        prop_assume!(!simulated.0.values().any(ties));
        is_same(&simulated, &of_routers(&plan, &world))?;
    }
}

/// What of each class passes each hop, in order.
type Passed = BTreeMap<(LinkId, bool, ClassId), Vec<usize>>;

/// Whatever plans are followed in turn, nothing is dropped or left, and this has passed.
fn passed(plan: &Plan, others: &[Plan], seed: u64) -> Passed {
    let mut world = World::new(plan);
    put_in(plan, &mut world, &simulated(plan, seed));
    let draw = &mut Generator::seed_from_u64(seed);
    let mut now = Nanos::ZERO;
    for other in others.iter().cycle().take(4 * others.len()) {
        now += Nanos(draw.random_range(0..10_000_000));
        world.run(now, || Nanos::ZERO);
        assert_eq!(agree(plan, other), Ok(()));
        world.reload(other, now);
    }
    world.run(Nanos(100 * DURATION.0), || Nanos::ZERO);
    assert_eq!((world.queued(), world.dropped.len()), (0, 0));
    let mut passed = Passed::new();
    for Fate { number, hop, sent } in world.fates {
        let key = (hop.link, hop.backward, sent.packet.class);
        passed.entry(key).or_default().push(number);
    }
    passed
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    /// Nothing that is held is lost or passed on the way to other disciplines and curves.
    #[test]
    fn all_that_is_held_goes_on_in_order(seed: u64) {
        let plan = ring(&mut Generator::seed_from_u64(seed));
        let mut other = plan.clone().under("wfq").expect("of any network");
        let arrivals = other.classes.iter_mut().filter_map(|class| class.arrival.as_mut());
        let buckets = arrivals.flat_map(|arrival| &mut arrival.buckets);
        buckets.for_each(|bucket| bucket.rate.0 *= 2);
        let changed = passed(&plan, &[other, plan.clone()], seed);
        prop_assert_eq!(passed(&plan, &[], seed), changed);
    }
}

/// The runs have in them what they are to try.
#[test]
fn the_runs_hold_packets() {
    let mut count = 0;
    for seed in 0..20 {
        let plan = ring(&mut Generator::seed_from_u64(seed));
        let mut world = World::new(&plan);
        put_in(&plan, &mut world, &simulated(&plan, seed));
        world.run(DURATION, || Nanos::ZERO);
        count += held(&plan, &world);
    }
    assert!(count > 200, "{count}");
}
