//! What holds for every discipline: [`drive`] checks that packets are neither lost nor invented.

mod conformance;
mod explain;
mod room;
mod scaling;
mod setup;

use std::boxed::Box;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::cake::{CakeClass, CakeSettings, Diffserv};
use super::dualpi2::DualPi2Settings;
use super::dwcs::{DwcsSettings, Late, Precedence, Stream, Streams};
use super::edf::{Assign, BestEffort, Deadlines, Line};
use super::fq_codel;
use super::hfsc::{ClassSpec, Curves};
use super::pifo::Ranking;
use super::qfq::QfqClass;
use super::{
    Cake, Drr, DualPi2, Dwcs, Edf, Fifo, FqCodel, Hfsc, Hierarchy, Leaf, LeafQueues, Pifo,
    Priority, Qfq, Share, Wf2q, Wfq,
};
use crate::aqm::{CoDel, DropTail, Limit};
use crate::packet::{ClassId, FlowId, HostId, Hosts, Packet};
use crate::scheduler::{DropReason, Scheduler, Withdraw};
use crate::service::ServiceCurve;
use crate::testing::{Arrival, Run, arrivals, drive};
use crate::units::{Nanos, Rate};
use crate::window::Loss;

const RATE: Rate = Rate(10_000_000);
const CLASSES: u32 = 4;

fn traffic() -> impl Strategy<Value = Vec<Arrival>> {
    arrivals(CLASSES, 1..=1500, 1, 1_000_000, 60)
}

fn edf(order: BestEffort) -> Edf {
    Edf::new(&[Some(Nanos(3_000_000)), Some(Nanos(9_000_000)), None, None], order)
}

fn assign() -> Assign {
    let line = Line { rate: Rate(3_000_000), offset: Nanos(1_000_000) };
    Assign::Curve(Deadlines::new(&line.curve()).unwrap())
}

fn wfq() -> Wfq {
    Wfq::new(RATE, &[1, 2, 3, 4]).unwrap()
}

/// The classes of a hierarchy: two pairs of leaves, numbered from 0, below two that follow them.
fn hierarchy() -> [(Option<ClassId>, Rate); 6] {
    let below = |number| Some(ClassId(number));
    [
        (below(4), Rate(1_000_000)),
        (below(4), Rate(2_000_000)),
        (below(5), Rate(3_000_000)),
        (below(5), Rate(4_000_000)),
        (None, Rate(3_000_000)),
        (None, Rate(7_000_000)),
    ]
}

fn wf2q() -> Wf2q {
    Wf2q::new(RATE, &hierarchy().map(|(parent, rate)| Share { parent, rate })).unwrap()
}

/// Two schedulers on two levels, for two classes each.
fn below_shares(first: Box<dyn Scheduler + Send>, second: Box<dyn Scheduler + Send>) -> Hierarchy {
    let share = |parent, rate| Share { parent, rate };
    let shares = [
        share(None, Rate(4_000_000)),
        share(Some(ClassId(0)), Rate(4_000_000)),
        share(None, Rate(6_000_000)),
    ];
    let leaf = |share, scheduler, classes: [u32; 2]| Leaf {
        share: ClassId(share),
        longest: 1500,
        scheduler,
        classes: classes.map(ClassId).to_vec(),
    };
    Hierarchy::new(RATE, &shares, Vec::from([leaf(1, first, [3, 0]), leaf(2, second, [1, 2])]))
        .unwrap()
}

/// Half of the leaves are real-time, too, with curves of both shapes.
fn hfsc() -> Hfsc {
    let concave = ServiceCurve::two_piece(5_000_000, Nanos(2_000_000), Rate(1_000_000)).unwrap();
    let convex = ServiceCurve::two_piece(0, Nanos(2_000_000), Rate(3_000_000)).unwrap();
    let real_time = [Some(concave), None, Some(convex), None, None, None];
    let classes = hierarchy().into_iter().zip(real_time).map(|((parent, rate), real_time)| {
        let link_share = Some(ServiceCurve::linear(rate));
        ClassSpec { parent, curves: Curves { real_time, link_share, upper_limit: None } }
    });
    Hfsc::new(&classes.collect::<Vec<_>>()).unwrap()
}

