//! No operation takes time in proportion to classes, or to queued packets.

use std::time::{Duration, Instant};

use super::conformance::{Any, declared, is_discipline};
use super::*;
use crate::sched::Tdp;
use crate::sched::fq_codel::FqCodelSettings;
use crate::sched::tdp::{CommonTime, TdpSettings};

/// Classes or packets, and how many times as many.
const FEW: u32 = 100;
const MANY: u32 = 100_000;
/// Far above what caches and logarithms cost, and far below a thousand, the cost of a look at each.
const MOST: u32 = 25;
/// Packets that are sent, and replaced, in one measurement. The shortest of several counts.
const OPERATIONS: u32 = 2_000;
const MEASUREMENTS: usize = 9;

/// Every discipline, for some classes that have one packet each.
fn of_classes(classes: u32) -> Vec<(&'static str, Any)> {
    let each = || 0..classes;
    let weights: Vec<u64> = each().map(|class| 1 + u64::from(class % 16)).collect();
    let deadlines: Vec<_> = each()
        .map(|class| (class % 8 > 0).then_some(Nanos(1_000_000 + u64::from(class))))
        .collect();
    let line = || Some(ServiceCurve::linear(Rate(1_000)));
    let curves = |_| ClassSpec {
        parent: None,
        curves: Curves { real_time: line(), link_share: line(), upper_limit: None },
    };
    let limited = |class: u32| {
        let upper_limit = (!class.is_multiple_of(2)).then(|| ServiceCurve::linear(Rate(1_000_000)));
        let curves = Curves { real_time: None, link_share: line(), upper_limit };
        ClassSpec { parent: None, curves }
    };
    let share = |_| Share { parent: None, rate: Rate(1_000) };
    let quick = |weight: &u64| Some(QfqClass { weight: *weight, max_packet: 1500 });
    let stream = |class: u32| {
        let loss = Loss::new(1, 80 + class % 8).unwrap();
        // A deadline that is missed takes time of its own: the link keeps up with the streams.
        let gap = Some(Nanos(2_000_000 * u64::from(classes)));
        Streams { stream: Stream { gap, loss, late: Late::Send }, count: 1 }
    };
    let streams: Vec<_> = each().map(stream).collect();
    let by = |precedence| {
        let settings = DwcsSettings { precedence, ..DwcsSettings::default() };
        Box::new(Dwcs::new(settings, &streams).unwrap()) as Any
    };
    let flows = |limit| {
        let codel = CoDel { limit, target: Nanos::MAX, ..FqCodelSettings::default().codel };
        let queues = classes.min(65_536) as usize;
        let settings = FqCodelSettings { queues, codel, ..FqCodelSettings::default() };
        Box::new(FqCodel::new(classes as usize, settings, 1).unwrap()) as Any
    };
    let tins = || {
        let settings = CakeSettings { rtt: Nanos::LIMIT, ..CakeSettings::USUAL };
        Cake::new(each().map(|_| CakeClass::default()).collect(), settings, 1).unwrap()
    };
    let two_queues =
        DualPi2Settings { alpha: 0, beta: 0, limit: Limit::None, ..DualPi2Settings::USUAL };
    let wfq = || Wfq::new(RATE, &weights).unwrap();
    let leaf = |class: u32| Leaf {
        share: ClassId(class),
        longest: 1500,
        scheduler: Box::new(Fifo::with_classes(1)),
        classes: [ClassId(class)].to_vec(),
    };
    let fifo = || Box::new(Fifo::with_classes(1)) as Box<dyn Scheduler + Send>;
    let shares: Vec<_> = each().map(share).collect();
    let time = CommonTime { frame: Nanos(5_000_000), frames: 4, cycles: 2 };
    let frames = TdpSettings { time, rate: RATE, delay: 8, guard: Nanos::ZERO, late: Late::Send };
    Vec::from([
        ("fifo", Box::new(Fifo::with_classes(classes as usize)) as Any),
        ("wfq", Box::new(wfq())),
        ("edf", Box::new(Edf::new(&deadlines, BestEffort::by_arrival(assign())))),
        ("edf", Box::new(Edf::new(&deadlines, BestEffort::ordered_by(Box::new(wfq()), assign())))),
        ("priority", Box::new(Priority::new(&each().map(|class| class % 256).collect::<Vec<_>>()))),
        ("fq_codel", flows(Limit::None)),
        ("fq_codel", flows(Limit::Packets(classes.into()))),
        ("dualpi2", Box::new(DualPi2::new(classes as usize, two_queues).unwrap())),
        ("cake", Box::new(tins())),
        (
            "pifo",
            Box::new(Pifo::new(classes, |packet: &Packet| Ranking {
                rank: packet.class.0 % 997,
                eligible: packet.arrival,
                deadline: None,
            })),
        ),
        ("drr", Box::new(Drr::new(&each().map(|_| 1500).collect::<Vec<_>>()).unwrap())),
        ("wf2q", Box::new(Wf2q::new(RATE, &shares).unwrap())),
        ("qfq", Box::new(Qfq::new(&weights.iter().map(quick).collect::<Vec<_>>()).unwrap())),
        ("hfsc", Box::new(Hfsc::new(&each().map(curves).collect::<Vec<_>>()).unwrap())),
        ("hfsc", Box::new(Hfsc::new(&each().map(limited).collect::<Vec<_>>()).unwrap())),
        ("dwcs", by(Precedence::LossFirst)),
        ("dwcs", by(Precedence::DeadlineFirst)),
        ("hierarchy", Box::new(Hierarchy::new(RATE, &shares, each().map(leaf).collect()).unwrap())),
        (
            "leaves",
            Box::new(
                LeafQueues::new(
                    Drr::new(&each().map(|_| 1500).collect::<Vec<_>>()).unwrap(),
                    each().map(|class| (ClassId(class), fifo())).collect(),
                )
                .unwrap(),
            ),
        ),
        ("tdp", Box::new(Tdp::reserving(frames, |frame| frame % 2 == 0).unwrap().over(wfq()))),
    ])
}

