//! Flows that come and go on a link under EDF, beside a flood: whether what is promised is kept.

use std::vec::Vec;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::bookings::{Admission, Bookings, Period};
use super::settling::{Promised, settling_time};
use crate::admit::edf::{RealTime, System};
use crate::curve::Curve;
use crate::packet::{ClassId, Packet};
use crate::police::{Meter, TokenBucket};
use crate::sched::Edf;
use crate::sched::edf::{Assign, BestEffort};
use crate::scheduler::{DropReason, Scheduler};
use crate::testing::rounds;
use crate::units::{Bytes, Nanos, Rate};

/// A byte takes a microsecond.
const RATE: Rate = Rate(8_000_000);
const FLOOD: u32 = 1000;

/// The test of a link; what has ended is felt for W, or not at all.
struct Link {
    is_felt: bool,
}

impl Admission<RealTime> for Link {
    type Error = ();

    fn test(&mut self, contracts: &[&RealTime]) -> Result<Option<Nanos>, ()> {
        let real_time: Vec<RealTime> = contracts.iter().map(|one| (*one).clone()).collect();
        let system = System {
            rate: RATE,
            latency: Nanos(0),
            max_packet: Bytes(FLOOD.into()),
            real_time,
            best_effort_packet: Some(Bytes(FLOOD.into())),
        };
        if !system.test(&Curve::zero()).admitted {
            return Err(());
        }
        let promised = |flow: &'_ &RealTime| (flow.deadline, flow.arrival.clone());
        let promised: Vec<_> = contracts.iter().map(promised).collect();
        let promised: Vec<_> =
            promised.iter().map(|(bound, arrival)| Promised { bound: *bound, arrival }).collect();
        let settling = settling_time(RATE, Nanos(0), Bytes(FLOOD.into()), &promised);
        Ok(if self.is_felt { settling } else { Some(Nanos(0)) })
    }
}

/// A flow, and when it may send.
struct Flow {
    contract: RealTime,
    from: Nanos,
    until: Nanos,
}

fn contract(draw: &mut Pcg64) -> RealTime {
    let packet = draw.random_range(100..1000u64);
    let bucket = packet * draw.random_range(1..12u64);
    let rate = draw.random_range(50_000..2_500_000u64);
    RealTime {
        deadline: Nanos(draw.random_range(2_000_000..60_000_000)),
        arrival: std::vec![TokenBucket { bucket: Bytes(bucket), rate: Rate(rate) }],
        packet: Bytes(packet),
    }
}

const END: Nanos = Nanos(600_000_000);

/// Flows that ask one after the other, as soon as there may be room, and are released at random.
fn flows(draw: &mut Pcg64, link: &mut Link) -> Vec<Flow> {
    let (mut bookings, mut flows) = (Bookings::<usize, RealTime>::default(), Vec::<Flow>::new());
    let (mut now, mut next) = (Nanos(0), contract(draw));
    while now < END {
        bookings.expire(now);
        let period = Period { from: now, until: None };
        let name = flows.len();
        if bookings.request(now, name, next.clone(), period, None, link).is_ok() {
            flows.push(Flow { contract: next, from: now, until: END });
            next = contract(draw);
            continue;
        }
        // A flow whose place the next one would take.
        let active: Vec<usize> = (0..flows.len()).filter(|k| flows[*k].until == END).collect();
        if !active.is_empty() && draw.random_range(0..3u32) > 0 {
            let leaves = active[draw.random_range(0..active.len())];
            let other = contract(draw);
            if bookings.change(now, [&leaves, &name], other.clone(), link).is_ok() {
                flows[leaves].until = now;
                flows.push(Flow { contract: other, from: now, until: END });
                continue;
            }
            bookings.release::<()>(now, &leaves).unwrap();
            flows[leaves].until = now;
            if !link.is_felt {
                continue;
            }
        }
        now = bookings.next_change(now).unwrap_or(END).min(now + Nanos(5_000_000));
        now += Nanos(draw.random_range(0..3));
    }
    flows
}

