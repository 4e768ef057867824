//! Every choice that a flow has, tried one by one.

use std::cmp::Reverse;

use super::*;

/// What flows use, packet by packet, from the definition: the i-th packet of a period is sent
/// `floor(i n / k)` frames after the first.
pub(super) fn sums<'a>(
    period: u32,
    flows: impl IntoIterator<Item = (&'a Flow, &'a Reservation)>,
) -> BTreeMap<(OutputId, u32), u64> {
    let mut sums = BTreeMap::new();
    for (flow, reservation) in flows {
        for used in uses(period, flow, reservation) {
            *sums.entry(used).or_insert(0) += flow.packet.0;
        }
    }
    sums
}

/// The outputs and frames of a flow's packets, hop by hop.
fn uses(period: u32, flow: &Flow, reservation: &Reservation) -> Vec<(OutputId, u32)> {
    let mut uses = Vec::new();
    let mut lag = 0;
    for (place, hop) in flow.path.iter().enumerate() {
        lag += if place == 0 { 0 } else { reservation.delays[place] + hop.propagation };
        for i in 0..flow.packets {
            let frame = reservation.slots.start + i * period / flow.packets + lag;
            uses.push((hop.output, frame % period));
        }
    }
    uses
}

fn first_full(capacities: &[Bytes], sums: &BTreeMap<(OutputId, u32), u64>) -> Option<Full> {
    sums.iter().find(|((output, _), sum)| **sum > capacities[output.index()].0).map(
        |(&(output, frame), &sum)| {
            let capacity = capacities[output.index()];
            Full { output, frame, reserved: Bytes(sum), capacity }
        },
    )
}

/// Each start with each combination of delays.
fn choices(period: u32, flow: &Flow) -> Vec<Reservation> {
    let mut delays = vec![vec![0]];
    for hop in &flow.path[1..] {
        let with = |delay| {
            delays.iter().cloned().map(move |mut delays: Vec<u32>| {
                delays.push(delay);
                delays
            })
        };
        delays = (hop.delay..=hop.delay + hop.spare).flat_map(with).collect();
    }
    let slots = |start| Slots { start, packets: flow.packets, period };
    let from = |start| delays.iter().map(move |delays| (slots(start), delays.clone()));
    (0..period).flat_map(from).map(|(slots, delays)| Reservation { slots, delays }).collect()
}

/// The least room left in a frame that is used, how much frames held when a packet came to them,
/// and by how much the delays are longer than the shortest; none if it does not fit.
type Fit = (u64, Reverse<u64>, Reverse<u32>);

fn fit(
    capacities: &[Bytes],
    before: &BTreeMap<(OutputId, u32), u64>,
    flow: &Flow,
    choice: &Reservation,
) -> Option<Fit> {
    let mut sums = before.clone();
    let mut held = 0;
    let used = uses(choice.slots.period, flow, choice);
    for at in &used {
        let sum = sums.entry(*at).or_insert(0);
        held += *sum;
        *sum += flow.packet.0;
    }
    let room = |at: &(OutputId, u32)| capacities[at.0.index()].0.checked_sub(sums[at]);
    let room = used.iter().map(room).collect::<Option<Vec<u64>>>()?.into_iter().min()?;
    let hops = flow.path.iter().zip(&choice.delays).skip(1);
    let late = hops.map(|(hop, delay)| delay - hop.delay).sum();
    Some((room, Reverse(held), Reverse(late)))
}

/// Networks with flows of up to `hops` hops.
fn networks(
    most: u32,
    hops: usize,
    spare: u32,
) -> impl Strategy<Value = (u32, Vec<Bytes>, Vec<Flow>)> {
    (1..=most, 1..5u32).prop_flat_map(move |(period, outputs)| {
        let hop = (0..outputs, 0..6u32, 0..=spare, 0..3u32);
        let hop = hop.prop_map(|(output, delay, spare, propagation)| Hop {
            output: OutputId(output),
            delay,
            spare,
            propagation,
        });
        let flow = (vec(hop, 1..=hops), 1..16u32, 1..12u64);
        let flow =
            flow.prop_map(|(path, packets, packet)| Flow { path, packets, packet: Bytes(packet) });
        let capacities = vec((1..60u64).prop_map(Bytes), outputs as usize);
        (Just(period), capacities, vec(flow, 1..12))
    })
}

