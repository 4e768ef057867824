//! CAKE (Høiland-Jørgensen, Täht, Morton 2018, *Piece of CAKE*): what a tin is sure of, and what
//! follows for its classes and flows.
//!
//! # A tin
//!
//! Tin i has the threshold `r_i` and a virtual time, which each of its packets moves on by its
//! time at `r_i`. A packet is *due* once the virtual time before it has come. Among due packets
//! the highest tin sends; others are sent only while none is due. Write `L_i` for the longest
//! packet of tin i, `L` for that of all, `C` for the rate of the link.
//!
//! **Due packets keep to a token bucket.** A due packet moves the virtual time on by `l / r_j` from
//! where it stood, and nothing moves it back. So the packets of tin j that become due within any
//! time t have no more than `L_j + r_j t` bytes, however many waited.
//!
//! **The virtual time is never far ahead.** A packet that is not due moves it to no more than `l /
//! r_i` from now. So a tin that has packets from t on sends at least `r_i (s - t) - L_i` bytes up
//! to any time s at which it has none that is due.
//!
//! Let tin i have packets from t to t + u, and s be the last time up to t + u at which no packet of
//! tin i or of the tins above was due. From s on, the link sends only packets of these tins that
//! are due, after one that may be under way, and of the tins above no more than becomes due:
//!
//! ```text
//! C (t + u - s) - L - sum_(j > i) ( L_j + r_j (t + u - s) )
//! ```
//!
//! bytes at least are those of tin i. If there is no such s, take for it the last time up to t at
//! which none of the tins above was due: the link sent only these until t, and the same holds. So
//! both parts in a row serve the tin, and their convolution is its strict service curve (Le Boudec,
//! Thiran 2001, section 1.3.2): a rate after a latency,
//!
//! ```text
//! beta_i(u) = g_i (u - theta_i)+
//! g_i       = min( r_i, C - R ),    R = sum_(j > i) r_j
//! theta_i   = L_i / r_i + ( L + sum_(j > i) L_j ) / ( C - R )
//! ```
//!
//! The packet under way is of another tin if `r_i <= C - R`: one of its own has moved the virtual
//! time on by as much as it takes. A tin without others beside it has the whole link, whatever its
//! threshold. On a share of a link that is late by a latency, the tin is late by `C / (C - R)`
//! times as much.
//!
//! The scheduler rounds times down to nanoseconds: for `R` a byte takes as long as it rounds to,
//! and every tin above is a nanosecond ahead.
//!
//! # A class
//!
//! In a tin, flows take turns in an order that depends on all of them. A packet leaves before the
//! tin is empty, at the latest when `beta_i` has reached all that may have come:
//!
//! ```text
//! delay <= inf { u : beta_i(u) >= sum of the arrival curves of the tin's classes at u }
//! ```
//!
//! Where a tin is one queue (`flowblind`) it is the horizontal distance of the two curves.
//!
//! # A host
//!
//! A flow of a host with n flows in turns is credited an n-th of the quantum Q in each. In k rounds
//! that is k Q for the host, and what a flow sends differs from its credit by no more than a turn
//! of it and a packet. Rounds of two hosts differ by one. So what two hosts send that both have
//! packets in all their flows differs by no more than `3 Q + (n_a + n_b) L_i` bytes, and by 2^-16
//! of a byte for each turn of a flow, to which credits are rounded down. They share what new flows
//! leave of the tin.
//!
//! # A flow that begins
//!
//! It goes before flows in turns. With n others that began before it and have not had their turn,
//! each sending less than `Q + L_i`, its first packet of length l leaves within
//!
//! ```text
//! theta_i + ( L_i + n ( Q + L_i ) + l ) / g_i
//! ```
//!
//! the first `L_i` for a packet of the tin that is under way.

#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use num_traits::{One, Zero};

use super::breakdown::ExactTerm;
use super::{Breakdown, Service, Source, Traffic, Unbounded, arrival_curve, floor_rate};
use crate::curve::{
    Curve, Exact, HorizontalDeviation, Piece, bytes_per_nano, ceil_nanos, exact, exact_bytes,
    exact_nanos,
};
use crate::packet::ClassId;
use crate::sched::cake::{ByteTime, Diffserv, LEAST, quantum};
use crate::units::{Bytes, Nanos, Rate};

/// A link that [`Cake`](crate::sched::Cake) shares.
#[derive(Clone, Debug)]
pub struct Tins {
    /// What the link sends, or less where packets are held back to a rate.
    pub link: Rate,
    /// How late the service of the link may begin.
    pub latency: Nanos,
    /// How classes are sorted into tins.
    pub diffserv: Diffserv,
    /// The rate that thresholds are parts of.
    pub rate: Rate,
    /// Whether each tin is one queue in the order of arrival.
    pub is_flowblind: bool,
    /// The classes, numbered in their order.
    pub classes: Vec<TinClass>,
}

/// A class of a tin.
#[derive(Clone, Debug)]
pub struct TinClass {
    /// The number of its tin.
    pub tin: usize,
    /// Its traffic.
    pub traffic: Traffic,
}