/// The packets of a flow: its bucket at its begin, and at every time at which another one comes or
/// goes, as fast as it may for a while.
fn arrivals(flow: &Flow, class: u32, times: &[Nanos], draw: &mut Pcg64) -> Vec<(Nanos, u32, u32)> {
    let mut meter = Meter::new(flow.contract.arrival.iter().copied());
    let length = flow.contract.packet.0 as u32;
    let (mut now, mut arrivals) = (flow.from, Vec::new());
    let moments = times.iter().copied().filter(|time| (flow.from..=flow.until).contains(time));
    for moment in moments {
        if moment != flow.from && moment != flow.until && draw.random_range(0..4u32) > 0 {
            continue;
        }
        // What comes at the end has just come before it.
        now = now.max(if moment == flow.until { moment.saturating_sub(Nanos(1)) } else { moment });
        let patience = Nanos(draw.random_range(0..20_000_000));
        while let Some(time) = meter.earliest(now, length) {
            if time > moment.saturating_add(patience) || time >= flow.until {
                break;
            }
            assert!(meter.consume(time, length));
            now = time;
            arrivals.push((time, class, length));
        }
    }
    arrivals
}

/// The most by which a packet of these flows is later than its deadline, beside a flood.
fn lateness(flows: &[Flow], draw: &mut Pcg64) -> Option<Nanos> {
    let mut times: Vec<Nanos> = flows.iter().flat_map(|flow| [flow.from, flow.until]).collect();
    times.sort_unstable();
    times.dedup();
    let arrivals = |(class, flow): (usize, &Flow)| arrivals(flow, class as u32, &times, draw);
    let mut arrivals: Vec<_> = flows.iter().enumerate().flat_map(arrivals).collect();
    arrivals.sort_unstable();
    let deadlines: Vec<_> = flows.iter().map(|flow| Some(flow.contract.deadline)).collect();
    let flood = deadlines.len() as u32;
    let mut scheduler =
        Edf::new(&[&deadlines[..], &[None]].concat(), BestEffort::by_arrival(Assign::Background));
    let mut drops = |_: Packet, _: DropReason| {};
    let (mut now, mut next, mut late) = (Nanos(0), 0, None);
    while next < arrivals.len() || scheduler.backlog().packets > 0 {
        while let Some(&(arrival, class, length)) = arrivals.get(next).filter(|it| it.0 <= now) {
            let class = ClassId(class);
            let packet = Packet { class, length, arrival, ..Packet::default() };
            scheduler.enqueue(arrival, packet, &mut drops);
            next += 1;
        }
        let Some(dispatch) = scheduler.dequeue(now, &mut drops) else {
            // A packet of the flood goes to the link just before the next one comes.
            let class = ClassId(flood);
            let Some(&(arrival, ..)) = arrivals.get(next) else { break };
            now = now.max(arrival.saturating_sub(Nanos(1)));
            let packet = Packet { class, length: FLOOD, arrival: now, ..Packet::default() };
            scheduler.enqueue(now, packet, &mut drops);
            continue;
        };
        now += RATE.time_for(Bytes(dispatch.packet.length.into()));
        if let Some(deadline) = dispatch.deadline.filter(|deadline| now > *deadline) {
            late = late.max(Some(now - deadline));
        }
    }
    late
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(rounds(200, 50_000)))]

    #[test]
    fn no_promise_is_broken_while_flows_come_and_go(seed: u64) {
        let draw = &mut Pcg64::seed_from_u64(seed);
        let flows = flows(draw, &mut Link { is_felt: true });
        prop_assert_eq!(lateness(&flows, draw), None);
    }
}

/// Capacity that is promised again at once is promised too soon, and these runs show it.
#[test]
fn the_runs_find_what_is_promised_too_soon() {
    let broken = (0..40u64).filter(|seed| {
        let draw = &mut Pcg64::seed_from_u64(*seed);
        let flows = flows(draw, &mut Link { is_felt: false });
        lateness(&flows, draw).is_some()
    });
    assert!(broken.count() > 5);
}
