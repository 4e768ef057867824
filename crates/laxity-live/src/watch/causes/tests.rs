//! Random traffic through a shaper, whose packets are followed microsecond by microsecond.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::watch::tests::frame;

const MICRO: u64 = 1_000;

/// At 8 Mbit/s a byte takes a microsecond.
fn plan() -> Plan {
    let text = "version = 1
        link = { rate = '8mbit' }
        scheduler.kind = 'edf'
        [class.call]
        deadline = '1ms'
        arrival = { bucket = '3kB', rate = '2mbit', packet = '320b' }
        match = 'udp dport 5000'
        [class.rest]";
    with_other_traffic(&Plan::parse(text, "plan.toml", Path::new("")).expect("a plan"))
}

/// A packet; times in microseconds.
#[derive(Clone, Copy, Debug)]
struct TestPacket {
    /// From the arrival of the one before.
    gap: u64,
    is_call: bool,
    padding: usize,
    /// Nothing if it is lost.
    order: Option<u8>,
    /// From the departure of the one before, at least.
    apart: u64,
    /// Whether it was not seen to arrive.
    is_hidden: bool,
}

fn traffic() -> impl Strategy<Value = Vec<TestPacket>> {
    let order = prop_oneof![1 => Just(None), 8 => any::<u8>().prop_map(Some)];
    let packet = (1..200u64, any::<bool>(), 0usize..60, order, 20..200u64, 0..10u8);
    let packet = packet.prop_map(|(gap, is_call, padding, order, apart, hidden)| TestPacket {
        gap,
        is_call,
        padding,
        order,
        apart,
        is_hidden: hidden == 0,
    });
    prop::collection::vec(packet, 1..40)
}

/// A packet that left, in microseconds and bytes.
#[derive(Clone, Copy, Debug)]
struct Departure {
    number: u64,
    class: u32,
    arrival: u64,
    at: u64,
    length: u64,
}

/// The packets in the order in which a shaper sends them: of those that wait, that with the least
/// `order`.
fn departures(traffic: &[TestPacket]) -> Vec<Departure> {
    let mut now = 0;
    let arrivals: Vec<u64> = traffic
        .iter()
        .map(|packet| {
            now += packet.gap;
            now
        })
        .collect();
    let mut waiting: Vec<usize> =
        (0..traffic.len()).filter(|at| traffic[*at].order.is_some()).collect();
    let (mut left, mut time) = (Vec::new(), 0);
    while let Some(first) = waiting.first() {
        time = arrivals[*first].max(time);
        let here = waiting.iter().filter(|at| arrivals[**at] <= time);
        let next = *here.min_by_key(|at| (traffic[**at].order, **at)).expect("the first is here");
        waiting.retain(|at| *at != next);
        let packet = traffic[next];
        time += packet.apart;
        let class = if packet.is_hidden { 2 } else { u32::from(!packet.is_call) };
        let length = frame(0, 0, packet.padding).len() as u64;
        let arrival = arrivals[next];
        left.push(Departure { number: next as u64, class, arrival, at: time, length });
    }
    left
}

type Delay = BTreeMap<Cause, u64>;

/// What occupies the link in the microsecond that begins at `time`, with the moment from which on
/// it does: the last packet that was sent, or the next one that arrives behind the link.
fn occupied(left: &[Departure], behind: Behind, time: u64) -> Option<(u64, Departure)> {
    match behind {
        Behind::Sent => {
            let last = left.iter().rev().find(|other| other.at <= time)?;
            (time < last.at + last.length).then_some((last.at, *last))
        }
        Behind::Arriving => {
            let next = left.iter().position(|other| other.at > time)?;
            let before = if next == 0 { 0 } else { left[next - 1].at };
            let start = left[next].at.saturating_sub(left[next].length).max(before);
            (time >= start).then_some((start, left[next]))
        }
    }
}

fn naive(left: &[Departure], behind: Behind) -> BTreeMap<u64, Delay> {
    let mut delays = BTreeMap::new();
    for packet in left.iter().filter(|packet| packet.class < 2) {
        let mut delay = Delay::new();
        for time in packet.arrival..packet.at {
            let cause = match occupied(left, behind, time) {
                None => Cause::Wait(explain::Cause::Held(Rule::Unseen)),
                Some((_, other)) if other.number == packet.number => Cause::Transmission,
                Some((start, other)) => Cause::Wait(if start < packet.arrival {
                    explain::Cause::OnLink(ClassId(other.class))
                } else {
                    explain::Cause::Before(ClassId(other.class), Rule::Unseen)
                }),
            };
            *delay.entry(cause).or_default() += MICRO;
        }
        delays.insert(packet.number, delay);
    }
    delays
}

proptest! {
    #[test]
    fn causes_are_what_left_meanwhile(traffic in traffic(), is_mirror: bool, batch in 1u64..500) {
        let behind = if is_mirror { Behind::Arriving } else { Behind::Sent };
        let left = departures(&traffic);
        let mut seen = Vec::new();
        let bytes = |number: usize| {
            let TestPacket { is_call, padding, .. } = traffic[number];
            frame(if is_call { 5000 } else { 6000 }, number as u32, padding)
        };
        let mut now = 0;
        // Packets are numbered as they are seen to arrive.
        let mut numbers = Vec::new();
        for (number, packet) in traffic.iter().enumerate() {
            now += packet.gap;
            if !packet.is_hidden {
                numbers.push(number as u64);
                seen.push((now, TapPlace::Before, bytes(number)));
            }
        }
        for departure in &left {
            seen.push((departure.at, TapPlace::Behind, bytes(departure.number as usize)));
        }
        seen.sort_by_key(|(time, ..)| *time);
        let plan = plan();
        let mut causes = Causes::new(&plan, behind, Settings::default());
        let mut found = BTreeMap::new();
        let mut each = |delay: PacketDelay| {
            let parts = &delay.hops[0].parts;
            let sum: u64 = parts.iter().map(|part| part.time.0).sum();
            assert_eq!(sum, delay.delay().0);
            let parts = parts.iter().map(|part| (part.cause, part.time.0)).collect::<Delay>();
            assert_eq!(delay.due.is_some(), delay.packet.class == ClassId(0));
            found.insert(numbers[delay.packet.handle as usize], parts);
        };
        for (time, tapped, frame) in &seen {
            let at = Nanos(time * MICRO);
            causes.see(TapFrame { tapped: *tapped, at, frame, segments: None });
            if time % batch == 0 {
                causes.settle(at, &mut each);
            }
        }
        causes.settle(Nanos::MAX, &mut each);
        prop_assert_eq!(found, naive(&left, behind));
    }
}
