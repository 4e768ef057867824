//! EDF with exact deadlines for best effort.

use laxity::admit::edf::{RealTime, System};
use laxity::police::TokenBucket;
use laxity::sched::Edf;
use laxity::sched::edf::{Assign, BestEffort, Deadlines};
use laxity::units::{Bytes, Nanos, Rate};

use super::load::{self, Under};

/// Every other class is best effort, in the order of arrival. Its deadlines come from what
/// contracts of half the link leave, in a residual capacity of this many pieces that reach over
/// tenths of a second.
pub(super) fn edf(under: Under, pieces: u32) -> Edf {
    let deadlines = (0..).zip(load::deadlines(under.classes));
    let real_time = deadlines.map(|(class, deadline)| (class % 2 == 0).then_some(deadline));
    let real_time: Vec<_> = real_time.collect();
    Edf::new(&real_time, BestEffort::by_arrival(Assign::Curve(best_effort(under.link(), pieces))))
}

/// The capacity is flat until the longest packet has passed, rises, and with each of the contracts
/// is flat and rises again.
fn best_effort(link: Rate, pieces: u32) -> Deadlines {
    let contracts = (pieces / 2 - 1).into();
    let (rate, packet) = (Rate(link.0 / 2 / contracts), Bytes(1_500));
    // That of a millisecond.
    let bucket = Bytes(rate.0 / 8 / 1_000);
    let contract = |number| RealTime {
        deadline: Nanos(number * 50_000_000),
        arrival: vec![TokenBucket { bucket, rate }],
        packet,
    };
    let system = System {
        rate: link,
        latency: Nanos::ZERO,
        max_packet: packet,
        real_time: (1..=contracts).map(contract).collect(),
        best_effort_packet: Some(packet),
    };
    let left = system.effective_residual_capacity();
    assert_eq!(left.pieces().len(), pieces as usize, "a contract makes a flat piece and a rise");
    Deadlines::new(&left).expect("whole rates, sizes and times make a fit curve")
}
