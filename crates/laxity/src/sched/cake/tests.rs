//! Against a model that is written from the description, and what a user of CAKE counts on.

mod naive;

use std::collections::BTreeMap;
use std::string::ToString;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{AckFilter, Cake, CakeClass, CakeSettings, Diffserv, Isolation, mix};
use crate::aqm::Limit;
use crate::aqm::tests::packet;
use crate::link::Link;
use crate::packet::{AckTag, ClassId, Ecn, FlowId, HostId, Hosts, Packet};
use crate::scheduler::{DropReason, Scheduler, Withdraw};
use crate::testing::gaps;
use crate::units::{Nanos, Rate};
use naive::{Drops, Naive};

const FLOWS: u32 = 6;
const DIFFSERV: [Diffserv; 5] = [
    Diffserv::Besteffort,
    Diffserv::Diffserv3,
    Diffserv::Diffserv4,
    Diffserv::Diffserv8,
    Diffserv::Precedence,
];
const FILTERS: [AckFilter; 3] = [AckFilter::Off, AckFilter::On, AckFilter::Aggressive];

fn hosts(source: u32, destination: u32) -> Hosts {
    Hosts { source: HostId(source), destination: HostId(destination) }
}

/// Five classes: four of best effort, a voice one, with some flows whose hosts nobody knows.
fn classes(few: bool) -> Vec<CakeClass> {
    let span = if few { 1 } else { 3 };
    let class = |number: u32| CakeClass {
        dscp: [0, 0, 8, 0, 46][number as usize],
        hosts: [(2, hosts(number / span, 7)), (5, hosts(1, number))]
            .map(|(end, hosts)| (FlowId(end), hosts))
            .into(),
    };
    (0..5).map(class).collect()
}

fn any_settings() -> impl Strategy<Value = CakeSettings> {
    let limit = prop_oneof![
        2 => (0..30u64).prop_map(Limit::Packets),
        1 => (0..30_000u64).prop_map(Limit::Bytes),
        2 => Just(Limit::None),
    ];
    let sorts = (prop::sample::select(&DIFFSERV[..]), prop::sample::select(&Isolation::ALL[..]));
    let rate = prop_oneof![100_000..3_000_000u64, 3_000_000..200_000_000u64];
    let times = (rate, 1..30_000_000u64, prop::bool::ANY);
    let drops = (prop::bool::ANY, prop::sample::select(&FILTERS[..]));
    (sorts, times, drops, limit, 1..4usize, 100..1500u32).prop_map(
        |((diffserv, isolation), (rate, rtt, shapes), drops, limit, sets, max_packet)| {
            let (ingress, ack_filter) = drops;
            let (rate, rtt, queues) = (Rate(rate), Nanos(rtt), sets * 8);
            CakeSettings {
                diffserv,
                isolation,
                rate,
                shapes,
                rtt,
                limit,
                queues,
                ingress,
                ack_filter,
                max_packet,
            }
        },
    )
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { class: u32, flow: u32, length: u32, ack: Option<(bool, u16)> },
    Send,
    Withdraw(usize),
}

fn any_step() -> impl Strategy<Value = Step> {
    let ack = prop::option::of((prop::bool::weighted(0.8), 0..=AckTag::REACH));
    let arrive = (0..5u32, 0..FLOWS, 1..=1500u32, ack);
    prop_oneof![
        6 => arrive.prop_map(|(class, flow, length, ack)| {
            // Sets have room for as many flows.
            let flow = if ack.is_some() { 0 } else { flow };
            Step::Arrive { class, flow, length, ack }
        }),
        5 => Just(Step::Send),
        1 => any::<usize>().prop_map(Step::Withdraw),
    ]
}

/// How often each thing happened that is not the rule.
#[derive(Debug, Default)]
struct Counts {
    by_cobalt: usize,
    superfluous: usize,
    beyond_limit: usize,
    marked: usize,
}

