//! Routers follow another plan while packets are queued.

use std::path::Path;

use laxity::units::Nanos;
use laxity_forward::router::{Differs, agree};
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_plan::model::{BestEffortOrder, SchedulerSpec};
use laxity_search::Generator;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};

use crate::network::World;
use crate::plans;
use crate::repeated::{DURATION, put_in, simulated};

const END: Nanos = Nanos(DURATION.0 + 40_000_000);

/// What comes of a plan's traffic while plans are followed in turn, at random times, by a caller
/// who is on time.
fn run(first: &Plan, others: &[Plan], seed: u64) -> World {
    let mut world = World::new(first);
    put_in(first, &mut world, &simulated(first, seed));
    let draw = &mut Generator::seed_from_u64(seed);
    let mut now = Nanos::ZERO;
    for plan in others.iter().cycle().take(12 * others.len()) {
        now += Nanos(draw.random_range(0..5_000_000));
        world.run(now, || Nanos::ZERO);
        world.reload(plan, now);
    }
    world.run(END, || Nanos::ZERO);
    world
}

/// The hops and frames of packets that were sent in frames.
fn framed(world: &World) -> Vec<(usize, u32, u64)> {
    let of = |fate: &crate::network::Fate| {
        assert!(!fate.sent.is_late(), "{fate:?}");
        Some((fate.number, fate.hop.link.0, fate.sent.frame?))
    };
    let mut all: Vec<_> = world.fates.iter().filter_map(of).collect();
    all.sort_unstable();
    all
}

/// The same with best effort in another order.
fn reordered(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    if let SchedulerSpec::Tdp(spec) = &mut plan.scheduler {
        spec.order = match spec.order {
            BestEffortOrder::Fifo => BestEffortOrder::Wfq,
            BestEffortOrder::Wfq | BestEffortOrder::Cake => BestEffortOrder::Fifo,
        };
    }
    plan
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Packets keep their frames, all of them, and best effort is not lost.
    #[test]
    fn frames_are_kept(seed: u64) {
        let plan = plans::draw(&mut Generator::seed_from_u64(seed));
        let other = reordered(&plan);
        prop_assert_eq!(agree(&plan, &other), Ok(()));
        let (alone, changed) = (run(&plan, &[], seed), run(&plan, &[other, plan.clone()], seed));
        prop_assert_eq!(framed(&alone), framed(&changed));
        prop_assert_eq!((alone.dropped.len(), changed.dropped.len()), (0, 0));
        prop_assert_eq!((alone.queued(), changed.queued()), (0, 0));
        prop_assert_eq!(changed.delivered.len(), alone.delivered.len());
    }

    /// Nothing that is queued is lost on the way from one discipline to another, whatever the new
    /// limits are.
    #[test]
    fn nothing_is_lost_between_disciplines(seed: u64) {
        let plan = plans::draw(&mut Generator::seed_from_u64(seed));
        let [fifo, wfq] = ["fifo", "wfq"].map(|kind| plan.clone().under(kind).expect("of any network"));
        prop_assert_eq!(agree(&fifo, &wfq), Ok(()));
        let (alone, changed) = (run(&fifo, &[], seed), run(&fifo, &[wfq, fifo.clone()], seed));
        prop_assert_eq!((changed.dropped.len(), changed.queued()), (0, 0));
        prop_assert_eq!(changed.delivered.len(), alone.delivered.len());
        prop_assert!(changed.fates.iter().map(|fate| fate.sent.packet.arrival).max() > Some(Nanos::ZERO));
    }
}

const PLAN: &str = "version = 1
link = { rate = '100mbit', max-packet = '700b', min-packet = '64b' }
scheduler = { kind = 'tdp', frame = '250us', frames = 8 }
[class.flow]
gap = '1ms'
arrival = { bucket = '125b', rate = '1mbit', packet = '125b' }
match = 'udp dport 5000'
[class.rest]
[network]
left = { between = ['a', 'r1'], private = true }
core = { between = ['r1', 'r2'] }
right = { between = ['r2', 'b'], private = true }
[[source]]
class = 'flow'
model = 'constant'
rate = '1mbit'
packet = '125b'
path = ['a', 'r1', 'r2', 'b']
";

#[test]
fn what_all_routers_change_at_once_is_not_for_one() {
    let plan =
        |text: &str| Plan::parse_for(text, "plan.toml", Path::new(""), Kind::ALL).expect("a plan");
    let differs = |from: &str, to: &str| {
        assert!(PLAN.contains(from), "{from}");
        agree(&plan(PLAN), &plan(&PLAN.replace(from, to)))
    };
    let flow = || "flow".to_string();
    for (from, to) in [
        ("match", "police = 'drop'\nmatch"),
        ("[class.rest]", "[class.rest]\nqueue = { kind = 'droptail', limit = 9 }"),
        ("version = 1", "version = 1\ntitle = 'another'"),
        ("frames = 8", "frames = 8, late = 'drop', best-effort-order = 'fifo'"),
        ("model = 'constant'\nrate = '1mbit'", "model = 'constant'\nrate = '2mbit'"),
    ] {
        assert_eq!(differs(from, to), Ok(()), "{to}");
    }
    for (from, to, why) in [
        ("100mbit", "200mbit", Differs::Link),
        ("right = {", "right = { delay = '1us',", Differs::Network),
        ("core = {", "core = { rate = '50mbit',", Differs::Network),
        ("class.rest", "class.others", Differs::Classes),
        ("frames = 8", "frames = 16", Differs::Frames),
        ("kind = 'tdp', frame = '250us', frames = 8", "kind = 'fifo'", Differs::Frames),
        ("dport 5000", "dport 5001", Differs::Match(flow())),
        ("gap = '1ms'", "gap = '2ms'", Differs::Reserved(flow())),
        ("'r2', 'b']\n", "'r2']\n", Differs::Path(flow())),
    ] {
        assert_eq!(differs(from, to), Err(why), "{to}");
    }
    let under = |kind: &str| plan(&PLAN.replace("kind = 'tdp', frame = '250us', frames = 8", kind));
    let [fifo, wfq, drr] = ["kind = 'fifo'", "kind = 'wfq'", "kind = 'drr'"].map(under);
    assert_eq!((agree(&fifo, &wfq), agree(&wfq, &drr)), (Ok(()), Ok(())));
}