/// The guarantee of a tin whatever other tins send: a rate after a latency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TinGuarantee {
    /// g, in bytes a nanosecond.
    rate: Exact,
    /// theta in ns.
    latency: Exact,
    /// The longest packet that may be in the way.
    blocking: Bytes,
    /// Q in bytes.
    quantum: u64,
    /// The longest packet of the tin.
    packet: Bytes,
}

/// Packets are chosen at whole nanoseconds.
const ROUNDING: Nanos = Nanos(1);

impl Tins {
    /// The delay bound of each class.
    pub fn bounds(&self) -> Vec<Result<Nanos, Unbounded>> {
        let tins: Vec<_> = (0..self.diffserv.tins()).map(|tin| self.bound(tin)).collect();
        let bound = |class: &TinClass| match class.traffic.arrival[..] {
            [] => Err(Unbounded::NoArrival),
            _ => tins[class.tin],
        };
        self.classes.iter().map(bound).collect()
    }

    /// The delay bound of the packets of a tin.
    fn bound(&self, tin: usize) -> Result<Nanos, Unbounded> {
        let deviation = self.deviation(tin, &self.guarantee(tin)?)?;
        let bound = ceil_nanos(&deviation.distance).ok_or(Unbounded::Unstable)?;
        Ok(bound.saturating_add(ROUNDING))
    }

    /// When the packets of a tin have left at the latest.
    fn deviation(
        &self,
        tin: usize,
        guarantee: &TinGuarantee,
    ) -> Result<HorizontalDeviation, Unbounded> {
        if self.in_tin(tin).any(|(_, class)| class.traffic.arrival.is_empty()) {
            return Err(Unbounded::UnknownCrossTraffic);
        }
        let curves = self.in_tin(tin).map(|(_, class)| arrival_curve(&class.traffic.arrival));
        let arrival = Curve::sum(curves);
        let service = guarantee.curve();
        if self.is_flowblind {
            return Curve::horizontal_deviation(&arrival, &service).ok_or(Unbounded::Unstable);
        }
        let empty = service.sub(&arrival).lower_pseudo_inverse(&Exact::zero());
        let empty = empty.ok_or(Unbounded::Unstable)?;
        let level = arrival.value(&empty);
        let arrived = Exact::zero();
        Ok(HorizontalDeviation { distance: empty.clone(), arrived, served: empty, level })
    }

    /// What a tin is sure of.
    ///
    /// # Errors
    /// [`TinsAbove`](Unbounded::TinsAbove) if that is nothing.
    pub fn guarantee(&self, tin: usize) -> Result<TinGuarantee, Unbounded> {
        let (link, threshold) = (bytes_per_nano(self.link), self.threshold(tin));
        let packet = self.longest(|of| of == tin);
        let known = TinGuarantee {
            rate: link.clone(),
            latency: exact_nanos(self.latency),
            blocking: Bytes(0),
            quantum: quantum(threshold),
            packet,
        };
        if self.longest(|of| of != tin) == Bytes(0) {
            return Ok(known);
        }
        let Above { left, ahead } = self.above(tin)?;
        let own = exact(threshold) / exact(1_000_000_000);
        let head = exact_bytes(packet) / &own;
        let blocking = self.longest(|of| of != tin || own > left);
        let stalled = link * exact_nanos(self.latency);
        let latency = head + (exact_bytes(blocking) + ahead + stalled) / &left;
        Ok(TinGuarantee { rate: own.min(left), latency, blocking, ..known })
    }

    /// How much later the packets of a tin are for each nanosecond in which the link could send and
    /// did not: by no more than this many parts of as many. `None` if that is without end.
    pub fn growth(&self, tin: usize) -> Option<(u64, u64)> {
        let guarantee = self.guarantee(tin).ok()?;
        let empty = self.deviation(tin, &guarantee).ok()?.served;
        let slope = |class: &TinClass| arrival_curve(&class.traffic.arrival).slope_after(&empty);
        let arriving: Exact =
            self.in_tin(tin).fold(Exact::zero(), |sum, (_, class)| sum + slope(class));
        let left = self.above(tin).ok()?.left;
        // The service curve comes later by C / (C - R), and is reached later by g / (g - A').
        let lasts = Some(&guarantee.rate - arriving).filter(|left| *left > Exact::zero())?;
        let factor = bytes_per_nano(self.link) / left * &guarantee.rate / lasts;
        let later = (factor * exact(PARTS)).ceil();
        Some((num_traits::ToPrimitive::to_u64(&later.to_integer())?, PARTS))
    }

