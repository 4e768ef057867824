//! Against the definition, and what the definition promises.

mod fairness;
mod reference;

use std::collections::BTreeMap;
use std::string::ToString;
use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Qfq, QfqClass};
use crate::explain::Explain;
use crate::packet::{ClassId, Packet};
use crate::scheduler::{DropReason, Place, Scheduler, Withdraw};
use crate::units::Nanos;
use reference::Reference;

const LONGEST: u32 = 1500;

fn no_drops(_: Packet, _: DropReason) {
    panic!("nothing is dropped");
}

fn packet(class: u32, length: u32, handle: u64) -> Packet {
    Packet { class: ClassId(class), length, handle, ..Packet::default() }
}

/// Few kinds of classes, so that there are aggregates of all sizes, or many.
fn classes() -> impl Strategy<Value = Vec<Option<QfqClass>>> {
    let weight = prop_oneof![1..=3u64, 1..=40u64, 1..=100_000u64];
    let max_packet = prop_oneof![Just(LONGEST), Just(100), 1..=LONGEST, 1..=64u32];
    let class =
        (weight, max_packet).prop_map(|(weight, max_packet)| QfqClass { weight, max_packet });
    let of_kinds = (vec(class, 1..6), vec((0..5usize, prop::bool::weighted(0.95)), 1..40));
    of_kinds.prop_map(|(kinds, classes)| {
        let class =
            |(kind, takes_packets): (usize, bool)| takes_packets.then(|| kinds[kind % kinds.len()]);
        classes.into_iter().map(class).collect()
    })
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// A packet of this class, so much of its largest in 1/256, or its largest.
    Enqueue(usize, u8),
    Dequeue,
    /// The packet at so much of the queue's length in 1/256.
    Withdraw(usize, u8),
}

/// Phases in which packets come to any class, to few, or are sent.
fn steps(withdraw: bool) -> impl Strategy<Value = Vec<Step>> {
    let length = || prop_oneof![Just(255u8), any::<u8>()];
    let withdrawn = u32::from(withdraw);
    let any = prop_oneof![
        10 => (0..40usize, length()).prop_map(|(class, length)| Step::Enqueue(class, length)),
        10 => Just(Step::Dequeue),
        3 * withdrawn => (0..40usize, any::<u8>()).prop_map(|(class, at)| Step::Withdraw(class, at)),
    ];
    let phase = prop_oneof![
        4 => vec(any, 1..40),
        1 => (0..40usize, vec(length(), 1..30)).prop_map(|(class, lengths)| {
            lengths.into_iter().map(|length| Step::Enqueue(class, length)).collect()
        }),
        1 => (0..40usize, vec(length(), 1..20)).prop_map(|(class, lengths)| {
            lengths.into_iter().flat_map(|length| [Step::Enqueue(class, length), Step::Dequeue]).collect()
        }),
        1 => (1..60usize).prop_map(|count| vec![Step::Dequeue; count]),
    ];
    vec(phase, 1..12).prop_map(|phases| phases.concat())
}

