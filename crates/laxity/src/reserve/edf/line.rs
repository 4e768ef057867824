//! Straight lines over time, and the exact times at which they meet.

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::{Add, Neg};

use crate::admit::edf::RealTime;
use crate::admit::lines::{Lowest, lowest};
use crate::units::{NANOBITS_PER_BYTE, Nanos};

/// A time in nanoseconds: a whole number and a fraction of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instant {
    /// Rounded down.
    pub whole: u64,
    part: u64,
    parts: u64,
}

impl Instant {
    /// A time behind another: the time that a rate takes for some bytes. `None` if that is longer
    /// than [`Instant::LONGEST`].
    fn behind(start: Nanos, bytes: u64, rate: u64) -> Option<Instant> {
        let nanobits = u128::from(bytes) * u128::from(NANOBITS_PER_BYTE);
        let whole = u64::try_from(nanobits / u128::from(rate)).ok()?;
        let part = (nanobits % u128::from(rate)) as u64;
        let is_short = whole < Instant::LONGEST;
        is_short.then(|| Instant { whole: start.0 + whole, part, parts: rate })
    }

    /// More than nineteen hours. Work of this time at any rate of any number of flows can be
    /// counted.
    pub(super) const LONGEST: u64 = 1 << 46;

    pub(super) fn is_whole(&self) -> bool {
        self.part == 0
    }
}

impl PartialEq for Instant {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Instant {}

impl Ord for Instant {
    fn cmp(&self, other: &Self) -> Ordering {
        let part = |of: &Self, by: &Self| u128::from(of.part) * u128::from(by.parts);
        self.whole.cmp(&other.whole).then_with(|| part(self, other).cmp(&part(other, self)))
    }
}

impl PartialOrd for Instant {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<Nanos> for Instant {
    fn from(time: Nanos) -> Self {
        Instant { whole: time.0, part: 0, parts: 1 }
    }
}

/// An amount of work that is a straight line over time: `at_zero + rise t`, in nanobits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub at_zero: i128,
    /// For each nanosecond; a rate in bits a second.
    pub rise: i128,
}

impl Line {
    /// Its value, rounded down.
    pub(super) fn floor(&self, at: &Instant) -> i128 {
        let whole = self.at_zero + self.rise * i128::from(at.whole);
        if at.is_whole() {
            return whole;
        }
        whole + (self.rise * i128::from(at.part)).div_euclid(at.parts.into())
    }
}

impl Add for Line {
    type Output = Line;

    fn add(self, other: Line) -> Line {
        Line { at_zero: self.at_zero + other.at_zero, rise: self.rise + other.rise }
    }
}

impl Neg for Line {
    type Output = Line;

    fn neg(self) -> Line {
        Line { at_zero: -self.at_zero, rise: -self.rise }
    }
}

/// A straight part of a curve, up to the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub since: Instant,
    pub line: Line,
}

/// The work of a flow that may be due within an interval, `A(t - d)`, from the deadline on. `None`
/// if it bends later than [`Instant::LONGEST`] behind it.
pub(super) fn due(flow: &RealTime) -> Option<Vec<Segment>> {
    let segment = |Lowest { since, line }: &Lowest| {
        let rise = i128::from(line.rate.0);
        let bucket = i128::from(line.bucket.0) * i128::from(NANOBITS_PER_BYTE);
        let at_zero = bucket - rise * i128::from(flow.deadline.0);
        let since = Instant::behind(flow.deadline, since.bytes, since.rate)?;
        Some(Segment { since, line: Line { at_zero, rise } })
    };
    lowest(&flow.arrival).iter().map(segment).collect()
}
