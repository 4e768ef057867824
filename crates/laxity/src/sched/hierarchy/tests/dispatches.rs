//! Every dispatch, drop and waiting time is the one that the definition says.

use std::boxed::Box;
use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::naive::Rule;
use super::reference::Reference;
use crate::error::SetupError;
use crate::packet::{ClassId, Packet};
use crate::sched::{Fifo, Hierarchy, Leaf, Share, Wf2q};
use crate::scheduler::{Backlog, DropReason, Scheduler};
use crate::testing::trees::{LONGEST, Sum, Tree, trees};
use crate::testing::{Arrival, arrivals, drive, gaps};
use crate::units::{Bytes, Nanos, Rate};

/// Greatest number of classes in a leaf.
const MOST: usize = 3;

/// A leaf's rule with times in thousandths of a packet's, and its longest packet.
type Drawn = (Rule, u32);

fn any_leaf() -> impl Strategy<Value = Drawn> {
    let deadlines = vec((0..20_000u64).prop_map(Nanos), MOST);
    let rule = prop_oneof![
        Just(Rule::ByArrival),
        deadlines.clone().prop_map(Rule::ByDeadline),
        deadlines.prop_map(Rule::InTime),
        (0..10_000u64).prop_map(|time| Rule::After(Nanos(time))),
        Just(Rule::Emptied),
    ];
    (rule, prop_oneof![3 => Just(LONGEST), 1 => 1..LONGEST])
}

fn scaled(rule: &Rule, unit: u64) -> Rule {
    let scale = |time: &Nanos| Nanos((u128::from(time.0) * u128::from(unit) / 1000) as u64);
    match rule {
        Rule::ByDeadline(times) => Rule::ByDeadline(times.iter().map(scale).collect()),
        Rule::InTime(times) => Rule::InTime(times.iter().map(scale).collect()),
        Rule::After(time) => Rule::After(scale(time)),
        rule => rule.clone(),
    }
}

/// Class `k n + l` is class k of leaf l of n; the last class of every other leaf takes no packets.
fn classes(leaf: usize, leaves: usize) -> Vec<ClassId> {
    (0..MOST - leaf % 2).map(|local| ClassId((local * leaves + leaf) as u32)).collect()
}

fn leaves(
    tree: &Tree,
    drawn: &[Drawn],
    scheduler: impl Fn(&Rule) -> Box<dyn Scheduler + Send>,
) -> Vec<Leaf> {
    let unit = tree.rate.time_for(Bytes(LONGEST.into())).0;
    let leaf = |(number, (share, (rule, longest))): (usize, (&u32, &Drawn))| Leaf {
        share: ClassId(*share),
        longest: *longest,
        scheduler: scheduler(&scaled(rule, unit)),
        classes: classes(number, tree.leaves.len()),
    };
    tree.leaves.iter().zip(drawn).enumerate().map(leaf).collect()
}

/// What happens to both schedulers, whatever the link could send.
#[derive(Clone, Copy, Debug)]
enum Step {
    Enqueue {
        class: usize,
        length: u32,
        demoted: bool,
    },
    Dequeue,
    /// Once something is ready.
    Await,
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let enqueue = (0..1000usize, 1..=LONGEST, prop::bool::weighted(0.1))
        .prop_map(|(class, length, demoted)| Step::Enqueue { class, length, demoted });
    let step = prop_oneof![2 => enqueue, 1 => Just(Step::Dequeue), 1 => Just(Step::Await)];
    vec((gaps(1000), step), 1..150)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Under another scheduler, or on a link that is faster or slower than it is thought to be.
    #[test]
    fn whenever_it_is_asked(
        tree in trees(3, Sum::Any), drawn in vec(any_leaf(), 10), steps in steps(),
    ) {
        let mut hierarchy =
            Hierarchy::new(tree.rate, &tree.shares, leaves(&tree, &drawn, Rule::scheduler)).unwrap();
        let mut reference =
            Reference::new(tree.rate, &tree.shares, leaves(&tree, &drawn, Rule::naive));
        let unit = tree.rate.time_for(Bytes(LONGEST.into())).0;
        let mut now = Nanos::ZERO;
        let mut expected = Backlog::default();
        let then = std::iter::repeat_n((0, Step::Await), steps.len());
        for (handle, (gap, step)) in (0..).zip(steps.into_iter().chain(then)) {
            now += Nanos(gap * unit / 1000);
            let (mut dropped, mut to_drop) = (Vec::new(), Vec::new());
            let drops = &mut |packet, reason| dropped.push((packet, reason));
            let expect = &mut |packet, reason| to_drop.push((packet, reason));
            let is_awaited = matches!(step, Step::Await);
            match step {
                Step::Enqueue { class, length, demoted } => {
                    let demoted =
                        demoted && matches!(drawn[class % tree.leaves.len()].0, Rule::Emptied);
                    let class = ClassId((class % (MOST * tree.leaves.len())) as u32);
                    let arrival = now;
                    let packet = Packet { class, length, demoted, arrival, handle, ..Packet::default() };
                    expected.add(length);
                    hierarchy.enqueue(now, packet, drops);
                    reference.enqueue(now, packet, expect);
                }
                Step::Dequeue | Step::Await => {
                    if let Some(ready) = hierarchy.next_ready(now).filter(|_| is_awaited) {
                        now = ready;
                    }
                    let sent = hierarchy.dequeue(now, drops);
                    prop_assert_eq!(sent, reference.dequeue(now, expect), "step {}", handle);
                    sent.iter().for_each(|sent| expected.remove(sent.packet.length));
                }
            }
            dropped.iter().for_each(|(packet, _)| expected.remove(packet.length));
            prop_assert_eq!(dropped, to_drop);
            prop_assert_eq!(hierarchy.backlog(), expected);
            prop_assert_eq!(hierarchy.next_ready(now), reference.next_ready(now));
        }
        prop_assert_eq!(hierarchy.backlog(), Backlog::default());
    }

