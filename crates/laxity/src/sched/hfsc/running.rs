//! A service curve in use: the deadline, eligible, virtual and limit curves of a class.

use crate::sched::pace::{Moment, Pace};
use crate::service::ServiceCurve;
use crate::units::Rate;

/// The minimum of one service curve's copies, each begun where and with the amount served when the
/// class became active (Stoica, Zhang, Ng 2000, Eqs. 7 and 12), seen from the amount served so far.
///
/// The inverse of a minimum is the maximum of the inverses, and the copies of a straight piece are
/// parallel. So the copies of a piece are one moment: when the latest of them reaches the amount
/// served. As the amount grows, the moment moves on by the piece's slope; whole fractions are kept,
/// and nothing drifts.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunningCurve {
    /// The first piece of a concave curve or a line, the second piece of a convex curve as if its
    /// flat piece were not.
    first: Piece,
    /// The second piece of a concave curve.
    second: Option<(Piece, Moment)>,
    /// The flat piece of a convex curve.
    flat: i128,
    /// When the latest copy of a convex curve began, until it is served: it reaches the amount that
    /// it began with there, and anything more after its flat piece.
    begun: i128,
}

/// No copy that waits to be served.
const NONE_BEGUN: i128 = i128::MIN;

#[derive(Clone, Copy, Debug)]
struct Piece {
    pace: Pace,
    /// When the amount served is reached.
    moment: Moment,
}

impl Piece {
    fn new(rate: Rate) -> Self {
        Piece { pace: Pace::new(rate), moment: Moment::LONG_AGO }
    }
}

impl RunningCurve {
    /// The curve of a class that has never been active.
    pub fn new(curve: &ServiceCurve) -> Self {
        let second = || {
            let piece = Piece::new(curve.m2());
            let begun_earlier = piece.pace.head_start(curve.d().0, curve.m1());
            (piece, begun_earlier)
        };
        let first = if curve.is_concave() { Rate(curve.m1()) } else { curve.m2() };
        RunningCurve {
            first: Piece::new(first),
            second: curve.is_concave().then(second),
            flat: i128::from(curve.flat().0),
            begun: NONE_BEGUN,
        }
    }

    /// Whether the class has ever been active.
    pub fn was_active(&self) -> bool {
        self.first.moment >= Moment::at(0) || self.begun > NONE_BEGUN
    }

    /// The class becomes active at a time (a virtual time for a virtual curve): one copy more.
    pub fn activate(&mut self, now: u128) {
        let now = now as i128;
        if self.flat > 0 {
            self.begun = self.begun.max(now);
            return;
        }
        self.first.moment = self.first.moment.max(Moment::at(now));
        if let Some((piece, begun_earlier)) = &mut self.second {
            piece.moment = piece.moment.max(begun_earlier.later(now));
        }
    }

    /// The class is served.
    pub fn serve(&mut self, length: u32) {
        if self.begun > NONE_BEGUN {
            self.first.moment = self.first.moment.max(Moment::at(self.begun));
            self.begun = NONE_BEGUN;
        }
        self.first.moment = self.first.pace.after(self.first.moment, length);
        if let Some((piece, _)) = &mut self.second {
            piece.moment = piece.pace.after(piece.moment, length);
        }
    }

    /// Where the eligible curve (Eq. 11) reaches the amount served. It is the deadline curve where
    /// that is concave, and the deadline curve without its flat piece where it is convex.
    pub fn eligible(&self) -> u128 {
        self.latest().max(self.begun).max(0) as u128
    }

    /// Where the curve reaches the amount served.
    pub fn reached(&self) -> u128 {
        (self.latest() + self.flat).max(self.begun).max(0) as u128
    }

    /// The same for a curve that becomes active at `now`: not later, unless an earlier copy is
    /// behind.
    pub fn reached_from(&self, now: u128) -> u128 {
        self.reached().max(now)
    }

    /// When the last piece reaches the amount served, flat pieces apart.
    fn latest(&self) -> i128 {
        let first = self.first.moment.ceil();
        match &self.second {
            None => first,
            Some((second, _)) => first.max(second.moment.ceil()),
        }
    }

    /// Where the curve reaches `length` more than the amount served.
    pub fn deadline(&self, length: u32) -> u128 {
        let first = match self.begun {
            NONE_BEGUN => self.first.moment,
            begun => self.first.moment.max(Moment::at(begun)),
        };
        let first = self.first.pace.after(first, length).ceil();
        let latest = match &self.second {
            None => first,
            Some((second, _)) => first.max(second.pace.after(second.moment, length).ceil()),
        };
        (latest + self.flat).max(0) as u128
    }
}