fn side_by_side(
    settings: CakeSettings,
    few: bool,
    seed: u64,
    steps: impl IntoIterator<Item = (u64, Step)>,
) -> Result<Counts, TestCaseError> {
    let mut scheduler = Cake::new(classes(few), settings, seed).unwrap();
    let mut naive = Naive::new(settings, classes(few), seed);
    let (mut now, mut places, mut counts) = (Nanos::ZERO, BTreeMap::new(), Counts::default());
    let mut numbered = [4_000; 5];
    for (handle, (gap, step)) in (0..).zip(steps) {
        now += Nanos(gap);
        let (mut dropped, mut expected) = (Drops::new(), Drops::new());
        let mut drops = |packet: Packet, reason| dropped.push((packet.handle, reason));
        match step {
            Step::Arrive { class, flow, length, ack } => {
                let ack = ack.map_or(AckTag::NONE, |(is_numbered, reach)| {
                    let number = &mut numbered[class as usize];
                    *number += u16::from(is_numbered);
                    AckTag::new(*number, is_numbered, reach)
                });
                let packet = Packet { ack, ..packet(now, class, flow, length, handle) };
                let (tin, ..) = scheduler.tin_and_key(&packet);
                let ways = |side: usize, key| scheduler.tins[tin].ways(side, key);
                naive.enqueue(now.0, packet, &ways, &mut expected);
                places.insert(handle, scheduler.place(now, packet, &mut drops));
                let is_queued = naive.packets().any(|packet| packet.handle == handle);
                prop_assert_eq!(places[&handle].is_some(), is_queued);
            }
            Step::Send => {
                let sent = scheduler.dequeue(now, &mut drops).map(|sent| sent.packet);
                prop_assert_eq!(sent, naive.dequeue(now.0, &mut expected));
                counts.marked += usize::from(sent.is_some_and(|sent| sent.ecn == Ecn::Experienced));
            }
            Step::Withdraw(pick) => {
                let queued = naive.packets().count();
                let packet = naive.packets().nth(pick % queued.max(1)).copied();
                if let Some(packet) = packet {
                    let (handle, place) = (packet.handle, places[&packet.handle].unwrap());
                    let withdrawn = scheduler.withdraw(now, place, handle, &mut drops);
                    prop_assert_eq!(withdrawn, Some(packet));
                    naive.withdraw(handle);
                }
            }
        }
        for (_, reason) in &dropped {
            match reason {
                DropReason::Cobalt => counts.by_cobalt += 1,
                DropReason::AckFilter => counts.superfluous += 1,
                _ => counts.beyond_limit += 1,
            }
        }
        prop_assert_eq!(dropped, expected);
        let backlog = scheduler.backlog();
        let bytes = naive.packets().map(|packet| u64::from(packet.length)).sum::<u64>();
        prop_assert_eq!((backlog.packets, backlog.bytes), (naive.packets().count(), bytes));
    }
    Ok(counts)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn sends_and_drops_what_is_described(
        settings in any_settings(), few: bool, seed: u64,
        steps in vec((gaps(1_000_000), any_step()), 1..300),
    ) {
        side_by_side(settings, few, seed, steps)?;
    }
}

/// Steps as they come to a link of half the rate of what arrives.
fn overload(seed: u64, count: usize) -> impl Iterator<Item = (u64, Step)> {
    let drawn = (0..count as u64).map(move |number| mix(seed ^ mix(number)));
    drawn.map(|drawn| match drawn % 3 {
        0 => (1_200_000, Step::Send),
        _ => {
            let [class, flow, length] = [8, 16, 24].map(|digit| (drawn >> digit) as u32);
            let (class, flow) = (class % 5, flow % FLOWS);
            let ack = (flow == 0).then_some((length % 7 > 0, length as u16 % 4));
            (0, Step::Arrive { class, flow, length: 200 + length % 1300, ack })
        }
    })
}

