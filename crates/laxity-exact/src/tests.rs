use laxity::admit::tdp::{Hop, OutputId};
use laxity::units::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

use super::*;

/// A flow that loops so often over these routers; the output from router a to router b has number
/// 4 a + b, counted from zero.
fn looping(routers: &[u32], loops: usize, delay: u32, packet: Bytes) -> Flow {
    let next = |place: usize| routers[(place + 1) % routers.len()] - 1;
    let hop = |place: usize| {
        let output = 4 * (routers[place] - 1) + next(place);
        Hop { output: OutputId(output), delay, spare: 0, propagation: 0 }
    };
    let path = (0..loops * routers.len()).map(|hops| hop(hops % routers.len())).collect();
    Flow { path, packets: 12, packet }
}

/// The experiment of Baldi et al. (2006), section IV.B: in both scenarios the flows that are placed
/// fill the ring, so that one of them has to go for each that comes.
#[test]
fn one_flow_too_many_is_left_out() {
    let routers: [&[u32]; 5] = [&[1, 2, 3, 4], &[1, 2, 3], &[2, 3, 4], &[3, 4, 1], &[4, 1, 2]];
    for (loops, delay, packet) in [([5; 5], 3, Bytes(1040)), ([5, 10, 15, 10, 15], 4, Bytes(520))] {
        for more in 0..5 {
            let flow = |at: usize| looping(routers[at], loops[at], delay, packet);
            let flows: Vec<Flow> = (0..5).chain([more]).map(flow).collect();
            let ledger = Ledger::new(60, &[Bytes(3125); 16]);
            let found = assign(&ledger, &flows, 100_000);
            assert!(found.is_optimal());
            assert_eq!(found.placed(), 5);
            check(&ledger, &flows, &found);
        }
    }
}

/// Flows over up to four outputs of a ring of ten, which is too small for all of them.
fn ring(seed: u64, flows: usize, spare: u32) -> Vec<Flow> {
    let mut random = Pcg32::new(seed, 2);
    let mut below = |bound: u32| random.next_u32() % bound;
    let mut flow = |_| {
        let (from, hops) = (below(RING), 1 + below(4));
        let hop = |at| Hop {
            output: OutputId((from + at) % RING),
            delay: 2 + at % 2,
            spare,
            propagation: 0,
        };
        let path = (0..hops).map(hop).collect();
        let packets = 1 + below(4);
        Flow { path, packets, packet: Bytes(u64::from(300 + 400 * below(4))) }
    };
    (0..flows).map(&mut flow).collect()
}

const RING: u32 = 10;

#[test]
fn rings_are_filled_and_proved_to_be_full() {
    let (mut better, mut lower) = (0, 0);
    for (seed, spare) in [(1, 0), (2, 0), (3, 0), (4, 0), (2, 2)] {
        let flows = ring(seed, 40, spare);
        let ledger = Ledger::new(20, &[Bytes(1500); RING as usize]);
        let quick = assign(&ledger, &flows, 0);
        let found = assign(&ledger, &flows, 200_000);
        check(&ledger, &flows, &found);
        assert!(found.is_optimal());
        assert_eq!(found.left_out().count(), flows.len() - found.placed());
        assert!(found.left_out().all(|flow| found.reservations[flow].is_none()));
        better += found.placed() - quick.placed();
        lower += quick.most - found.most;
    }
    assert!(better > 0 && lower > 0);
}

#[test]
fn the_solver_stops_when_its_effort_is_spent() {
    let (flows, ledger) = (ring(1, 40, 0), Ledger::new(20, &[Bytes(1500); RING as usize]));
    let most = assign(&ledger, &flows, 200_000).most;
    for wanted in [most, most + 1] {
        let mut effort = 100;
        assert!(matches!(model::place(&ledger, &flows, wanted, &mut effort), Answer::Unknown));
        assert_eq!(effort, 0);
    }
    let mut effort = 200_000;
    let answer = model::place(&ledger, &flows, most + 1, &mut effort);
    assert!(matches!(answer, Answer::Impossible));
    assert!(effort > 0);
}

