//! Routers whose callers are late now and then. Packets that are never late keep their jitter.

use std::collections::HashMap;

use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;
use laxity_search::Generator;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};

use crate::network::World;
use crate::plans;
use crate::repeated::{DURATION, put_in, simulated};

/// A packet from its first output with frames to its last.
#[derive(Clone, Copy, Default)]
struct Trip {
    class: usize,
    arrival: Nanos,
    first: Nanos,
    last: Nanos,
    hops: usize,
    /// Whether it was sent after its frame, or had none.
    is_disturbed: bool,
}

fn trips(plan: &Plan, world: &World) -> Vec<Trip> {
    let network = plan.network.as_ref().expect("a network");
    let mut trips: HashMap<usize, Trip> = HashMap::new();
    for fate in &world.fates {
        let class = fate.sent.packet.class.index();
        if network.links[fate.hop.link.index()].private || !plan.classes[class].wants_frames() {
            continue;
        }
        let trip = trips.entry(fate.number).or_insert(Trip {
            class,
            arrival: fate.sent.packet.arrival,
            first: fate.sent.start,
            ..Trip::default()
        });
        trip.last = fate.sent.departure;
        trip.hops += 1;
        trip.is_disturbed |= fate.sent.due.is_none() || fate.sent.is_late();
    }
    let paths = plan.class_paths();
    let is_whole = |trip: &Trip| trip.hops + 2 == paths[trip.class].len();
    trips.into_values().filter(is_whole).collect()
}

/// How late a caller is that is stalled now and then, for up to so long.
fn stalls(draw: &mut Generator, often: u32, longest: u64) -> impl FnMut() -> Nanos {
    let mut draw = draw.clone();
    move || match draw.random_range(0..often) {
        0 => Nanos(draw.random_range(0..longest)),
        _ => Nanos(draw.random_range(0..10_000)),
    }
}

struct Run {
    plan: Plan,
    world: World,
}

fn run(seed: u64) -> Run {
    let draw = &mut Generator::seed_from_u64(seed);
    let plan = plans::draw(draw);
    let records = simulated(&plan, seed);
    let mut world = World::new(&plan);
    put_in(&plan, &mut world, &records);
    let (often, longest) =
        [(20, 100_000), (300, 3_000_000), (2_000, 20_000_000)][draw.random_range(0..3usize)];
    world.run(DURATION + Nanos(40_000_000), stalls(draw, often, longest));
    Run { plan, world }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Jitter below two frames, and the bound, for all that were in their frames, without
    /// exception.
    #[test]
    fn packets_that_meet_no_skipped_frame_have_their_jitter_and_bound(seed: u64) {
        let Run { plan, world } = run(seed);
        let SchedulerSpec::Tdp(spec) = plan.scheduler else { panic!("frames") };
        let analysis = plan.network_plan().expect("a network").analysis();
        let bounds = analysis.framing.as_ref().expect("frames").bounds();
        let mut times: HashMap<usize, (Nanos, Nanos)> = HashMap::new();
        for trip in trips(&plan, &world).iter().filter(|trip| !trip.is_disturbed) {
            let takes = trip.last - trip.first;
            let (least, most) = times.entry(trip.class).or_insert((takes, takes));
            (*least, *most) = (takes.min(*least), takes.max(*most));
            prop_assert!(*most - *least < Nanos(2 * spec.time.frame.0), "{} {}", most, least);
            let id = laxity::packet::ClassId(trip.class as u32);
            let bound = bounds[&id].as_ref().expect("admitted");
            let most = bound.shaping + bound.transit;
            prop_assert!(trip.last - trip.arrival <= most, "{} of {}", trip.last - trip.arrival, most);
        }
    }

    /// Where late packets are sent, none that keeps to its contract is lost, unless as best effort
    /// it finds no room for a super cycle.
    #[test]
    fn nothing_is_lost_for_being_late(seed: u64) {
        let Run { plan, world } = run(seed);
        let SchedulerSpec::Tdp(spec) = plan.scheduler else { panic!("frames") };
        let super_cycle = Nanos(spec.time.frame.0 * u64::from(spec.period()));
        for lost in &world.dropped {
            let is_reserved = plan.classes[lost.packet.class.index()].wants_frames();
            let waited = lost.at - lost.packet.arrival;
            let is_sent = spec.late == laxity::sched::Late::Send;
            prop_assert!(!is_reserved || !is_sent || waited >= super_cycle, "{lost:?}");
        }
    }
}

/// Most packets are in their frames, some are not, and frames are skipped.
#[test]
fn the_runs_are_late_enough() {
    let (mut kept, mut disturbed, mut skipped) = (0, 0, 0);
    for seed in 0..40 {
        let Run { plan, world } = run(seed);
        for trip in trips(&plan, &world) {
            *(if trip.is_disturbed { &mut disturbed } else { &mut kept }) += 1;
        }
        skipped += world.skipped;
    }
    assert!(kept > 2_000 && disturbed > 100 && skipped > 100, "{kept} {disturbed} {skipped}");
}
