//! A service curve in use: the deadline, eligible, virtual and limit curves of a class.

use alloc::boxed::Box;

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
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct RunningCurve {
    /// The first piece of a concave curve or a line, the second piece of a convex curve as if its
    /// flat piece were not.
    first: Piece,
    rest: Rest,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    pace: Pace,
    /// When the amount served is reached.
    moment: Moment,
}

/// The second piece of a curve: boxed, so that classes with lines are small.
#[derive(Clone, Debug)]
enum Rest {
    Line,
    Concave(Box<Concave>),
    Convex(Box<Convex>),
}

#[derive(Clone, Debug)]
struct Concave {
    second: Piece,
    /// The second piece of a copy, drawn back to where the copy begins, from there.
    begun_earlier: Moment,
}

#[derive(Clone, Debug)]
struct Convex {
    /// The flat piece in nanoseconds.
    flat: u64,
    /// When the latest copy began, until it is served: it reaches the amount that it began with
    /// there, and anything more after its flat piece.
    begun: i128,
}

/// No copy that waits to be served.
const NONE_BEGUN: i128 = i128::MIN;

impl Piece {
    fn new(rate: Rate) -> Self {
        Piece { pace: Pace::new(rate), moment: Moment::LONG_AGO }
    }

    fn serve(&mut self, length: u32) {
        self.moment = self.pace.after(self.moment, length);
    }

    /// Where it reaches `length` more than the amount served.
    fn deadline(&self, length: u32) -> i128 {
        self.pace.after(self.moment, length).ceil()
    }
}

impl RunningCurve {
    /// The curve of a class that has never been active.
    pub(super) fn new(curve: &ServiceCurve) -> Self {
        if curve.is_concave() {
            let second = Piece::new(curve.m2());
            let begun_earlier = second.pace.head_start(curve.d().0, curve.m1());
            let first = Piece::new(Rate(curve.m1()));
            let rest = Rest::Concave(Box::new(Concave { second, begun_earlier }));
            return RunningCurve { first, rest };
        }
        let rest = match curve.flat().0 {
            0 => Rest::Line,
            flat => Rest::Convex(Box::new(Convex { flat, begun: NONE_BEGUN })),
        };
        RunningCurve { first: Piece::new(curve.m2()), rest }
    }

    /// Whether the class has ever been active.
    pub(super) fn was_active(&self) -> bool {
        let has_begun = matches!(&self.rest, Rest::Convex(convex) if convex.begun > NONE_BEGUN);
        self.first.moment >= Moment::at(0) || has_begun
    }

    /// The class becomes active at a time (a virtual time for a virtual curve): one copy more.
    pub(super) fn activate(&mut self, now: u128) {
        let now = now as i128;
        match &mut self.rest {
            Rest::Convex(convex) => return convex.begun = now.max(convex.begun),
            Rest::Concave(concave) => {
                let earlier = concave.begun_earlier.later(now);
                concave.second.moment = concave.second.moment.max(earlier);
            }
            Rest::Line => {}
        }
        self.first.moment = self.first.moment.max(Moment::at(now));
    }

    /// The class is served.
    pub(super) fn serve(&mut self, length: u32) {
        match &mut self.rest {
            Rest::Convex(convex) if convex.begun > NONE_BEGUN => {
                self.first.moment = self.first.moment.max(Moment::at(convex.begun));
                convex.begun = NONE_BEGUN;
            }
            Rest::Concave(concave) => concave.second.serve(length),
            _ => {}
        }
        self.first.serve(length);
    }

    /// Where the eligible curve (Eq. 11) reaches the amount served. It is the deadline curve where
    /// that is concave, and the deadline curve without its flat piece where it is convex.
    pub(super) fn eligible(&self) -> u128 {
        let first = self.first.moment.ceil();
        let latest = match &self.rest {
            Rest::Line => first,
            Rest::Concave(concave) => first.max(concave.second.moment.ceil()),
            Rest::Convex(convex) => first.max(convex.begun),
        };
        latest.max(0) as u128
    }

    /// Where the curve reaches the amount served.
    pub(super) fn reached(&self) -> u128 {
        match &self.rest {
            Rest::Convex(convex) => {
                let flat = i128::from(convex.flat);
                (self.first.moment.ceil() + flat).max(convex.begun).max(0) as u128
            }
            _ => self.eligible(),
        }
    }

    /// The same for a curve that becomes active at `now`: not later, unless an earlier copy is
    /// behind.
    pub(super) fn reached_from(&self, now: u128) -> u128 {
        self.reached().max(now)
    }

    /// Where the curve reaches `length` more than the amount served.
    pub(super) fn deadline(&self, length: u32) -> u128 {
        let deadline = match &self.rest {
            Rest::Line => self.first.deadline(length),
            Rest::Concave(concave) => {
                self.first.deadline(length).max(concave.second.deadline(length))
            }
            Rest::Convex(convex) if convex.begun == NONE_BEGUN => {
                self.first.deadline(length) + i128::from(convex.flat)
            }
            Rest::Convex(convex) => {
                let moment = self.first.moment.max(Moment::at(convex.begun));
                Piece { moment, ..self.first }.deadline(length) + i128::from(convex.flat)
            }
        };
        deadline.max(0) as u128
    }
}
