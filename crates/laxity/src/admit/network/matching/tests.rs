//! The closed form beside the infimum that it is of, and servers in a row under the worst that may
//! come.

use std::vec;
use std::vec::Vec;

use core::ops::Range;

use num_traits::Zero;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{Leftover, left_by, lines, matching, once, over, separate};
use crate::admit::Service;
use crate::admit::network::{Flow, Order, Server, Tandem};
use crate::admit::path::{ROUNDING, with_jitter};
use crate::curve::{Curve, Exact, bytes_per_nano, ceil_nanos, exact, exact_bytes, exact_nanos};
use crate::packet::ClassId;
use crate::police::{Meter, TokenBucket};
use crate::sched::Priority;
use crate::testing::{Arrival, drive};
use crate::units::{Bytes, Nanos, Rate};

/// 8 Mbit/s: a byte a µs.
const LINK: Rate = Rate(8_000_000);

fn bucket(bytes: u64, rate: u64) -> TokenBucket {
    TokenBucket { bucket: Bytes(bytes), rate: Rate(rate) }
}

fn server(rate: Rate, latency: Nanos, packet: u64) -> Server {
    let service = Service { curve: Curve::rate_latency(rate, latency), late: Nanos::ZERO };
    Server {
        service: Some(service),
        order: Order::Arbitrary,
        packet: Bytes(packet),
        delay: Nanos(u64::MAX / 8),
        link_rate: None,
    }
}

/// A flow that comes to every server as it comes to the first one.
fn flow(class: usize, path: Range<usize>, line: TokenBucket, packet: u64) -> Flow {
    let arrivals = vec![vec![line]; path.len()];
    Flow { class, path, arrivals, packet: Bytes(packet) }
}

fn is_about(found: Option<Nanos>, expected: u64) -> bool {
    found.is_some_and(|found| (expected..=expected + 10).contains(&found.0))
}

/// Bursts of 1000 bytes over two servers, each of 1 byte a µs and 1 ms late, whose packets are of a
/// byte: the other flow takes half of both. Once, it costs 2 ms, and 2 ms for what comes of it in 2
/// ms of latency at half the rate; twice, 2 ms more.
#[test]
fn a_burst_of_others_is_paid_once() {
    let late = Nanos(1_000_000);
    let tandem = Tandem {
        servers: vec![server(LINK, late, 0), server(LINK, late, 0)],
        flows: vec![
            flow(0, 0..2, bucket(1_000, 1_000_000), 0),
            flow(1, 0..2, bucket(1_000, 4_000_000), 0),
        ],
        groups: Vec::new(),
        shortest: Bytes(1),
    };
    assert!(is_about(once(&tandem), 2_000_000 + 2_000_000 + 2_000_000 + 2_000_000));
    assert!(is_about(separate(&tandem), 2_000_000 + 2_000_000 + 2_000_000 + 4_000_000));
    assert_eq!(matching(&tandem), once(&tandem));
}

/// A burst of 1000 bytes of others, and as many that come in the 2 ms in which all of these leave
/// at 1 byte a µs. Then a packet of 1000 bytes takes 1 ms, whatever else comes: not 2 ms, by the
/// half of the rate that is left.
#[test]
fn the_last_packet_is_not_interrupted() {
    let mut tandem = Tandem {
        servers: vec![server(LINK, Nanos::ZERO, 1_000)],
        flows: vec![
            flow(0, 0..1, bucket(1_000, 1_000_000), 1_000),
            flow(1, 0..1, bucket(1_000, 4_000_000), 1_000),
        ],
        groups: Vec::new(),
        shortest: Bytes(1_000),
    };
    let methods = [once, separate, matching];
    assert!(methods.iter().all(|method| is_about(method(&tandem), 4_000_000)));
    tandem.servers[0].link_rate = Some(LINK);
    // The first byte still leaves at half of the rate.
    assert!(methods.iter().all(|method| is_about(method(&tandem), 3_001_000)));
}

/// The other flow comes only to a slow server, behind which a fast one has still others: paid at
/// the rate that the slow one leaves, these cost more than at their own server.
#[test]
fn a_cut_is_better_between_slow_and_fast_servers() {
    let tandem = Tandem {
        servers: vec![
            server(Rate(1_000_000), Nanos::ZERO, 0),
            server(Rate(1_000_000_000), Nanos::ZERO, 0),
        ],
        flows: vec![
            flow(0, 0..2, bucket(100, 1_000), 0),
            flow(1, 1..2, bucket(100_000, 100_000_000), 0),
        ],
        groups: Vec::new(),
        shortest: Bytes(1),
    };
    let [once, matching] = [once(&tandem), matching(&tandem)].map(Option::unwrap);
    assert!(matching.0 * 100 < once.0, "{matching} {once}");
}

