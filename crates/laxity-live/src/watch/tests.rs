//! Random traffic through a shaper that holds back, loses and copies, against what it did.

use std::path::Path;

use laxity::units::Nanos;
use laxity_plan::Plan;
use proptest::prelude::*;

use crate::status::{DelayStatus, WayStatus, WayWatch};

use super::measuring::{Measuring, Settings, TapFrame, TapPlace};

const MILLI: u64 = 1_000_000;

fn plan() -> Plan {
    let text = "version = 1
        link = { rate = '20mbit', overhead = '10b' }
        scheduler.kind = 'edf'
        [class.call]
        deadline = '10ms'
        arrival = { bucket = '3kB', rate = '2mbit', packet = '320b' }
        match = 'udp dport 5000'
        [class.rest]";
    Plan::parse(text, "plan.toml", Path::new("")).expect("a plan")
}

/// A UDP datagram that carries `number`. Equal arguments give equal content.
pub(super) fn frame(port: u16, number: u32, padding: usize) -> Vec<u8> {
    let length = 8 + 4 + padding as u16;
    let mut frame = vec![2; 12];
    frame.extend([8, 0, 0x45, 0]);
    frame.extend((20 + length).to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x10, 0]);
    frame.extend(port.to_be_bytes());
    frame.extend(length.to_be_bytes());
    frame.extend([0, 0]);
    frame.extend(number.to_be_bytes());
    frame.resize(frame.len() + padding, 7);
    frame
}

#[derive(Clone, Copy, Debug)]
struct TestPacket {
    gap: u64,
    is_call: bool,
    padding: usize,
    /// Nothing if it is lost.
    delay: Option<u64>,
}

fn traffic() -> impl Strategy<Value = Vec<TestPacket>> {
    let delay = prop_oneof![1 => Just(None), 8 => (0..20 * MILLI).prop_map(Some)];
    let sent = (0..MILLI, any::<bool>(), 0usize..200, delay)
        .prop_map(|(gap, is_call, padding, delay)| TestPacket { gap, is_call, padding, delay });
    prop::collection::vec(sent, 1..150)
}

proptest! {
    #[test]
    fn what_a_shaper_did_is_what_is_measured(traffic in traffic(), batch in 1usize..30) {
        let begin = Nanos(1_000 * MILLI);
        let mut seen = Vec::new();
        let mut delays: [Vec<u64>; 2] = Default::default();
        let [mut arrived, mut lost, mut bytes] = [[0; 2]; 3];
        let mut now = begin.0;
        for (number, sent) in (0..).zip(traffic) {
            now += sent.gap;
            let class = usize::from(!sent.is_call);
            let bytes_of = frame(if sent.is_call { 5000 } else { 6000 }, number, sent.padding);
            arrived[class] += 1;
            match sent.delay {
                Some(delay) => {
                    seen.push((now + delay, TapPlace::Behind, bytes_of.clone()));
                    delays[class].push(delay);
                    bytes[class] += bytes_of.len() as u64 + 10;
                }
                None => lost[class] += 1,
            }
            seen.push((now, TapPlace::Before, bytes_of));
        }
        // Batches are in order, what is in them is not.
        seen.sort_by_key(|(at, ..)| *at);
        let settings = Settings { timeout: Nanos(30 * MILLI), ..Settings::default() };
        let mut measuring = Measuring::new(plan(), settings, begin);
        for batch in seen.chunks(batch) {
            for (at, tapped, frame) in batch.iter().rev() {
                let (tapped, at) = (*tapped, Nanos(*at));
                measuring.see(TapFrame { tapped, at, frame, segments: None });
            }
            measuring.settle(Nanos(batch[batch.len() - 1].0));
        }
        measuring.settle(Nanos(now + 100 * MILLI));
        let watched = measuring.status();
        let WayWatch { unpaired, alike, unclassed, .. } = outside(&watched);
        prop_assert_eq!((unpaired, alike, unclassed), (0, 0, 0));
        let history = measuring.history();
        for (class, of) in watched.classes.iter().enumerate() {
            let pending = of.watched.map(|watched| watched.pending);
            prop_assert_eq!((of.queued, pending), (None, Some(0)));
            prop_assert_eq!(history.delays[class].iter().map(|held| held.1).sum::<u64>(), of.sent);
            prop_assert_eq!(history.sent.bytes()[class].iter().sum::<u64>(), of.bytes_sent);
            let delays = &mut delays[class];
            delays.sort_unstable();
            prop_assert_eq!((of.arrived, of.sent + lost[class]), (arrived[class], arrived[class]));
            prop_assert_eq!(of.dropped.get("lost").copied().unwrap_or_default(), lost[class]);
            prop_assert_eq!((of.sent, of.bytes_sent), (delays.len() as u64, bytes[class]));
            let above = of.bound_ns.map_or(0, |bound| delays.iter().filter(|d| **d > bound).count());
            prop_assert_eq!(of.bound_misses, above as u64);
            prop_assert_eq!(of.bound_ns.is_some(), class == 0);
            let Some(measured) = &of.delay_ns else { continue };
            prop_assert_eq!(Some(&measured.max), delays.last());
            prop_assert_eq!(Some(&measured.min), delays.first());
            for (at_most, edge) in measured.at_most.iter().zip(DelayStatus::EDGES) {
                prop_assert_eq!(*at_most, delays.iter().filter(|d| **d <= edge).count() as u64);
            }
            let longer = |edge: u64| delays.iter().filter(|delay| **delay > edge).count() as u64;
            let mut left = of.sent;
            for (edge, held) in &history.delays[class] {
                left -= held;
                prop_assert!(longer(*edge) <= left && left <= longer(edge - edge / 1_000));
            }
            for (measured, percent) in [(measured.p50, 50), (measured.p90, 90), (measured.p99, 99)] {
                let exact = delays[(delays.len() * percent).div_ceil(100) - 1];
                prop_assert!(
                    (exact..=exact + exact / 1_000 + 1).contains(&measured),
                    "p{}: {} for {}", percent, measured, exact
                );
            }
        }
    }
}

