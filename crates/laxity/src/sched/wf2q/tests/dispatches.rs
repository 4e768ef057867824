//! Every dispatch is the one that the definition says.

use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::reference::Reference;
use crate::explain::Explain;
use crate::packet::{ClassId, Packet};
use crate::sched::{Share, Wf2q};
use crate::scheduler::{Criterion, DropReason, Scheduler, Withdraw};
use crate::testing::trees::{LONGEST, Sum, Tree, loaded, trees};
use crate::testing::{Arrival, drive, gaps};
use crate::units::{Bytes, Nanos, Rate};

fn no_drops(packet: Packet, _: DropReason) {
    panic!("dropped {packet:?}");
}

/// What happens to both schedulers, whatever the link could send.
#[derive(Clone, Copy, Debug)]
enum Step {
    Enqueue {
        leaf: usize,
        length: u32,
    },
    Dequeue,
    /// One of those that are queued.
    Withdraw(usize),
}

fn steps(lengths: std::ops::RangeInclusive<u32>) -> impl Strategy<Value = Vec<(u64, Step)>> {
    let enqueue = (0..100usize, lengths).prop_map(|(leaf, length)| Step::Enqueue { leaf, length });
    let withdraw = any::<usize>().prop_map(Step::Withdraw);
    vec((gaps(1000), prop_oneof![4 => enqueue, 3 => Just(Step::Dequeue), 1 => withdraw]), 1..150)
}

/// Lets the scheduler and the definition do the same steps, gaps in thousandths of `unit`.
fn side_by_side(tree: &Tree, steps: &[(u64, Step)], unit: u64) -> Result<(), TestCaseError> {
    let mut wf2q = Wf2q::new(tree.rate, &tree.shares).unwrap();
    let mut reference = Reference::new(tree.rate, &tree.shares);
    let mut now = Nanos::ZERO;
    let mut queued = Vec::new();
    let then = std::iter::repeat_n((1000, Step::Dequeue), steps.len());
    for (handle, (gap, step)) in (0..).zip(steps.iter().copied().chain(then)) {
        now += Nanos(gap * unit / 1000);
        match step {
            Step::Enqueue { leaf, length } => {
                let class = ClassId(tree.leaves[leaf % tree.leaves.len()]);
                let packet = Packet { class, length, handle, arrival: now, ..Packet::default() };
                let place = wf2q.place(now, packet, &mut no_drops);
                queued.extend(place.map(|place| (packet, place)));
                reference.enqueue(now, packet);
            }
            Step::Withdraw(_) if queued.is_empty() => {}
            Step::Withdraw(pick) => {
                let (packet, place) = queued.swap_remove(pick % queued.len());
                let withdrawn = wf2q.withdraw(now, place, packet.handle, &mut no_drops);
                prop_assert_eq!(withdrawn, Some(packet));
                let expected = reference.withdraw(packet.class.index(), packet.handle);
                prop_assert_eq!(withdrawn, expected);
            }
            Step::Dequeue => {
                let before = reference.clone();
                let dispatch = wf2q.dequeue(now, &mut no_drops);
                let sent = dispatch.map(|dispatch| dispatch.packet);
                prop_assert_eq!(sent, reference.dequeue(now), "step {}", handle);
                for (waiting, _) in &queued {
                    let Some(dispatch) = &dispatch else { continue };
                    let [one, other] =
                        [dispatch.packet, *waiting].map(|packet| packet.class.index());
                    if one != other {
                        let rule = wf2q.precedence(now, dispatch, waiting);
                        prop_assert_eq!(rule, reference.precedence(&before, one, other));
                    }
                }
                queued.retain(|(packet, _)| Some(*packet) != sent);
            }
        }
    }
    prop_assert_eq!(wf2q.backlog().packets, 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn on_a_link((tree, arrivals) in loaded(trees(4, Sum::Any), 80)) {
        let sent = drive(&mut Wf2q::new(tree.rate, &tree.shares).unwrap(), tree.rate, &arrivals).sent;
        let mut reference = Reference::new(tree.rate, &tree.shares);
        let mut packets: Vec<_> = sent.iter().map(|sent| sent.dispatch.packet).collect();
        packets.sort_by_key(|packet| packet.handle);
        let mut to_come = packets.into_iter().enumerate().peekable();
        for sent in sent {
            while let Some((_, packet)) = to_come.next_if(|(number, _)| *number < sent.arrived) {
                reference.enqueue(packet.arrival, packet);
            }
            prop_assert_eq!(Some(sent.dispatch.packet), reference.dequeue(sent.start));
            prop_assert_eq!(sent.dispatch.criterion, Criterion::EligibleVirtualFinish);
        }
    }

    /// Under another scheduler, or on a link that is faster or slower than it is thought to be.
    #[test]
    fn whenever_it_is_asked(tree in trees(4, Sum::Any), steps in steps(1..=LONGEST)) {
        side_by_side(&tree, &steps, tree.rate.time_for(Bytes(LONGEST.into())).0)?;
    }

    /// Of equal packets many have equal times.
    #[test]
    fn where_many_are_equal(tree in trees(4, Sum::Full), steps in steps(1000..=1000)) {
        side_by_side(&tree, &steps, tree.rate.time_for(Bytes(1000)).0)?;
    }

    #[test]
    fn with_the_longest_packets_at_the_lowest_rates(
        tree in trees(4, Sum::Any), steps in steps(71_999_999..=72_000_000),
    ) {
        let slow = |share: &Share| Share { rate: Rate(share.rate.0 % 3 + 1), ..*share };
        let shares = tree.shares.iter().map(slow).collect();
        let tree = Tree { rate: Rate(1), shares, leaves: tree.leaves };
        side_by_side(&tree, &steps, 1 << 40)?;
    }

    #[test]
    fn whatever_the_clock_says(
        (tree, arrivals) in loaded(trees(4, Sum::Any), 60), shift in 0..1_000_000_000_000_000u64,
    ) {
        let send = |arrivals: &[Arrival]| {
            drive(&mut Wf2q::new(tree.rate, &tree.shares).unwrap(), tree.rate, arrivals).sent
        };
        let later = |arrival: &Arrival| Arrival { time: arrival.time + Nanos(shift), ..*arrival };
        let shifted: Vec<_> = arrivals.iter().map(later).collect();
        for (sent, later) in send(&arrivals).iter().zip(send(&shifted)) {
            prop_assert_eq!(sent.dispatch.packet.handle, later.dispatch.packet.handle);
            prop_assert_eq!(sent.departure + Nanos(shift), later.departure);
        }
    }
}

#[test]
fn classes_above_others_and_unknown_ones_take_no_packets() {
    let rate = Rate(1_000_000);
    let shares = [Share { parent: None, rate }, Share { parent: Some(ClassId(0)), rate }];
    let mut wf2q = Wf2q::new(rate, &shares).unwrap();
    for class in [0, 2] {
        let packet = Packet { class: ClassId(class), length: 1, ..Packet::default() };
        let mut dropped = Vec::new();
        wf2q.enqueue(Nanos::ZERO, packet, &mut |packet, reason| dropped.push((packet, reason)));
        assert_eq!(dropped, [(packet, DropReason::NoClass)]);
        assert_eq!(wf2q.backlog().packets, 0);
    }
}