/// Every kind of drop and mark comes up where the link is overloaded, and all of them are as
/// described.
#[test]
fn an_overload_is_dropped_and_marked_as_described() {
    for (seed, isolation) in (0..).zip(Isolation::ALL) {
        let rate = Rate(6_000_000);
        let settings = CakeSettings {
            isolation,
            rate,
            limit: Limit::Packets(400),
            queues: 16,
            ingress: seed % 2 == 1,
            ack_filter: if seed % 3 == 1 { AckFilter::Aggressive } else { AckFilter::On },
            ..CakeSettings::USUAL
        };
        let counts = side_by_side(settings, false, seed, overload(seed, 8_000)).unwrap();
        let Counts { by_cobalt, superfluous, beyond_limit, marked } = counts;
        let is_managed = by_cobalt > 20 && superfluous > 100 && marked > 20;
        assert!(is_managed && beyond_limit > 300, "{isolation:?}: {counts:?}");
    }
}

/// What each of some flows sends over ten seconds, in which all have packets waiting all the time.
fn shares(classes: Vec<CakeClass>, settings: CakeSettings, flows: &[(u32, u32)]) -> Vec<f64> {
    let mut scheduler = Cake::new(classes, settings, 3).unwrap();
    let mut link = Link::new(settings.rate);
    let mut sent = std::vec![0u64; flows.len()];
    let mut ignore = |_: Packet, _: DropReason| {};
    let next = |arrival, at: usize| {
        let (class, flow) = (ClassId(flows[at].0), FlowId(flows[at].1));
        Packet { class, flow, length: 1_000, arrival, handle: at as u64, ..Packet::default() }
    };
    for at in (0..flows.len()).chain(0..flows.len()) {
        scheduler.enqueue(Nanos::ZERO, next(Nanos::ZERO, at), &mut ignore);
    }
    let mut now = Nanos::ZERO;
    while now < Nanos(10_000_000_000) {
        let packet = scheduler.dequeue(now, &mut ignore).unwrap().packet;
        now = link.transmit(now, packet.length);
        sent[packet.handle as usize] += 1;
        scheduler.enqueue(now, next(now, packet.handle as usize), &mut ignore);
    }
    let all: u64 = sent.iter().sum();
    sent.into_iter().map(|sent| sent as f64 / all as f64).collect()
}

/// Patient enough to drop nothing.
const PATIENT: CakeSettings =
    CakeSettings { rate: Rate(20_000_000), rtt: Nanos(1_000_000_000_000), ..CakeSettings::USUAL };

/// A host with sixteen flows gets no more than one with a single flow.
#[test]
fn hosts_share_whatever_the_number_of_their_flows() {
    let class =
        CakeClass { dscp: 0, hosts: [(FlowId(16), hosts(1, 9)), (FlowId(17), hosts(2, 8))].into() };
    let flows: Vec<_> = (0..17).map(|flow| (0, flow)).collect();
    for isolation in [Isolation::DualSrchost, Isolation::DualDsthost, Isolation::TripleIsolate] {
        let shares =
            shares(std::vec![class.clone()], CakeSettings { isolation, ..PATIENT }, &flows);
        assert!((shares[16] - 0.5).abs() < 0.002, "{isolation:?}: {shares:?}");
        for share in &shares[..16] {
            assert!((share - 0.5 / 16.0).abs() < 0.001, "{isolation:?}: {shares:?}");
        }
    }
    let settings = CakeSettings { isolation: Isolation::Flows, ..PATIENT };
    let shares = shares(std::vec![class], settings, &flows);
    assert!(shares.iter().all(|share| (share - 1.0 / 17.0).abs() < 0.001), "{shares:?}");
}

