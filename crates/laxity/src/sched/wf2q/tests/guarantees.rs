//! What the classes are guaranteed.

use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::curve::{Exact, exact, exact_nanos};
use crate::link::Link;
use crate::packet::{ClassId, Packet};
use crate::sched::{Share, Wf2q};
use crate::scheduler::{DropReason, Scheduler};
use crate::testing::trees::{LONGEST, Sum, Tree, loaded, trees};
use crate::testing::{Arrival, Fluid, SentPacket, drive};
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

/// By how much virtual times may be off: a start that is taken from a virtual time, and two that
/// are compared, each by less than a nanosecond.
const ROUNDING: u64 = 3;

fn send(tree: &Tree, arrivals: &[Arrival]) -> Vec<SentPacket> {
    drive(&mut Wf2q::new(tree.rate, &tree.shares).unwrap(), tree.rate, arrivals).sent
}

/// The longest packet of each class and what is below it, and of all.
fn longest(tree: &Tree, arrivals: &[Arrival]) -> (Vec<u32>, u32) {
    let mut longest = vec![0; tree.shares.len()];
    for arrival in arrivals {
        for class in tree.path(arrival.class as usize) {
            longest[class] = longest[class].max(arrival.length);
        }
    }
    (longest, arrivals.iter().map(|arrival| arrival.length).max().unwrap_or(0))
}