#[test]
fn nothing_is_bounded_beside_what_is_not_known_or_too_much() {
    let mut tandem = Tandem {
        servers: vec![server(LINK, Nanos::ZERO, 0); 2],
        flows: vec![flow(0, 0..2, bucket(100, 1_000), 0), flow(1, 0..2, bucket(100, 8_000_000), 0)],
        groups: Vec::new(),
        shortest: Bytes(1),
    };
    assert_eq!([once, matching, separate].map(|method| method(&tandem)), [None; 3]);
    tandem.flows[1].arrivals = vec![Vec::new(); 2];
    assert_eq!([once, separate].map(|method| method(&tandem)), [None; 2]);
    // It is left at what is known of the servers.
    assert_eq!(matching(&tandem), Some(Nanos(u64::MAX / 8 * 2)));
}

/// A rate and a latency in µs.
type Drawn = (u64, u64);

/// Where a flow begins, how many servers it passes, its burst in bytes and its rate.
type Other = (usize, usize, u64, u64);

/// One to three servers, and flows that pass some of them.
fn systems() -> impl Strategy<Value = (Vec<Drawn>, Vec<Other>)> {
    let servers = vec((4_000_000..40_000_000u64, 0..2_000u64), 1..=3);
    let others = vec((0..3usize, 1..=3usize, 1..4_000u64, 1..900_000u64), 0..=4);
    (servers, others)
}

fn tandem(servers: &[Drawn], others: &[Other], packet: u64) -> Tandem {
    let count = servers.len();
    let server = |&(rate, late): &Drawn| server(Rate(rate), Nanos(late * 1_000), packet);
    let mut flows = vec![flow(0, 0..count, bucket(1_500, 300_000), packet)];
    for (class, &(start, hops, bytes, rate)) in others.iter().enumerate() {
        let start = start % count;
        let path = start..(start + hops).min(count);
        flows.push(flow(class + 1, path, bucket(bytes.max(packet), rate), packet));
    }
    let servers = servers.iter().map(server).collect();
    Tandem { servers, flows, groups: Vec::new(), shortest: Bytes(1) }
}

