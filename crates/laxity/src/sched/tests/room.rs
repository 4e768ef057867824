//! How much memory a class takes.

use super::*;
use crate::sched::Tdp;
use crate::sched::tdp::{CommonTime, TdpSettings};
use crate::units::Bytes;

/// A power of two: trees have as many places.
const MANY: u32 = 16_384;

/// The bytes of each class when all have a packet.
fn of_each(mut scheduler: impl Scheduler) -> usize {
    for class in 0..MANY {
        let packet = Packet { class: ClassId(class), length: 1500, ..Packet::default() };
        scheduler
            .enqueue(Nanos::ZERO, packet, &mut |_: Packet, _: DropReason| panic!("it gets in"));
    }
    assert_eq!(scheduler.backlog().packets, MANY as usize);
    scheduler.footprint().div_ceil(MANY as usize)
}

/// Frames of 100 packets, a packet of each class in one of them.
fn tdp() -> usize {
    let time = CommonTime { frame: Nanos(120_000), frames: 164, cycles: 1 };
    let rate = Rate(10_000_000_000);
    let settings = TdpSettings { time, rate, delay: 164, guard: Nanos::ZERO, late: Late::Send };
    let mut tdp = Tdp::new(settings).unwrap();
    assert_eq!(settings.capacity(), Bytes(150_000));
    for class in 0..MANY {
        let packet = Packet { class: ClassId(class), length: 1500, ..Packet::default() };
        let frame = 1 + u64::from(class) / 100;
        tdp.enqueue_in(Nanos::ZERO, packet, frame, &mut |_: Packet, _: DropReason| {
            panic!("it gets in")
        });
    }
    Scheduler::footprint(&tdp).div_ceil(MANY as usize)
}

#[test]
fn a_class_with_one_packet_takes_so_much() {
    let each = || 0..MANY;
    let line = || Some(ServiceCurve::linear(Rate(500_000)));
    let leaf = |_| {
        let curves = Curves { real_time: line(), link_share: line(), upper_limit: None };
        ClassSpec { parent: None, curves }
    };
    let weights: Vec<u64> = each().map(|class| 1 + u64::from(class % 16)).collect();
    let share = |_| Share { parent: None, rate: Rate(500_000) };
    let rate = Rate(10_000_000_000);
    let quick = |weight: &u64| Some(QfqClass { weight: *weight, max_packet: 1500 });
    let deadlines: Vec<_> = each().map(|class| Some(Nanos(1_000_000 + u64::from(class)))).collect();
    let stream = |class: u32| {
        let loss = Loss::new(1, 80 + class % 8).unwrap();
        Streams {
            stream: Stream { gap: Some(Nanos(1_000_000_000)), loss, late: Late::Send },
            count: 1,
        }
    };
    let taken = [
        ("hfsc", of_each(Hfsc::new(&each().map(leaf).collect::<Vec<_>>()).unwrap()), 440),
        ("wfq", of_each(Wfq::new(rate, &weights).unwrap()), 200),
        ("wf2q", of_each(Wf2q::new(rate, &each().map(share).collect::<Vec<_>>()).unwrap()), 350),
        ("tdp", tdp(), 200),
        ("drr", of_each(Drr::new(&each().map(|_| 1500).collect::<Vec<_>>()).unwrap()), 100),
        ("qfq", of_each(Qfq::new(&weights.iter().map(quick).collect::<Vec<_>>()).unwrap()), 200),
        ("edf", of_each(Edf::new(&deadlines, BestEffort::by_arrival(Assign::Background))), 200),
        (
            "dwcs",
            of_each(
                Dwcs::new(DwcsSettings::default(), &each().map(stream).collect::<Vec<_>>())
                    .unwrap(),
            ),
            250,
        ),
    ];
    let too_much = taken.iter().filter(|(_, bytes, most)| bytes > most).collect::<Vec<_>>();
    assert!(too_much.is_empty(), "{too_much:?} of {taken:?}");
}
