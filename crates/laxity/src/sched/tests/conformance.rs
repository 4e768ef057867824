//! The contract of [`Scheduler`], kept by every discipline, alone and behind every queue
//! management.

use std::boxed::Box;
use std::collections::BTreeMap;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::aqm::{Choke, Fraction, ManagedScheduler, Measure, Pie, Policy, Red, Spacing};
use crate::link::Link;
use crate::port::{Account, Books, Port, Promise};
use crate::sched::Tdp;
use crate::sched::tdp::{CommonTime, Contract, Edge, FrameAssigner, Slots, TdpSettings as Frames};
use crate::scheduler::{Backlog, Dispatch};
use crate::units::Bytes;

/// A scheduler of the classes from 0 to [`CLASSES`] - 1.
pub(super) type Any = Box<dyn Scheduler + Send>;

/// What is in this folder beside disciplines.
const NO_DISCIPLINES: [&str; 5] = ["ancestry", "late", "pace", "servers", "tests"];

/// Every discipline, by the name of its file, in each way in which it drops, holds back or prefers
/// packets.
fn by_name() -> Vec<(&'static str, Any)> {
    let edf_by = |stage| Box::new(edf(stage)) as Any;
    let dropping = edf(BestEffort::by_arrival(assign())).with_late(Late::Drop);
    let below = |second| {
        let first = edf_by(BestEffort::by_arrival(assign()));
        Box::new(below_shares(first, second)) as Any
    };
    let limited = |scheduler: Any, classes| {
        DropTail::new(scheduler, [Limit::Packets(2), Limit::Bytes(3000)].repeat(classes / 2))
    };
    Vec::from([
        ("fifo", Box::new(Fifo::with_classes(CLASSES as usize)) as Any),
        ("wfq", Box::new(wfq())),
        ("edf", edf_by(BestEffort::by_arrival(Assign::Background))),
        ("edf", edf_by(BestEffort::by_arrival(assign()))),
        ("edf", edf_by(BestEffort::ordered_by(Box::new(wfq()), assign()))),
        ("edf", Box::new(dropping)),
        ("priority", Box::new(priority())),
        ("fq_codel", Box::new(fq_codel())),
        ("fq_codel", Box::new(dropping_fq_codel(Limit::Packets(3)))),
        ("fq_codel", Box::new(dropping_fq_codel(Limit::Bytes(4000)))),
        ("dualpi2", Box::new(dualpi2())),
        ("dualpi2", Box::new(dropping_dualpi2(Limit::Packets(3)))),
        ("dualpi2", Box::new(dropping_dualpi2(Limit::Bytes(4000)))),
        ("cake", Box::new(cake())),
        ("cake", Box::new(dropping_cake(Limit::Packets(3), false))),
        ("cake", Box::new(dropping_cake(Limit::Bytes(4000), true))),
        ("pifo", Box::new(pifo(Nanos(1_000_000)))),
        ("drr", Box::new(Drr::new(&[100, 500, 1500, 4000]).unwrap())),
        ("wf2q", Box::new(wf2q())),
        ("qfq", Box::new(qfq())),
        ("hfsc", Box::new(hfsc())),
        ("hfsc", Box::new(limited_hfsc())),
        ("dwcs", Box::new(dwcs(Precedence::LossFirst, Late::Send))),
        ("dwcs", Box::new(dwcs(Precedence::DeadlineFirst, Late::Drop))),
        ("hierarchy", below(Box::new(dwcs(Precedence::LossFirst, Late::Drop)))),
        ("hierarchy", below(Box::new(Fifo::with_classes(2)))),
        ("hierarchy", below(Box::new(limited_hfsc()))),
        ("leaves", Box::new(leaves(hfsc()))),
        ("leaves", Box::new(leaves(Drr::new(&[100, 500, 1500, 4000]).unwrap()))),
        ("tdp", Box::new(frames().over(wfq()))),
        ("hierarchy", below(Box::new(limited(Box::new(Fifo::with_classes(2)), 2)))),
        ("tdp", Box::new(frames().over(Fifo::with_classes(CLASSES as usize)))),
        ("tdp", Box::new(frames().over(limited(Box::new(wfq()), CLASSES as usize)))),
    ])
}

