//! What the bounds fear, made to happen: they are tight.

use std::vec;
use std::vec::Vec;

use super::{
    Admission, Hierarchy, Inside, Member, member, nothing, rare, rare_by_deadline, scheduler,
};
use crate::sched::edf::Assign;
use crate::testing::{Arrival, drive};
use crate::units::{Bytes, Nanos, Rate};

const LINK: Rate = Rate(1_000_000_000);
const LONG: u32 = 1_500;

/// Packets that all come at the start, after the link has chosen if anything was there.
fn arrivals(class: u32, length: u32, count: usize) -> Vec<Arrival> {
    vec![Arrival { class, length, after_choice: true, ..Arrival::default() }; count]
}

/// By how much the first packet of a class is earlier than its leaf's bound for it.
fn earliness(system: &Hierarchy, leaf: usize, class: u32, arrivals: &[Arrival]) -> Nanos {
    let guarantees = system.test();
    let bound = match &guarantees.leaves[leaf].as_ref().unwrap().inside {
        Admission::Fifo(bound) => bound.unwrap(),
        Admission::Edf { admission, .. } => admission.classes[0].bound.unwrap(),
        Admission::Nothing => panic!("nothing is promised"),
    };
    let sent = drive(&mut scheduler(system, |_| Assign::Background), LINK, arrivals).sent;
    let sent = sent.iter().find(|sent| sent.dispatch.packet.class.0 == class).unwrap();
    bound - sent.delay()
}

/// Classes with each `rate` or a little more, which make up all that one such class leaves of
/// `whole`.
fn crowd(parent: Option<u32>, whole: u64, rate: u64) -> Vec<Member> {
    let count = whole / rate - 1;
    vec![member(parent, (whole - rate) / count, nothing(LONG.into())); count as usize]
}

/// What one class at its own rate, behind many others, misses its bound by: a short packet at its
/// rate, and the link's time for four long ones.
fn nearly(own: Rate) -> Nanos {
    own.time_for(Bytes(64)) + LINK.time_for(Bytes(4 * u64::from(LONG)))
}

/// A short packet behind a long one in a queue, when many others have as much to send that finishes
/// before each of the two.
#[test]
fn a_fifo_may_take_as_long_as_its_bound() {
    let own = Rate(1_000_000);
    let mut members = crowd(None, LINK.0, own.0);
    let others = members.len() as u32;
    members.push(member(None, own.0, Inside::Fifo(vec![rare(LONG.into()), rare(64)])));
    let system = Hierarchy { rate: LINK, members };
    let mut all = arrivals(others, LONG, 1);
    all.splice(0..0, arrivals(0, LONG, 1));
    all.extend(arrivals(others + 1, 64, 1));
    all.extend((0..others).flat_map(|class| arrivals(class, LONG, 3)));
    let early = earliness(&system, others as usize, others + 1, &all);
    assert!(early <= nearly(own), "{early:?}");
}

/// A best-effort packet has been chosen just before a real-time one of its class comes.
#[test]
fn edf_may_take_as_long_as_its_bound() {
    let own = Rate(1_000_000);
    let mut members = crowd(None, LINK.0, own.0);
    let others = members.len() as u32;
    members.push(member(None, own.0, rare_by_deadline(64, Nanos(100_000_000), LONG.into())));
    let system = Hierarchy { rate: LINK, members };
    let mut all = arrivals(others + 1, LONG, 1);
    all.extend(arrivals(others, 64, 1));
    all.extend((0..others).flat_map(|class| arrivals(class, LONG, 3)));
    let early = earliness(&system, others as usize, others, &all);
    assert!(early <= nearly(own), "{early:?}");
}

/// Below a class that has been served ahead by a packet, and has already chosen another one that is
/// due later: each takes as long as a packet takes at the class's rate.
#[test]
fn a_level_may_take_two_packets() {
    let [above, own, late] = [100_000_000, 999_800, 10_000].map(Rate);
    let mut members = crowd(None, LINK.0, above.0);
    let parent = members.len() as u32;
    members.push(member(None, above.0, nothing(0)));
    members.extend(vec![member(Some(parent), late.0, nothing(LONG.into())); 2]);
    members.extend(crowd(Some(parent), above.0 - 2 * late.0, own.0));
    let leaf = members.len();
    let inside = Inside::Fifo(vec![rare(LONG.into()), rare(64)]);
    members.push(member(Some(parent), own.0, inside));
    let system = Hierarchy { rate: LINK, members };
    // The parent has no class.
    let [first, others, long] = [parent, parent + 2, leaf as u32 - 1];
    let mut all = arrivals(first, LONG, 1);
    all.push(Arrival { class: first + 1, length: LONG, ..Arrival::default() });
    all.extend(arrivals(long, LONG, 1));
    all.extend(arrivals(long + 1, 64, 1));
    all.extend((others..long).flat_map(|class| arrivals(class, LONG, 3)));
    all.extend((0..parent).flat_map(|class| arrivals(class, LONG, 300)));
    let early = earliness(&system, leaf, long + 1, &all);
    assert!(early <= nearly(own) + above.time_for(Bytes(LONG.into())), "{early:?}");
}
