//! Against arrivals that keep to contracts and do what the proofs fear.

use std::boxed::Box;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{TinClass, Tins};
use crate::admit::Traffic;
use crate::link::Link;
use crate::packet::{ClassId, FlowId, HostId, Hosts, Packet};
use crate::police::{Meter, TokenBucket};
use crate::sched::Cake;
use crate::sched::cake::{CakeClass, CakeSettings, Diffserv, Isolation};
use crate::scheduler::{DropReason, Scheduler};
use crate::units::{Bytes, Nanos, Rate};

const MODES: [Diffserv; 5] = [
    Diffserv::Besteffort,
    Diffserv::Diffserv3,
    Diffserv::Diffserv4,
    Diffserv::Diffserv8,
    Diffserv::Precedence,
];
const POINTS: [u8; 6] = [46, 0, 8, 34, 48, 16];

/// A class: the number of its code point, its bucket beyond a packet, its rate in parts of a
/// thousand of the link's, and its packet.
type Drawn = (usize, u64, u64, u64);

/// The first flow is one host's, the next five are another's.
fn two_hosts() -> Box<[(FlowId, Hosts)]> {
    let host = |source| Hosts { source: HostId(source), destination: HostId::UNKNOWN };
    [(FlowId(1), host(0)), (FlowId(6), host(1))].into()
}

#[derive(Clone, Debug)]
struct System {
    settings: CakeSettings,
    link: Rate,
    dscps: Vec<u8>,
    classes: Vec<Traffic>,
}

fn system(
    (mode, blind, shapes): (usize, bool, bool),
    rate: u64,
    drawn: &[Drawn],
    flood: usize,
) -> System {
    let isolation = if blind { Isolation::Flowblind } else { Isolation::TripleIsolate };
    let settings = CakeSettings {
        diffserv: MODES[mode],
        isolation,
        rate: Rate(rate),
        shapes,
        // COBALT is to drop nothing.
        rtt: Nanos(1_000_000_000_000),
        max_packet: 1_500,
        ..CakeSettings::USUAL
    };
    let link = Rate(if shapes { 2 * rate } else { rate });
    let mut dscps: Vec<_> = drawn.iter().map(|(point, ..)| POINTS[*point]).collect();
    let traffic = |&(_, more, share, packet): &Drawn| Traffic {
        arrival: [TokenBucket { bucket: Bytes(packet + more), rate: Rate(rate * share / 1_000) }]
            .into(),
        packet: Bytes(packet),
    };
    let mut classes: Vec<_> = drawn.iter().map(traffic).collect();
    dscps.push(POINTS[flood]);
    classes.push(Traffic { arrival: Vec::new(), packet: Bytes(1_500) });
    System { settings, link, dscps, classes }
}

impl System {
    fn tins(&self) -> Tins {
        let CakeSettings { diffserv, isolation, rate, .. } = self.settings;
        let class = |(dscp, traffic): (&u8, &Traffic)| TinClass {
            tin: diffserv.tin(*dscp),
            traffic: traffic.clone(),
        };
        Tins {
            link: self.link.min(rate),
            latency: Nanos::ZERO,
            diffserv,
            rate,
            is_flowblind: isolation == Isolation::Flowblind,
            classes: self.dscps.iter().zip(&self.classes).map(class).collect(),
        }
    }

    fn scheduler(&self) -> Cake {
        let class = |dscp: &u8| CakeClass { dscp: *dscp, hosts: two_hosts() };
        Cake::new(self.dscps.iter().map(class).collect(), self.settings, 7).unwrap()
    }

    /// Sends packets of (time, class, flow, length) and gives what each took, in ns.
    fn delays(&self, arrivals: &[(u64, usize, u32, u32)]) -> Vec<u64> {
        let (mut scheduler, mut link) = (self.scheduler(), Link::new(self.link));
        let mut delays = std::vec![0; arrivals.len()];
        let mut drops = |packet: Packet, reason: DropReason| panic!("{packet:?}: {reason:?}");
        let mut now = Nanos::ZERO;
        let mut come = arrivals.iter().enumerate().peekable();
        loop {
            let ready = scheduler.next_ready(now.max(link.free_at()));
            let next = come.peek().map(|(_, arrival)| Nanos(arrival.0));
            match (ready, next) {
                (None, None) => return delays,
                // What comes while the link chooses comes first or last by turns.
                (ready, Some(next)) if ready.is_none_or(|ready| next <= ready) => {
                    now = next;
                    let (handle, &(_, class, flow, length)) = come.next().unwrap();
                    let packet = Packet {
                        class: ClassId(class as u32),
                        flow: FlowId(flow),
                        length,
                        arrival: now,
                        handle: handle as u64,
                        ..Packet::default()
                    };
                    scheduler.enqueue(now, packet, &mut drops);
                }
                (Some(ready), _) | (None, Some(ready)) => {
                    now = ready;
                    let Some(sent) = scheduler.dequeue(now, &mut drops) else { continue };
                    let left = link.transmit(now, sent.packet.length);
                    delays[sent.packet.handle as usize] = left.0 - sent.packet.arrival.0;
                }
            }
        }
    }

