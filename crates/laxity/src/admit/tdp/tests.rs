mod choices;

use std::collections::{BTreeMap, BTreeSet};
use std::string::ToString;
use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

use super::*;
use crate::sched::tdp::capacity;

/// The testbed (section IV.A).
const TIME: CommonTime = CommonTime { frame: Nanos(250_000), frames: 60, cycles: 67 };
const LINK: Rate = Rate(100_000_000);

/// A flow that loops so often over these routers, back to the first one; the output from router a
/// to router b has number 4 a + b, counted from zero.
fn looping(routers: &[u32], loops: usize, delay: u32, packet: Bytes) -> Flow {
    let next = |place: usize| routers[(place + 1) % routers.len()] - 1;
    let hop = |place: usize| {
        let output = 4 * (routers[place] - 1) + next(place);
        Hop { output: OutputId(output), delay, spare: 0, propagation: 0 }
    };
    let path = (0..loops * routers.len()).map(|hops| hop(hops % routers.len())).collect();
    let packets = 12;
    Flow { path, packets, packet }
}

/// The five flows with their numbers of loops.
fn testbed(loops: [usize; 5], delay: u32, packet: Bytes) -> Vec<Flow> {
    let routers: [&[u32]; 5] = [&[1, 2, 3, 4], &[1, 2, 3], &[2, 3, 4], &[3, 4, 1], &[4, 1, 2]];
    routers
        .iter()
        .zip(loops)
        .map(|(routers, loops)| looping(routers, loops, delay, packet))
        .collect()
}

/// Section IV.B: both scenarios fill the links of the ring, with 20 bytes for preamble and gap on
/// top of Ethernet's 1020 and 500 bytes: each of their frames has room for three packets or six and
/// gets them. A flow sends 800 packets a second, one in every fifth frame.
#[test]
fn both_scenarios_of_the_experiment_fit() {
    for (loops, delay, packet, ring, diagonals) in
        [([5; 5], 3, Bytes(1040), 3, [1, 1]), ([5, 10, 15, 10, 15], 4, Bytes(520), 6, [2, 3])]
    {
        let flows = testbed(loops, delay, packet);
        let room = capacity(LINK, &TIME, Nanos::ZERO);
        assert_eq!(room, Bytes(3125));
        let mut ledger = Ledger::new(TIME.frames, &[room; 16]);
        let answers = ledger.reserve_all(&flows);
        let reservations: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
        assert_eq!(ledger.verify(flows.iter().zip(&reservations)), Ok(()));
        for frame in 0..60 {
            for (output, packets) in [(1, ring), (6, ring), (11, ring), (12, ring)] {
                let reserved = ledger.reserved(OutputId(output), frame);
                assert_eq!(reserved, Bytes(packets * packet.0));
            }
        }
        // R1 and R3 exchange flows that loop over three routers, as do R2 and R4.
        for (output, packets) in
            [(8, diagonals[0]), (2, diagonals[0]), (13, diagonals[1]), (7, diagonals[1])]
        {
            assert_eq!(ledger.reserved(OutputId(output), 0), Bytes(packets * packet.0));
        }
        // A sixth flow of the kind does not.
        let answer = ledger.reserve(&flows[0]).unwrap_err();
        assert!(answer.full.iter().all(|full| full.reserved == Bytes(ring * packet.0)));
        let outputs: BTreeSet<_> = answer.full.iter().map(|full| full.output).collect();
        assert_eq!(outputs, BTreeSet::from([OutputId(1)]));
        assert_eq!(answer.full.len(), 5);
        assert!(answer.certain);
        assert_eq!(answer.to_string(), "5 frames are full that it cannot do without");
    }
}

