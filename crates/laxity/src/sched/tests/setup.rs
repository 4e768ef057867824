//! What cannot be set up is refused, and it is said what is accepted.

use std::string::{String, ToString};

use crate::aqm::{CoDel, Fraction, Limit, ManagedScheduler, Measure, Pie, Policy, Red, Spacing};
use crate::error::SetupError;
use crate::packet::ClassId;
use crate::sched::dwcs::{DwcsSettings, Late, Stream, Streams};
use crate::sched::fq_codel::FqCodelSettings;
use crate::sched::tdp::{CommonTime, Contract, Edge, Slots, TdpSettings, Upstream};
use crate::sched::{Dwcs, Fifo, Share, Tdp, Wf2q, Wfq};
use crate::units::{Bytes, Nanos, Rate};
use crate::window::Loss;

const RATE: Rate = Rate(1_000_000);

fn refused<T>(made: Result<T, SetupError>) -> String {
    made.err().expect("it is set up").to_string()
}

#[test]
fn shares() {
    let weights = Wfq::new(RATE, &[1, 0]);
    assert_eq!(refused(weights), "the weight of class 1 is 0: accepted is at least 1");
    let below = |parent| [Share { parent: Some(ClassId(parent)), rate: RATE }];
    assert_eq!(refused(Wf2q::new(RATE, &below(7))), "there is no class 7");
    let itself = "class 0 lies below itself: from every class, parents lead to the top";
    assert_eq!(refused(Wf2q::new(RATE, &below(0))), itself);
}

#[test]
fn streams() {
    let new = |check_every, gap, count| {
        let stream =
            Stream { gap: Some(Nanos(gap)), loss: Loss::new(0, 1).unwrap(), late: Late::Send };
        let settings = DwcsSettings { check_every, ..DwcsSettings::default() };
        Dwcs::new(settings, &[Streams { stream, count }])
    };
    for (made, message) in [
        (
            new(0, 1, 1),
            "the number of services between two checks is 0: accepted is 1 to 4294967295",
        ),
        (new(1, 0, 1), "the gap in ns of class 0 is 0: accepted is at least 1"),
        (new(1, 1, 0), "the number of streams of class 0 is 0: accepted is 1 to 16777216"),
        (
            new(1, 1, Dwcs::MOST_STREAMS + 1),
            "the number of streams of all classes is 16777217: accepted is 0 to 16777216",
        ),
    ] {
        assert_eq!(refused(made), message);
    }
}

/// A class that is refused takes no number and no room.
#[test]
fn a_class_that_is_refused_changes_nothing() {
    let mut dwcs = Dwcs::new(DwcsSettings::default(), &[]).unwrap();
    let stream = Stream { gap: None, loss: Loss::new(0, 1).unwrap(), late: Late::Send };
    assert!(dwcs.add(Streams { stream, count: 0 }).is_err());
    let most = Dwcs::MOST_STREAMS;
    assert_eq!(dwcs.add(Streams { stream, count: 1 }), Ok(ClassId(0)));
    let refused = dwcs.add(Streams { stream, count: most });
    assert_eq!(refused, Err(SetupError::NoRoom { count: most, most }));
    assert!(dwcs.remove(ClassId(0)));
    assert_eq!(dwcs.add(Streams { stream, count: 1 }), Ok(ClassId(0)));
}

