//! When a level is reached, and how far apart two curves are.

use super::{Curve, Exact, Piece};
use alloc::vec::Vec;
use num_traits::{Signed, Zero};

/// Where two curves are farthest apart in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HorizontalDeviation {
    /// The horizontal distance in ns: `served - arrived`, and zero where that is negative.
    pub distance: Exact,
    /// The time in ns at which the arrival curve reaches the level.
    pub arrived: Exact,
    /// The time in ns at which the service curve reaches the level, or rises above it.
    pub served: Exact,
    /// The level in bytes.
    pub level: Exact,
}

impl Curve {
    /// The lower pseudo-inverse: the first time `t >= 0` in ns with `f(t) >= level`, `level` in
    /// bytes; `None` if it is never reached. A curve that is not monotone may fall below `level`
    /// again later.
    pub fn lower_pseudo_inverse(&self, level: &Exact) -> Option<Exact> {
        self.pieces_with_ends().find_map(|(piece, end)| {
            if piece.value >= *level {
                return Some(piece.start.clone());
            }
            rising_through(piece, level).filter(|t| end.is_none_or(|end| t < end))
        })
    }

    /// The delay bound in ns: the supremum over `t >= 0` of the least `d >= 0` with
    /// `arrival(t) <= service(t + d)` (Cruz 1991; Le Boudec & Thiran 2001, theorem 1.4.2). `None`
    /// if it is infinite.
    ///
    /// A service curve that falls again only counts from where it stays above, by its
    /// [`nondecreasing_lower_closure`](Curve::nondecreasing_lower_closure).
    pub fn horizontal_distance(arrival: &Curve, service: &Curve) -> Option<Exact> {
        Curve::horizontal_deviation(arrival, service).map(|deviation| deviation.distance)
    }

    /// The [delay bound](Curve::horizontal_distance), and the first level at which it is reached.
    pub fn horizontal_deviation(arrival: &Curve, service: &Curve) -> Option<HorizontalDeviation> {
        let service = service.nondecreasing_lower_closure()?;
        if arrival.final_slope() > service.final_slope() {
            return None;
        }
        let service = Rising::new(&service);
        let mut widest = HorizontalDeviation::default();
        let mut include = |level: &Exact, served: Exact, arrived: &Exact| {
            let distance = &served - arrived;
            if distance > widest.distance {
                let (arrived, level) = (arrived.clone(), level.clone());
                widest = HorizontalDeviation { distance, arrived, served, level };
            }
        };
        // The delay of bytes that arrive at t is affine in t, except where the arrival curve breaks
        // and where it passes a level at which a piece of the service curve starts or ends. It
        // peaks at one of those, but not where a jump up of the service curve ends: there it stops
        // falling.
        for (piece, end) in arrival.pieces_with_ends() {
            include(&piece.value, service.lower_pseudo_inverse(&piece.value)?, &piece.start);
            if !piece.slope.is_positive() {
                continue;
            }
            let highest = end.map(|end| piece.at(end));
            if let (Some(highest), Some(end)) = (&highest, end) {
                include(highest, service.lower_pseudo_inverse(highest)?, end);
            }
            let first = service.levels.partition_point(|level| *level < piece.value);
            let passed = service.levels[first..]
                .iter()
                .take_while(|level| highest.as_ref().is_none_or(|highest| *level < highest));
            for level in passed {
                let arrived = &piece.start + (level - &piece.value) / &piece.slope;
                include(level, service.upper_pseudo_inverse(level)?, &arrived);
            }
        }
        Some(widest)
    }

    /// The supremum over `t >= 0` of `f(t) - g(t)`, in bytes; `None` if it is infinite. It is the
    /// backlog bound if `f` is an arrival and `g` a service curve (Cruz 1991).
    pub fn vertical_distance(f: &Curve, g: &Curve) -> Option<Exact> {
        g.sub(f).minimum_from(&Exact::zero()).map(|minimum| -minimum.value)
    }
}

/// A nondecreasing curve, ready for many looks at when it reaches a level.
struct Rising<'a> {
    curve: &'a Curve,
    /// The values just before each piece ends, in increasing order; the last piece has none.
    levels: Vec<Exact>,
}

impl Rising<'_> {
    fn new(curve: &Curve) -> Rising<'_> {
        let ends = curve.pieces_with_ends();
        let levels = ends.filter_map(|(piece, end)| end.map(|end| piece.at(end))).collect();
        Rising { curve, levels }
    }

    /// The first time with `f(t) >= level`: the lower pseudo-inverse.
    fn lower_pseudo_inverse(&self, level: &Exact) -> Option<Exact> {
        let piece = &self.curve.pieces[self.levels.partition_point(|end| end < level)];
        if piece.value >= *level { Some(piece.start.clone()) } else { rising_through(piece, level) }
    }

    /// The infimum of the times with `f(t) > level`: the upper pseudo-inverse.
    fn upper_pseudo_inverse(&self, level: &Exact) -> Option<Exact> {
        let piece = &self.curve.pieces[self.levels.partition_point(|end| end <= level)];
        if piece.value > *level { Some(piece.start.clone()) } else { rising_through(piece, level) }
    }
}

/// When the line of a rising piece that starts at `level` or below is at `level`.
fn rising_through(piece: &Piece, level: &Exact) -> Option<Exact> {
    piece.slope.is_positive().then(|| &piece.start + (level - &piece.value) / &piece.slope)
}
