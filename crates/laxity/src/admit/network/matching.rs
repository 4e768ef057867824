//! Delay bounds for flows served in any order.
//!
//! The methods are separate flow analysis, pay multiplexing only once, and tandem matching between
//! the two.
//!
//! A server in strict service of all its flows, by the curve `beta_j`, leaves to the flow of
//! interest what the arrival curves of the others do not take. A burst of the flow itself waits
//! once for the convolution of what servers in a row leave (Le Boudec, Thiran 2001, section 6.2.1
//! and Theorem 1.4.6): **separate flow analysis.** The flow of interest then pays for every burst
//! of another flow at every server which that flow passes.
//!
//! **Pay multiplexing only once** (Schmitt, Zdarsky, Fidler 2008, Theorem 2) looks at periods
//! instead. Let p, or its first byte that [counts](super::last_packet),
//! leave the last server n at t_n, and let t_(j-1) be the beginning of the period at
//! server j that lasts at t_j. Over all servers, traffic that leaves j up to t_j and came before
//! t_(j-1) cancels, which leaves
//!
//! ```text
//! F_n(t_n) - F_0(t_0) >= sum_j beta_j(t_j - t_(j-1))
//!                        - sum over other flows i of A_i(t_(e_i) - t_(s_i - 1))
//! ```
//!
//! where flow i passes the servers from s_i up to e_i. With `beta_j(t) = R_j (t - T_j)+` and
//! `A_i(t) = b_i + r_i t` this gives the service curve `R (t - T)+` of all servers,
//!
//! ```text
//! R = min_j ( R_j - sum of the r_i there )
//! T = sum_j T_j + sum_i ( b_i + r_i sum of the T_j on i's way ) / R
//! ```
//!
//! R is the least of all, so a fast server behind a slow one counts for less than its rate.
//! **Tandem matching** (Bondorf, Nikolaus, Schmitt 2017) therefore cuts the servers into parts. In
//! each part other flows count once, with the burst that they bring there. The service curves that
//! the parts leave are convolved: the rate is the least, and latencies add up. So the best of all
//! cuts can be found part by part. A server without a known strict service is a part by itself that
//! takes its delay.
//!
//! Packets count with their last bits: a server has served at most one packet, of any flow, beyond
//! the whole packets that have left it. The last server is the exception: there the packet under
//! analysis itself ends the period (see [`path`](crate::admit::path)).

#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::ops::Range;

use num_traits::{Signed, Zero};

use super::{Flow, Order, Tandem};
use crate::admit::arrival_curve;
use crate::curve::{Curve, Exact, bytes_per_nano, ceil_nanos, exact_nanos};
use crate::police::TokenBucket;
use crate::units::{Nanos, Rate};

/// The delay over the path by separate flow analysis.
pub(super) fn separate(tandem: &Tandem) -> Option<Nanos> {
    let mut delays = Exact::zero();
    let mut all: Option<Curve> = None;
    for at in 0..tandem.servers.len() {
        match strict(tandem, at) {
            Some(service) => {
                let left = service.sub(&cross_traffic(tandem, at));
                let left = left.nondecreasing_lower_closure()?.clamp_at_zero();
                all = Some(all.map_or(left.clone(), |all| all.convolve(&left)));
            }
            None => delays += exact_nanos(tandem.servers[at].delay),
        }
    }
    let all = all?;
    let distance = |arrival: &Curve| Curve::horizontal_distance(arrival, &all);
    ceil_nanos(&(longest(tandem, distance)? + delays))
}

/// The delay over the path by paying multiplexing only once.
pub(super) fn once(tandem: &Tandem) -> Option<Nanos> {
    let left = left_by(tandem, &lines(tandem), 0..tandem.servers.len())?;
    over(tandem, &left)
}

/// The delay over the path by tandem matching.
pub(super) fn matching(tandem: &Tandem) -> Option<Nanos> {
    let lines = lines(tandem);
    // Up to each server the parts with the least latency.
    let mut best: Vec<Option<Leftover>> =
        Vec::from([Some(Leftover { rate: None, latency: Exact::zero() })]);
    for end in 1..=tandem.servers.len() {
        let part =
            |start: usize| Some(best[start].as_ref()?.then(left_by(tandem, &lines, start..end)?));
        let parts = (0..end).filter_map(part);
        let least = parts.min_by(|one, other| one.latency.cmp(&other.latency));
        best.push(least);
    }
    over(tandem, best.last()?.as_ref()?)
}

/// The service that servers leave to the flow of interest: a rate after a latency in ns; `None` as
/// the rate stands for an infinite one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Leftover {
    rate: Option<Exact>,
    latency: Exact,
}

impl Leftover {
    /// By the convolution of both.
    fn then(&self, next: Leftover) -> Leftover {
        let rates = [self.rate.clone(), next.rate].into_iter().flatten();
        Leftover { rate: rates.min(), latency: &self.latency + next.latency }
    }
}