/// A packet of a class comes.
fn enqueue(scheduler: &mut Any, now: Nanos, class: u32) {
    let packet = Packet {
        class: ClassId(class),
        flow: FlowId(class),
        length: 1200,
        arrival: now,
        ..Packet::default()
    };
    scheduler.enqueue(now, packet, &mut |_: Packet, _: DropReason| {});
}

/// Shortest time of a run of operations while `packets` packets of `classes` classes wait.
///
/// The packets are of the classes in turn, and wait all the time.
fn takes(scheduler: &mut Any, classes: u32, packets: u32) -> Duration {
    let mut now = Nanos(1);
    (0..packets).for_each(|number| enqueue(scheduler, now, number % classes));
    let mut shortest = Duration::MAX;
    for _ in 0..MEASUREMENTS {
        let begin = Instant::now();
        for _ in 0..OPERATIONS {
            now = scheduler.next_ready(now).expect("packets wait");
            let mut gone = Vec::new();
            let sent = scheduler.dequeue(now, &mut |packet: Packet, _: DropReason| {
                gone.push(packet.class.0);
            });
            now += Nanos(1_000_000);
            gone.extend(sent.map(|sent| sent.packet.class.0));
            gone.into_iter().for_each(|class| enqueue(scheduler, now, class));
        }
        shortest = shortest.min(begin.elapsed());
    }
    shortest
}

/// What takes more than [`MOST`] times as long with many.
fn assert_scales(what: &str, measure: impl Fn(u32) -> Vec<(&'static str, Duration)>) {
    let (few, many) = (measure(FEW), measure(MANY));
    for ((name, few), (_, many)) in few.into_iter().zip(many) {
        assert!(
            many < few * MOST,
            "{name} takes {few:?} with {FEW} {what}, and {many:?} with {MANY}"
        );
    }
}

#[test]
fn no_operation_looks_at_every_class() {
    assert_scales("classes", |classes| {
        let all = of_classes(classes).into_iter();
        all.map(|(name, mut scheduler)| (name, takes(&mut scheduler, classes, classes))).collect()
    });
}

#[test]
fn no_operation_looks_at_every_packet() {
    assert_scales("packets", |packets| {
        let all = of_classes(4).into_iter();
        all.map(|(name, mut scheduler)| (name, takes(&mut scheduler, 4, packets))).collect()
    });
}

#[test]
fn every_discipline_is_measured() {
    let measured: Vec<_> = of_classes(4).into_iter().map(|(name, _)| name).collect();
    let is_missing = |name: &&str| is_discipline(name) && !measured.contains(name);
    assert_eq!(declared().find(is_missing), None);
}
