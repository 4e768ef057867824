//! Admission tests: whether a set of classes fits on a link, the delay bound of each class, and if
//! they do not fit, why. Each discipline has a file.
//!
//! A test is pure arithmetic on curves: it knows the link's rate and, for every class, an arrival
//! curve and what the discipline reserves for it. It answers with a [`Service`] or a delay bound
//! for each class, or with the reason why there is [none](Unbounded). Curves are exact fractions;
//! results are rounded to the safe side.

mod breakdown;
pub mod cake;
pub mod dwcs;
pub mod edf;
pub mod fair;
pub mod hfsc;
pub mod hierarchy;
pub(crate) mod lines;
pub mod network;
pub mod path;
pub mod priority;
pub mod tdp;
mod tree;

pub use breakdown::{Breakdown, Source, Term, queue_breakdown};

use alloc::vec::Vec;

use num_traits::{One, Signed, ToPrimitive, Zero};

use self::lines::{Lowest, lowest};
use crate::curve::{
    Curve, Exact, HorizontalDeviation, Minimum, Piece, bytes_per_nano, ceil_bytes, ceil_nanos,
    exact, exact_bytes, floor_bytes,
};
use crate::named::named;
use crate::police::TokenBucket;
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

/// The traffic of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Its arrival curve, as token buckets; empty if the traffic is unknown.
    pub arrival: Vec<TokenBucket>,
    /// Its largest packet.
    pub packet: Bytes,
}

impl Traffic {
    /// Whether the traffic never arrives, as for a class that no path leads to an output.
    pub fn is_absent(&self) -> bool {
        self.arrival.iter().any(TokenBucket::is_nothing)
    }
}

/// An interval and the work that may have to be done in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// How long it is.
    pub length: Nanos,
    /// Bytes that can be sent in it, rounded down.
    pub capacity: Bytes,
    /// Bytes that may have to be sent in it, rounded up.
    pub demand: Bytes,
}

impl Interval {
    /// `None` if it is longer than [`Nanos`] hold.
    fn new(length: &Exact, capacity: &Exact, unused: &Exact) -> Option<Interval> {
        Some(Interval {
            length: ceil_nanos(length)?,
            capacity: floor_bytes(capacity)?,
            demand: ceil_bytes(&(capacity - unused))?,
        })
    }
}

named! {
    /// Why a class has no delay bound.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
    #[non_exhaustive]
    pub enum Unbounded {
        /// The classes are promised more than there is, so that no guarantee holds.
        #[error("more is promised than there is")]
        NotAdmitted = "not-admitted",
        /// The class is promised no service.
        #[error("it has no real-time curve")]
        NoGuarantee = "no-guarantee",
        /// The discipline has no proof for links whose rate changes or that may be late.
        #[error("the rate of the link changes over time, or it may be late")]
        VaryingRate = "varying-rate",
        /// The class has no arrival curve.
        #[error("it has no arrival curve")]
        NoArrival = "no-arrival",
        /// Packets that break the arrival curve are demoted, but wait in the queue of the class.
        #[error("its demoted packets stay in its queue: with `police = \"drop\"` there are none")]
        Demotes = "demotes",
        /// A class that goes before it or takes turns with it has no arrival curve.
        #[error(
            "a class that goes before it or in turn with it has no arrival curve, or keeps demoted packets in its queue"
        )]
        UnknownCrossTraffic = "unknown-cross-traffic",
        /// CAKE: the tins above its own may take all there is up to their thresholds.
        #[error("the thresholds of the tins above its own leave nothing that is sure")]
        TinsAbove = "tins-above",
        /// CAKE: what it drops counts as sent, however much that is.
        #[error("with `ingress` and `rate`, dropped packets count as sent, and nothing bounds them")]
        DropsCount = "drops-count",
        /// More may arrive in the long run than it is guaranteed, so that its backlog has no bound.
        #[error("more may arrive in the long run than it is guaranteed")]
        Unstable = "unstable",
    }
}

/// The arrival curve of traffic that keeps to all of some token buckets: the minimum of their
/// lines; zero if there are none.
pub fn arrival_curve(buckets: &[TokenBucket]) -> Curve {
    let piece = |Lowest { since, line }: Lowest| {
        let slope = bytes_per_nano(line.rate);
        let start = exact(since.bytes) * exact(NANOBITS_PER_BYTE) / exact(since.rate);
        Piece { value: exact_bytes(line.bucket) + &slope * &start, start, slope }
    };
    let pieces: Vec<_> = lowest(buckets).into_iter().map(piece).collect();
    Curve::from_pieces(pieces).unwrap_or_else(|_| Curve::zero())
}

/// What others leave to a class has no more pieces than this, beside those of the class's own
/// arrival curve: with a piece for each other class, all classes together would take their square.
const MOST_PIECES: usize = 32;

/// The service of a class: the packet that ends with the x-th byte of a period in which the class
/// has packets has left at most `late` after the curve has reached x. The bound holds for any
/// traffic of other classes. Under static priority the period is one in which the class or those
/// before it have packets, and `x` counts from the first packet of the class in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Bytes served since the period began. It does not fall.
    pub curve: Curve,
    /// Latency in addition to the curve.
    pub late: Nanos,
}