/// Of a class, and all in units of work times rates: the most by which it falls behind its share of
/// what its parent gets, over all intervals in which it has packets that end with one of them.
fn most_behind(tree: &Tree, arrivals: &[Arrival], sent: &[SentPacket], class: usize) -> i128 {
    let own = i128::from(tree.shares[class].rate.0);
    let above = i128::from(tree.rate_above(class).0);
    let parent = tree.parent(class);
    let is_below = |number: u32| tree.path(number as usize).any(|above| above == class);
    let shares = |number: u32| {
        parent.is_none_or(|parent| tree.path(number as usize).any(|above| above == parent))
    };
    let (mut behind, mut most, mut arrived, mut queued) = (0, 0, 0, 0u32);
    // The least since it has packets.
    let mut least = 0;
    for sent in sent {
        for arrival in &arrivals[arrived..sent.arrived] {
            if is_below(arrival.class) {
                least = if queued == 0 { behind } else { least };
                queued += 1;
            }
        }
        arrived = sent.arrived;
        let Packet { class: ClassId(number), length, .. } = sent.dispatch.packet;
        if shares(number) {
            behind += own * i128::from(length);
        }
        if is_below(number) {
            behind -= above * i128::from(length);
            most = most.max(behind - least);
            least = least.min(behind);
            queued -= 1;
        }
    }
    most
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The worst-case fair index: a class falls behind its share by less than one of its packets,
    /// and its share of one of any other.
    #[test]
    fn every_class_keeps_up_with_its_parent((tree, arrivals) in loaded(trees(4, Sum::NoMore), 80)) {
        let sent = send(&tree, &arrivals);
        let (longest, longest_of_all) = longest(&tree, &arrivals);
        for (class, share) in tree.shares.iter().enumerate() {
            let [own, above] = [share.rate, tree.rate_above(class)].map(|rate| i128::from(rate.0));
            let any = tree.parent(class).map_or(longest_of_all, |parent| longest[parent]);
            let [of_class, any] = [longest[class], any].map(i128::from);
            let rounding = own * above * i128::from(ROUNDING) / i128::from(NANOBITS_PER_BYTE) + 1;
            let index = of_class * above + (any - of_class) * own;
            prop_assert!(most_behind(&tree, &arrivals, &sent, class) <= index + rounding);
        }
    }

    /// A class's packets leave as if it had a link of its guaranteed rate to itself, but for the
    /// time that the link takes for one packet, and that every class above it takes for two: one
    /// by which it may be ahead when they come, and one by which it may be behind when they leave.
    #[test]
    fn no_packet_is_late(
        (tree, arrivals) in prop_oneof![
            loaded(trees(1, Sum::NoMore), 80), loaded(trees(4, Sum::NoMore), 80),
        ],
    ) {
        let (longest, longest_of_all) = longest(&tree, &arrivals);
        let time_for = |length: u32, rate: Rate| {
            exact(length.into()) * exact(NANOBITS_PER_BYTE) / exact(rate.0)
        };
        let mut alone = vec![exact(0); tree.shares.len()];
        for sent in send(&tree, &arrivals) {
            let Packet { class, length, arrival, .. } = sent.dispatch.packet;
            let class = class.index();
            let begin = alone[class].clone().max(exact_nanos(arrival));
            alone[class] = begin + time_for(length, tree.shares[class].rate);
            let late = |class: usize| {
                exact(2) * time_for(longest[class], tree.shares[class].rate) + exact(ROUNDING)
            };
            let above = tree.path(class).skip(1).map(late).sum::<Exact>();
            let bound = &alone[class] + time_for(longest_of_all, tree.rate) + above + exact(ROUNDING);
            prop_assert!(exact_nanos(sent.departure) <= bound);
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// While all classes are backlogged and guaranteed the whole link, no packet leaves before the
    /// fluid begins it, nor later than one packet's time after the fluid has finished it.
    #[test]
    fn no_packet_is_more_than_one_ahead_of_the_fluid_or_behind(
        weights in vec(1..=20u64, 2..6), unit in 1_000..100_000_000u64, lengths in vec(40..=LONGEST, 20),
    ) {
        const EACH: usize = 25;
        let rate = Rate(weights.iter().sum::<u64>() * unit);
        let share = |weight: &u64| Share { parent: None, rate: Rate(weight * unit) };
        let shares: Vec<_> = weights.iter().map(share).collect();
        let length = |(class, number): (usize, usize)| lengths[(7 * class + number) % lengths.len()];
        let packets = (0..EACH).flat_map(|number| (0..shares.len()).map(move |class| (class, number)));
        let backlog = packets.map(|packet| {
            Arrival { class: packet.0 as u32, length: length(packet), ..Arrival::default() }
        });
        let backlog: Vec<_> = backlog.collect();
        let mut fluid = Fluid::at_rate(rate, &weights);
        for (handle, arrival) in (0..).zip(&backlog) {
            fluid.arrive(handle, arrival.class as usize, arrival.length);
        }
        let nanobits = |length: u32| exact(length.into()) * exact(NANOBITS_PER_BYTE);
        let packet = nanobits(LONGEST);
        let rounding = exact(ROUNDING * rate.0);
        let mut served = vec![exact(0); shares.len()];
        let mut left = vec![EACH; shares.len()];
        for sent in drive(&mut Wf2q::new(rate, &shares).unwrap(), rate, &backlog).sent {
            let class = sent.dispatch.packet.class.index();
            fluid.advance(sent.start);
            prop_assert!(served[class] <= &fluid.served_of_class[class] + &rounding);
            served[class] += nanobits(sent.dispatch.packet.length);
            fluid.advance(sent.departure);
            for (fluid, ours) in fluid.served_of_class.iter().zip(&served) {
                prop_assert!(fluid - ours <= &packet + &rounding);
            }
            left[class] -= 1;
            if left[class] == 0 {
                break;
            }
        }
    }
}

fn no_drops(_: Packet, _: DropReason) {
    panic!("nothing is dropped");
}

fn share(parent: Option<u32>, rate: u64) -> Share {
    Share { parent: parent.map(ClassId), rate: Rate(rate) }
}

/// Rounding does not add up, at rates that divide nothing, whether those below a class make up more
/// or less than its own.
#[test]
fn after_a_million_packets_shares_are_off_by_a_packet_at_most() {
    let rate = Rate(999_999_937);
    let shares = [
        share(None, 333_333_313),
        share(None, 666_666_623),
        share(Some(0), 99_999_989),
        share(Some(0), 7_919),
        share(Some(1), 499_999_993),
        share(Some(1), 314_159_265),
        share(Some(5), 1_000_003),
        share(Some(5), 313_000_007),
        share(Some(5), 159_253),
    ];
    let leaves = [2, 3, 4, 6, 7, 8];
    let mut wf2q = Wf2q::new(rate, &shares).unwrap();
    let mut link = Link::new(rate);
    let mut bytes = vec![0u128; shares.len()];
    let enqueue = |wf2q: &mut Wf2q, now, class: u32, handle: u64| {
        let length = 40 + (handle * 7_919 % 1_461) as u32;
        let packet = Packet { class: ClassId(class), length, handle, ..Packet::default() };
        wf2q.enqueue(now, packet, &mut no_drops);
    };
    for class in leaves {
        enqueue(&mut wf2q, Nanos::ZERO, class, class.into());
        enqueue(&mut wf2q, Nanos::ZERO, class, u64::from(class) + 10);
    }
    for number in 100..1_000_100 {
        let now = link.free_at();
        let packet = wf2q.dequeue(now, &mut no_drops).expect("all are backlogged").packet;
        link.transmit(now, packet.length);
        let mut above = Some(packet.class);
        while let Some(class) = above {
            bytes[class.index()] += u128::from(packet.length);
            above = shares[class.index()].parent;
        }
        enqueue(&mut wf2q, now, packet.class.0, number);
    }
    for (a, of_a) in shares.iter().enumerate() {
        for (b, of_b) in shares.iter().enumerate().filter(|(_, b)| b.parent == of_a.parent) {
            let [rate_a, rate_b] = [of_a.rate, of_b.rate].map(|rate| u128::from(rate.0));
            let ahead = (bytes[a] * rate_b).saturating_sub(bytes[b] * rate_a);
            let packet = u128::from(LONGEST) * rate_a.max(rate_b);
            let rounding = rate_a * rate_b * u128::from(ROUNDING) / u128::from(NANOBITS_PER_BYTE);
            assert!(ahead <= packet + rounding, "{a} is ahead of {b}");
        }
    }
}

/// The classes of the packets sent when these come, `(time in us, class)`, 1000 bytes each at
/// 8 Mbit/s.
fn order(shares: &[Share], arrivals: &[(u64, u32)]) -> Vec<u32> {
    let arrival = |&(us, class): &(u64, u32)| Arrival {
        time: Nanos(us * 1000),
        class,
        length: 1000,
        ..Arrival::default()
    };
    let arrivals: Vec<_> = arrivals.iter().map(arrival).collect();
    let rate = Rate(8_000_000);
    assert_eq!(rate.time_for(Bytes(1000)), Nanos(1_000_000));
    drive(&mut Wf2q::new(rate, shares).unwrap(), rate, &arrivals)
        .sent
        .iter()
        .map(|sent| sent.dispatch.packet.class.0)
        .collect()
}

/// What a class had before all were idle is not held against it: its share begins anew.
#[test]
fn a_busy_period_owes_nothing_to_the_one_before() {
    let flat = [share(None, 800_000), share(None, 7_200_000)];
    let below = [share(None, 8_000_000), share(Some(0), 800_000), share(Some(0), 7_200_000)];
    for (shares, small, large) in [(&flat[..], 0, 1), (&below[..], 1, 2)] {
        for first in [small, large] {
            let mut arrivals = vec![(0, small), (2_000, first), (2_000, small)];
            arrivals.extend([(2_000, large); 20]);
            // Both begin at once, and neither is served twice before the other is served.
            let mut second = order(shares, &arrivals)[1..3].to_vec();
            second.sort_unstable();
            assert_eq!(second, [small, large]);
        }
    }
}
