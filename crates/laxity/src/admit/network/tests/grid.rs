//! The least upper delay bound beside a naive model: curves as whole bytes at whole ticks,
//! convolution by its definition, and every theta of a grid tried.

use core::ops::Range;
use std::vec;
use std::vec::Vec;

use proptest::collection::vec as many;
use proptest::prelude::*;

use super::*;
use crate::admit::Service;
use crate::admit::network::fifo::Fifo;
use crate::admit::network::ludb::{self, Cuts};

/// 0.1 ms, in which a byte a tick is 80 kbit/s.
const TICK: u64 = 100_000;
const BYTE_A_TICK: u64 = 80_000;

/// Curves are known up to here.
const HORIZON: usize = 180;

/// Distance in ticks between the thetas that are tried, up to the last.
const STEP: usize = 2;
const LAST_THETA: usize = 70;

/// A curve from tick to tick, in bytes; where it jumps, the value before.
type Sampled = Vec<i64>;

/// A rate in bytes a tick, and a latency in ticks.
type Rated = (i64, usize);

/// A flow's servers, its burst in bytes and its rate in bytes a tick.
type Crossing = (Range<usize>, i64, i64);

fn convolved(f: &[i64], g: &[i64]) -> Sampled {
    (0..f.len()).map(|t| (0..=t).map(|u| f[t - u] + g[u]).min().unwrap()).collect()
}

/// `[S(t) - b - r (t - theta)]+` after theta, and nothing before.
fn left(service: &[i64], (_, burst, rate): &Crossing, theta: usize) -> Sampled {
    let at = |t: usize| {
        if t > theta { (service[t] - burst - rate * (t - theta) as i64).max(0) } else { 0 }
    };
    (0..service.len()).map(at).collect()
}

/// The length of the last packet in bytes, and the rate at which the last server sends it.
type Last = (i64, i64);

/// The horizontal distance in ticks, or that of what came up to the first byte of the last packet,
/// and what the rest of it takes; `None` if it is not seen up to the horizon.
fn distance((_, burst, rate): &Crossing, service: &[i64], (length, link): &Last) -> Option<usize> {
    let longest = |is_served: &dyn Fn(i64, i64) -> bool| {
        let at = |t: usize| {
            let came = burst + rate * t as i64;
            (t..service.len()).find(|end| is_served(service[*end], came)).map(|end| end - t)
        };
        (0..HORIZON / 3).map(at).collect::<Option<Vec<_>>>()?.into_iter().max()
    };
    let whole = longest(&|served, came| served >= came)?;
    let begun = longest(&|served, came| served > came - length)?;
    Some(whole.min(begun + (*length as usize - 1) / *link as usize))
}

/// Runs of servers already joined into one, and their service curves.
type Rows = Vec<(Range<usize>, Sampled)>;

/// The least delay over all thetas of the grid. `cross` begins with the shortest paths: whatever is
/// inside a path comes before it.
fn least(rows: &Rows, cross: &[Crossing], own: &Crossing, last: &Last) -> Option<usize> {
    let joined = |path: &Range<usize>| {
        let inside = rows.iter().filter(|row| path.start <= row.0.start && row.0.end <= path.end);
        inside.map(|row| row.1.clone()).reduce(|all, one| convolved(&all, &one)).unwrap()
    };
    let Some((first, rest)) = cross.split_first() else {
        return distance(own, &joined(&own.0), last);
    };
    let path = &first.0;
    let served = joined(path);
    let others = rows.iter().filter(|row| row.0.end <= path.start || path.end <= row.0.start);
    let others: Rows = others.cloned().collect();
    let with = |theta: usize| {
        let mut rows = others.clone();
        rows.push((path.clone(), left(&served, first, theta)));
        least(&rows, rest, own, last)
    };
    (0..=LAST_THETA).step_by(STEP).filter_map(with).min()
}

fn naive(servers: &[Rated], cross: &[Crossing], own: &Crossing, shortest: i64) -> Option<usize> {
    let serves = |&(rate, late): &Rated| -> Sampled {
        (0..HORIZON).map(|t| rate * t.saturating_sub(late) as i64).collect()
    };
    let rows = servers.iter().enumerate().map(|(at, server)| (at..at + 1, serves(server)));
    let mut cross = cross.to_vec();
    cross.sort_by_key(|flow| flow.0.len());
    let last = (shortest, servers.last()?.0);
    least(&rows.collect(), &cross, own, &last)
}

/// The same servers and flows, in nanoseconds.
fn fifo(servers: &[Rated], cross: &[Crossing], own: &Crossing, shortest: i64) -> Fifo {
    let server = |&(rate, late): &Rated| {
        let rate = Rate(rate as u64 * BYTE_A_TICK);
        let curve = Curve::rate_latency(rate, Nanos(late as u64 * TICK));
        let service = Some(Service { curve, late: Nanos::ZERO });
        let delay = Nanos(u64::MAX / 8);
        Server { service, order: Order::Fifo, packet: Bytes(0), delay, link_rate: Some(rate) }
    };
    let flow = |(class, (path, burst, rate)): (usize, &Crossing)| {
        let line =
            TokenBucket { bucket: Bytes(*burst as u64), rate: Rate(*rate as u64 * BYTE_A_TICK) };
        let arrivals = vec![vec![line]; path.len()];
        Flow { class, path: path.clone(), arrivals, packet: Bytes(0) }
    };
    let flows = core::iter::once(own).chain(cross).enumerate().map(flow).collect();
    let servers = servers.iter().map(server).collect();
    let shortest = Bytes(shortest as u64);
    let tandem = Tandem { servers, flows, groups: vec![], shortest };
    tandem.as_fifo().expect("first-in, first-out")
}