/// Places flows one after another, beside a reference that tries all choices.
fn compare(period: u32, capacities: &[Bytes], flows: &[Flow]) -> Result<(), TestCaseError> {
    let mut ledger = Ledger::new(period, capacities);
    let mut placed: Vec<(&Flow, Reservation)> = Vec::new();
    for flow in flows {
        let before = sums(period, placed.iter().map(|(flow, choice)| (*flow, choice)));
        let choices = choices(period, flow);
        let fits = choices.iter().map(|choice| (fit(capacities, &before, flow, choice), choice));
        let best = fits
            .clone()
            .filter_map(|(fit, choice)| Some((fit?, choice)))
            .min_by_key(|(fit, choice)| (Reverse(*fit), choice.slots.start));
        match (ledger.reserve(flow), best) {
            (Ok(found), Some((best, choice))) => {
                prop_assert!(choices.contains(&found));
                prop_assert_eq!(fit(capacities, &before, flow, &found), Some(best));
                prop_assert_eq!(found.slots.start, choice.slots.start);
                placed.push((flow, found));
            }
            (Err(blocked), None) => {
                prop_assert!(blocked.certain);
                for full in &blocked.full {
                    let sum = before.get(&(full.output, full.frame)).copied();
                    prop_assert_eq!(full.reserved.0, sum.unwrap_or(0));
                    prop_assert_eq!(full.capacity, capacities[full.output.index()]);
                }
                for choice in &choices {
                    let more = sums(period, [(flow, choice)]);
                    let stops = |full: &Full| {
                        let more = more.get(&(full.output, full.frame)).copied().unwrap_or(0);
                        more > 0 && full.reserved.0 + more > full.capacity.0
                    };
                    prop_assert!(blocked.full.iter().any(stops));
                }
            }
            (found, best) => prop_assert!(false, "{found:?} instead of {best:?}"),
        }
        let sums = sums(period, placed.iter().map(|(flow, choice)| (*flow, choice)));
        for output in (0..capacities.len()).map(OutputId::from_index) {
            for frame in 0..period {
                let sum = sums.get(&(output, frame)).copied().unwrap_or(0);
                prop_assert_eq!(ledger.reserved(output, frame), Bytes(sum));
            }
        }
    }
    Ok(())
}