impl Service {
    /// The delay bound of traffic under this service, rounded up.
    ///
    /// # Errors
    /// [`Unstable`](Unbounded::Unstable) if the traffic exceeds the service in the long run,
    /// [`NoArrival`](Unbounded::NoArrival) if `arrival` is empty.
    pub fn delay(&self, arrival: &[TokenBucket]) -> Result<Nanos, Unbounded> {
        delay_bound_of_all([arrival], &self.curve, self.late)
    }
}

/// The delay bound of several flows that one queue serves in order of arrival by this curve, at
/// most `late` later: the horizontal distance between the sum of the arrival curves and the service
/// curve (Cruz 1991), rounded up.
///
/// # Errors
/// [`Unstable`](Unbounded::Unstable) if the traffic exceeds the service in the long run,
/// [`NoArrival`](Unbounded::NoArrival) if an arrival curve is empty.
pub fn delay_bound_of_all<'a>(
    traffic: impl IntoIterator<Item = &'a [TokenBucket]>,
    service: &Curve,
    late: Nanos,
) -> Result<Nanos, Unbounded> {
    let distance = deviation_of_all(traffic, service)?.distance;
    Ok(ceil_nanos(&distance).ok_or(Unbounded::Unstable)?.saturating_add(late))
}

/// Where the arrival curves of several flows in one queue and their service curve are farthest
/// apart.
///
/// # Errors
/// As [`delay_bound_of_all`].
pub fn deviation_of_all<'a>(
    traffic: impl IntoIterator<Item = &'a [TokenBucket]>,
    service: &Curve,
) -> Result<HorizontalDeviation, Unbounded> {
    let arrival = |buckets: &[TokenBucket]| match buckets {
        [] => Err(Unbounded::NoArrival),
        _ => Ok(arrival_curve(buckets)),
    };
    let arrivals = traffic.into_iter().map(arrival).collect::<Result<Vec<_>, _>>()?;
    let deviation = Curve::horizontal_deviation(&Curve::sum(&arrivals), service);
    deviation.ok_or(Unbounded::Unstable)
}

/// Whether a capacity is never exceeded, given the least that is left of it.
fn is_room(least: &Option<Minimum>) -> bool {
    least.as_ref().is_some_and(|least| !least.value.is_negative())
}

/// The first whole nanosecond from `from` on at which a curve that falls without end is negative.
fn first_below_zero(curve: &Curve, from: &Exact) -> Exact {
    for (piece, end) in curve.pieces_with_ends() {
        if end.is_some_and(|end| end <= from) {
            continue;
        }
        let start = if piece.start < *from { from } else { &piece.start };
        let value = curve.value(start);
        if value.is_negative() {
            return start.ceil();
        }
        if piece.slope.is_negative() {
            let crossing = (start - value / &piece.slope).floor() + Exact::one();
            if end.is_none_or(|end| crossing < *end) {
                return crossing;
            }
        }
    }
    from.clone()
}

/// The steepest slope with which a line that starts at `value` at time `from` stays under a curve
/// from there on or up to time `until`; `None` if none does.
fn steepest_from(
    curve: &Curve,
    from: &Exact,
    value: &Exact,
    until: Option<&Exact>,
) -> Option<Exact> {
    let first = curve.value(from) - value;
    if first.is_negative() {
        return None;
    }
    let slope_to = |t: &Exact, height: &Exact| (height - value) / (t - from);
    let mut steepest = match until {
        Some(until) => slope_to(until, &curve.value_before(until)),
        None => curve.final_slope().clone(),
    };
    if first.is_zero() {
        steepest = steepest.min(curve.slope_after(from));
    }
    let inside = |t: &Exact| t > from && until.is_none_or(|until| t < until);
    for piece in curve.pieces().iter().filter(|piece| inside(&piece.start)) {
        let lower = piece.value.clone().min(curve.value_before(&piece.start));
        steepest = steepest.min(slope_to(&piece.start, &lower));
    }
    Some(steepest)
}

/// A slope in whole bits a second, rounded down; `None` if that is not above zero.
pub(crate) fn floor_rate(slope: &Exact) -> Option<Rate> {
    let bits = (slope * exact(NANOBITS_PER_BYTE)).floor().to_integer();
    let bits = if bits.is_positive() { bits.to_u64().unwrap_or(u64::MAX) } else { 0 };
    (bits > 0).then_some(Rate(bits))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Line by line.
        #[test]
        fn an_arrival_curve_is_the_least_of_its_lines(
            lines in prop::collection::vec((0..9u64, 0..9u64), 0..7), large in any::<bool>(),
        ) {
            let times = if large { 1_000_000_007 } else { 1 };
            let lines: Vec<_> = lines
                .into_iter()
                .map(|(bucket, rate)| TokenBucket { bucket: Bytes(bucket), rate: Rate(rate * times) })
                .collect();
            let curves = lines.iter().map(|line| Curve::token_bucket(line.bucket, line.rate));
            let least = curves.reduce(|least, line| least.minimum(&line));
            prop_assert_eq!(arrival_curve(&lines), least.unwrap_or_else(Curve::zero));
        }
    }
}
