//! Service curves as classes ask for them: two straight pieces.

#[cfg(feature = "admission")]
use crate::curve::Curve;
use crate::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

/// The service that a class is due in any interval that begins when it becomes backlogged: slope
/// `m1` for a time `d`, slope `m2` from then on (Stoica, Zhang, Ng 2000, Fig. 8).
///
/// With `m1 > m2` it is concave: a burst is served faster than the long-run rate, so delay is
/// bought without bandwidth. With `m1 < m2` it is convex, and then `m1` is zero: only such convex
/// curves keep their shape when a class falls idle and comes back (section IV). With `m1 = m2` it
/// is a line.
///
/// Slopes above [`Rate::LIMIT`] count as that, and a second slope of zero as 1 bit/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceCurve {
    m1: u64,
    d: Nanos,
    m2: Rate,
}

/// Why two slopes and a time are not a service curve.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new fault has to be explained wherever one is matched"
)]
pub enum ServiceCurveError {
    /// Convex with a first slope above zero.
    #[error(
        "a service curve that starts with {m1} and goes on with {m2} is convex, and a convex curve starts with 0bit"
    )]
    SlowStart {
        /// The first slope.
        m1: Rate,
        /// The second slope.
        m2: Rate,
    },
}

impl ServiceCurve {
    /// The same rate always.
    pub fn linear(rate: Rate) -> Self {
        let rate = within_limits(rate);
        ServiceCurve { m1: rate.0, d: Nanos::ZERO, m2: rate }
    }

    /// `m1` bits a second for a time `d`, `m2` from then on.
    ///
    /// # Errors
    /// If `m1` lies between zero and `m2`.
    pub fn two_piece(m1: u64, d: Nanos, m2: Rate) -> Result<Self, ServiceCurveError> {
        let (m1, m2) = (m1.min(Rate::LIMIT.0), within_limits(m2));
        match m1 {
            _ if d == Nanos::ZERO || m1 == m2.0 => Ok(ServiceCurve::linear(m2)),
            _ if 0 < m1 && m1 < m2.0 => Err(ServiceCurveError::SlowStart { m1: Rate(m1), m2 }),
            _ => Ok(ServiceCurve { m1, d, m2 }),
        }
    }

    /// The service curve of a class that sends at `rate` in bursts of up to `burst` bytes, each to
    /// be served within `delay`: (u_max, d_max, r) in the paper.
    ///
    /// It is concave if the burst within the delay needs more than the rate, convex otherwise. A
    /// slope is rounded up to bits per second and a flat piece down to nanoseconds, so that the
    /// class gets no less than it asks for.
    pub fn for_burst(burst: Bytes, delay: Nanos, rate: Rate) -> Self {
        let rate = within_limits(rate);
        let work = u128::from(burst.0) * u128::from(NANOBITS_PER_BYTE);
        if delay > Nanos::ZERO && work > u128::from(delay.0) * u128::from(rate.0) {
            let m1 = work.div_ceil(u128::from(delay.0));
            match u64::try_from(m1).unwrap_or(u64::MAX).min(Rate::LIMIT.0) {
                m1 if m1 == rate.0 => ServiceCurve::linear(rate),
                m1 => ServiceCurve { m1, d: delay, m2: rate },
            }
        } else {
            let flat = delay.saturating_sub(rate.time_for(burst));
            match flat {
                Nanos::ZERO => ServiceCurve::linear(rate),
                d => ServiceCurve { m1: 0, d, m2: rate },
            }
        }
    }

    /// The slope of the first piece in bits a second.
    pub fn m1(&self) -> u64 {
        self.m1
    }

    /// How long the first piece is; zero for a line.
    pub fn d(&self) -> Nanos {
        self.d
    }

    /// The slope of the second piece: the rate in the long run.
    pub fn m2(&self) -> Rate {
        self.m2
    }

    /// Whether it is steeper at first.
    pub fn is_concave(&self) -> bool {
        self.m1 > self.m2.0
    }

    /// For how long nothing is due: zero unless the curve is convex.
    pub fn flat(&self) -> Nanos {
        if self.m1 < self.m2.0 { self.d } else { Nanos::ZERO }
    }

    /// The same as an exact function of time.
    #[cfg(feature = "admission")]
    pub fn curve(&self) -> Curve {
        Curve::two_piece(Rate(self.m1), self.d, self.m2)
    }
}

fn within_limits(rate: Rate) -> Rate {
    Rate(rate.0.clamp(1, Rate::LIMIT.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KBIT: u64 = 1_000;

    #[test]
    fn a_burst_that_needs_more_than_the_rate_makes_a_concave_curve() {
        let audio = ServiceCurve::for_burst(Bytes(160), Nanos(5_000_000), Rate(64 * KBIT));
        let expected = ServiceCurve::two_piece(256 * KBIT, Nanos(5_000_000), Rate(64 * KBIT));
        assert_eq!(Ok(audio), expected);
        assert!(audio.is_concave());
        assert_eq!(audio.flat(), Nanos::ZERO);
    }

    #[test]
    fn a_burst_that_needs_less_makes_a_convex_curve() {
        let ftp = ServiceCurve::for_burst(Bytes(4_096), Nanos(16_250_000), Rate(5_000 * KBIT));
        assert_eq!((ftp.m1(), ftp.m2()), (0, Rate(5_000 * KBIT)));
        assert_eq!(ftp.flat(), Nanos(16_250_000 - 6_553_600));
    }

    #[test]
    fn a_burst_at_the_rate_makes_a_line() {
        let curve = ServiceCurve::for_burst(Bytes(1_000), Nanos(1_000_000), Rate(8_000_000));
        assert_eq!(curve, ServiceCurve::linear(Rate(8_000_000)));
        let no_delay = ServiceCurve::for_burst(Bytes(1_000), Nanos::ZERO, Rate(8_000_000));
        assert_eq!(no_delay, ServiceCurve::linear(Rate(8_000_000)));
    }

    #[test]
    fn a_slow_start_is_refused() {
        let refused = ServiceCurve::two_piece(1, Nanos(1), Rate(2));
        assert_eq!(refused, Err(ServiceCurveError::SlowStart { m1: Rate(1), m2: Rate(2) }));
        assert!(ServiceCurve::two_piece(1, Nanos::ZERO, Rate(2)).is_ok());
    }
}
