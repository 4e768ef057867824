//! Delay bounds over paths of several hops.
//!
//! The guarantee of a hop depends on the arrival curve of the class at that hop. Behind a hop the
//! curve is another, since packets that had to wait have moved closer together. Three curves hold
//! there, and the least of them counts ([`Hop::leaving`]):
//!
//! - `A(t + D - d)`, if a packet takes at least d and at most D.
//! - The deconvolution of A by S, if the class is served by the curve S (Le Boudec, Thiran 2001,
//!   Theorem 1.4.3).
//! - The rate of the link in front, plus one packet, whose last bit counts (section 1.5).
//!
//! The delay over a path is at most the sum of its hops' delays, each for the arrival curve there.
//! A better bound holds for hops in a row that serve the same packets by service curves: together
//! they serve them by the min-plus convolution of these curves (Theorem 1.4.6). Then a burst waits
//! once, at the slowest hop, not at every hop: [`pay_bursts_once`].
//!
//! Hops store and forward: a packet counts with its last bit, at every hop. The guarantee of a hop
//! is about packets, too. The packet that ends with the x-th byte of a period in which its class
//! has packets leaves at most `late` after S has reached x. So the n-th packet has left hop i by
//!
//! ```text
//! F_i(n) <= max over j <= n of F_(i-1)(j) + S_i^-1(l_j + ... + l_n) + late_i
//! ```
//!
//! Over all hops, the packet at which one maximum hands over to the next counts twice. So the curve
//! of every hop but one is lowered by the longest packet; which one is free. That is sharper than a
//! packetizer at every hop but the last (section 1.7) where an early hop is the slowest.
//!
//! Times are whole nanoseconds at every hop, so that each hop may add one.

#[cfg(test)]
mod tests;

use alloc::vec;
use alloc::vec::Vec;

use num_traits::ToPrimitive;

use super::lines::{self, lowest};
use super::{Breakdown, Service, Unbounded, arrival_curve};
use crate::curve::{
    Curve, HorizontalDeviation, ceil_bytes, ceil_nanos, exact, exact_bytes, exact_nanos,
};
use crate::police::TokenBucket;
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

/// The guarantee of a class at one hop.
#[derive(Clone, Debug)]
pub struct Hop {
    /// Upper bound on the delay of a packet, from its arrival to its last bit out.
    pub delay: Nanos,
    /// The class's own service curve, if it holds for any cross traffic.
    pub service: Option<Service>,
}

/// Rounding of the times at which packets leave.
pub(super) const ROUNDING: Nanos = Nanos(1);

impl Hop {
    /// The arrival curve behind the hop, for traffic under `arrival` in front of it. Every packet
    /// takes at least `least` at the hop and is at most `packet` long; the link sends at `rate`.
    pub fn leaving(
        &self,
        arrival: &[TokenBucket],
        least: Nanos,
        packet: Bytes,
        rate: Rate,
    ) -> Vec<TokenBucket> {
        let mut lines = with_jitter(arrival, self.delay.saturating_sub(least));
        lines.push(over_link(rate, packet));
        if let Some(service) = &self.service {
            let late = exact_nanos(service.late.saturating_add(ROUNDING));
            // Below a curve of convex shape, the deconvolution is concave, as arrival curves here
            // are.
            let served = lowered(&service.curve, packet).shift(&late).greatest_convex_minorant();
            let burst = arrival_curve(arrival).deconvolve(&served);
            lines.extend(burst.map(|burst| concave(&burst)).unwrap_or_default());
        }
        undominated(lines)
    }
}

/// The arrival curve of traffic after a variable delay: its largest and smallest delay differ by at
/// most `jitter`. `A(t + jitter)`.
pub fn with_jitter(arrival: &[TokenBucket], jitter: Nanos) -> Vec<TokenBucket> {
    let later = |line: &TokenBucket| {
        let gained = u128::from(line.rate.0) * u128::from(jitter.0);
        let gained = gained.div_ceil(u128::from(NANOBITS_PER_BYTE));
        let gained = u64::try_from(gained).unwrap_or(u64::MAX);
        TokenBucket { bucket: Bytes(line.bucket.0.saturating_add(gained)), rate: line.rate }
    };
    arrival.iter().map(later).collect()
}