/// Streams with all tolerances and with deadlines that are often missed, and one without.
fn dwcs(precedence: Precedence, late: Late) -> Dwcs {
    let gaps = [Some(300_000), Some(1_000_000), Some(4_000_000), None];
    let streams = gaps.into_iter().zip(0..).map(|(gap, lost)| {
        let loss = Loss::new(lost, 3).unwrap();
        Streams { stream: Stream { gap: gap.map(Nanos), loss, late }, count: 1 }
    });
    let settings = DwcsSettings { precedence, ..DwcsSettings::default() };
    Dwcs::new(settings, &streams.collect::<Vec<_>>()).unwrap()
}

/// Two classes on one level, the others before and behind.
fn priority() -> Priority {
    Priority::new(&[3, 0, 7, 3])
}

/// Two classes in one aggregate, the others in aggregates of their own.
fn qfq() -> Qfq {
    let class = |weight| Some(QfqClass { weight, max_packet: 1500 });
    Qfq::new(&[class(2), class(1), class(2), class(40)]).unwrap()
}

/// Without drops of its own.
fn fq_codel() -> FqCodel {
    let codel = fq_codel::FqCodelSettings::default().codel;
    let codel = CoDel { limit: Limit::None, target: Nanos::MAX, ..codel };
    let settings = fq_codel::FqCodelSettings { queues: 3, codel, ..Default::default() };
    FqCodel::new(CLASSES as usize, settings, 1).unwrap()
}

/// Without drops of its own.
fn dualpi2() -> DualPi2 {
    let settings =
        DualPi2Settings { alpha: 0, beta: 0, limit: Limit::None, ..DualPi2Settings::USUAL };
    DualPi2::new(CLASSES as usize, settings).unwrap()
}

/// Classes in two tins, with flows of several hosts, and without drops of its own.
fn cake() -> Cake {
    let settings = CakeSettings {
        diffserv: Diffserv::Diffserv4,
        rate: RATE,
        rtt: Nanos::LIMIT,
        queues: 64,
        ..CakeSettings::USUAL
    };
    Cake::new(cake_classes(), settings, 1).unwrap()
}

fn cake_classes() -> Vec<CakeClass> {
    let class = |number: u32| {
        let hosts = Hosts { source: HostId(number % 2), destination: HostId(number) };
        let hosts = [(FlowId(2), hosts), (FlowId(4), Hosts::UNKNOWN)].into();
        CakeClass { dscp: if number == 3 { 46 } else { 0 }, hosts }
    };
    (0..CLASSES).map(class).collect()
}

/// Packets by class, those of the later classes so much after they came.
fn pifo(held: Nanos) -> Pifo<u32, impl FnMut(&Packet) -> Ranking<u32>> {
    Pifo::new(CLASSES, move |packet: &Packet| Ranking {
        rank: packet.class.0,
        eligible: packet.arrival + Nanos(held.0 * u64::from(packet.class.0)),
        deadline: None,
    })
}

/// One of each discipline from which packets can be withdrawn.
pub(crate) fn disciplines() -> Vec<Box<dyn Withdraw + Send>> {
    Vec::from([
        Box::new(Fifo::new()) as Box<dyn Withdraw + Send>,
        Box::new(wfq()),
        Box::new(edf(BestEffort::by_arrival(Assign::Background))),
        Box::new(edf(BestEffort::by_arrival(assign()))),
        Box::new(edf(BestEffort::ordered_by(Box::new(wfq()), assign()))),
        Box::new(Drr::new(&[100, 500, 1500, 4000]).unwrap()),
        Box::new(wf2q()),
        Box::new(qfq()),
        Box::new(hfsc()),
        Box::new(dwcs(Precedence::LossFirst, Late::Send)),
        Box::new(dwcs(Precedence::DeadlineFirst, Late::Send)),
        Box::new(priority()),
        Box::new(fq_codel()),
        Box::new(dualpi2()),
        Box::new(cake()),
        Box::new(pifo(Nanos::ZERO)),
    ])
}