    /// Packets of a class from a time on, as early as its contract allows.
    fn greedy(&self, class: usize, from: u64, lengths: &[u32], count: usize) -> Vec<(u64, u32)> {
        let Traffic { arrival, packet } = &self.classes[class];
        let mut meter = Meter::new(arrival.iter().copied());
        let mut time = Nanos(from);
        let packets = lengths.iter().cycle().take(count).map(|length| {
            let length = (*length).min(packet.0 as u32);
            time = meter.earliest(time, length).unwrap();
            meter.consume(time, length);
            (time.0, length)
        });
        packets.collect()
    }
}

/// A train of a class: when it begins, its lengths, and in which flows its packets are.
type Train = (u64, Vec<u32>, u32);

fn any_train() -> impl Strategy<Value = Train> {
    let begin = prop_oneof![Just(100_000_000u64), 0..200_000_000u64];
    let lengths = prop_oneof![Just(std::vec![1_500u32]), vec(64..=1_500u32, 1..4)];
    (begin, lengths, 1..30u32)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Whatever a flood in any tin and classes within their contracts do, in one flow or many, no
    /// packet takes longer than its class's bound.
    #[test]
    fn no_packet_takes_longer_than_its_bound(
        mode in (0..5usize, any::<bool>(), any::<bool>()),
        rate in prop_oneof![Just(8_000_000u64), 500_000..300_000_000u64],
        drawn in vec((0..6usize, 0..9_000u64, 5..250u64, 64..=1_500u64), 1..5),
        flood in 0..6usize,
        trains in vec(any_train(), 6),
    ) {
        let system = system(mode, rate, &drawn, flood);
        let bounds = system.tins().bounds();
        let flood = drawn.len();
        let mut arrivals = Vec::new();
        for (class, (begin, lengths, flows)) in (0..flood).zip(&trains) {
            let packets = system.greedy(class, *begin, lengths, 120);
            let packets = packets.into_iter().enumerate().map(|(number, (time, length))| {
                (time, class, number as u32 % flows, length)
            });
            arrivals.extend(packets);
        }
        let (begin, lengths, flows) = &trains[5];
        arrivals.extend((0..400u32).map(|number| {
            let length = lengths[number as usize % lengths.len()];
            // The link takes no less.
            let time = begin + u64::from(number) * 500 * 8_000_000_000 / rate;
            (time, flood, number % flows, length)
        }));
        arrivals.sort_by_key(|arrival| arrival.0);
        for (delay, arrival) in system.delays(&arrivals).into_iter().zip(&arrivals) {
            let bound = bounds[arrival.1].unwrap_or(Nanos::MAX);
            prop_assert!(delay <= bound.0, "{arrival:?}: {delay} > {bound:?}");
        }
        for (class, bound) in bounds.iter().enumerate() {
            let breakdown = system.tins().breakdown(class).and_then(|terms| terms.bound());
            prop_assert_eq!(breakdown, bound.ok());
        }
    }
}

/// Voice beside a flood of best effort, on a link on which a packet of 1000 bytes takes 1 ms.
fn voice(blind: bool, bucket: u64, share: u64) -> System {
    let mut system = system((2, blind, false), 8_000_000, &[(0, bucket - 1_000, share, 1_000)], 1);
    system.classes[1].packet = Bytes(1_000);
    system
}

/// The greatest delay of a class as a part of its bound, where a flood begins when the first packet
/// has just been sent, which was not due.
fn nearness(system: &System, arrivals: Vec<(u64, usize, u32, u32)>) -> f64 {
    let flood = (0..2_000).map(|number: u32| (1_000_001, 1, number % 2, 1_000));
    let mut all: Vec<_> = flood.chain(arrivals).collect();
    all.sort_by_key(|arrival| arrival.0);
    let delays = system.delays(&all);
    let longest = all.iter().zip(delays).filter(|(arrival, _)| arrival.1 == 0);
    let longest = longest.map(|(_, delay)| delay).max().unwrap();
    longest as f64 / system.tins().bounds()[0].unwrap().0 as f64
}

