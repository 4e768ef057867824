//! Against the fluid of generalised processor sharing, simulated exactly on the whole trace.

use std::collections::BTreeMap;
use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Gps, PASSIVE, Share, Wfq};
use crate::curve::{Exact, exact};
use crate::packet::{ClassId, Packet};
use crate::scheduler::{Place, Scheduler, Withdraw};
use crate::testing::{
    Arrival, EXACT_GRAIN, EXACT_RATE, EXACT_WEIGHT, Fluid, SentPacket, arrivals, drive, gaps,
};
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

/// A fluid server that is told of what a packet server does.
struct Beside {
    fluid: Fluid,
    /// Packets that the packet server has not begun to send.
    queued: BTreeMap<u64, Packet>,
}

impl Beside {
    fn arrive(&mut self, packet: Packet) {
        self.fluid.advance(packet.arrival);
        self.fluid.arrive(packet.handle, packet.class.index(), packet.length);
        self.queued.insert(packet.handle, packet);
    }

    /// By how much work the packet chosen is finished later, by the fluid and if nothing comes any
    /// more, than the one that is finished first; and whether it is the first of those, that one
    /// being the first to arrive among equals.
    fn choose(&mut self, sent: &SentPacket) -> (Exact, bool) {
        self.fluid.advance(sent.start);
        let finish = self.fluid.finishing_work();
        let order = |handle: &u64| (finish[handle].clone(), *handle);
        let chosen = sent.dispatch.packet.handle;
        let first = self.queued.keys().copied().min_by_key(order).expect("it holds the chosen one");
        self.queued.remove(&chosen);
        self.fluid.grant(sent.dispatch.packet.length);
        (&finish[&chosen] - &finish[&first], first == chosen)
    }
}

/// Lets a fluid see all arrivals and choices in their order.
fn beside(fluid: Fluid, sent: &[SentPacket], mut choice: impl FnMut(&SentPacket, (Exact, bool))) {
    let mut packets: Vec<_> = sent.iter().map(|sent| sent.dispatch.packet).collect();
    packets.sort_by_key(|packet| packet.handle);
    let mut packets = packets.into_iter().enumerate().peekable();
    let mut beside = Beside { fluid, queued: BTreeMap::new() };
    for sent in sent {
        while let Some((_, packet)) = packets.next_if(|(number, _)| *number < sent.arrived) {
            beside.arrive(packet);
        }
        let chosen = beside.choose(sent);
        choice(sent, chosen);
    }
}

fn send(rate: Rate, weights: &[u64], arrivals: &[Arrival]) -> Vec<SentPacket> {
    drive(&mut Wfq::new(rate, weights).unwrap(), rate, arrivals).sent
}

/// Three classes with weights that may have a large common multiple.
fn any_weights() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![vec(1..=20u64, 3), vec(1..=1000u64, 3), vec(1..=Rate::LIMIT.0, 3)]
}

fn rates() -> impl Strategy<Value = Rate> {
    prop_oneof![Just(10_000_000), 1_000_000..2_000_000_000u64, 1_000_000_000..400_000_000_000u64,]
        .prop_map(Rate)
}

/// Arrivals of three classes on the scale of a link.
fn on_link(rate: Rate) -> impl Strategy<Value = Vec<Arrival>> {
    arrivals(3, 40..=1500, 1, rate.time_for(Bytes(1500)).0, 40)
}