#[test]
fn a_flow_of_the_experiment_is_promised_its_forwarding_delays() {
    let flow = &testbed([5; 5], 3, Bytes(1040))[0];
    let slots = Slots { start: 2, packets: 12, period: 60 };
    let mut reservation = Reservation { slots, delays: vec![3; 20] };
    let bounds = flow.bounds(&TIME, &reservation);
    assert_eq!(flow.frames(&reservation), 57);
    assert_eq!(bounds.transit, Nanos(58 * 250_000));
    assert_eq!(bounds.shaping, Nanos(6 * 250_000));
    assert_eq!(bounds.jitter, Nanos(500_000));
    reservation.delays[0] = 9;
    reservation.delays[7] = 5;
    let later = flow.bounds(&TIME, &reservation);
    assert_eq!(later, Bounds { transit: Nanos(60 * 250_000), ..bounds });
    assert_eq!(Flow::packets_for(Rate(3_200_000), Bytes(500), &TIME, 60), 12);
    assert_eq!(Flow::packets_for(Rate(6_400_000), Bytes(1020), &TIME, 60), 12);
    assert_eq!(Flow::packets_for(Rate(1), Bytes(1020), &TIME, 60), 1);
}

/// A thousand flows over the outputs of fifty nodes, each at a random start.
fn thousand() -> Vec<(Flow, Reservation)> {
    let mut random = Pcg32::new(1, 1);
    let mut below = |bound: u32| random.next_u32() % bound;
    let mut one = |_| {
        let hop = |below: &mut dyn FnMut(u32) -> u32| {
            let output = below(OUTPUTS);
            Hop { output: OutputId(output), delay: 1 + below(4), spare: 0, propagation: below(3) }
        };
        let hops = 2 + below(7);
        let path: Vec<_> = (0..hops).map(|_| hop(&mut below)).collect();
        let packets = [1, 2, 4, 5, 10, 7][below(6) as usize];
        let packet = Bytes(u64::from(64 + below(1454)));
        let slots = Slots { start: below(PERIOD), packets, period: PERIOD };
        let delays = path.iter().map(|hop| hop.delay).collect();
        (Flow { path, packets, packet }, Reservation { slots, delays })
    };
    (0..1000).map(&mut one).collect()
}

const PERIOD: u32 = 100;
const OUTPUTS: u32 = 150;

/// At random they overfill every capacity below that of the busiest frame; half of that is enough
/// for all of them, and less if they may be forwarded later.
#[test]
fn a_thousand_flows_over_fifty_nodes_are_placed() {
    let flows = thousand();
    let sums = choices::sums(PERIOD, flows.iter().map(|(flow, random)| (flow, random)));
    let busiest = sums.into_values().max().unwrap();
    for (spare, percent, most_blocked) in
        [(0, 100, 0), (0, 50, 0), (0, 35, 60), (3, 50, 0), (3, 35, 10)]
    {
        let mut flows: Vec<Flow> = flows.iter().map(|(flow, _)| flow.clone()).collect();
        flows.iter_mut().flat_map(|flow| &mut flow.path).for_each(|hop| hop.spare = spare);
        let capacities = vec![Bytes(busiest * percent / 100); OUTPUTS as usize];
        let mut ledger = Ledger::new(PERIOD, &capacities);
        let answers = ledger.reserve_all(&flows);
        let blocked = answers.iter().filter(|answer| answer.is_err()).count();
        assert!(blocked <= most_blocked);
        let placed = flows.iter().zip(&answers);
        let placed = placed.filter_map(|(flow, answer)| Some((flow, answer.as_ref().ok()?)));
        assert_eq!(ledger.verify(placed), Ok(()));
    }
}

/// Forty flows over up to four outputs of a ring of ten that has no room for all.
#[test]
fn exchanges_leave_fewer_out() {
    let (mut in_rounds, mut in_all) = (0, 0);
    for seed in 0..8 {
        let mut random = Pcg32::new(seed, 2);
        let mut below = |bound: u32| random.next_u32() % bound;
        let mut flow = |_| {
            let (from, hops) = (below(10), 1 + below(4));
            let hop = |at| {
                let output = OutputId((from + at) % 10);
                Hop { output, delay: 2, spare: 0, propagation: at % 2 }
            };
            let path = (0..hops).map(hop).collect();
            let packets = 1 + below(4);
            Flow { path, packets, packet: Bytes(u64::from(300 + 400 * below(4))) }
        };
        let flows: Vec<Flow> = (0..40).map(&mut flow).collect();
        let mut ledger = Ledger::new(20, &[Bytes(1500); 10]);
        let blocked = |answers: &[Answer]| answers.iter().filter(|one| one.is_err()).count();
        let before = blocked(&ledger.in_rounds(&flows).1);
        let after = blocked(&ledger.reserve_all(&flows));
        assert!(after <= before);
        in_rounds += before;
        in_all += after;
    }
    assert!(in_all < in_rounds, "{in_all} and {in_rounds}");
}