    /// What the delay bound of a class is made of, if it has one.
    pub fn breakdown(&self, class: usize) -> Option<Breakdown> {
        let TinClass { tin, .. } = self.classes[class];
        let guarantee = self.guarantee(tin).ok()?;
        let deviation = self.deviation(tin, &guarantee).ok()?;
        let link = bytes_per_nano(self.link);
        // In one queue, what came before the packet goes first; else, all that comes may.
        let until = if self.is_flowblind { &deviation.arrived } else { &deviation.served };
        let before = self.in_tin(tin).map(|(of, other)| {
            let source = if of == class { Source::Own } else { Source::Before(id(of)) };
            let bytes = arrival_curve(&other.traffic.arrival).value(until);
            ExactTerm::bytes(source, bytes, &link)
        });
        let bytes = self.in_tin(tin).fold(Exact::zero(), |sum, (_, other)| {
            sum + arrival_curve(&other.traffic.arrival).value(until)
        });
        let TinGuarantee { latency, blocking, .. } = &guarantee;
        let longest = self.classes.iter().position(|of| of.traffic.packet == *blocking);
        let blocking = exact_bytes(*blocking);
        let share = (&deviation.served - latency) - &bytes / &link;
        let rest = latency - &blocking / &link - exact_nanos(self.latency);
        let first = [
            ExactTerm::bytes(Source::Blocking(longest.map(id)), blocking, &link),
            ExactTerm::time(Source::Tins, rest),
            ExactTerm::time(Source::Latency, exact_nanos(self.latency)),
        ];
        let last = [
            ExactTerm::time(Source::Share, share),
            ExactTerm::time(Source::Elapsed, -deviation.arrived.clone()),
        ];
        let mut breakdown = Breakdown::default();
        breakdown.add_exact(first.into_iter().chain(before).chain(last))?;
        breakdown.add(Source::Rounding, ROUNDING);
        Some(breakdown)
    }

    /// What the tins above one may take.
    fn above(&self, tin: usize) -> Result<Above, Unbounded> {
        let mut above = Above { left: bytes_per_nano(self.link), ahead: Exact::zero() };
        for of in tin + 1..self.diffserv.tins() {
            let packet = self.longest(|other| other == of);
            if packet == Bytes(0) {
                continue;
            }
            let byte_time = exact_nanos(ByteTime::new(self.threshold(of)).of(1));
            if byte_time.is_zero() {
                return Err(Unbounded::TinsAbove);
            }
            let rate = Exact::one() / byte_time;
            above.ahead += exact_bytes(packet) + &rate;
            above.left -= rate;
        }
        if above.left > Exact::zero() { Ok(above) } else { Err(Unbounded::TinsAbove) }
    }

    /// The threshold of a tin in bytes a second.
    fn threshold(&self, tin: usize) -> u64 {
        self.diffserv.threshold(tin, self.rate.0 / 8).max(LEAST)
    }

    fn longest(&self, holds: impl Fn(usize) -> bool) -> Bytes {
        let packets = self.classes.iter().filter(|class| holds(class.tin));
        packets.map(|class| class.traffic.packet).max().unwrap_or_default()
    }

    /// The classes of a tin, with their numbers.
    fn in_tin(&self, tin: usize) -> impl Iterator<Item = (usize, &TinClass)> {
        self.classes.iter().enumerate().filter(move |(_, class)| class.tin == tin)
    }
}

/// The parts in which a growth is told.
const PARTS: u64 = 1 << 20;

/// What the tins above one leave.
struct Above {
    /// C - R, in bytes a nanosecond; more than zero.
    left: Exact,
    /// What they may send at once.
    ahead: Exact,
}

fn id(class: usize) -> ClassId {
    ClassId(class as u32)
}

impl TinGuarantee {
    /// The service of all packets of the tin together, in any order.
    pub fn service(&self) -> Service {
        Service { curve: self.curve(), late: ROUNDING }
    }

    fn curve(&self) -> Curve {
        let line = Piece { start: Exact::zero(), value: Exact::zero(), slope: self.rate.clone() };
        let line = Curve::from_pieces(alloc::vec![line]).unwrap_or_else(|_| Curve::zero());
        line.shift(&self.latency)
    }

    /// The rate, rounded down; `None` if it is less than 1 bit/s.
    pub fn rate(&self) -> Option<Rate> {
        floor_rate(&self.rate)
    }

    /// How long the tin may wait until it is served at its rate, rounded up. `None` if that is
    /// longer than [`Nanos`] hold.
    pub fn latency(&self) -> Option<Nanos> {
        ceil_nanos(&self.latency).map(|latency| latency.saturating_add(ROUNDING))
    }

    /// Within what time the first packet of a flow leaves, if its queue is its own and no more than
    /// `others` flows began before it whose first turn is not over. `None` if that is longer than
    /// [`Nanos`] hold.
    pub fn new_flow_delay(&self, packet: Bytes, others: u64) -> Option<Nanos> {
        let longest = exact_bytes(self.packet);
        let turns = exact(others) * (exact(self.quantum) + &longest);
        let bytes = longest + turns + exact_bytes(packet);
        let wait = ceil_nanos(&(&self.latency + bytes / &self.rate))?;
        Some(wait.saturating_add(ROUNDING))
    }

    /// By how many bytes the parts of two hosts may differ at most, over any time in which all
    /// flows of both have packets and no flow begins, if they have this many flows together and
    /// have had fewer than 65 536 turns.
    pub fn host_difference(&self, flows: u64) -> Bytes {
        Bytes((3 * self.quantum).saturating_add(flows.saturating_mul(self.packet.0 + 1)))
    }
}