/// The arrival curve of packets of up to this length that come over a link of this rate.
pub fn over_link(rate: Rate, packet: Bytes) -> TokenBucket {
    with_jitter(&[TokenBucket { bucket: packet, rate }], ROUNDING)[0]
}

/// The arrival curve of the aggregate of these; no lines if there are none.
pub fn aggregate<'a>(arrivals: impl IntoIterator<Item = &'a [TokenBucket]>) -> Vec<TokenBucket> {
    let mut arrivals = arrivals.into_iter().peekable();
    if arrivals.peek().is_none() { Vec::new() } else { lines::sum(arrivals) }
}

/// The lines that are below all others somewhere: the rest changes nothing.
pub fn undominated(lines: Vec<TokenBucket>) -> Vec<TokenBucket> {
    let lowest = lowest(&lines);
    if lowest.is_empty() {
        [TokenBucket { bucket: Bytes(0), rate: Rate(0) }].to_vec()
    } else {
        lowest.into_iter().map(|lowest| lowest.line).collect()
    }
}

/// Reduces an arrival curve to at most `most` lines (at least two) by dropping those that raise it
/// least. The result is above the curve, hence also an arrival curve. `lines` are in the order of
/// its pieces.
pub fn coarsened(mut lines: Vec<TokenBucket>, most: usize) -> Vec<TokenBucket> {
    while lines.len() > most.max(2) {
        // By how much the curve rises where the neighbours meet. Any choice is safe, so
        // floating-point numbers will do.
        let raised = |at: &usize| {
            let [(before, steep), (here, rate), (after, flat)] = [at - 1, *at, at + 1]
                .map(|at| (lines[at].bucket.0 as f64, lines[at].rate.0 as f64));
            let meet = (after - before) / (steep - flat);
            before + steep * meet - (here + rate * meet)
        };
        let least = (1..lines.len() - 1).min_by(|a, b| raised(a).total_cmp(&raised(b)));
        lines.remove(least.expect("more than two lines have one between"));
    }
    lines
}

/// The delay of a class's packets over hops in a row that all of the same packets pass, by the
/// convolution of their service curves; where a hop has none, by its delay. Propagation comes on
/// top.
///
/// # Errors
/// If a service curve is below the arrival curve in the long run.
pub fn pay_bursts_once<'a>(
    arrival: &[TokenBucket],
    packet: Bytes,
    hops: impl IntoIterator<Item = &'a Hop>,
) -> Result<Nanos, Unbounded> {
    let (deviation, late) = together(arrival, packet, hops)?;
    let waits = ceil_nanos(&deviation.distance).ok_or(Unbounded::Unstable)?;
    Ok(late.into_iter().fold(waits, Nanos::saturating_add))
}

/// What the bound of [`pay_bursts_once`] is made of: the wait for the service of all hops together,
/// over links of at least this rate, and what each hop adds.
pub fn once_breakdown<'a>(
    arrival: &[TokenBucket],
    packet: Bytes,
    hops: impl IntoIterator<Item = &'a Hop>,
    rate: Rate,
) -> Option<(Breakdown, Vec<Nanos>)> {
    let (deviation, late) = together(arrival, packet, hops).ok()?;
    Some((Breakdown::from_deviation(&deviation, rate)?, late))
}

