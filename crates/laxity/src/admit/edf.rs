//! The exact schedulability test of non-preemptive EDF (Liebeherr, Wrege, Ferrari 1996), and the
//! capacity it leaves for best effort (Chakraborty, Gries, Thiele 2002).
//!
//! Real-time class k arrives under the curve A_k, is due d_k after arrival and has packets of up to
//! s_k. On a link of rate C all deadlines hold if and only if for all t >= min d_k
//!
//! ```text
//! C t >= sum_k A_k(t - d_k) + max { s_j : d_j > t }
//! ```
//!
//! The last term is the one packet with a later deadline that may be on the link when an interval
//! begins; best effort counts there for every t.
//!
//! Deadlines of best effort need one term more. The demand of best effort is forgotten when no
//! packet waits. Then a packet of any class may still be on the link, even one with an earlier
//! deadline. So intervals in which best effort may be due begin behind the largest packet of all.
//!
//! The test also holds for a class of a [hierarchy](super::hierarchy), which has no link to itself.
//! It is served at least by the curve `beta(t) = r (t - theta)+`, counted from any moment at which
//! it begins to wait or one of its packets is chosen; `beta(t)` takes the place of `C t`. A packet
//! chosen by then with a later deadline takes only its own length out of `beta`, since `theta`
//! already includes the wait for all other classes. So the last term stays, with the packets of the
//! class itself. There the test is sufficient, and as close to necessary as `beta` is to the true
//! service.

mod left_over;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use num_traits::{Signed, Zero};

use super::breakdown::ExactTerm;
use super::{Breakdown, Interval, Source, arrival_curve, first_below_zero, floor_rate, is_room};
use crate::curve::{
    Curve, Exact, Minimum, Piece, bytes_per_nano, ceil_nanos, exact_bytes, exact_nanos, floor_nanos,
};
use crate::packet::ClassId;
use crate::police::TokenBucket;
use crate::units::{Bytes, Nanos, Rate};

/// A link and the classes that share it by EDF.
#[derive(Clone, Debug)]
pub struct System {
    /// The link's rate C, or the guaranteed one r of a class of a hierarchy.
    pub rate: Rate,
    /// How late that service may begin: theta. Zero for a link.
    pub latency: Nanos,
    /// The largest packet of any class, best effort included: s_max.
    pub max_packet: Bytes,
    /// The real-time classes.
    pub real_time: Vec<RealTime>,
    /// The largest best-effort packet; `None` when there is no best effort.
    pub best_effort_packet: Option<Bytes>,
}

/// A real-time class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealTime {
    /// The delay d_k it is promised.
    pub deadline: Nanos,
    /// Its arrival curve A_k, as at least one token bucket.
    pub arrival: Vec<TokenBucket>,
    /// Its largest packet s_k.
    pub packet: Bytes,
}

/// The answer of the test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// Whether every deadline holds.
    pub admitted: bool,
    /// Where capacity is tightest: when not admitted, where it is most exceeded, or an interval
    /// long enough to see it exceeded when the demand outgrows the link for ever.
    pub binding: Option<Interval>,
    /// One entry for each real-time class, in their order.
    pub classes: Vec<Guarantee>,
}

/// The guarantee of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guarantee {
    /// No packet takes longer, rounded up; `None` when the system is not admitted.
    pub bound: Option<Nanos>,
    /// How much earlier than promised that is, rounded down.
    pub slack: Option<Nanos>,
}

impl RealTime {
    /// Whether none of its packets ever comes.
    pub(crate) fn is_absent(&self) -> bool {
        self.arrival.iter().any(TokenBucket::is_nothing)
    }
}