/// Two classes have schedulers of their own.
fn leaves<S: Scheduler>(upper: S) -> LeafQueues<S> {
    let flows = |limit| {
        let settings = fq_codel::FqCodelSettings {
            queues: 2,
            quantum: 300,
            codel: CoDel { limit, ..impatient() },
        };
        Box::new(FqCodel::new(1, settings, 1).unwrap()) as Any
    };
    let below = [(ClassId(0), flows(Limit::Packets(3))), (ClassId(2), flows(Limit::None))];
    LeafQueues::new(upper, Vec::from(below)).unwrap()
}

/// H-FSC in which two classes have upper limits.
fn limited_hfsc() -> Hfsc {
    let limits = [Some(Rate(500_000)), None, None, Some(Rate(900_000))];
    let class = |limit: Option<Rate>| {
        let link_share = Some(ServiceCurve::linear(Rate(2_000_000)));
        let upper_limit = limit.map(ServiceCurve::linear);
        ClassSpec { parent: None, curves: Curves { real_time: None, link_share, upper_limit } }
    };
    Hfsc::new(&limits.map(class)).unwrap()
}

/// FQ-CoDel that soon drops, in queues whose turns are short.
fn dropping_fq_codel(limit: Limit) -> FqCodel {
    let codel = CoDel { limit, ..impatient() };
    FqCodel::new(CLASSES as usize, fq_codel::FqCodelSettings { queues: 2, quantum: 300, codel }, 1)
        .unwrap()
}

/// DualPI2 that soon drops.
fn dropping_dualpi2(limit: Limit) -> DualPi2 {
    let settings = DualPi2Settings {
        target: Nanos(100_000),
        update: Nanos(200_000),
        alpha: DualPi2Settings::MOST_GAIN,
        beta: DualPi2Settings::MOST_GAIN,
        limit,
        ..DualPi2Settings::USUAL
    };
    DualPi2::new(CLASSES as usize, settings).unwrap()
}

/// CAKE that soon drops and holds packets back.
fn dropping_cake(limit: Limit, shapes: bool) -> Cake {
    let settings = CakeSettings {
        rate: Rate(8_000_000),
        shapes,
        rtt: Nanos(500_000),
        limit,
        queues: 8,
        ingress: !shapes,
        ..CakeSettings::USUAL
    };
    Cake::new(cake_classes(), settings, 1).unwrap()
}

/// Frames of 5 ms. Every second one is reserved.
fn frames() -> Tdp {
    let time = CommonTime { frame: Nanos(5_000_000), frames: 4, cycles: 2 };
    let settings = Frames { time, rate: RATE, delay: 8, guard: Nanos::ZERO, late: Late::Send };
    Tdp::reserving(settings, |frame| frame % 2 == 0).unwrap()
}

/// The same behind an edge that gives the first two classes frames.
fn edge() -> Any {
    let contract = |start| {
        let slots = Slots { start, packets: 2, period: 4 };
        Some(Contract { slots, packet: Bytes(1500) })
    };
    let mut edge = Edge::new(
        CommonTime { frame: Nanos(5_000_000), frames: 4, cycles: 2 },
        8,
        &[contract(0), contract(2), None, None],
    )
    .unwrap();
    Box::new(FrameAssigner::new(frames(), move |now, packet: &Packet| edge.frame_of(now, packet)))
}

/// CoDel that soon drops.
fn impatient() -> CoDel {
    CoDel {
        target: Nanos(500_000),
        interval: Nanos(3_000_000),
        limit: Limit::Packets(20),
        ecn: false,
        max_packet: Bytes(1500),
    }
}