/// Two ways meet at the third output: one with more room, the other in frames that held less. At
/// the fourth output there is less room than on either, so that the other is better.
#[test]
fn room_counts_as_far_as_all_outputs_leave_it() {
    let hop = |output, spare| Hop { output: OutputId(output), delay: 0, spare, propagation: 0 };
    let mut ledger = Ledger::new(2, &[Bytes(10); 4]);
    for (output, held) in [(0, [5, 0]), (1, [5, 6]), (2, [0, 10]), (3, [7, 7])] {
        for (start, held) in (0..).zip(held) {
            let flow = Flow { path: vec![hop(output, 0)], packets: 1, packet: Bytes(held) };
            let slots = Slots { start, packets: 1, period: 2 };
            ledger.reserve_as(&flow, &Reservation { slots, delays: vec![0] }).unwrap();
        }
    }
    let path = vec![hop(0, 0), hop(1, 0), hop(2, 1), hop(3, 0)];
    let found = ledger.reserve(&Flow { path, packets: 1, packet: Bytes(1) }).unwrap();
    assert_eq!((found.slots.start, found.delays), (1, vec![0, 0, 1, 0]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn immediate_forwarding_is_the_best_of_all_starts((period, capacities, flows) in networks(12, 6, 0)) {
        compare(period, &capacities, &flows)?;
    }

    #[test]
    fn non_immediate_forwarding_is_the_best_of_all_choices((period, capacities, flows) in networks(8, 4, 3)) {
        compare(period, &capacities, &flows)?;
    }

    /// Of long loops not all ways are followed. Beside others, each frame has room for what the
    /// flow takes of it immediately, and a little more.
    #[test]
    fn a_flow_that_fits_immediately_fits_with_spare_delay(
        period in 4..17u32,
        path in vec((0..3u32, 0..4u32, 0..7u32), 6..16),
        packets in 1..4u32,
        room in vec(0..10u64, 48),
    ) {
        let hop = |&(output, delay, spare)| Hop { output: OutputId(output), delay, spare, propagation: 0 };
        let flow = Flow { path: path.iter().map(hop).collect(), packets, packet: Bytes(1) };
        let slots = Slots { start: 0, packets, period };
        let delays = flow.path.iter().map(|hop| hop.delay).collect();
        let immediate = sums(period, [(&flow, &Reservation { slots, delays })]);
        let capacity = 100;
        let mut ledger = Ledger::new(period, &[Bytes(capacity); 3]);
        for output in (0..3).map(OutputId) {
            for frame in 0..period {
                let more = room[(output.0 * period + frame) as usize].saturating_sub(7);
                let free = immediate.get(&(output, frame)).copied().unwrap_or(0) + more;
                let path = vec![Hop { output, delay: 0, spare: 0, propagation: 0 }];
                let other = Flow { path, packets: 1, packet: Bytes(capacity - free) };
                let slots = Slots { start: frame, packets: 1, period };
                let reserved = ledger.reserve_as(&other, &Reservation { slots, delays: vec![0] });
                prop_assert_eq!(reserved, Ok(()));
            }
        }
        prop_assert!(ledger.reserve(&flow).is_ok());
    }

    #[test]
    fn all_at_once_overfill_nothing_and_can_be_given_back(
        (period, capacities, flows) in networks(12, 6, 2), picks in vec(any::<prop::sample::Index>(), 12),
    ) {
        let mut ledger = Ledger::new(period, &capacities);
        let answers = ledger.reserve_all(&flows);
        prop_assert_eq!(answers.len(), flows.len());
        let placed: Vec<_> = flows.iter().zip(&answers)
            .filter_map(|(flow, answer)| Some((flow, answer.as_ref().ok()?)))
            .collect();
        prop_assert_eq!(first_full(&capacities, &sums(period, placed.iter().copied())), None);
        prop_assert_eq!(ledger.verify(placed.iter().copied()), Ok(()));
        // Nobody who is left out has room, whatever the choice.
        for (flow, answer) in flows.iter().zip(&answers) {
            let Err(blocked) = answer else { continue };
            prop_assert_eq!(ledger.clone().reserve(flow), Err(blocked.clone()));
            let mut fits = choices(period, flow).into_iter()
                .filter(|choice| ledger.clone().reserve_as(flow, choice).is_ok());
            prop_assert_eq!(fits.next(), None);
        }
        for (flow, reservation) in placed {
            ledger.release(flow, reservation);
        }
        for output in (0..capacities.len()).map(OutputId::from_index) {
            for frame in 0..period {
                prop_assert_eq!(ledger.reserved(output, frame), Bytes(0));
            }
        }
        // Verification tells what does not fit, too, and so does reserving as told.
        let random: Vec<_> = flows.iter().zip(&picks)
            .map(|(flow, pick)| (flow, pick.get(&choices(period, flow)).clone()))
            .collect();
        let verified = ledger.verify(random.iter().map(|(flow, choice)| (*flow, choice)));
        let sums = sums(period, random.iter().map(|(flow, choice)| (*flow, choice)));
        prop_assert_eq!(verified.err(), first_full(&capacities, &sums));
        let told = random.iter().all(|(flow, choice)| ledger.reserve_as(flow, choice).is_ok());
        prop_assert_eq!(told, verified.is_ok());
    }
}

proptest! {
    /// A choice is told by the frames in which the outputs send the first packet. Whatever gives
    /// them again uses the same frames.
    #[test]
    fn a_reservation_is_told_by_its_first_frames((period, _, flows) in networks(8, 4, 3)) {
        for flow in &flows {
            for choice in choices(period, flow).iter().take(200) {
                let frames: Vec<u32> = flow.first_frames(choice).collect();
                let again = flow.reservation_in(period, &frames).expect("it may wait so long");
                prop_assert_eq!(
                    sums(period, [(flow, choice)]),
                    sums(period, [(flow, &again)])
                );
                prop_assert!(again.delays.iter().zip(&choice.delays).all(|(one, other)| one <= other));
                let repeat = flow.repeat(period);
                for (one, other) in flow.first_frames(&again).zip(frames) {
                    prop_assert_eq!(one % repeat, other % repeat);
                }
            }
        }
    }

    /// A filled frame has no more room, and loses no more than it had.
    #[test]
    fn filled_frames_are_full((period, capacities, flows) in networks(8, 4, 0)) {
        let mut ledger = Ledger::new(period, &capacities);
        for flow in &flows {
            let choice = &choices(period, flow)[0];
            let used = sums(period, [(flow, choice)]);
            let rooms = |ledger: &Ledger| -> Vec<u64> {
                used.keys().map(|(output, frame)| ledger.room(*output, *frame).0).collect()
            };
            let before = rooms(&ledger);
            ledger.fill(flow, choice);
            for ((room, before), more) in rooms(&ledger).iter().zip(before).zip(used.values()) {
                prop_assert_eq!(*room, before.saturating_sub(*more));
            }
        }
    }
}