impl System {
    /// Tests the system with best effort demanding at most `best_effort_demand` in any interval,
    /// on top of its one blocking packet: zero for background service, or the curve that its
    /// deadlines are made from.
    ///
    /// A class's bound is its deadline less the capacity, in time, that no interval as long as the
    /// deadline or longer uses: a packet due at the end of such an interval has left that much
    /// earlier.
    pub fn test(&self, best_effort_demand: &Curve) -> Admission {
        let Some(shortest) = self.shortest_deadline() else {
            return Admission { admitted: true, binding: None, classes: Vec::new() };
        };
        let from = exact_nanos(shortest);
        let slack = self.slack();
        let unused = self.unused(best_effort_demand);
        let least = unused.minimum_from(&from);
        let admitted = is_room(&least);
        // Best effort that fits may use up what the classes leave.
        let tightest = if admitted { slack.minimum_from(&from) } else { least };
        let binding = match tightest {
            Some(Minimum { value, at }) => self.interval(&at, &value),
            None => {
                let at = first_below_zero(&unused, &from);
                self.interval(&at, &unused.value(&at))
            }
        };
        let unused = unused.nondecreasing_lower_closure();
        let guarantee = |class: &RealTime| {
            let unused = unused.as_ref().filter(|_| admitted)?;
            let early = unused.value(&exact_nanos(class.deadline)) / bytes_per_nano(self.rate);
            floor_nanos(&early).map(|slack| slack.min(class.deadline))
        };
        let classes = self.real_time.iter().map(|class| {
            let slack = admitted.then(|| guarantee(class).unwrap_or(Nanos::ZERO));
            Guarantee { bound: slack.map(|slack| class.deadline - slack), slack }
        });
        Admission { admitted, binding, classes: classes.collect() }
    }

    /// What the bound of class `k` is made of, with the demand of best effort as for
    /// [`test`](System::test); `None` without a bound. Best effort is numbered behind the real-time
    /// classes.
    ///
    /// The bound is reached in the interval that leaves least, of those as long as the deadline or
    /// longer: by a packet that is due at its end. All that is due in it counts. Where the interval
    /// is longer than the deadline, the packet comes later than it begins.
    pub fn breakdown(&self, best_effort_demand: &Curve, k: usize) -> Option<Breakdown> {
        let unused = self.unused(best_effort_demand);
        let (class, rate) = (&self.real_time[k], bytes_per_nano(self.rate));
        let deadline = exact_nanos(class.deadline);
        let Minimum { value, at } = unused.minimum_from(&deadline)?;
        // Before a jump up the least value is approached, not reached.
        let is_reached = unused.value(&at) == value;
        let at_it = |curve: &Curve| {
            if is_reached { curve.value(&at) } else { curve.value_before(&at) }
        };
        let packet = at_it(&self.blocking_beside(best_effort_demand));
        let blocking = Source::Blocking(self.blocking_class(&packet, &at));
        let blocking = ExactTerm::bytes(blocking, packet, &rate);
        let due = self.real_time.iter().enumerate().map(|(j, class)| {
            let source = if j == k { Source::Own } else { Source::Before(ClassId(j as u32)) };
            ExactTerm::bytes(source, at_it(&due(class)), &rate)
        });
        let best_effort = ExactTerm::bytes(Source::BestEffort, at_it(best_effort_demand), &rate);
        let latency = ExactTerm::time(Source::Latency, &at - at_it(&self.service()) / &rate);
        let elapsed = ExactTerm::time(Source::Elapsed, deadline - &at);
        let mut breakdown = Breakdown::default();
        let rest = [best_effort, latency, elapsed];
        breakdown.add_exact([blocking].into_iter().chain(due).chain(rest))?;
        Some(breakdown)
    }

    /// Whether every deadline holds.
    pub fn is_admitted(&self) -> bool {
        self.shortest_deadline()
            .is_none_or(|shortest| is_room(&self.slack().minimum_from(&exact_nanos(shortest))))
    }

    /// The work that has to be sent within an interval of length t for every deadline to hold:
    /// `sum A_k(t - d_k) + max { s_j : d_j > t }`, in bytes. From the shortest deadline on the
    /// deadlines hold if and only if it stays under the [`service`](Self::service). The deadlines
    /// of best effort are not in it: they are made from what it leaves.
    pub fn demand_bound(&self) -> Curve {
        self.demand().add(&self.blocking())
    }

    /// The service that is certain within an interval of length t while a packet waits: `C t`, or
    /// `beta(t)` with a latency, in bytes.
    pub fn service(&self) -> Curve {
        Curve::rate_latency(self.rate, self.latency)
    }

    /// The residual capacity `R(t) = C t - (sum A_k(t - d_k) + s_max)` in bytes; with a latency
    /// `beta(t)` for `C t`.
    pub fn residual_capacity(&self) -> Curve {
        self.service().sub(&self.demand()).sub(&Curve::constant(self.max_packet))
    }