/// Every queue management.
fn policies() -> Vec<Policy> {
    let red = Red {
        min: 2,
        max: 8,
        measure: Measure::Packets,
        limit: Limit::Packets(12),
        max_p: Fraction::millionths(100_000),
        weight: Fraction::millionths(200_000),
        gentle: true,
        ecn: false,
        spacing: Spacing::Uniform,
        transmission: Nanos(1_000_000),
    };
    // One after another, so that none is forgotten.
    let after = |policy: &Policy| match policy {
        Policy::DropTail { .. } => Some(Policy::Red(red)),
        Policy::Red(_) => Some(Policy::Choke(Choke { red, candidates: 2 })),
        Policy::Choke(_) => Some(Policy::CoDel(impatient())),
        Policy::CoDel(_) => Some(Policy::Pie(Pie {
            target: Nanos(100_000),
            update: Nanos(200_000),
            alpha: Pie::MOST_GAIN,
            beta: Pie::MOST_GAIN,
            burst: Nanos::ZERO,
            limit: Limit::None,
            ecn: false,
            packet: Bytes(100),
        })),
        Policy::Pie(_) => None,
    };
    core::iter::successors(
        Some(Policy::DropTail { limit: Limit::Packets(3), mark: Limit::Packets(1) }),
        after,
    )
    .collect()
}

/// Every discipline alone, behind a limit, and behind every queue management from which packets can
/// be withdrawn.
pub(super) fn all() -> Vec<(&'static str, Any)> {
    let limits = || [Limit::Packets(2), Limit::None, Limit::Bytes(3000), Limit::None].to_vec();
    let limited = by_name()
        .into_iter()
        .map(|(name, scheduler)| (name, Box::new(DropTail::new(scheduler, limits())) as Any));
    let managed = policies().into_iter().flat_map(|policy| {
        let queue_of = [Some(0), None, Some(1), Some(0)];
        disciplines().into_iter().map(move |scheduler| {
            let managed =
                ManagedScheduler::new(scheduler, &[policy, policy], &queue_of, 1).unwrap();
            ("managed", Box::new(managed) as Any)
        })
    });
    by_name().into_iter().chain(limited).chain(managed).collect()
}

/// The modules of this folder.
pub(super) fn declared() -> impl Iterator<Item = &'static str> {
    include_str!("../../sched.rs").lines().filter_map(|line| {
        let line = line.trim_start_matches("pub(crate) ").trim_start_matches("pub ");
        line.strip_prefix("mod ")?.strip_suffix(';')
    })
}

/// Whether a module of this folder is a discipline.
pub(super) fn is_discipline(name: &str) -> bool {
    !NO_DISCIPLINES.contains(&name)
}

#[test]
fn no_discipline_is_left_out() {
    let named: Vec<_> = by_name().into_iter().map(|(name, _)| name).collect();
    let is_missing = |name: &&str| is_discipline(name) && !named.contains(name);
    assert_eq!(declared().find(is_missing), None);
    assert!(declared().count() > named.iter().collect::<std::collections::BTreeSet<_>>().len());
}

/// A scheduler on a link, with every packet that is in it.
pub(super) struct Bench {
    port: Port<Any>,
    link: Link,
    queued: BTreeMap<u64, Packet>,
    sent: Vec<Packet>,
    dropped: u64,
    /// Packets that there was no room for.
    full: u64,
}

impl Bench {
    pub(super) fn new(scheduler: Any) -> Self {
        let books = Books::new([Promise::default(); CLASSES as usize], Nanos::ZERO);
        Bench {
            port: Port::new(scheduler, books),
            link: Link::new(RATE),
            queued: BTreeMap::new(),
            sent: Vec::new(),
            dropped: 0,
            full: 0,
        }
    }

    /// A packet comes, for which a packet must go if its queue is full. CHOKe, which compares it
    /// with others before that, may then drop it for them.
    pub(super) fn enqueue(&mut self, now: Nanos, packet: Packet) {
        let Bench { port, queued, dropped, full, .. } = self;
        let has_room = port.scheduler().has_room(&packet, Backlog::default());
        let mut reasons = Vec::new();
        queued.insert(packet.handle, packet);
        port.enqueue(now, packet, &mut |packet: Packet, reason| {
            assert_eq!(queued.remove(&packet.handle), Some(packet));
            *dropped += 1;
            reasons.push(reason);
        });
        let of_room = [DropReason::QueueFull, DropReason::Demoted];
        let overflows = reasons.iter().any(|reason| of_room.contains(reason));
        assert!(if has_room {
            !overflows
        } else {
            overflows || reasons.contains(&DropReason::Choke)
        });
        *full += u64::from(!has_room);
        self.check();
    }