/// One of each discipline.
fn all_disciplines() -> Vec<Box<dyn Scheduler>> {
    let below = below_shares(Box::new(edf(BestEffort::by_arrival(assign()))), Box::new(wfq()));
    let others = disciplines().into_iter().map(|one| Box::new(one) as Box<dyn Scheduler>);
    others.chain([Box::new(below) as Box<dyn Scheduler>]).collect()
}

/// Best effort with limited queues of its own.
fn limited_within() -> Box<dyn Scheduler> {
    let limited = DropTail::new(wfq(), [Limit::Packets(2); CLASSES as usize].to_vec());
    Box::new(edf(BestEffort::ordered_by(Box::new(limited), assign())))
}

fn any_limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        Just(Limit::None),
        (0..6u64).prop_map(Limit::Packets),
        (0..6000u64).prop_map(Limit::Bytes),
    ]
}

/// The packets that a limit turns away, found by counting what of each class is queued when each
/// packet arrives.
fn turned_away(limits: &[Limit], arrivals: &[Arrival], run: &Run) -> Vec<u64> {
    let mut dropped = Vec::new();
    for (handle, arrival) in (0u64..).zip(arrivals) {
        let is_queued = |packet: &Packet| {
            let gone = run.sent.iter().any(|sent| {
                sent.dispatch.packet.handle == packet.handle && sent.arrived as u64 <= handle
            });
            packet.class.0 == arrival.class && packet.handle < handle && !gone
        };
        let packets = run.sent.iter().map(|sent| sent.dispatch.packet);
        let queued: Vec<_> =
            packets.filter(is_queued).map(|packet| u64::from(packet.length)).collect();
        let has_room = match limits[arrival.class as usize] {
            Limit::None => true,
            Limit::Packets(limit) => (queued.len() as u64) < limit,
            Limit::Bytes(limit) => queued.iter().sum::<u64>() + u64::from(arrival.length) <= limit,
        };
        if !has_room {
            dropped.push(handle);
        }
    }
    dropped
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn nothing_is_lost_or_invented(arrivals in traffic()) {
        let dropping = |precedence| Box::new(dwcs(precedence, Late::Drop)) as Box<dyn Scheduler>;
        let below = below_shares(
            Box::new(dwcs(Precedence::LossFirst, Late::Drop)),
            Box::new(DropTail::new(Fifo::new(), [Limit::Packets(2); 2].to_vec())),
        );
        let dropping = [Precedence::LossFirst, Precedence::DeadlineFirst].map(dropping);
        let dropping = dropping.into_iter().chain([Box::new(below) as Box<dyn Scheduler>]);
        for mut scheduler in all_disciplines().into_iter().chain([limited_within()]).chain(dropping) {
            let run = drive(&mut scheduler, RATE, &arrivals);
            prop_assert_eq!(run.sent.len() + run.dropped.len(), arrivals.len());
        }
    }

    #[test]
    fn limits_turn_away_what_has_no_room(
        arrivals in traffic(), limits in vec(any_limit(), CLASSES as usize),
    ) {
        for scheduler in all_disciplines() {
            let run = drive(&mut DropTail::new(scheduler, limits.clone()), RATE, &arrivals);
            prop_assert!(run.dropped.iter().all(|(packet, reason)| *reason == DropReason::no_room(packet)));
            let dropped: Vec<_> = run.dropped.iter().map(|(packet, _)| packet.handle).collect();
            prop_assert_eq!(dropped, turned_away(&limits, &arrivals, &run));
        }
    }

    #[test]
    fn first_come_is_first_served(arrivals in traffic()) {
        let run = drive(&mut Fifo::new(), RATE, &arrivals);
        prop_assert!(run.sent.iter().map(|sent| sent.dispatch.packet.handle).eq(0..arrivals.len() as u64));
    }
}
