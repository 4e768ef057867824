//! Classes that come and go against a list.

use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::packet::{ClassId, Packet};
use crate::sched::edf::{Assign, BestEffort, Edf};
use crate::scheduler::{DropReason, Place, Scheduler, Withdraw};
use crate::units::Nanos;

/// A class as the list knows it.
#[derive(Clone, Copy)]
struct Class {
    number: ClassId,
    deadline: Nanos,
}

struct Queued {
    handle: u64,
    class: ClassId,
    /// `None` if it is demoted.
    due: Option<Nanos>,
    place: Place,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Packets leave by their deadlines, those of classes that were removed, too; and no class has
    /// the number of one with packets queued.
    #[test]
    fn classes_come_and_go_while_packets_are_queued(
        steps in vec((0..10u8, 0..6u64, any::<prop::sample::Index>(), any::<bool>()), 1..300),
    ) {
        let mut edf =
            Edf::new(&[None, Some(Nanos(20))], BestEffort::by_arrival(Assign::Background));
        let mut classes = std::vec![Class { number: ClassId(1), deadline: Nanos(20) }];
        let mut removed = Vec::<ClassId>::new();
        let mut queued = Vec::<Queued>::new();
        let mut now = Nanos(0);
        for (handle, (choice, number, pick, demoted)) in (0u64..).zip(steps) {
            now += Nanos(number % 3);
            let mut dropped = Vec::new();
            let mut drops = |packet: Packet, reason| dropped.push((packet.handle, reason));
            match choice {
                0 => {
                    let deadline = Nanos(10 * (number + 1));
                    let class = edf.add(deadline).unwrap();
                    prop_assert!(queued.iter().all(|packet| packet.class != class));
                    prop_assert!(classes.iter().all(|other| other.number != class));
                    removed.retain(|other| *other != class);
                    classes.push(Class { number: class, deadline });
                }
                1 if !classes.is_empty() => {
                    let gone = classes.swap_remove(pick.index(classes.len()));
                    prop_assert!(edf.remove(now, gone.number));
                    prop_assert!(!edf.remove(now, gone.number));
                    removed.push(gone.number);
                }
                2 if !removed.is_empty() => {
                    let class = removed[pick.index(removed.len())];
                    edf.open(class);
                    let packet = Packet { class, handle, demoted, length: 1, ..Packet::default() };
                    edf.enqueue(now, packet, &mut drops);
                    prop_assert_eq!(&dropped, &[(handle, DropReason::NoClass)]);
                }
                3..=6 if !classes.is_empty() => {
                    let Class { number: class, deadline } = classes[pick.index(classes.len())];
                    let demoted = demoted && number == 0;
                    let packet = Packet { class, handle, demoted, length: 1, ..Packet::default() };
                    let place = edf.place(now, packet, &mut drops).unwrap();
                    let due = (!demoted).then_some(now + deadline);
                    queued.push(Queued { handle, class, due, place });
                }
                7 if !queued.is_empty() => {
                    let packet = queued.swap_remove(pick.index(queued.len()));
                    let taken = edf.withdraw(now, packet.place, packet.handle, &mut drops);
                    prop_assert_eq!(taken.map(|taken| taken.handle), Some(packet.handle));
                }
                _ => {
                    let sent = edf.dequeue(now, &mut drops);
                    prop_assert_eq!(sent.is_some(), !queued.is_empty());
                    let Some(sent) = sent else { continue };
                    let at = queued.iter().position(|one| one.handle == sent.packet.handle);
                    let packet = queued.swap_remove(at.unwrap());
                    prop_assert_eq!(packet.due, sent.deadline);
                    let earlier = queued.iter().filter_map(|other| other.due);
                    let due = packet.due.unwrap_or(Nanos::MAX);
                    prop_assert!(earlier.min().is_none_or(|earliest| due <= earliest));
                }
            }
            prop_assert_eq!(edf.backlog().packets, queued.len());
        }
    }
}

/// A hundred thousand classes one after the other, each with a deadline of its own.
#[test]
fn memory_follows_the_classes_that_there_are() {
    let mut edf = Edf::new(&[], BestEffort::by_arrival(Assign::Background));
    let mut drops = |_: Packet, _: DropReason| panic!("every class is there");
    for round in 0..100_000u64 {
        let class = edf.add(Nanos(round)).unwrap();
        assert!(class.0 < 2);
        edf.enqueue(Nanos(round), Packet { class, length: 1, ..Packet::default() }, &mut drops);
        assert!(edf.dequeue(Nanos(round), &mut drops).is_some());
        assert!(edf.remove(Nanos(round), class));
    }
    assert!(edf.footprint() < 4096, "{}", edf.footprint());
}