    /// The effective residual capacity `E(t) = min { R(t') : t' >= t }`, never below zero.
    pub fn effective_residual_capacity(&self) -> Curve {
        let ahead = self.residual_capacity().nondecreasing_lower_closure();
        ahead.map_or_else(Curve::zero, |ahead| ahead.clamp_at_zero())
    }

    /// The shortest deadline of any class.
    pub fn shortest_deadline(&self) -> Option<Nanos> {
        self.real_time.iter().map(|class| class.deadline).min()
    }

    /// The shortest deadline with which class `k` would be admitted, with all other classes
    /// unchanged; `None` if there is none.
    ///
    /// It is the horizontal distance between the arrival curve of the class and the capacity that
    /// the others leave. A longer deadline never hurts, as it turns work that is due into blocking
    /// at most. If there is too much blocking already, no deadline helps.
    pub fn shortest_admitted_deadline(&self, k: usize) -> Option<Nanos> {
        let class = &self.real_time[k];
        let room = self.room_beside(k)?;
        let distance = Curve::horizontal_distance(&arrival_curve(&class.arrival), &room)?;
        let alone = self.latency.saturating_add(self.rate.time_for(class.packet));
        let deadline = ceil_nanos(&distance)?.max(alone);
        self.with(k, |class| class.deadline = deadline).is_admitted().then_some(deadline)
    }

    /// The highest sustained rate with which class `k` would be admitted beside the others as they
    /// are: that of its slowest token bucket, up to the rate of the next faster one or of the link.
    ///
    /// Where its other buckets allow more than there is room, the slowest one must not:
    /// `bucket + rate t <= room(t + deadline)`.
    pub fn highest_admitted_rate(&self, k: usize) -> Option<Rate> {
        let class = &self.real_time[k];
        let lines = class.arrival.iter().copied().enumerate();
        let (slowest, line) = lines.clone().min_by_key(|(_, line)| line.rate)?;
        let faster: Vec<_> = lines.filter(|(k, _)| *k != slowest).map(|(_, line)| line).collect();
        let room = self.room_beside(k)?.shift(&-exact_nanos(class.deadline));
        let mut highest = faster.iter().map(|line| line.rate).fold(self.rate, Rate::min);
        if let Some(slope) = steepest_below(&room, line.bucket, &faster)? {
            highest = highest.min(floor_rate(&slope)?);
        }
        let changed = self.with(k, |class| class.arrival[slowest].rate = highest);
        (highest.0 > 0 && changed.is_admitted()).then_some(highest)
    }

    /// The capacity left for class `k` in an interval without a missed deadline of the others then
    /// or later. It accounts for the blocking by others, but not by class `k`. `None` if the others
    /// alone exceed the link.
    fn room_beside(&self, k: usize) -> Option<Curve> {
        let mut others = self.clone();
        others.real_time.remove(k);
        others.slack().nondecreasing_lower_closure()
    }

    fn with(&self, k: usize, change: impl FnOnce(&mut RealTime)) -> System {
        let mut changed = self.clone();
        change(&mut changed.real_time[k]);
        changed
    }

    /// The work that may be due within an interval: `sum A_k(t - d_k)`.
    fn demand(&self) -> Curve {
        Curve::sum(self.real_time.iter().filter(|class| !class.is_absent()).map(due))
    }

    /// The class of a packet that may be on the link when an interval begins: one with a deadline
    /// after its end, else best effort, else any.
    fn blocking_class(&self, packet: &Exact, end: &Exact) -> Option<ClassId> {
        let best_effort = self.best_effort_packet.map(|packet| (packet, self.real_time.len()));
        let is_it = |size: Bytes| exact_bytes(size) == *packet;
        let real_time = || self.real_time.iter().enumerate().filter(|(_, of)| is_it(of.packet));
        let later = real_time().find(|(_, class)| exact_nanos(class.deadline) >= *end);
        let best_effort = best_effort.filter(|(size, _)| is_it(*size)).map(|(_, number)| number);
        let number = later.map(|(number, _)| number).or(best_effort);
        let number = number.or_else(|| Some(real_time().next()?.0))?;
        Some(ClassId(number as u32))
    }