/// What the theorem has under its infimum, for periods of these lengths in ns.
fn served(tandem: &Tandem, periods: &[Exact]) -> Exact {
    let mut bytes = Exact::zero();
    for (at, (server, period)) in tandem.servers.iter().zip(periods).enumerate() {
        let service = server.service.as_ref().unwrap();
        let whole = if at + 1 == tandem.servers.len() { Bytes(0) } else { server.packet };
        let curve = service.curve.sub(&Curve::constant(whole)).clamp_at_zero();
        bytes += curve.value(&(period - exact_nanos(ROUNDING)));
    }
    for flow in &tandem.flows[1..] {
        let line = flow.arrivals[0][0];
        let together = flow.path.clone().map(|at| &periods[at]).sum::<Exact>();
        bytes -= exact_bytes(line.bucket) + bytes_per_nano(line.rate) * together;
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The closed form is nowhere above the infimum over all ways to divide a time among servers,
    /// looked for in tenths, and takes it where all servers but the slowest have just their
    /// latencies.
    #[test]
    fn the_closed_form_is_the_infimum(
        (servers, others) in systems(), packet in 0..1_500u64, ms in 1..200u64,
    ) {
        let tandem = tandem(&servers, &others, packet);
        let Some(Leftover { rate: Some(rate), latency }) = left_by(&tandem, &lines(&tandem), 0..servers.len()) else {
            panic!("there is room for all");
        };
        let count = servers.len();
        let check = |time: &Exact, periods: &[Exact]| {
            let closed = (time - &latency) * &rate;
            (closed <= served(&tandem, periods) || closed <= Exact::zero(), closed)
        };
        let time = exact(ms * 1_000_000);
        for first in 0..=10u64 {
            for second in 0..=10 - first {
                let mut parts = vec![exact(first), exact(second), exact(10 - first - second)];
                parts.truncate(count);
                let sum = parts.iter().sum::<Exact>();
                let last = parts.len() - 1;
                parts[last] += exact(10) - sum;
                let periods: Vec<_> = parts.iter().map(|part| part * &time / exact(10)).collect();
                let (holds, closed) = check(&time, &periods);
                prop_assert!(holds, "{closed} {:?}", served(&tandem, &periods));
            }
        }
        // Its own latencies, and the rest for each of the servers in turn.
        let late = |at: usize| {
            let whole = if at + 1 == count { 0 } else { packet };
            exact(servers[at].1 * 1_000) + exact_nanos(ROUNDING)
                + exact(whole) / bytes_per_nano(Rate(servers[at].0))
        };
        let least: Vec<_> = (0..count).map(late).collect();
        let long = exact(100_000_000_000);
        let taken = (0..count).map(|slowest| {
            let mut periods = least.clone();
            periods[slowest] += &long - least.iter().sum::<Exact>();
            served(&tandem, &periods)
        });
        prop_assert_eq!(taken.min().unwrap(), (&long - &latency) * &rate);
    }

    /// Tandem matching is no worse than either of its extremes, of servers without curves of other
    /// shapes.
    #[test]
    fn matching_is_the_least((servers, others) in systems(), packet in 0..1_500u64) {
        let tandem = tandem(&servers, &others, packet);
        let found = matching(&tandem).unwrap();
        prop_assert!(found <= once(&tandem).unwrap());
        let mut alone = Leftover { rate: None, latency: Exact::zero() };
        for at in 0..servers.len() {
            alone = alone.then(left_by(&tandem, &lines(&tandem), at..at + 1).unwrap());
        }
        prop_assert!(found <= over(&tandem, &alone).unwrap());
        prop_assert!(separate(&tandem).unwrap() <= over(&tandem, &alone).unwrap());
    }

    /// Static priority serves the flow of interest last of those with contracts and before a flood,
    /// at every server; whatever comes, no packet takes longer than once, and with what leaves
    /// servers in between also than by the others.
    #[test]
    fn packets_keep_the_bounds(
        (servers, others) in systems(),
        wishes in vec((0..5usize, 0..3_000_000u64, 1..1_500u64), 20..120),
        longest in 1..1_500u64,
        shortest in 1..1_500u64,
    ) {
        let mut tandem = tandem(&servers, &others, longest);
        let shortest = shortest.min(longest);
        tandem.shortest = Bytes(shortest);
        let count = servers.len();
        for (server, (rate, _)) in tandem.servers.iter_mut().zip(&servers) {
            let blocked = Rate(*rate).time_for(Bytes(longest));
            let curve = Curve::rate_latency(Rate(*rate), blocked);
            server.service = Some(Service { curve, late: Nanos(1) });
            server.link_rate = Some(Rate(*rate));
        }
        later_arrivals(&mut tandem);
        let bounds = [once, separate, matching].map(|method| method(&tandem).unwrap());
        let mut coming: Vec<Vec<Hop>> = vec![Vec::new(); count];
        let mut meters: Vec<_> = tandem.flows.iter().map(|flow| {
            (Meter::new(flow.arrivals[0].iter().copied()), Nanos::ZERO)
        }).collect();
        for &(flow, time, length) in &wishes {
            let flow = flow % tandem.flows.len();
            let length = if flow == 0 { length.max(shortest) } else { length };
            let length = length.min(longest) as u32;
            let (meter, last) = &mut meters[flow];
            let time = meter.earliest(Nanos(time).max(*last), length).unwrap();
            assert!(meter.consume(time, length));
            *last = time;
            coming[tandem.flows[flow].path.start].push(Hop { time, flow, length, entered: time });
        }
        let flood = tandem.flows.len();
        for at in 0..count {
            let mut here = core::mem::take(&mut coming[at]);
            here.sort_by_key(|hop| hop.time);
            // A longest packet behind all goes just before each of the others.
            let mut all: Vec<Hop> = Vec::new();
            for hop in here {
                all.push(Hop { flow: flood, length: longest as u32, ..hop });
                all.push(hop);
            }
            let arrivals: Vec<_> = all.iter().map(|hop| Arrival {
                time: hop.time,
                class: hop.flow as u32,
                length: hop.length,
                after_choice: hop.flow != flood,
                ..Arrival::default()
            }).collect();
            let levels: Vec<_> = (0..=flood as u32)
                .map(|class| if class == 0 { 1 } else { u32::from(class == flood as u32) * 2 })
                .collect();
            for sent in drive(&mut Priority::new(&levels), Rate(servers[at].0), &arrivals).sent {
                let hop = &all[sent.dispatch.packet.handle as usize];
                let on = hop.flow != flood && at + 1 < tandem.flows[hop.flow].path.end;
                if on {
                    coming[at + 1].push(Hop { time: sent.departure, ..*hop });
                } else if hop.flow == 0 {
                    prop_assert_eq!(sent.dispatch.packet.class, ClassId(0));
                    let took = sent.departure - hop.entered;
                    prop_assert!(bounds.iter().all(|bound| took <= *bound), "{took:?} {bounds:?}");
                }
            }
        }
    }
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Hop {
    time: Nanos,
    flow: usize,
    length: u32,
    entered: Nanos,
}

/// The arrival curves at servers behind the first one, with the delay bounds of others before: of
/// all that have contracts together, in any order.
fn later_arrivals(tandem: &mut Tandem) {
    for at in 0..tandem.servers.len() {
        let here = |flow: &&Flow| flow.path.contains(&at);
        let all = tandem.flows.iter().filter(here);
        let curves: Vec<_> = all
            .map(|flow| crate::admit::arrival_curve(&flow.arrivals[at - flow.path.start]))
            .collect();
        let service = tandem.servers[at].service.as_ref().unwrap();
        // The longest period in which any of them wait, by when all has been sent.
        let left = service.curve.sub(&Curve::sum(&curves));
        let ends = left.nondecreasing_lower_closure().unwrap().lower_pseudo_inverse(&exact(1));
        let delay = ceil_nanos(&ends.unwrap()).unwrap() + Nanos(2);
        tandem.servers[at].delay = delay;
        for flow in tandem.flows.iter_mut().filter(|flow| flow.path.contains(&at)) {
            let next = at + 1 - flow.path.start;
            if next < flow.path.len() {
                flow.arrivals[next] = with_jitter(&flow.arrivals[next - 1], delay);
            }
        }
    }
}