/// In a tin of one queue, a burst behind a packet that has moved the tin's time on.
#[test]
fn a_queue_takes_as_long_as_its_bound() {
    let system = voice(true, 60_000, 10);
    let burst = system.greedy(0, 0, &[1_000], 60).into_iter();
    let arrivals = burst.enumerate().map(|(number, (time, length))| {
        (if number == 0 { time } else { time.max(1_000_002) }, 0, 0, length)
    });
    let nearness = nearness(&system, arrivals.collect());
    assert!((0.95..=1.0).contains(&nearness), "{nearness}");
}

/// In a tin of flows, a packet that is not the first of its flow, behind flows that begin.
#[test]
fn a_flow_takes_as_long_as_its_bound() {
    let system = voice(false, 20_000, 125);
    let packets = system.greedy(0, 0, &[1_000], 200).into_iter();
    let arrivals = packets.enumerate().map(|(number, (time, length))| {
        let time = if number == 0 { time } else { time.max(1_000_002) };
        (time, 0, (number as u32).saturating_sub(1), length)
    });
    let nearness = nearness(&system, arrivals.collect());
    assert!((0.85..=1.0).contains(&nearness), "{nearness}");
}

/// Flows that begin in voice while others there are in turns and best effort floods the link: each
/// first packet leaves in time, and the last one late enough for the bound to be near.
#[test]
fn flows_that_begin_go_before_those_in_turns() {
    let system = voice(false, 1_000, 10);
    let guarantee = system.tins().guarantee(3).unwrap();
    let begin = 300_000_123;
    let flood = (0..800).map(|number: u32| (1_000_001, 1, number % 2, 1_000));
    let turns = (0..200).map(|number: u32| (0, 0, 10 + number % 10, 1_000));
    let new = (0..40).map(|number: u32| (begin, 0, 30 + number, 1_000));
    let all: Vec<_> = turns.chain(flood).chain(new).collect();
    let delays = system.delays(&all);
    let first = delays.iter().zip(&all).filter(|(_, arrival)| arrival.0 == begin);
    for (others, (delay, _)) in (0..).zip(first) {
        let bound = guarantee.new_flow_delay(Bytes(1_000), others).unwrap().0;
        assert!(*delay <= bound, "{others}: {delay} > {bound}");
        // A flow sends a packet in its turn, where the bound counts a quantum more.
        assert!(others < 39 || *delay > bound * 7 / 10, "{delay} of {bound}");
    }
}

/// A host with one flow and one with five, of lengths of their own, on a link of their own.
#[test]
fn hosts_differ_by_no_more_than_is_said() {
    let mut system = voice(false, 1_000, 10);
    system.settings.isolation = Isolation::DualSrchost;
    let difference = system.tins().guarantee(0).unwrap().host_difference(6);
    let length = |flow: u32| 1_000 - 117 * flow;
    let mut scheduler = system.scheduler();
    let mut drops = |packet: Packet, reason: DropReason| panic!("{packet:?}: {reason:?}");
    for (flow, count) in (0..6).zip([3_000, 700, 700, 700, 700, 700]) {
        let packet = Packet {
            class: ClassId(1),
            flow: FlowId(flow),
            length: length(flow),
            ..Packet::default()
        };
        (0..count).for_each(|_| scheduler.enqueue(Nanos::ZERO, packet, &mut drops));
    }
    let (mut ahead, mut least, mut most) = (0i64, 0i64, 0i64);
    for number in 0..3_000u64 {
        let sent = scheduler.dequeue(Nanos(number * 1_000_000), &mut drops).unwrap().packet;
        // After the first turn of each, in which no host has all its flows in turns.
        let sign = if sent.flow == FlowId(0) { 1 } else { -1 };
        if number >= 12 {
            ahead += sign * i64::from(sent.length);
            (least, most) = (least.min(ahead), most.max(ahead));
        }
    }
    let most_apart = (most - least) as u64;
    assert!(most_apart <= difference.0, "{most_apart} of {difference:?}");
    assert!(most_apart > difference.0 / 4, "{most_apart} of {difference:?}");
}