fn outside(way: &WayStatus) -> WayWatch {
    way.watched.expect("it is watched")
}

/// What two taps see of frames to the rest: the first, then the second.
fn watch(before: &[(u64, u32)], behind: &[(u64, u32)]) -> WayStatus {
    let mut measuring = Measuring::new(plan(), Settings::default(), Nanos(MILLI));
    for (tapped, frames) in [(TapPlace::Behind, behind), (TapPlace::Before, before)] {
        for (at, number) in frames {
            let frame = frame(6000, *number, 0);
            measuring.see(TapFrame { tapped, at: Nanos(*at), frame: &frame, segments: None });
        }
    }
    measuring.settle(Nanos(1_000 * MILLI));
    measuring.status()
}

#[test]
fn copies_and_what_is_made_in_between_left_without_arriving() {
    let watched = watch(&[(2 * MILLI, 1)], &[(3 * MILLI, 1), (4 * MILLI, 1), (4 * MILLI, 2)]);
    assert_eq!((outside(&watched).unpaired, watched.classes[1].sent), (2, 1));
    assert_eq!(watched.classes[1].delay_ns.as_ref().map(|delay| delay.max), Some(MILLI));
}

#[test]
fn what_happened_before_the_beginning_does_not_count() {
    let watched = watch(&[(MILLI - 1, 1), (MILLI, 2)], &[(MILLI - 1, 1), (2 * MILLI, 2)]);
    assert_eq!((watched.classes[1].arrived, outside(&watched).unpaired), (1, 0));
}

#[test]
fn the_busiest_time_is_any_of_100_ms() {
    // A frame of 56 bytes on the link each 2 ms; the window begins behind the first.
    let regular: Vec<_> =
        (0..200).map(|number| ((2 + 2 * number) * MILLI, number as u32)).collect();
    assert_eq!(outside(&watch(&regular, &regular)).busiest_bps, 50.0 * 56.0 * 8.0 * 10.0);
    let mut burst = regular;
    burst.extend((1_000..1_010).map(|number| (333 * MILLI, number)));
    assert_eq!(outside(&watch(&burst, &burst)).busiest_bps, 60.0 * 56.0 * 8.0 * 10.0);
}