/// Both do the same, and every dispatch is compared.
fn compare(classes: &[Option<QfqClass>], steps: &[Step]) -> Result<(), TestCaseError> {
    let (mut qfq, mut model) = (Qfq::new(classes).unwrap(), Reference::new(classes));
    let mut places: BTreeMap<u64, Place> = BTreeMap::new();
    let now = Nanos::ZERO;
    for (handle, step) in (0..).zip(steps) {
        match *step {
            Step::Enqueue(class, share) => {
                let class = class % classes.len();
                let Some(QfqClass { max_packet, .. }) = classes[class] else { continue };
                let length = (max_packet * (u32::from(share) + 1)).div_ceil(256);
                let packet = packet(class as u32, length, handle);
                places.insert(handle, qfq.place(now, packet, &mut no_drops).unwrap());
                model.enqueue(packet);
            }
            Step::Dequeue => {
                let before = model.clone();
                let sent = qfq.dequeue(now, &mut no_drops);
                prop_assert_eq!(sent.map(|sent| sent.packet), model.dequeue());
                let Some(sent) = sent else { continue };
                let waiting = before.queues.iter().filter_map(|queue| queue.front());
                for waiting in waiting.filter(|waiting| waiting.class != sent.packet.class) {
                    let classes = [sent.packet.class, waiting.class].map(ClassId::index);
                    let rule = qfq.precedence(now, &sent, waiting);
                    prop_assert_eq!(rule, before.precedence(classes));
                }
            }
            Step::Withdraw(class, share) => {
                let class = class % classes.len();
                let at = model.queues[class].len() * usize::from(share) / 256;
                let Some(packet) = model.withdraw(class, at) else { continue };
                let place = places[&packet.handle];
                let withdrawn = qfq.withdraw(now, place, packet.handle, &mut no_drops);
                prop_assert_eq!(withdrawn, Some(packet));
            }
        }
    }
    while let Some(packet) = model.dequeue() {
        let sent = qfq.dequeue(now, &mut no_drops).map(|sent| sent.packet);
        prop_assert_eq!(sent, Some(packet));
    }
    prop_assert_eq!(qfq.backlog().packets, 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_dispatch_is_that_of_the_definition(classes in classes(), steps in steps(false)) {
        compare(&classes, &steps)?;
    }

    /// The worst-case fair index: while an aggregate has packets, it is never behind its share of
    /// what the link sends by more than four slots and the largest budget of the others give it.
    #[test]
    fn no_aggregate_is_behind_by_more_than_its_index(classes in classes(), steps in steps(false)) {
        fairness::check(&classes, &steps)?;
    }

    #[test]
    fn so_it_is_where_packets_are_withdrawn(classes in classes(), steps in steps(true)) {
        compare(&classes, &steps)?;
    }
}

#[test]
fn what_cannot_be_scheduled_is_refused() {
    let class = |weight, max_packet| Some(QfqClass { weight, max_packet });
    let refused = |classes: &[_]| Qfq::new(classes).unwrap_err().to_string();
    assert_eq!(
        refused(&[class(1, 1500), class(0, 1500)]),
        "the weight of class 1 is 0: accepted is at least 1"
    );
    assert_eq!(
        refused(&[class(1 << 32, 1500), class(1, 1500)]),
        "the weight of class 1 is 1: accepted is at least 3"
    );
    assert_eq!(
        refused(&[None, class(1, 0)]),
        "the largest packet in bytes of class 1 is 0: accepted is 1 to 1073741824"
    );
}

#[test]
fn a_packet_that_is_longer_than_its_class_s_is_dropped() {
    let mut qfq = Qfq::new(&[Some(QfqClass { weight: 1, max_packet: 100 }), None]).unwrap();
    let mut dropped = Vec::new();
    for (class, length) in [(0, 100), (0, 101), (1, 1), (2, 1)] {
        let mut drops = |_: Packet, reason| dropped.push(reason);
        qfq.enqueue(Nanos::ZERO, packet(class, length, 0), &mut drops);
    }
    assert_eq!(dropped, [DropReason::TooLong, DropReason::NoClass, DropReason::NoClass]);
    assert_eq!(qfq.backlog().packets, 1);
}

/// What a class had before all were idle is not held against it.
#[test]
fn a_busy_period_owes_nothing_to_the_one_before() {
    let mut qfq = Qfq::new(&[Some(QfqClass { weight: 1, max_packet: 1000 }); 20]).unwrap();
    for handle in 0..50 {
        qfq.enqueue(Nanos::ZERO, packet(0, 1000, handle), &mut no_drops);
    }
    while qfq.dequeue(Nanos::ZERO, &mut no_drops).is_some() {}
    for (class, handle) in [(0, 0), (19, 1)] {
        qfq.enqueue(Nanos::ZERO, packet(class, 1000, handle), &mut no_drops);
    }
    let first = qfq.dequeue(Nanos::ZERO, &mut no_drops).unwrap();
    assert_eq!(first.packet.class, ClassId(0));
}

/// Looking at each of them once a packet would take an hour.
#[test]
fn a_quarter_of_a_million_classes_take_no_longer() {
    let classes = 1 << 18;
    let class =
        |number: u32| Some(QfqClass { weight: u64::from(number % 1000) + 1, max_packet: 1500 });
    let mut qfq = Qfq::new(&(0..classes).map(class).collect::<Vec<_>>()).unwrap();
    let length = |number: u32| number.wrapping_mul(2_654_435_761) % 1500 + 1;
    for number in 0..classes {
        qfq.enqueue(Nanos::ZERO, packet(number, length(number), 0), &mut no_drops);
    }
    for number in 0..2_000_000 {
        let sent = qfq.dequeue(Nanos::ZERO, &mut no_drops).unwrap().packet;
        let next = packet((sent.class.0 + number) % classes, length(number), 0);
        qfq.enqueue(Nanos::ZERO, next, &mut no_drops);
    }
    assert_eq!(qfq.backlog().packets, classes as usize);
}