/// Hosts that are introduced are those that a class has from the start.
#[test]
fn who_is_introduced_is_known() {
    let sent = |introduces: bool| {
        let of_flow = |flow: u32| {
            let host = u32::from(flow == 16);
            hosts(host, 8 + host)
        };
        let known = if introduces {
            Vec::new()
        } else {
            (0..17).map(|flow| (FlowId(flow + 1), of_flow(flow))).collect()
        };
        let class = CakeClass { dscp: 0, hosts: known.into() };
        let mut scheduler = Cake::new(std::vec![class], PATIENT, 3).unwrap();
        if introduces {
            (0..17).for_each(|flow| scheduler.introduce(ClassId(0), FlowId(flow), of_flow(flow)));
        }
        let mut ignore = |_: Packet, _: DropReason| {};
        for number in 0..1_020 {
            let packet = Packet { flow: FlowId(number % 17), length: 1_000, ..Packet::default() };
            scheduler.enqueue(Nanos::ZERO, packet, &mut ignore);
        }
        let sent = (0..400).filter_map(|_| scheduler.dequeue(Nanos::ZERO, &mut ignore));
        sent.map(|sent| sent.packet.flow).collect::<Vec<_>>()
    };
    assert_eq!(sent(true), sent(false));
    let alone = sent(true).iter().filter(|flow| flow.0 == 16).count();
    assert!(alone > 2 * 400 / 17, "{alone}");
}

/// While all tins have packets, each of them gets its threshold, and best effort the rest.
#[test]
fn tins_get_their_thresholds() {
    let class = |dscp| CakeClass { dscp, ..CakeClass::default() };
    let tins = std::vec![class(0), class(8), class(24), class(46)];
    let settings = CakeSettings { diffserv: Diffserv::Diffserv4, ..PATIENT };
    let flows: Vec<_> = (0..4).map(|class| (class, 0)).collect();
    let got = shares(tins, settings, &flows);
    for (got, share) in got.iter().zip([3.0 / 16.0, 1.0 / 16.0, 0.5, 0.25]) {
        assert!((got - share).abs() < 0.01, "{got} instead of {share}");
    }
}

/// As long as a set has a free queue, no two flows share one.
#[test]
fn eight_flows_of_a_set_have_queues_of_their_own() {
    let settings = CakeSettings { queues: 8, isolation: Isolation::Flows, ..PATIENT };
    let flows: Vec<_> = (0..8).map(|flow| (0, flow)).collect();
    let shares = shares(std::vec![CakeClass::default()], settings, &flows);
    assert!(shares.iter().all(|share| (share - 0.125).abs() < 0.001), "{shares:?}");
}

#[test]
fn a_shaper_holds_packets_back_to_its_rate() {
    let settings = CakeSettings { shapes: true, rate: Rate(8_000_000), ..PATIENT };
    let mut scheduler = Cake::new(std::vec![CakeClass::default()], settings, 0).unwrap();
    let mut ignore = |_: Packet, _: DropReason| panic!("nothing is dropped");
    for _ in 0..3 {
        let packet = Packet { length: 1_000, ..Packet::default() };
        scheduler.enqueue(Nanos(500), packet, &mut ignore);
    }
    for number in 0..3 {
        let ready = scheduler.next_ready(Nanos(500)).unwrap();
        assert_eq!(ready, Nanos(500 + 1_000_000 * number));
        assert!(number == 0 || scheduler.dequeue(Nanos(ready.0 - 1), &mut ignore).is_none());
        assert!(scheduler.dequeue(ready, &mut ignore).is_some());
    }
    assert_eq!(scheduler.next_ready(Nanos(900)), None);
}

#[test]
fn settings_that_are_none_are_refused() {
    let refused =
        |settings| Cake::new(Vec::new(), settings, 0).err().map(|error| error.to_string()).unwrap();
    assert_eq!(
        refused(CakeSettings { queues: 12, ..CakeSettings::USUAL }),
        "the queues of a tin beyond sets of 8 is 4: accepted is 0 to 0"
    );
    assert_eq!(
        refused(CakeSettings { rtt: Nanos::ZERO, ..CakeSettings::USUAL }),
        "CAKE's round-trip time in ns is 0: accepted is at least 1"
    );
}