#[test]
fn frames() {
    let time = |frame, frames, cycles| CommonTime { frame: Nanos(frame), frames, cycles };
    let new = |time, rate, guard| {
        let (rate, guard) = (Rate(rate), Nanos(guard));
        Tdp::new(TdpSettings { time, rate, delay: 1, guard, late: Late::Drop })
    };
    let counted = "is 0: accepted is 1 to 4294967295";
    for (made, message) in [
        (
            new(time(0, 1, 1), 1, 0),
            "the length of a frame in ns is 0: accepted is at least 1".into(),
        ),
        (new(time(9, 0, 1), 1, 0), std::format!("the number of frames of a cycle {counted}")),
        (new(time(9, 1, 0), 1, 0), std::format!("the number of cycles of a super cycle {counted}")),
        (new(time(9, 1, 1), 0, 0), "the rate in bit/s is 0: accepted is at least 1".into()),
        (new(time(9, 1, 1), 1, 10), "the guard in ns is 10: accepted is 0 to 9".into()),
    ] {
        assert_eq!(refused(made), message);
    }
    let short = "the number of frames of a cycle is 2: accepted is 3 to 4294967295";
    assert_eq!(refused(Upstream::new(time(9, 2, 1))), short);
    assert_eq!(refused(Upstream::in_step(time(9, 2, 1), 0)), short);
    let edge = |start, packets, period| {
        let contract = Contract { slots: Slots { start, packets, period }, packet: Bytes(1) };
        Edge::new(time(9, 4, 1), 8, &[None, Some(contract)])
    };
    for (made, message) in [
        (edge(0, 0, 4), std::format!("the number of packets in a period of class 1 {counted}")),
        (edge(0, 1, 0), std::format!("the number of frames in a period of class 1 {counted}")),
        (edge(4, 1, 4), "the first frame of class 1 is 4: accepted is 0 to 3".into()),
    ] {
        assert_eq!(refused(made), message);
    }
}

#[test]
fn queues() {
    let new =
        |policy, queue| ManagedScheduler::new(Fifo::new(), &[policy], &[None, Some(queue)], 0);
    let red = Red {
        min: 2,
        max: 8,
        measure: Measure::Packets,
        limit: Limit::None,
        max_p: Fraction::millionths(100_000),
        weight: Fraction::millionths(2_000),
        gentle: true,
        ecn: false,
        spacing: Spacing::Uniform,
        transmission: Nanos(1),
    };
    let codel = CoDel { interval: Nanos::ZERO, ..FqCodelSettings::RFC_8290.codel };
    let pie = Pie {
        target: Pie::TARGET,
        update: Pie::UPDATE,
        alpha: Pie::GAINS[0],
        beta: Pie::GAINS[1],
        burst: Pie::BURST,
        limit: Limit::None,
        ecn: false,
        packet: Bytes(1500),
    };
    let weight = "the weight of RED's average in parts of 2^-32 is";
    for (made, message) in [
        (
            new(Policy::DropTail { limit: Limit::None, mark: Limit::None }, 1),
            "class 1 belongs to queue 1, counted from 0, and there are 1".into(),
        ),
        (
            new(Policy::Red(Red { max: 0, ..red }), 0),
            "RED's upper threshold is 0: accepted is 1 to 1073741823".into(),
        ),
        (
            new(Policy::Red(Red { min: 8, ..red }), 0),
            "RED's lower threshold is 8: accepted is 0 to 7".into(),
        ),
        (
            new(Policy::Red(Red { weight: Fraction::ONE, ..red }), 0),
            std::format!("{weight} 4294967296: accepted is 1 to 4294967295"),
        ),
        (
            new(Policy::Red(Red { transmission: Nanos::ZERO, ..red }), 0),
            "the time of RED's packet in ns is 0: accepted is at least 1".into(),
        ),
        (
            new(Policy::CoDel(codel), 0),
            "CoDel's interval in ns is 0: accepted is at least 1".into(),
        ),
        (
            new(Policy::Pie(Pie { update: Nanos::ZERO, ..pie }), 0),
            "PIE's update in ns is 0: accepted is at least 1".into(),
        ),
        (
            new(Policy::Pie(Pie { alpha: 2_000_000_000, ..pie }), 0),
            "PIE's alpha in millionths is 2000000000: accepted is 0 to 1000000000".into(),
        ),
    ] {
        assert_eq!(refused(made), message);
    }
    assert!(new(Policy::Red(red), 0).is_ok());
}