    /// A packet of a class that there is not.
    fn refuse(&mut self, now: Nanos, packet: Packet) {
        let before = (self.port.scheduler().backlog(), self.port.next_ready(now));
        let strays = self.port.strays().clone();
        let mut drops = Vec::new();
        self.port.enqueue(now, packet, &mut |packet, reason| drops.push((packet, reason)));
        assert_eq!(drops, [(packet, DropReason::NoClass)]);
        assert_eq!((self.port.scheduler().backlog(), self.port.next_ready(now)), before);
        let is_stray = u64::from(packet.class.0 >= CLASSES);
        assert_eq!(self.port.strays().arrived, strays.arrived + is_stray);
        let no_class = DropReason::NoClass as usize;
        assert_eq!(self.port.strays().dropped()[no_class], strays.dropped()[no_class] + is_stray);
    }

    /// Lets the link send what is ready before `end`.
    pub(super) fn send_until(&mut self, from: Nanos, end: Nanos) {
        let mut now = from;
        // Nothing is asked more often than something comes of it.
        for _ in 0..20_000 {
            now = now.max(self.link.free_at());
            if now >= end {
                return;
            }
            let ready = self.port.next_ready(now);
            assert_eq!(ready.is_none(), self.queued.is_empty());
            let Some(ready) = ready.filter(|ready| *ready < end) else { return };
            assert!(ready >= now, "ready in the past");
            now = ready;
            let (left, dropped) = (self.queued.len(), self.dropped);
            match self.dequeue(now) {
                Some(Dispatch { packet, .. }) => {
                    let departure = self.link.transmit(now, packet.length);
                    self.port.sent(&packet, departure);
                    self.sent.push(packet);
                    assert!(self.queued.len() < left);
                }
                None if self.dropped > dropped => {}
                None => now.0 += 1,
            }
        }
        panic!("it never gets on");
    }

    fn dequeue(&mut self, now: Nanos) -> Option<Dispatch> {
        let Bench { port, queued, dropped, .. } = self;
        let dispatch = port.dequeue(now, &mut |packet: Packet, _| {
            assert_eq!(queued.remove(&packet.handle), Some(packet));
            *dropped += 1;
        });
        if let Some(Dispatch { packet, .. }) = &dispatch {
            assert_eq!(queued.remove(&packet.handle), Some(*packet));
        }
        self.check();
        dispatch
    }

    fn check(&self) {
        let bytes = self.queued.values().map(|packet| u64::from(packet.length)).sum();
        let queued = Backlog { packets: self.queued.len(), bytes };
        assert_eq!(self.port.scheduler().backlog(), queued);
    }
}

/// Classes that there are not: the next, one far beyond and the last that can be told.
const STRANGE: [u32; 4] = [CLASSES, CLASSES + 2, 70_000, u32::MAX];