/// Two or three servers, and one or two cross flows. Two cross flows are nested or disjoint.
fn nested() -> impl Strategy<Value = (Vec<Rated>, Vec<Crossing>, Crossing)> {
    let servers = many((18..40i64, 0..6usize), 2..=3);
    let cross = many((0..3usize, 1..=3usize, 20..250i64, 1..7i64), 1..=2);
    (servers, cross, 20..250i64, 1..7i64).prop_filter_map(
        "nested",
        |(servers, cross, burst, rate)| {
            let count = servers.len();
            let path = |start: usize, hops: usize| {
                let start = start % count;
                start..(start + hops).min(count)
            };
            let cross: Vec<Crossing> = cross
                .into_iter()
                .map(|(start, hops, burst, rate)| (path(start, hops), burst, rate))
                .collect();
            let is_part = |path: &Range<usize>| path.len() < count;
            let is_nested = match &cross[..] {
                [one, other] => {
                    let (a, b) = (&one.0, &other.0);
                    let inside =
                        |a: &Range<usize>, b: &Range<usize>| b.start <= a.start && a.end <= b.end;
                    // Two along the same way would be one flow.
                    a != b && (inside(a, b) || inside(b, a) || a.end <= b.start || b.end <= a.start)
                }
                _ => true,
            };
            let fits = is_nested && cross.iter().all(|flow| is_part(&flow.0));
            fits.then_some((servers, cross, (0..count, burst, rate)))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The delay found is at most the grid's least, and no less than any theta could give.
    ///
    /// The grid errs by whole ticks. Times are rounded up by one. A theta that is later by some
    /// time delays what it leaves by no more than that, so the grid misses the best theta by one
    /// step for each cross flow. Between ticks a convolution may be lower by the rise of a curve in
    /// one tick: one tick for each server.
    #[test]
    fn ludb_is_the_least_over_all_thetas((servers, cross, own) in nested()) {
        let Some(naive) = naive(&servers, &cross, &own, 1) else { return Ok(()) };
        let found = ludb::least(&fifo(&servers, &cross, &own, 1), &Simplex).unwrap().0;
        let least = (naive as u64).saturating_sub(1 + (STEP * cross.len()) as u64);
        let most = naive as u64 + servers.len() as u64;
        prop_assert!((least * TICK..=most * TICK).contains(&found), "{found} beside {naive} ticks");
    }

    /// With a last packet that has a length, the delay found is no longer than without, and no less
    /// than any theta could give. The grid does not see the rest of a tick in which the last packet
    /// is sent.
    #[test]
    fn the_last_packet_is_sent_at_once((servers, cross, own) in nested(), percent in 1..=100i64) {
        let shortest = (own.1 * percent / 100).max(1);
        let Some(naive) = naive(&servers, &cross, &own, shortest) else { return Ok(()) };
        let [of_a_byte, found] = [1, shortest].map(|shortest| {
            ludb::least(&fifo(&servers, &cross, &own, shortest), &Simplex).unwrap().0
        });
        let least = (naive as u64).saturating_sub(3 + (STEP * cross.len()) as u64);
        prop_assert!(found <= of_a_byte, "{found} {of_a_byte}");
        prop_assert!(found >= least * TICK, "{found} beside {naive} ticks");
    }

    /// Separated flow analysis is the same with every flow cut at every server.
    #[test]
    fn separated_flows_are_the_same_server_by_server((servers, cross, own) in nested()) {
        prop_assume!(cross.iter().map(|flow| flow.0.len()).sum::<usize>() <= 2);
        let single = |flow: &Crossing| {
            let (burst, rate) = (flow.1, flow.2);
            flow.0.clone().map(move |at| (at..at + 1, burst, rate)).collect::<Vec<_>>()
        };
        let mut cut: Vec<Crossing> = Vec::new();
        for (path, burst, rate) in cross.iter().flat_map(single) {
            match cut.iter_mut().find(|flow| flow.0 == path) {
                Some(flow) => *flow = (path, flow.1 + burst, flow.2 + rate),
                None => cut.push((path, burst, rate)),
            }
        }
        let Some(naive) = naive(&servers, &cut, &own, 1) else { return Ok(()) };
        let fifo = fifo(&servers, &cross, &own, 1);
        let found = ludb::delay(&fifo, Cuts::Everywhere, &Simplex).unwrap().0;
        let least = (naive as u64).saturating_sub(1 + (STEP * cut.len()) as u64);
        let most = naive as u64 + servers.len() as u64;
        prop_assert!((least * TICK..=most * TICK).contains(&found), "{found} beside {naive} ticks");
    }
}
