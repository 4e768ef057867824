//! First-in, first-out links that send packets one after another, under traffic that does its
//! worst.

use proptest::collection::vec as many;
use proptest::prelude::*;

use super::*;
use crate::police::Meter;

/// A packet: its flow, its length, and when it came to the first of its servers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    flow: usize,
    length: u64,
    entered: u64,
    comes: u64,
}

/// Possible transmission times of one byte, in nanoseconds: whole numbers, so nothing is rounded.
const NANOS_PER_BYTE: [u64; 3] = [100, 200, 500];

fn nanos_per_byte(rate: Rate) -> u64 {
    8_000_000_000 / rate.0
}

/// Longest end-to-end delay of a packet of the flow of interest, by the definition.
///
/// Each server sends packets in the order of arrival, and a packet moves on with its last bit. Of
/// packets that arrive at the same instant, those of the flow of interest are last.
pub(super) fn longest(links: &Links, entering: &[Packet]) -> u64 {
    let mut on_the_way: Vec<Packet> = Vec::new();
    for (server, &rate) in links.rates.iter().enumerate() {
        let begins = |packet: &&Packet| links.flows[packet.flow].0.start == server;
        on_the_way.extend(entering.iter().filter(begins));
        // Stable: packets of one flow stay in order.
        on_the_way.sort_by_key(|packet| (packet.comes, packet.flow == 0));
        let mut free = 0;
        for packet in &mut on_the_way {
            free = packet.comes.max(free) + packet.length * nanos_per_byte(rate);
            packet.comes = free;
        }
        let goes_on =
            |packet: &Packet| packet.flow == 0 || links.flows[packet.flow].0.end > server + 1;
        on_the_way.retain(goes_on);
    }
    let of_interest = on_the_way.iter().filter(|packet| packet.flow == 0);
    of_interest.map(|packet| packet.comes - packet.entered).max().unwrap_or(0)
}

/// As much as a flow may send from some moment on, in packets of these lengths.
pub(super) fn greedy(flow: usize, line: TokenBucket, start: u64, lengths: &[u64]) -> Vec<Packet> {
    let mut meter = Meter::new([line]);
    let mut now = Nanos(start);
    let send = |length: &u64| {
        now = meter.earliest(now, *length as u32).unwrap();
        assert!(meter.consume(now, *length as u32));
        Packet { flow, length: *length, entered: now.0, comes: now.0 }
    };
    lengths.iter().map(send).collect()
}

/// When the first packet of the flow of interest comes to each server if it is alone.
fn alone(links: &Links, start: u64, length: u64) -> Vec<u64> {
    let mut at = vec![start];
    for rate in &links.rates {
        at.push(at[at.len() - 1] + length * nanos_per_byte(*rate));
    }
    at
}