/// All arrivals, and beside each a packet that no class is there for.
fn conform(name: &str, scheduler: Any, arrivals: &[Arrival], keeps_order: bool) {
    let mut bench = Bench::new(scheduler);
    assert_eq!(bench.port.next_ready(Nanos::ZERO), None, "{name} has nothing");
    let mut now = Nanos::ZERO;
    for (handle, arrival) in (0..).zip(arrivals) {
        bench.send_until(now, arrival.time);
        now = arrival.time;
        let Arrival { class, length, demoted, .. } = *arrival;
        let packet = Packet { length, demoted, arrival: now, handle, ..Packet::default() };
        let strange = STRANGE[handle as usize % STRANGE.len()];
        bench.refuse(now, Packet { class: ClassId(strange), handle: u64::MAX, ..packet });
        bench.enqueue(now, Packet { class: ClassId(class), ..packet });
    }
    bench.send_until(now, Nanos::MAX);
    assert!(bench.queued.is_empty(), "{name} keeps packets");
    assert_eq!(bench.sent.len() as u64 + bench.dropped, arrivals.len() as u64, "{name}");
    let balanced = |account: &Account| {
        account.queued == 0
            && account.arrived == account.sent + account.dropped().iter().sum::<u64>()
    };
    assert!(bench.port.accounts().iter().chain([bench.port.strays()]).all(balanced), "{name}");
    for class in (0..CLASSES).filter(|_| keeps_order) {
        let own = bench.sent.iter().filter(|sent| sent.class.0 == class && !sent.demoted);
        assert!(own.is_sorted_by_key(|sent| sent.handle), "{name} reorders class {class}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Every scheduler keeps its contract.
    ///
    /// It loses and invents nothing, and packets of one class leave in the order of arrival. If it
    /// has packets, it says when the next is ready. Packets of a class that does not exist change
    /// nothing.
    #[test]
    fn every_scheduler_keeps_the_contract(arrivals in traffic()) {
        for (name, scheduler) in all() {
            conform(name, scheduler, &arrivals, true);
        }
    }
}

/// Of packets that come together each knows whether there is room for it behind those before it, as
/// long as these get in; and every limit is met.
#[test]
fn packets_that_come_together_know_who_has_room() {
    for (place, (name, scheduler)) in all().into_iter().enumerate() {
        let mut bench = Bench::new(scheduler);
        for class in (0..CLASSES).map(ClassId) {
            let packets: Vec<_> = (0..30)
                .map(|number| {
                    let handle = u64::from(class.0) << 32 | number;
                    let flow = FlowId(number as u32);
                    Packet { class, flow, length: 1400, handle, ..Packet::default() }
                })
                .collect();
            let mut ahead = Backlog::default();
            let told = packets.iter().map(|packet| {
                let has_room = bench.port.scheduler().has_room(packet, ahead);
                ahead.add(packet.length);
                has_room
            });
            let dropped = bench.dropped;
            for (packet, told) in packets.iter().zip(told.collect::<Vec<_>>()) {
                let (full, all_are_in) = (bench.full, bench.dropped == dropped);
                bench.enqueue(Nanos::ZERO, *packet);
                let had_room = bench.full == full;
                assert!(!all_are_in || had_room == told, "{name}, number {place}: {packet:?}");
            }
        }
        assert_eq!(bench.full > 0, bench.dropped > 0, "{name}, number {place}");
    }
}

/// Whatever limits a scheduler and what is around it have, what is taken over is all queued.
#[test]
fn packets_that_are_taken_over_find_room() {
    const EACH: u32 = 400;
    for (place, (name, mut scheduler)) in all().into_iter().enumerate() {
        let mut none =
            |packet, reason| panic!("{name}, number {place}, drops {packet:?}: {reason:?}");
        for number in 0..CLASSES * EACH {
            let (class, flow) = (ClassId(number % CLASSES), FlowId(number % 7));
            let handle = u64::from(number);
            let packet = Packet { class, flow, length: 1400, handle, ..Packet::default() };
            scheduler.take_over(Nanos::ZERO, packet, &mut none);
        }
        assert_eq!(
            scheduler.backlog().packets,
            (CLASSES * EACH) as usize,
            "{name}, number {place}"
        );
    }
}

/// An edge gives frames to flows that it has contracts with, and what is behind it has any class.
#[test]
fn an_edge_has_no_frames_for_classes_that_there_are_not() {
    let mut edge = edge();
    let none = &mut |_, _| panic!("best effort has any class");
    for class in STRANGE {
        let packet = Packet { class: ClassId(class), length: 100, ..Packet::default() };
        edge.enqueue(Nanos::ZERO, packet, none);
        assert_eq!(edge.dequeue(Nanos::ZERO, none).map(|sent| sent.deadline), Some(None));
    }
}
