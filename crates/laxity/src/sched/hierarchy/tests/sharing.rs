//! Shares of the link: excess goes to classes with demand, and back when its owners want it.

use std::boxed::Box;
use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::packet::ClassId;
use crate::sched::edf::{Assign, BestEffort};
use crate::sched::{Edf, Fifo, Hierarchy, Leaf, Share};
use crate::scheduler::Scheduler;
use crate::testing::{Arrival, SentPacket, drive};
use crate::units::{Bytes, Nanos, Rate};

const LONGEST: u32 = 1500;

fn leaf(share: u32, class: u32, scheduler: impl Scheduler + Send + 'static) -> Leaf {
    Leaf {
        share: ClassId(share),
        longest: LONGEST,
        scheduler: Box::new(scheduler),
        classes: vec![ClassId(class)],
    }
}

fn edf() -> Edf {
    Edf::new(&[Some(Nanos(1_000_000))], BestEffort::by_arrival(Assign::Background))
}

fn of_class(sent: &[SentPacket], class: u32) -> impl Iterator<Item = &SentPacket> {
    sent.iter().filter(move |sent| sent.dispatch.packet.class.0 == class)
}

/// Packets that come at one time.
fn burst(time: Nanos, class: u32, lengths: &[u32]) -> impl Iterator<Item = Arrival> {
    lengths.iter().map(move |&length| Arrival { time, class, length, ..Arrival::default() })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// While the real-time class sleeps, best effort has the whole link; once it wakes, both are
    /// served from then on at their rates, but for their latencies.
    #[test]
    fn best_effort_takes_what_a_sleeper_leaves_and_gives_it_back(
        rate in 1_000_000..10_000_000_000u64,
        per_mille in 1..1000u64,
        asleep in 0..60_000u64,
        real_time in vec(1..=LONGEST, 1..60),
        best_effort in vec(1..=LONGEST, 60..200),
    ) {
        let own = [rate / 1000 * per_mille, rate - rate / 1000 * per_mille].map(Rate);
        let shares = own.map(|rate| Share { parent: None, rate });
        let leaves = vec![leaf(0, 0, edf()), leaf(1, 1, Fifo::new())];
        let wakes = Rate(rate).time_for(Bytes(asleep));
        let arrivals: Vec<_> =
            burst(Nanos(0), 1, &best_effort).chain(burst(wakes, 0, &real_time)).collect();
        let sent = drive(&mut Hierarchy::new(Rate(rate), &shares, leaves).unwrap(), Rate(rate), &arrivals).sent;
        let before = of_class(&sent, 1).take_while(|sent| sent.start < wakes).count();
        prop_assert!(sent[..before].iter().all(|sent| sent.dispatch.packet.class.0 == 1));
        // The packet that is on the link when the other wakes, and those that were chosen ahead,
        // delay a class by no more than its own longest one at its rate.
        let longest = Bytes(LONGEST.into());
        for (class, ahead) in [(0, 0), (1, u64::from(LONGEST))] {
            let latency = own[class].time_for(longest) + Rate(rate).time_for(longest) + Nanos(3);
            let mut work = Bytes(ahead);
            for sent in of_class(&sent, class as u32).filter(|sent| sent.start >= wakes) {
                work.0 += u64::from(sent.dispatch.packet.length);
                prop_assert!(sent.departure <= wakes + own[class].time_for(work) + latency);
            }
        }
    }
}

/// What a class leaves goes to its siblings first.
#[test]
fn a_group_keeps_what_one_of_it_leaves() {
    let share = |parent: Option<u32>, rate| Share { parent: parent.map(ClassId), rate: Rate(rate) };
    let shares = [
        share(None, 6_000_000),
        share(Some(0), 5_000_000),
        share(Some(0), 1_000_000),
        share(None, 4_000_000),
    ];
    let leaves = vec![leaf(1, 7, edf()), leaf(2, 8, Fifo::new()), leaf(3, 9, Fifo::new())];
    let mut hierarchy = Hierarchy::new(Rate(10_000_000), &shares, leaves).unwrap();
    let arrivals: Vec<_> =
        [8, 9].map(|class| burst(Nanos(0), class, &[1000; 100])).into_iter().flatten().collect();
    let sent = drive(&mut hierarchy, Rate(10_000_000), &arrivals).sent;
    let of_100 = of_class(&sent[..100], 8).count();
    assert!(of_100.abs_diff(60) <= 1, "{of_100}");
}