fn links() -> impl Strategy<Value = Links> {
    let flow = (0..5usize, 1..=5usize, 1..6u64, 5..60u64, prop_oneof![Just(500u64), Just(1000)]);
    let shortest = prop_oneof![Just(64u64), Just(500), Just(1000)];
    (many(0..NANOS_PER_BYTE.len(), 1..=5), many(flow, 1..6), 1..4u64, 5..40u64, shortest).prop_map(
        |(rates, cross, burst, share, shortest)| {
            let rates: Vec<_> =
                rates.into_iter().map(|of| Rate(8_000_000_000 / NANOS_PER_BYTE[of])).collect();
            let slowest = rates.iter().map(|rate| rate.0).min().unwrap();
            let line = |burst: u64, share: u64| TokenBucket {
                bucket: Bytes(burst * 1000),
                rate: Rate(slowest * share / 200),
            };
            let mut flows = vec![(0..rates.len(), line(burst, share), Bytes(1000))];
            for (start, length, burst, share, packet) in cross {
                let start = start % rates.len();
                let end = (start + length).min(rates.len());
                flows.push((start..end, line(burst, share), Bytes(packet)));
            }
            Links { rates, flows, shortest: Bytes(shortest) }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Bursts that meet the flow of interest at every server, a little early or late, and go on as
    /// fast as they may: nothing is later than any method says. Its own packets have any lengths,
    /// the last one the least.
    #[test]
    fn nothing_is_later_than_any_bound(
        links in links(),
        early in many(many(0..3_000_000u64, 6), 12),
        mut lengths in many(1..=1000u64, 1..12usize),
    ) {
        let Some(tandem) = links.tandem() else { return Ok(()) };
        let bounds = tandem.bounds(&Simplex);
        lengths.iter_mut().for_each(|length| *length = (*length).max(links.shortest.0));
        *lengths.last_mut().unwrap() = links.shortest.0;
        for early in early {
            const START: u64 = 100_000_000;
            let at = alone(&links, START, 1000);
            let mut entering = greedy(0, links.flows[0].1, START, &lengths);
            for (flow, (path, line, packet)) in links.flows.iter().enumerate().skip(1) {
                // At the start of a run of bursts all of them come at the worst moment.
                let start = at[path.start] - early[flow % early.len()] / 1000 * 1000 * (early[0] % 2);
                entering.extend(greedy(flow, *line, start, &vec![packet.0; 40]));
            }
            let found = longest(&links, &entering);
            for bound in &bounds {
                prop_assert!(Nanos(found) <= bound.delay, "{found} {bound:?} {links:?}");
            }
        }
    }

    /// No method is better on the whole path than the worst case of its last server alone, and each
    /// that applies to the whole applies to its parts. One server is not asked about: its delay is
    /// no more than they find.
    #[test]
    fn parts_are_no_longer_than_the_whole(links in links()) {
        let Some(tandem) = links.tandem() else { return Ok(()) };
        let whole = tandem.bounds(&Simplex);
        let count = tandem.servers.len();
        for method in [Method::Ludb, Method::Sfa] {
            let Some(whole) = by(&whole, method) else { continue };
            if count > 2 {
                prop_assert!(by(&tandem.part(1..count).bounds(&Simplex), method).is_some());
            }
            prop_assert!(whole >= Nanos(links.rates.iter().map(|rate| 1000 * nanos_per_byte(*rate)).sum()));
        }
        let last = tandem.part(count - 1..count);
        let fifo = last.as_fifo().expect("links are first-in, first-out");
        for method in [Method::Sfa, Method::Ludb, Method::Plp] {
            let found = method.bound(&last, Some(&fifo), Nanos::MAX, &Simplex);
            prop_assert!(found.is_none_or(|found| found >= last.servers[0].delay), "{method:?} {found:?} {links:?}");
        }
    }
}

/// A link whose flows need exactly its rate is not overloaded, on the whole path or on a part.
#[test]
fn a_full_link_has_a_bound() {
    let flow = |start, rate, packet| {
        (start..3, TokenBucket { bucket: Bytes(1000), rate: Rate(rate) }, Bytes(packet))
    };
    let flows = vec![
        flow(0, 11_200_000, 1000),
        flow(1, 17_600_000, 500),
        flow(1, 14_800_000, 500),
        flow(0, 20_000_000, 500),
        flow(2, 10_400_000, 500),
        flow(2, 6_000_000, 500),
    ];
    let links = Links { rates: vec![Rate(80_000_000); 3], flows, shortest: Bytes(1000) };
    let tandem = links.tandem().unwrap();
    for part in [tandem.part(0..3), tandem.part(1..3)] {
        let bounds = part.bounds(&Simplex);
        assert!(by(&bounds, Method::Sfa).is_some() && by(&bounds, Method::Ludb).is_some());
    }
}

/// On one server and on two the worst case is reached, so that a bound that is a packet shorter
/// would be too short.
#[test]
fn what_is_found_is_no_packet_from_the_bound() {
    for servers in 1..=2usize {
        let rate = Rate(80_000_000);
        let line =
            |share: u64| TokenBucket { bucket: Bytes(4_000), rate: Rate(rate.0 * share / 100) };
        let mut flows = vec![(0..servers, line(20), Bytes(1000))];
        flows.extend((0..servers).map(|server| (server..server + 1, line(40), Bytes(1000))));
        let links = Links { rates: vec![rate; servers], flows, shortest: Bytes(1000) };
        let bounds = links.tandem().unwrap().bounds(&Simplex);
        let least = bounds.iter().map(|bound| bound.delay).min().unwrap();
        let mut worst = 0;
        for late in 0..400 {
            let mut entering = greedy(0, links.flows[0].1, 0, &[1000; 4]);
            for (flow, (path, line, _)) in links.flows.iter().enumerate().skip(1) {
                let start = path.start as u64 * late * 2_000;
                entering.extend(greedy(flow, *line, start, &[1000; 12]));
            }
            worst = worst.max(longest(&links, &entering));
        }
        assert!(Nanos(worst) <= least);
        assert!(worst + 100_000 > least.0, "{servers} servers: {worst} of {bounds:?}");
    }
}