    /// On its link, which is never idle while something waits and nobody holds it back.
    #[test]
    fn with_queues_of_packets_all_as_long_as_expected_it_is_wf2q(
        tree in trees(3, Sum::Any),
        arrivals in arrivals(100, LONGEST..=LONGEST, 1, 1_000_000, 80),
    ) {
        let unit = tree.rate.time_for(Bytes(LONGEST.into())).0;
        let fit = |arrival: &Arrival| Arrival {
            time: Nanos((u128::from(arrival.time.0) * u128::from(unit) / 1_000_000) as u64),
            class: tree.leaves[arrival.class as usize % tree.leaves.len()],
            ..*arrival
        };
        let arrivals: Vec<_> = arrivals.iter().map(fit).collect();
        let leaf = |&share: &u32| Leaf {
            share: ClassId(share),
            longest: LONGEST,
            scheduler: Box::new(Fifo::new()),
            classes: vec![ClassId(share)],
        };
        let leaves = tree.leaves.iter().map(leaf).collect();
        let ours = drive(&mut Hierarchy::new(tree.rate, &tree.shares, leaves).unwrap(), tree.rate, &arrivals);
        let theirs = drive(&mut Wf2q::new(tree.rate, &tree.shares).unwrap(), tree.rate, &arrivals);
        for (ours, theirs) in ours.sent.iter().zip(&theirs.sent) {
            prop_assert_eq!(ours.dispatch.packet, theirs.dispatch.packet);
            prop_assert_eq!(ours.departure, theirs.departure);
        }
    }
}

fn share(parent: Option<u32>) -> Share {
    Share { parent: parent.map(ClassId), rate: Rate(1_000_000) }
}

fn leaf(share: u32, classes: &[u32]) -> Leaf {
    let classes = classes.iter().copied().map(ClassId).collect();
    Leaf { share: ClassId(share), longest: 1500, scheduler: Box::new(Fifo::new()), classes }
}

#[test]
fn classes_in_no_leaf_take_no_packets() {
    let shares = [share(None), share(Some(0)), share(None)];
    let mut hierarchy = Hierarchy::new(Rate(1_000_000), &shares, vec![leaf(1, &[2])]).unwrap();
    for (class, reason) in
        [(0, Some(DropReason::NoClass)), (2, None), (3, Some(DropReason::NoClass))]
    {
        let packet = Packet { class: ClassId(class), length: 1, ..Packet::default() };
        let mut dropped = None;
        hierarchy.enqueue(Nanos::ZERO, packet, &mut |_, reason| dropped = Some(reason));
        assert_eq!(dropped, reason);
    }
    assert_eq!(hierarchy.backlog(), Backlog { packets: 1, bytes: 1 });
}

fn refused(shares: &[Share], leaves: Vec<Leaf>) -> Option<SetupError> {
    Hierarchy::new(Rate(1_000_000), shares, leaves).err()
}

#[test]
fn what_is_no_hierarchy_is_refused() {
    let shares = [share(None), share(Some(0)), share(None)];
    let class = ClassId;
    assert_eq!(refused(&shares, vec![leaf(0, &[0])]), Some(SetupError::NotALeaf(class(0))));
    assert_eq!(refused(&shares, vec![leaf(3, &[0])]), Some(SetupError::NotALeaf(class(3))));
    let twice = vec![leaf(1, &[0]), leaf(1, &[1])];
    assert_eq!(refused(&shares, twice), Some(SetupError::TwoSchedulers(class(1))));
    let twice = vec![leaf(1, &[7]), leaf(2, &[7])];
    assert_eq!(refused(&shares, twice), Some(SetupError::TwoPlaces(class(7))));
    assert_eq!(refused(&[share(Some(1))], vec![]), Some(SetupError::NoClass(class(1))));
    assert_eq!(refused(&[share(Some(0))], vec![]), Some(SetupError::Cycle(class(0))));
    assert_eq!(refused(&shares, vec![leaf(1, &[0]), leaf(2, &[1])]), None);
}
