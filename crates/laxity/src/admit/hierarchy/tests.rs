//! What the bounds promise, links keep; and how close they come.

mod promises;
mod tightness;

use std::boxed::Box;
use std::vec;
use std::vec::Vec;

use super::{Admission, Hierarchy, Inside, Member};
use crate::admit::edf::RealTime;
use crate::admit::fair::Overbooking;
use crate::admit::{Traffic, Unbounded};
use crate::curve::Curve;
use crate::packet::ClassId;
use crate::police::TokenBucket;
use crate::sched::edf::{Assign, BestEffort};
use crate::sched::{self, Edf, Fifo, Leaf, Share};
use crate::scheduler::Scheduler;
use crate::units::{Bytes, Nanos, Rate};

fn member(parent: Option<u32>, rate: u64, inside: Inside) -> Member {
    Member { share: Share { parent: parent.map(ClassId), rate: Rate(rate) }, inside }
}

fn nothing(packet: u64) -> Inside {
    Inside::Nothing { packet: Bytes(packet) }
}

/// A class that sends one packet once in a long time.
fn rare(packet: u64) -> Traffic {
    let bucket = TokenBucket { bucket: Bytes(packet), rate: Rate(1) };
    Traffic { arrival: vec![bucket], packet: Bytes(packet) }
}

/// The same with a deadline, beside best effort in the background.
fn rare_by_deadline(packet: u64, deadline: Nanos, best_effort: u64) -> Inside {
    let Traffic { arrival, packet } = rare(packet);
    Inside::Edf {
        real_time: vec![RealTime { deadline, arrival, packet }],
        best_effort_packet: Some(Bytes(best_effort)),
        best_effort_demand: |_| Curve::zero(),
    }
}

/// How many classes a leaf holds: with EDF there is one for best effort behind the real-time ones.
fn classes(inside: &Inside) -> usize {
    match inside {
        Inside::Nothing { .. } => 1,
        Inside::Fifo(traffic) => traffic.len(),
        Inside::Edf { real_time, .. } => real_time.len() + 1,
    }
}

fn is_leaf(system: &Hierarchy, number: usize) -> bool {
    let number = Some(ClassId(number as u32));
    system.members.iter().all(|member| member.share.parent != number)
}

/// The schedulers of a system whose leaves' classes are numbered one leaf after the other.
fn scheduler(system: &Hierarchy, assign: impl Fn(usize) -> Assign) -> sched::Hierarchy {
    let mut first = 0;
    let leaf = |number: usize| {
        let inside = &system.members[number].inside;
        let scheduler: Box<dyn Scheduler + Send> = match inside {
            Inside::Nothing { .. } | Inside::Fifo(_) => Box::new(Fifo::new()),
            Inside::Edf { real_time, .. } => {
                let deadlines = real_time.iter().map(|class| Some(class.deadline));
                let deadlines: Vec<_> = deadlines.chain([None]).collect();
                Box::new(Edf::new(&deadlines, BestEffort::by_arrival(assign(number))))
            }
        };
        let numbers = first..first + classes(inside) as u32;
        first = numbers.end;
        Leaf {
            share: ClassId(number as u32),
            longest: inside.longest().0 as u32,
            scheduler,
            classes: numbers.map(ClassId).collect(),
        }
    };
    let leaves = (0..system.members.len()).filter(|number| is_leaf(system, *number));
    let leaves = leaves.map(leaf).collect();
    let shares: Vec<_> = system.members.iter().map(|member| member.share).collect();
    sched::Hierarchy::new(system.rate, &shares, leaves).unwrap()
}

/// A byte a µs. Half of the link is for others; of the other half one leaf has a tenth.
#[test]
fn latencies_are_those_of_the_formula() {
    let system = Hierarchy {
        rate: Rate(8_000_000),
        members: vec![
            member(None, 4_000_000, nothing(9_000)),
            member(Some(0), 400_000, Inside::Fifo(vec![rare(100), rare(300)])),
            member(Some(0), 3_600_000, nothing(1_000)),
            member(None, 4_000_000, rare_by_deadline(200, Nanos(3_500_006), 1_500)),
        ],
    };
    let guarantees = system.test();
    assert_eq!(guarantees.overbooked, []);
    let latencies: Vec<_> = guarantees.leaves.iter().flatten().map(|leaf| leaf.latency).collect();
    // At 1/20 of the link's rate 300 bytes take 6 ms, at 9/20 1000 take 20/9 ms. Above, a packet of
    // 1000 bytes at half of it takes 2 ms, and one of 1500 is in the way of one of 300, which takes
    // as long as 300 of its class.
    let above = 2_000 + 1_500 - 300;
    // A packet of 300 bytes blocks one of 1000. While those 1000 bytes take their time at their own
    // rate, the class of the 300 bytes sends 111.
    let expected = [6_000 + above, 2_222 + 2 * (300 - 111) + above, 3_000];
    for (latency, expected) in latencies.into_iter().zip(expected) {
        assert!(latency.0.abs_diff(expected * 1_000) < 5_000, "{latency:?}");
    }
    let Ok(fifo) = &guarantees.leaves[1] else { panic!("it is a leaf") };
    let Admission::Fifo(Ok(bound)) = fifo.inside else { panic!("a FIFO has one bound") };
    assert_eq!(bound, fifo.latency + Nanos(8_000_000));
    let Ok(edf) = &guarantees.leaves[3] else { panic!("it is a leaf") };
    let Admission::Edf { admission, .. } = &edf.inside else { panic!("it is EDF") };
    assert!(!admission.admitted);
    assert!(matches!(guarantees.leaves[0], Err(Unbounded::NoGuarantee)));
}

#[test]
fn below_an_overbooked_class_nothing_is_guaranteed() {
    let system = Hierarchy {
        rate: Rate(8_000_000),
        members: vec![
            member(None, 4_000_000, nothing(0)),
            member(Some(0), 4_000_001, Inside::Fifo(vec![rare(100)])),
            member(None, 4_000_000, Inside::Fifo(vec![rare(100), Traffic::default()])),
        ],
    };
    let guarantees = system.test();
    let place =
        Overbooking { class: Some(ClassId(0)), asked: Rate(4_000_001), given: Rate(4_000_000) };
    assert_eq!(guarantees.overbooked, [place]);
    assert!(matches!(guarantees.leaves[1], Err(Unbounded::NotAdmitted)));
    let Ok(other) = &guarantees.leaves[2] else { panic!("it is a leaf") };
    assert!(matches!(other.inside, Admission::Fifo(Err(Unbounded::NoArrival))));
}