/// Where what comes and the service of all hops together are farthest apart, and what each hop adds
/// to that.
fn together<'a>(
    arrival: &[TokenBucket],
    packet: Bytes,
    hops: impl IntoIterator<Item = &'a Hop>,
) -> Result<(HorizontalDeviation, Vec<Nanos>), Unbounded> {
    let mut curves = Vec::new();
    let late = hops.into_iter().map(|hop| match &hop.service {
        Some(service) => {
            curves.push(&service.curve);
            service.late.saturating_add(ROUNDING)
        }
        None => hop.delay,
    });
    let late = late.collect();
    let packet_takes = |curve: &&Curve| curve.lower_pseudo_inverse(&exact_bytes(packet));
    let Some(slowest) = (0..curves.len()).max_by_key(|hop| packet_takes(&curves[*hop])) else {
        return Ok((HorizontalDeviation::default(), late));
    };
    let first = curves.swap_remove(slowest).clone();
    let all = curves.iter().fold(first, |all, curve| all.convolve(&lowered(curve, packet)));
    let deviation = Curve::horizontal_deviation(&arrival_curve(arrival), &all);
    Ok((deviation.ok_or(Unbounded::Unstable)?, late))
}

/// A service curve of packets as one of bytes.
pub(super) fn lowered(curve: &Curve, packet: Bytes) -> Curve {
    curve.sub(&Curve::constant(packet)).clamp_at_zero()
}

/// The lines of a concave curve, each rounded up.
pub(super) fn concave(curve: &Curve) -> Vec<TokenBucket> {
    let line = |piece: &crate::curve::Piece| {
        let bucket = &piece.value - &piece.slope * &piece.start;
        let rate = (&piece.slope * exact(NANOBITS_PER_BYTE)).ceil().to_integer();
        TokenBucket {
            bucket: ceil_bytes(&bucket).unwrap_or(Bytes(u64::MAX)),
            rate: Rate(rate.to_u64().unwrap_or(u64::MAX)),
        }
    };
    curve.pieces().iter().map(line).collect()
}

/// The order of a network: each hop after all that feed it, as far as there is such an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The hops that depend on no cycle, in that order.
    pub forward: Vec<usize>,
    /// The hops of cyclic dependencies, which feed one another, and those on the way from one cycle
    /// to another.
    pub cyclic: Vec<usize>,
    /// The hops behind these, in that order.
    pub behind: Vec<usize>,
}

impl Order {
    /// Orders `hops` hops, numbered from 0; each pair is a hop and one that it feeds.
    pub fn new(hops: usize, feeds: &[(usize, usize)]) -> Order {
        let back: Vec<_> = feeds.iter().map(|(from, to)| (*to, *from)).collect();
        let (after, before) = (sorted(hops, feeds).1, sorted(hops, &back).1);
        let is_cyclic: Vec<_> = (0..hops).map(|hop| after[hop] && before[hop]).collect();
        let rest = feeds.iter().filter(|(from, to)| !is_cyclic[*from] && !is_cyclic[*to]);
        let (order, _) = sorted(hops, &rest.copied().collect::<Vec<_>>());
        let rest = order.into_iter().filter(|hop| !is_cyclic[*hop]);
        let (behind, forward) = rest.partition(|hop| after[*hop]);
        Order { forward, cyclic: (0..hops).filter(|hop| is_cyclic[*hop]).collect(), behind }
    }
}

/// The hops that can be put in order, and whether each could not (Kahn 1962).
fn sorted(hops: usize, feeds: &[(usize, usize)]) -> (Vec<usize>, Vec<bool>) {
    let (mut fed_by, mut next) = (vec![0usize; hops], vec![Vec::new(); hops]);
    for &(from, to) in feeds {
        fed_by[to] += 1;
        next[from].push(to);
    }
    let mut order: Vec<_> = (0..hops).filter(|hop| fed_by[*hop] == 0).collect();
    let mut looked_at = 0;
    while let Some(&hop) = order.get(looked_at) {
        looked_at += 1;
        for &to in &next[hop] {
            fed_by[to] -= 1;
            if fed_by[to] == 0 {
                order.push(to);
            }
        }
    }
    (order, fed_by.into_iter().map(|left| left > 0).collect())
}