/// What is placed keeps to the flows' delays and has room beside what was reserved.
fn check(ledger: &Ledger, flows: &[Flow], found: &Assignment) {
    let period = ledger.period();
    assert_eq!(found.reservations.len(), flows.len());
    let placed = flows.iter().zip(&found.reservations);
    let placed = placed.filter_map(|(flow, one)| Some((flow, one.as_ref()?)));
    let mut ledger = ledger.clone();
    assert_eq!(ledger.verify(placed.clone()), Ok(()));
    for (flow, one) in placed {
        assert_eq!(ledger.reserve_as(flow, one), Ok(()));
        assert!(one.slots.start < period);
        assert_eq!((one.slots.packets, one.slots.period), (flow.packets, period));
        for (hop, delay) in flow.path.iter().zip(&one.delays).skip(1) {
            assert!((hop.delay..=hop.delay + hop.spare).contains(delay));
        }
    }
}

/// The greatest number of flows that can be placed, by trying all choices of all flows.
fn most(ledger: &mut Ledger, period: u32, flows: &[Flow]) -> usize {
    let Some((flow, others)) = flows.split_first() else { return 0 };
    let mut best = most(ledger, period, others);
    for choice in choices(flow, period) {
        if best == flows.len() {
            break;
        }
        if ledger.reserve_as(flow, &choice).is_ok() {
            best = best.max(1 + most(ledger, period, others));
            ledger.release(flow, &choice);
        }
    }
    best
}

fn choices(flow: &Flow, period: u32) -> Vec<Reservation> {
    let mut delays = vec![vec![0]];
    for hop in &flow.path[1..] {
        let with = |delay| delays.iter().map(move |before| [&before[..], &[delay]].concat());
        delays = (hop.delay..=hop.delay + hop.spare).flat_map(with).collect();
    }
    let slots = |start| laxity::sched::tdp::Slots { start, packets: flow.packets, period };
    let from = |start| delays.iter().map(move |delays| (slots(start), delays.clone()));
    (0..period).flat_map(from).map(|(slots, delays)| Reservation { slots, delays }).collect()
}

/// A ledger in which nothing is reserved, or something, and flows that ask for frames.
fn networks() -> impl Strategy<Value = (Ledger, Vec<Flow>)> {
    (1..6u32, 1..4u32).prop_flat_map(|(period, outputs)| {
        let hop = (0..outputs, 0..3u32, prop_oneof![3 => Just(0), 1 => 0..3u32], 0..2u32);
        let hop = hop.prop_map(|(output, delay, spare, propagation)| Hop {
            output: OutputId(output),
            delay,
            spare,
            propagation,
        });
        let flow = (vec(hop, 1..4), 1..7u32, 1..12u64);
        let flow =
            flow.prop_map(|(path, packets, packet)| Flow { path, packets, packet: Bytes(packet) });
        let capacities = vec((4..40u64).prop_map(Bytes), outputs as usize);
        let twice = vec(flow, 1..5).prop_map(|mut flows| {
            flows.extend(flows.clone().into_iter().take(1));
            flows
        });
        (capacities, twice, 0..3usize).prop_map(move |(capacities, mut flows, held)| {
            let mut ledger = Ledger::new(period, &capacities);
            let held = flows.split_off(flows.len() - held.min(flows.len() - 1));
            for flow in &held {
                let _: laxity::admit::tdp::Answer = ledger.reserve(flow);
            }
            (ledger, flows)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_search_of_all_choices_finds_more((ledger, flows) in networks()) {
        let found = assign(&ledger, &flows, 1_000_000);
        check(&ledger, &flows, &found);
        prop_assert!(found.is_optimal());
        let most = most(&mut ledger.clone(), ledger.period(), &flows);
        prop_assert_eq!(found.placed(), most);
        // The solver is right where it was not needed, too.
        match model::place(&ledger, &flows, most, &mut 1_000_000) {
            Answer::Placed(reservations) => {
                let found = Assignment { reservations, most };
                check(&ledger, &flows, &found);
                prop_assert!(found.is_optimal());
            }
            _ => prop_assert!(false, "{most} can be placed"),
        }
        if most < flows.len() {
            let more = model::place(&ledger, &flows, most + 1, &mut 1_000_000);
            prop_assert!(matches!(more, Answer::Impossible));
        }
        // With less effort, what is said is still true, and said again.
        for effort in [0, 10, 40] {
            let hasty = assign(&ledger, &flows, effort);
            check(&ledger, &flows, &hasty);
            prop_assert!(hasty.placed() <= most && most <= hasty.most);
            prop_assert_eq!(assign(&ledger, &flows, effort), hasty);
        }
    }
}
