//! Against a list that is searched from end to end.

use std::collections::BTreeMap;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::Priority;
use crate::packet::{ClassId, Packet};
use crate::scheduler::{Criterion, Dispatch, Scheduler, Withdraw};
use crate::testing::{arrivals, drive};
use crate::units::{Nanos, Rate};

const CLASSES: u32 = 5;

/// Few levels that are shared, and many far apart.
fn levels() -> impl Strategy<Value = Vec<u32>> {
    vec(prop_oneof![0..3u32, any::<u32>()], CLASSES as usize)
}

/// All that waits, in the order of arrival.
struct Naive {
    levels: Vec<u32>,
    waiting: Vec<Packet>,
}

impl Naive {
    fn level(&self, packet: &Packet) -> (bool, u32) {
        if packet.demoted { (true, 0) } else { (false, self.levels[packet.class.index()]) }
    }

    fn dequeue(&mut self) -> Option<Dispatch> {
        let mut first = None;
        for (at, packet) in self.waiting.iter().enumerate() {
            let level = self.level(packet);
            if first.is_none_or(|(best, _)| level < best) {
                first = Some((level, at));
            }
        }
        let packet = self.waiting.remove(first?.1);
        let criterion = if packet.demoted { Criterion::Background } else { Criterion::Priority };
        Some(Dispatch { packet, deadline: None, criterion })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_lowest_level_goes_first_and_the_first_of_it(
        levels in levels(), arrivals in arrivals(CLASSES, 1..=1500, 1, 1_000_000, 80),
    ) {
        let sent = drive(&mut Priority::new(&levels), Rate(10_000_000), &arrivals).sent;
        let mut packets: Vec<_> = sent.iter().map(|sent| sent.dispatch.packet).collect();
        packets.sort_by_key(|packet| packet.handle);
        let (mut naive, mut arrived) = (Naive { levels, waiting: Vec::new() }, 0);
        for sent in &sent {
            naive.waiting.extend(&packets[arrived..sent.arrived]);
            arrived = sent.arrived;
            prop_assert_eq!(Some(sent.dispatch), naive.dequeue());
        }
    }

    #[test]
    fn so_it_is_where_packets_are_withdrawn(
        levels in levels(),
        steps in vec((0..CLASSES, any::<bool>(), 0..6u8, any::<usize>()), 1..200),
    ) {
        let mut none = |_, _| panic!("nothing is dropped");
        let mut priority = Priority::new(&levels);
        let mut naive = Naive { levels, waiting: Vec::new() };
        let mut places = BTreeMap::new();
        for (handle, (class, demoted, choice, pick)) in (0..).zip(steps) {
            match choice {
                0..3 => {
                    let (class, length) = (ClassId(class), 100);
                    let packet = Packet { class, demoted, length, handle, ..Packet::default() };
                    places.insert(handle, priority.place(Nanos::ZERO, packet, &mut none));
                    naive.waiting.push(packet);
                }
                3 if !naive.waiting.is_empty() => {
                    let packet = naive.waiting.remove(pick % naive.waiting.len());
                    let place = places[&packet.handle].unwrap();
                    let withdrawn = priority.withdraw(Nanos::ZERO, place, packet.handle, &mut none);
                    prop_assert_eq!(withdrawn, Some(packet));
                }
                _ => prop_assert_eq!(priority.dequeue(Nanos::ZERO, &mut none), naive.dequeue()),
            }
            prop_assert_eq!(priority.backlog().packets, naive.waiting.len());
        }
        while let Some(dispatch) = naive.dequeue() {
            prop_assert_eq!(priority.dequeue(Nanos::ZERO, &mut none), Some(dispatch));
        }
        prop_assert_eq!(priority.dequeue(Nanos::ZERO, &mut none), None);
    }
}

/// A level a class, more than a word of the bitmap holds.
#[test]
fn many_levels_are_served_in_their_order() {
    let levels: Vec<_> = (0..10_000).rev().map(|level| level * 7).collect();
    let mut none = |_, _| panic!("nothing is dropped");
    let mut priority = Priority::new(&levels);
    for class in 0..10_000 {
        let packet = Packet { class: ClassId(class), length: 1, ..Packet::default() };
        priority.enqueue(Nanos::ZERO, packet, &mut none);
    }
    let sent = core::iter::from_fn(|| priority.dequeue(Nanos::ZERO, &mut none));
    assert!(sent.map(|sent| sent.packet.class.0).eq((0..10_000).rev()));
}