/// The delay of the flow of interest under this service.
fn over(tandem: &Tandem, left: &Leftover) -> Option<Nanos> {
    let waits = match &left.rate {
        // The longest wait for a line is where the arrival curve breaks.
        Some(rate) => {
            let waits = |arrival: &Curve| {
                let waits = arrival.pieces().iter().map(|piece| &piece.value / rate - &piece.start);
                waits.max().filter(|_| arrival.final_slope() <= rate)
            };
            longest(tandem, waits)?
        }
        None => Exact::zero(),
    };
    ceil_nanos(&(waits + &left.latency))
}

/// The delay of the flow of interest, by the distance of arrivals from the service of all servers.
fn longest(tandem: &Tandem, distance: impl Fn(&Curve) -> Option<Exact>) -> Option<Exact> {
    let arrival = arrival_curve(own(tandem)?);
    match strict(tandem, tandem.servers.len().checked_sub(1)?) {
        Some(_) => tandem.longest(&arrival, distance),
        // What is known of its delay counts from there on.
        None => distance(&arrival),
    }
}

/// A rate and a latency in ns, of each server that is strict.
type Line = Option<(Exact, Exact)>;

fn lines(tandem: &Tandem) -> Vec<Line> {
    (0..tandem.servers.len()).map(|at| rate_latency(&strict(tandem, at)?)).collect()
}

/// The service that some servers leave, with every other flow counted once.
fn left_by(tandem: &Tandem, lines: &[Line], servers: Range<usize>) -> Option<Leftover> {
    if let [None] = lines[servers.clone()] {
        let latency = exact_nanos(tandem.servers[servers.start].delay);
        return Some(Leftover { rate: None, latency });
    }
    let lines: Option<Vec<_>> = lines[servers.clone()].iter().map(Option::as_ref).collect();
    let lines = lines?;
    // Of whole numbers, for there may be thousands of flows.
    let (mut bytes, mut taken) = (0u128, alloc::vec![0u128; lines.len()]);
    for (flow, path) in others(tandem, &servers) {
        let line = TokenBucket::slowest(&flow.arrivals[path.start - flow.path.start])?;
        bytes += u128::from(line.bucket.0);
        for at in path {
            taken[at - servers.start] += u128::from(line.rate.0);
        }
    }
    let mut bytes = Exact::from_integer(bytes.into());
    let mut latencies = Exact::zero();
    let mut least: Option<Exact> = None;
    for ((rate, latency), taken) in lines.into_iter().zip(taken) {
        // More than there is, if it is more than a rate can be.
        let taken = bytes_per_nano(Rate(u64::try_from(taken).unwrap_or(u64::MAX)));
        bytes += &taken * latency;
        latencies += latency;
        let left = rate - taken;
        least = Some(least.map_or(left.clone(), |least| least.min(left)));
    }
    let rate = least.filter(Signed::is_positive)?;
    let latency = latencies + bytes / &rate;
    Some(Leftover { rate: Some(rate), latency })
}

/// The other flows that pass some of these servers, and which; those of a class that pass the same
/// are one.
fn others<'a>(tandem: &'a Tandem, servers: &Range<usize>) -> Vec<(&'a Flow, Range<usize>)> {
    let inside = |flow: &'a Flow| {
        let path = flow.path.start.max(servers.start)..flow.path.end.min(servers.end);
        (!path.is_empty()).then_some((flow, path))
    };
    let mut others: Vec<_> = tandem.flows.iter().skip(1).filter_map(inside).collect();
    let place = |(flow, path): &(&Flow, Range<usize>)| (flow.class, path.start, path.end);
    others.sort_by_key(place);
    others.dedup_by_key(|other| place(other));
    others
}

/// The arrival curve of all that is not of the flow of interest at a server, each class as a whole.
fn cross_traffic(tandem: &Tandem, at: usize) -> Curve {
    let here = others(tandem, &(at..at + 1));
    let curves = here.iter().map(|(flow, _)| arrival_curve(&flow.arrivals[at - flow.path.start]));
    Curve::sum(curves)
}

/// The strict service of a server for whole packets, if one is known and all that comes there is.
fn strict(tandem: &Tandem, at: usize) -> Option<Curve> {
    if tandem.servers[at].order != Order::Arbitrary {
        return None;
    }
    let mut others = tandem.flows.iter().skip(1).filter(|flow| flow.path.contains(&at));
    let is_unknown = others.any(|flow| flow.arrivals[at - flow.path.start].is_empty());
    if is_unknown { None } else { tandem.serves(at) }
}

/// The highest line that is nowhere above a curve and as steep as that is in the long run: its
/// rate, and where it begins.
fn rate_latency(curve: &Curve) -> Line {
    let rate = curve.final_slope().clone();
    if !rate.is_positive() {
        return None;
    }
    let behind = |value: Exact, time: &Exact| time - value / &rate;
    let starts = curve.pieces().iter().map(|piece| &piece.start);
    let before = starts.clone().filter(|start| start.is_positive());
    let before = before.map(|start| behind(curve.value_before(start), start));
    let latency = starts.map(|start| behind(curve.value(start), start)).chain(before).max()?;
    Some((rate, latency.max(Exact::zero())))
}

/// The arrival curve of the flow of interest.
fn own(tandem: &Tandem) -> Option<&[TokenBucket]> {
    tandem.flows.first()?.arrivals.first().map(Vec::as_slice).filter(|lines| !lines.is_empty())
}