/// Flows with a packet a period over these outputs.
fn flow(outputs: &[u32], packet: u64) -> Flow {
    let hop = |&output| Hop { output: OutputId(output), delay: 0, spare: 0, propagation: 0 };
    Flow { path: outputs.iter().map(hop).collect(), packets: 1, packet: Bytes(packet) }
}

/// Reserves for the first of these flows in frame 0, and for none of the others.
fn first_placed(ledger: &mut Ledger, flows: &[Flow]) -> Vec<Answer> {
    let slots = Slots { start: 0, packets: 1, period: 2 };
    let first = Reservation { slots, delays: vec![0; flows[0].path.len()] };
    ledger.reserve_as(&flows[0], &first).unwrap();
    let blocked = |_| Err(ReservationError { full: Vec::new(), certain: true });
    [Ok(first)].into_iter().chain(flows[1..].iter().map(blocked)).collect()
}

fn starts(answers: &[Answer]) -> Vec<Option<u32>> {
    answers.iter().map(|answer| Some(answer.as_ref().ok()?.slots.start)).collect()
}

/// The second flow passes an output where the other frame is taken.
#[test]
fn who_is_in_the_way_moves() {
    let flows = [flow(&[0], 2), flow(&[0, 1], 2)];
    let mut ledger = Ledger::new(2, &[Bytes(3); 2]);
    let slots = Slots { start: 1, packets: 1, period: 2 };
    ledger.reserve_as(&flow(&[1], 2), &Reservation { slots, delays: vec![0] }).unwrap();
    let mut answers = first_placed(&mut ledger, &flows);
    let (before, tried) = (ledger.clone(), answers.clone());
    assert!(!ledger.add_left_out(&flows, &mut answers, &mut 0));
    assert_eq!(
        (starts(&answers), ledger.reserved(OutputId(0), 1)),
        (starts(&tried), before.reserved(OutputId(0), 1))
    );
    assert!(ledger.add_left_out(&flows, &mut answers, &mut 1));
    assert_eq!(starts(&answers), [Some(1), Some(0)]);
    assert_eq!([0, 1].map(|frame| ledger.reserved(OutputId(0), frame)), [Bytes(2); 2]);
}

/// One flow takes both frames' room for two others each.
#[test]
fn one_flow_goes_for_several() {
    let large = Flow { packets: 2, ..flow(&[0], 3) };
    let flows = [large.clone(), flow(&[0], 2), flow(&[0], 2), flow(&[1], 4)];
    let mut ledger = Ledger::new(2, &[Bytes(3); 2]);
    let mut answers = ledger.reserve_all(&flows[..1]);
    let blocked = || Err(ReservationError { full: Vec::new(), certain: true });
    answers.extend([blocked(), blocked(), blocked()]);
    assert!(ledger.replace_one(&flows, &mut answers, &mut 10));
    let mut placed = starts(&answers);
    placed.sort();
    assert_eq!(placed, [None, None, Some(0), Some(1)]);
    assert!(answers[0].is_err() && answers[3].is_err());
    // One for one is no gain: all stays as it was.
    let flows = [large, flow(&[0], 2), flow(&[1], 4)];
    let mut ledger = Ledger::new(2, &[Bytes(3); 2]);
    let mut answers = ledger.reserve_all(&flows[..1]);
    answers.extend([blocked(), blocked()]);
    assert!(!ledger.replace_one(&flows, &mut answers, &mut 10));
    assert_eq!(starts(&answers), [Some(0), None, None]);
    assert_eq!([0, 1].map(|frame| ledger.reserved(OutputId(0), frame)), [Bytes(3); 2]);
}