    /// The largest packet that may be on the link when an interval of length t begins, with a
    /// deadline after its end.
    fn blocking(&self) -> Curve {
        let mut by_deadline: Vec<_> =
            self.real_time.iter().map(|class| (class.deadline, class.packet)).collect();
        by_deadline.sort_unstable();
        let mut largest = self.best_effort_packet.unwrap_or_default();
        let mut steps = Vec::new();
        for (deadline, packet) in by_deadline.into_iter().rev() {
            steps.push((deadline, largest));
            largest = largest.max(packet);
        }
        steps.push((Nanos::ZERO, largest));
        // Classes with equal deadlines do not block each other: the first of their steps counts.
        steps.dedup_by_key(|step| step.0);
        let piece = |(start, size)| Piece::level(exact_nanos(start), exact_bytes(size));
        let pieces = steps.into_iter().rev().map(piece);
        Curve::from_pieces(pieces.collect()).expect("deadlines are sorted")
    }

    /// The same where best effort has deadlines of its own: any packet, in intervals in which best
    /// effort may be due.
    fn blocking_beside(&self, best_effort_demand: &Curve) -> Curve {
        let blocking = self.blocking();
        let positive = |piece: &&Piece| piece.value.is_positive() || piece.slope.is_positive();
        let Some(first) = best_effort_demand.pieces().iter().find(positive) else {
            return blocking;
        };
        let packets = self.real_time.iter().map(|class| class.packet);
        let largest = packets.chain(self.best_effort_packet).max().unwrap_or_default();
        let before = |piece: &&Piece| piece.start < first.start;
        let mut pieces: Vec<_> = blocking.pieces().iter().filter(before).cloned().collect();
        pieces.push(Piece::level(first.start.clone(), exact_bytes(largest)));
        Curve::from_pieces(pieces).expect("pieces before another one")
    }

    /// What no interval uses, beside this demand of best effort.
    fn unused(&self, best_effort_demand: &Curve) -> Curve {
        self.slack_beside(best_effort_demand).sub(best_effort_demand)
    }

    /// The slack without the demand of best effort: service less demand.
    fn slack_beside(&self, best_effort_demand: &Curve) -> Curve {
        self.service().sub(&self.demand()).sub(&self.blocking_beside(best_effort_demand))
    }

    /// The slack: service less demand in any interval.
    fn slack(&self) -> Curve {
        self.service().sub(&self.demand_bound())
    }

    /// The interval of this length, with this much of the service left over.
    fn interval(&self, length: &Exact, unused: &Exact) -> Option<Interval> {
        Interval::new(length, &self.service().value(length), unused)
    }
}

/// The work of a class that may be due within an interval: `A(t - d)`.
fn due(class: &RealTime) -> Curve {
    arrival_curve(&class.arrival).shift(&exact_nanos(class.deadline))
}

/// The steepest slope with which a line that starts at `bucket` stays under `room` wherever the
/// `faster` token buckets allow more than that. The outer `None` says that no line does, the inner
/// one that every line does.
fn steepest_below(room: &Curve, bucket: Bytes, faster: &[TokenBucket]) -> Option<Option<Exact>> {
    let bucket = exact_bytes(bucket);
    let excess = match faster {
        [] => Curve::constant(Bytes(1)),
        _ => arrival_curve(faster).sub(room).clamp_at_zero(),
    };
    // Room is straight between these times, so the tightest place is at one of them or in the end.
    let corners = excess.pieces().iter().chain(room.pieces()).map(|piece| &piece.start);
    let exceeded = |t: &&Exact| {
        excess.value(t).is_positive()
            || excess.slope_after(t).is_positive()
            || excess.value_before(t).is_positive()
    };
    let mut slopes = Vec::new();
    for t in corners.filter(exceeded) {
        let left = room.value(t) - &bucket;
        if t.is_zero() && left.is_negative() {
            return None;
        }
        if t.is_positive() {
            slopes.push(left / t);
        }
    }
    let last = excess.pieces().last()?;
    if last.value.is_positive() || last.slope.is_positive() {
        slopes.push(room.final_slope().clone());
    }
    Some(slopes.into_iter().min())
}