fn traffic() -> impl Strategy<Value = (Rate, Vec<Arrival>)> {
    rates().prop_flat_map(|rate| (Just(rate), on_link(rate)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(700))]

    /// On a link and with lengths that leave no fraction anywhere every packet is the one that the
    /// fluid would finish first, ties included.
    #[test]
    fn every_dispatch_is_what_the_fluid_finishes_first(
        weights in vec(1..=4u64, 3),
        arrivals in arrivals(3, 1..=3, EXACT_GRAIN, 4_000_000, 40),
    ) {
        assert!(weights.iter().sum::<u64>() <= EXACT_WEIGHT);
        let sent = send(EXACT_RATE, &weights, &arrivals);
        beside(Fluid::at_rate(EXACT_RATE, &weights), &sent, |_, (_, is_first)| assert!(is_first));
    }

    /// On any link a fluid at its rate agrees but for roundings: of a
    /// finishing tag by less than a unit when its class comes back, and of every byte's tag by less
    /// than a unit if the weights have no small common multiple. A unit is worth
    /// `backlogged weight / scale` nanobits of work.
    #[test]
    fn other_dispatches_differ_by_rounding_only(weights in any_weights(), (rate, arrivals) in traffic()) {
        let sent = send(rate, &weights, &arrivals);
        let gps = Gps::new(rate, &weights);
        let weight = gps.classes.iter().map(|share| u128::from(share.weight)).sum::<u128>();
        let bytes = arrivals.iter().map(|arrival| u128::from(arrival.length)).sum::<u128>();
        let units = (arrivals.len() as u128 + bytes) * weight;
        let rounding = Exact::new(units.into(), gps.scale.into());
        beside(Fluid::at_rate(rate, &weights), &sent, |_, (later, is_first)| {
            assert!(is_first || later <= rounding, "{later} > {rounding}");
        });
    }

    /// No packet leaves later than one packet's time after the fluid has finished it (Parekh and
    /// Gallager 1993, theorem 1), nor has any class been served less by more than one packet
    /// (theorem 2).
    #[test]
    fn no_packet_is_more_than_one_packet_behind_the_fluid(
        weights in any_weights(), (rate, arrivals) in traffic(),
    ) {
        let sent = send(rate, &weights, &arrivals);
        let longest = arrivals.iter().map(|arrival| arrival.length).max().unwrap_or(0);
        let packet = exact(u64::from(longest)) * exact(NANOBITS_PER_BYTE);
        // Of a departure to a whole nanosecond, and of the fluid's pace for as long.
        let rounding = exact(2 * rate.0);
        let mut fluid = Fluid::at_rate(rate, &weights);
        let mut to_come = arrivals.iter().enumerate().peekable();
        let mut served = vec![exact(0); weights.len()];
        for sent in &sent {
            while let Some((handle, arrival)) = to_come.next_if(|(_, next)| next.time <= sent.departure) {
                fluid.advance(arrival.time);
                fluid.arrive(handle as u64, arrival.class as usize, arrival.length);
            }
            fluid.advance(sent.departure);
            let class = sent.dispatch.packet.class.index();
            served[class] += exact(u64::from(sent.dispatch.packet.length)) * exact(NANOBITS_PER_BYTE);
            for (fluid, ours) in fluid.served_of_class.iter().zip(&served) {
                prop_assert!(fluid - ours <= &packet + &rounding);
            }
        }
    }

    /// Classes that are always backlogged share the link by their weights, up to one packet for
    /// each class.
    #[test]
    fn backlogged_classes_share_by_weight(
        weights in vec(1..=20u64, 2..5), rate in rates(), lengths in vec(40..=1500u32, 5),
    ) {
        let backlog = (0..60).flat_map(|_| 0..weights.len() as u32).map(|class| {
            Arrival { class, length: lengths[class as usize], ..Arrival::default() }
        });
        let backlog: Vec<_> = backlog.collect();
        let sent = send(rate, &weights, &backlog);
        let mut served = vec![0u64; weights.len()];
        let share = |served: &[u64], class: usize| {
            Exact::new(served[class].into(), weights[class].into())
        };
        for sent in sent {
            let class = sent.dispatch.packet.class.index();
            served[class] += u64::from(sent.dispatch.packet.length);
            let exhausted = (0..weights.len()).any(|class| served[class] >= 60 * u64::from(lengths[class]));
            if exhausted {
                break;
            }
            for other in 0..weights.len() {
                // Of two packets that compete the one whose tag is smaller goes first.
                let ahead = share(&served, class) - share(&served, other);
                prop_assert!(ahead <= Exact::new(lengths[other].into(), weights[other].into()));
            }
        }
    }
}

