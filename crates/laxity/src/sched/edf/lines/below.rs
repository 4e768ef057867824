//! Lines as high as the safe region of the effective residual capacity allows.
//!
//! Rates are rounded down to whole bits a second and offsets up to whole nanoseconds, so the lines
//! stay below.

use num_traits::Zero;

use super::{Line, TwoLines};
use crate::admit::floor_rate;
use crate::curve::{Curve, Exact, Piece, ceil_nanos, exact_bytes, exact_nanos};
use crate::units::{Bytes, Nanos, Rate};

impl Line {
    /// The steepest line through the origin that lies below `residual` from `from` on (section
    /// 4.1). `from` is the shortest real-time deadline: no interval shorter than it can end with a
    /// missed one, so nothing needs to hold there.
    pub fn through_origin(residual: &Curve, from: Nanos) -> Line {
        let hull = hull_from_origin(residual, from);
        Line { rate: rate(&hull.pieces()[0].slope), offset: Nanos::ZERO }
    }

    /// Of all lines that lie below `residual` wherever they are above zero, the one that reaches
    /// `packet` bytes first (section 4.2): a packet of the largest size that waits for no other
    /// gets the earliest deadline that any line allows.
    ///
    /// It prolongs the side of the greatest convex minorant on which that size lies.
    pub fn shifted(residual: &Curve, packet: Bytes) -> Line {
        let hull = residual.clamp_at_zero().greatest_convex_minorant();
        let size = exact_bytes(packet);
        let side = hull.pieces().iter().rev().find(|side| side.value < size);
        Line::prolonging(side.unwrap_or(&hull.pieces()[0]))
    }

    fn prolonging(side: &Piece) -> Line {
        if side.slope.is_zero() {
            return Line { rate: Rate(0), offset: Nanos::ZERO };
        }
        let offset = &side.start - &side.value / &side.slope;
        Line { rate: rate(&side.slope), offset: ceil_nanos(&offset).unwrap_or(Nanos::MAX) }
    }

    /// The line as a curve.
    pub fn curve(&self) -> Curve {
        if self.rate.0 == 0 { Curve::zero() } else { Curve::rate_latency(self.rate, self.offset) }
    }
}

impl TwoLines {
    /// The first two sides of the greatest convex minorant that starts at the origin and lies
    /// below `residual` from `from` on, the shortest real-time deadline (section 4.3): the first
    /// line is as steep as it can be, and so is the second behind it.
    pub fn below(residual: &Curve, from: Nanos) -> TwoLines {
        let hull = hull_from_origin(residual, from);
        let sides = hull.pieces();
        TwoLines {
            first: rate(&sides[0].slope),
            second: Line::prolonging(sides.get(1).unwrap_or(&sides[0])),
        }
    }

    /// The lines as a curve.
    pub fn curve(&self) -> Curve {
        let first = Line { rate: self.first, offset: Nanos::ZERO };
        first.curve().maximum(&self.second.curve())
    }
}

/// The greatest convex minorant of the origin and the part of `residual` from `from` on, where it
/// is above zero.
fn hull_from_origin(residual: &Curve, from: Nanos) -> Curve {
    let residual = residual.clamp_at_zero();
    let from = exact_nanos(from);
    if from.is_zero() {
        return residual.greatest_convex_minorant();
    }
    // Between the origin and `from` any curve above the chord leaves the minorant as it is.
    let slope = residual.value(&from) / &from;
    let chord = Piece { slope, ..Piece::level(Exact::zero(), Exact::zero()) };
    residual.behind(chord, &from).greatest_convex_minorant()
}

fn rate(slope: &Exact) -> Rate {
    floor_rate(slope).unwrap_or(Rate(0))
}
