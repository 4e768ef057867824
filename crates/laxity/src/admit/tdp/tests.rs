use std::collections::BTreeMap;
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

/// A flow that loops so often over these routers, back to the first one; the output from router a to
/// router b has number 4 a + b, counted from zero.
fn looping(routers: &[u32], loops: usize, delay: u32, packet: Bytes) -> Flow {
    let next = |place: usize| routers[(place + 1) % routers.len()] - 1;
    let hop = |place: usize| {
        let output = 4 * (routers[place] - 1) + next(place);
        Hop { output, delay, propagation: 0 }
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

/// Section IV.B: both scenarios fill the links of the ring, with 20 bytes for preamble and gap on top
/// of Ethernet's 1020 and 500 bytes: each of their frames has room for three packets or six and gets
/// them. A flow sends 800 packets a second, one in every fifth frame.
#[test]
fn both_scenarios_of_the_experiment_fit() {
    for (loops, delay, packet, ring, diagonals) in
        [([5; 5], 3, Bytes(1040), 3, [1, 1]), ([5, 10, 15, 10, 15], 4, Bytes(520), 6, [2, 3])]
    {
        let flows = testbed(loops, delay, packet);
        let room = capacity(LINK, &TIME, Nanos::ZERO);
        assert_eq!(room, Bytes(3125));
        let mut ledger = Ledger::new(TIME.frames, &[room; 16]);
        let slots: Vec<_> = ledger.reserve_all(&flows).into_iter().map(Result::unwrap).collect();
        assert_eq!(ledger.verify(flows.iter().zip(slots.iter().copied())), Ok(()));
        for frame in 0..60 {
            for (output, packets) in [(1, ring), (6, ring), (11, ring), (12, ring)] {
                assert_eq!(ledger.reserved(output, frame), Bytes(packets * packet.0));
            }
        }
        // R1 and R3 exchange flows that loop over three routers, as do R2 and R4.
        for (output, packets) in
            [(8, diagonals[0]), (2, diagonals[0]), (13, diagonals[1]), (7, diagonals[1])]
        {
            assert_eq!(ledger.reserved(output, 0), Bytes(packets * packet.0));
        }
        // A sixth flow of the kind does not.
        let answer = ledger.reserve(&flows[0]).unwrap_err();
        assert!(answer.full.iter().all(|full| full.reserved == Bytes(ring * packet.0)));
        let outputs: BTreeSet<_> = answer.full.iter().map(|full| full.output).collect();
        assert_eq!(outputs, BTreeSet::from([1]));
        assert_eq!(answer.full.len(), 5);
        assert_eq!(answer.to_string(), "5 frames are full that it cannot do without");
    }
}

#[test]
fn a_flow_of_the_experiment_is_promised_its_forwarding_delays() {
    let flow = &testbed([5; 5], 3, Bytes(1040))[0];
    let bounds = flow.bounds(&TIME, 60);
    assert_eq!(flow.frames(), 57);
    assert_eq!(bounds.transit, Nanos(58 * 250_000));
    assert_eq!(bounds.shaping, Nanos(6 * 250_000));
    assert_eq!(bounds.jitter, Nanos(500_000));
    assert_eq!(Flow::packets_for(Rate(3_200_000), Bytes(500), &TIME, 60), 12);
    assert_eq!(Flow::packets_for(Rate(6_400_000), Bytes(1020), &TIME, 60), 12);
    assert_eq!(Flow::packets_for(Rate(1), Bytes(1020), &TIME, 60), 1);
}

/// What flows use, packet by packet, from the definition: the i-th packet of a period is sent
/// `floor(i n / k)` frames after the first.
fn sums(period: u32, flows: &[(Flow, u32)]) -> BTreeMap<(u32, u32), u64> {
    let mut sums = BTreeMap::new();
    for (flow, start) in flows {
        for i in 0..flow.packets {
            let mut frame = start + i * period / flow.packets;
            for (place, hop) in flow.path.iter().enumerate() {
                frame += if place == 0 { 0 } else { hop.delay + hop.propagation };
                *sums.entry((hop.output, frame % period)).or_insert(0) += flow.packet.0;
            }
        }
    }
    sums
}

fn fits(period: u32, capacities: &[Bytes], flows: &[(Flow, u32)]) -> bool {
    sums(period, flows).iter().all(|((output, _), sum)| *sum <= capacities[*output as usize].0)
}

fn networks() -> impl Strategy<Value = (u32, Vec<Bytes>, Vec<Flow>)> {
    (1..13u32, 1..5u32).prop_flat_map(|(period, outputs)| {
        let hop = (0..outputs, 0..6u32, 0..3u32);
        let hop = hop.prop_map(|(output, delay, propagation)| Hop { output, delay, propagation });
        let flow = (vec(hop, 1..7), 1..16u32, 1..12u64);
        let flow =
            flow.prop_map(|(path, packets, packet)| Flow { path, packets, packet: Bytes(packet) });
        let capacities = vec((1..60u64).prop_map(Bytes), outputs as usize);
        (Just(period), capacities, vec(flow, 1..14))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn no_frame_is_overfilled_and_who_is_blocked_has_no_other_choice(
        (period, capacities, flows) in networks(),
    ) {
        let mut ledger = Ledger::new(period, &capacities);
        let mut placed: Vec<(Flow, u32)> = Vec::new();
        for flow in &flows {
            let with = |start| {
                let mut all = placed.clone();
                all.push((flow.clone(), start));
                all
            };
            match ledger.reserve(flow) {
                Ok(slots) => {
                    let all = with(slots.start);
                    prop_assert_eq!((slots.packets, slots.period), (flow.packets, period));
                    prop_assert!(fits(period, &capacities, &all));
                    placed = all;
                }
                Err(blocked) => {
                    let before = sums(period, &placed);
                    for full in &blocked.full {
                        let sum = before.get(&(full.output, full.frame)).copied();
                        prop_assert_eq!(full.reserved.0, sum.unwrap_or(0));
                        prop_assert_eq!(full.capacity, capacities[full.output as usize]);
                    }
                    for start in 0..period {
                        let all = sums(period, &with(start));
                        let stops = |full: &Full| {
                            all.get(&(full.output, full.frame)).is_some_and(|&sum| sum > full.capacity.0)
                        };
                        prop_assert!(blocked.full.iter().any(stops));
                    }
                }
            }
            let sums = sums(period, &placed);
            for output in 0..capacities.len() as u32 {
                for frame in 0..period {
                    let sum = sums.get(&(output, frame)).copied().unwrap_or(0);
                    prop_assert_eq!(ledger.reserved(output, frame), Bytes(sum));
                }
            }
        }
    }

    #[test]
    fn all_at_once_overfill_nothing_and_can_be_given_back(
        (period, capacities, flows) in networks(), starts in vec(any::<u32>(), 14),
    ) {
        let mut ledger = Ledger::new(period, &capacities);
        let answers = ledger.reserve_all(&flows);
        prop_assert_eq!(answers.len(), flows.len());
        let placed: Vec<_> = flows.iter().zip(&answers)
            .filter_map(|(flow, answer)| Some((flow, *answer.as_ref().ok()?)))
            .collect();
        let starts_of = |(flow, slots): &(&Flow, Slots)| ((*flow).clone(), slots.start);
        let chosen: Vec<_> = placed.iter().map(starts_of).collect();
        prop_assert!(fits(period, &capacities, &chosen));
        prop_assert_eq!(ledger.verify(placed.iter().copied()), Ok(()));
        for (flow, slots) in placed {
            ledger.release(flow, slots);
        }
        for output in 0..capacities.len() as u32 {
            for frame in 0..period {
                prop_assert_eq!(ledger.reserved(output, frame), Bytes(0));
            }
        }
        // Verification tells what does not fit, too.
        let random: Vec<_> = flows.iter().cloned().zip(starts.iter().map(|start| start % period)).collect();
        let slots = |(flow, start): &(Flow, u32)| Slots { start: *start, packets: flow.packets, period };
        let verified = ledger.verify(random.iter().map(|one| (&one.0, slots(one))));
        let first = sums(period, &random).into_iter()
            .find(|((output, _), sum)| *sum > capacities[*output as usize].0)
            .map(|((output, frame), sum)| {
                let capacity = capacities[output as usize];
                Full { output, frame, reserved: Bytes(sum), capacity }
            });
        prop_assert_eq!(verified.err(), first);
    }
}

/// A thousand flows over the outputs of fifty nodes. At random they overfill every capacity below that
/// of the busiest frame; half of that is enough for all of them.
#[test]
fn a_thousand_flows_over_fifty_nodes_are_placed() {
    const PERIOD: u32 = 100;
    const OUTPUTS: u32 = 150;
    let mut random = Pcg32::new(1, 1);
    let mut below = |bound: u32| random.next_u32() % bound;
    let flows: Vec<(Flow, u32)> = (0..1000)
        .map(|_| {
            let hop = |below: &mut dyn FnMut(u32) -> u32| Hop {
                output: below(OUTPUTS),
                delay: 1 + below(4),
                propagation: below(3),
            };
            let hops = 2 + below(7);
            let path = (0..hops).map(|_| hop(&mut below)).collect();
            let packets = [1, 2, 4, 5, 10, 7][below(6) as usize];
            let packet = Bytes(u64::from(64 + below(1454)));
            (Flow { path, packets, packet }, below(PERIOD))
        })
        .collect();
    let busiest = sums(PERIOD, &flows).into_values().max().unwrap();
    let flows: Vec<_> = flows.into_iter().map(|(flow, _)| flow).collect();
    for (percent, most_blocked) in [(100, 0), (50, 0), (35, 60)] {
        let capacities = vec![Bytes(busiest * percent / 100); OUTPUTS as usize];
        let mut ledger = Ledger::new(PERIOD, &capacities);
        let answers = ledger.reserve_all(&flows);
        let blocked = answers.iter().filter(|answer| answer.is_err()).count();
        assert!(blocked <= most_blocked);
        let placed = flows.iter().zip(&answers);
        let placed = placed.filter_map(|(flow, answer)| Some((flow, *answer.as_ref().ok()?)));
        assert_eq!(ledger.verify(placed), Ok(()));
    }
}