proptest! {
    /// The fluid has to do what is queued and what it was granted, whatever is withdrawn: so it is
    /// never done before the link, nor has anything to do when that is done.
    #[test]
    fn the_fluid_knows_what_is_queued(
        weights in vec(1..=20u64, 3),
        steps in vec((0..3u32, 1..=1500u32, 0..6u8, gaps(1_000_000)), 1..200),
    ) {
        let mut wfq = Wfq::new(Rate(10_000_000), &weights).unwrap();
        let mut queued = Vec::<(u64, Place)>::new();
        let mut now = Nanos::ZERO;
        let mut none = |_, _| panic!("nothing is dropped");
        for (handle, (class, length, choice, gap)) in (0..).zip(steps) {
            now += Nanos(gap);
            match choice {
                0..3 => {
                    let class = ClassId(class);
                    let packet = Packet { class, length, arrival: now, handle, ..Packet::default() };
                    let place = wfq.place(now, packet, &mut none);
                    queued.extend(place.map(|place| (handle, place)));
                }
                3 | 4 if !queued.is_empty() => {
                    let (handle, place) = queued.swap_remove(length as usize % queued.len());
                    let packet = wfq.withdraw(now, place, handle, &mut none);
                    prop_assert_eq!(packet.map(|packet| packet.handle), Some(handle));
                }
                _ => {
                    let sent = wfq.dequeue(now, &mut none);
                    queued.retain(|(handle, _)| Some(*handle) != sent.map(|sent| sent.packet.handle));
                }
            }
            let gps = &wfq.gps;
            let left = |class: usize| match &gps.classes[class] {
                Share { seat: PASSIVE, .. } => 0,
                Share { finish, weight, .. } => (finish - gps.virtual_time) * u128::from(*weight),
            };
            let to_do = (0..3).map(left).sum::<u128>();
            let nanobits = u128::from(wfq.backlog.bytes) * u128::from(NANOBITS_PER_BYTE);
            let known = (nanobits as i128 + gps.granted) as u128 * gps.scale;
            prop_assert_eq!(to_do, known + gps.remainder);
            let weight = (0..3).filter(|&class| left(class) > 0);
            let weight = weight.map(|class| u128::from(gps.classes[class].weight)).sum::<u128>();
            prop_assert_eq!(gps.backlogged_weight, weight);
        }
    }
}

/// What is withdrawn costs its class nothing: two that are always backlogged share alike, though
/// every other packet of one is withdrawn.
#[test]
fn what_is_withdrawn_is_not_paid_for() {
    let mut wfq = Wfq::new(Rate(8_000_000_000), &[1, 1]).unwrap();
    let mut none = |_, _| panic!("nothing is dropped");
    let (mut now, mut served) = (Nanos::ZERO, [0u32; 2]);
    for handle in 0..10_000u64 {
        for class in [0, 0, 1] {
            let packet =
                Packet { class: ClassId(class), length: 1000, handle, ..Packet::default() };
            let place = wfq.place(now, packet, &mut none).unwrap();
            if class == 0 && handle % 2 == 0 {
                wfq.withdraw(now, place, handle, &mut none);
            }
        }
        now += Nanos(1000);
        let sent = wfq.dequeue(now, &mut none).unwrap();
        served[sent.packet.class.index()] += 1;
    }
    assert!(served[0].abs_diff(served[1]) <= 4, "{served:?}");
}

/// A class that comes back does not get what it left to others while it was away.
#[test]
fn absence_earns_nothing() {
    let rate = Rate(8_000_000);
    let mut backlog: Vec<_> = (0..20)
        .map(|number| Arrival { class: 0, length: 1000, time: Nanos(number), ..Arrival::default() })
        .collect();
    let late = (0..4).map(|number| Arrival {
        class: 1,
        length: 1000,
        time: Nanos(9_500_000 + number),
        ..Arrival::default()
    });
    backlog.extend(late);
    let order: Vec<_> =
        send(rate, &[1, 1], &backlog).iter().map(|sent| sent.dispatch.packet.class.0).collect();
    assert_eq!(order[..10], [0; 10]);
    assert_eq!(order[10..18], [1, 0, 1, 0, 1, 0, 1, 0]);
}
