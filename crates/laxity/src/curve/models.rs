//! The curves that traffic contracts and service guarantees are written in.

use super::{Curve, Exact, Piece, bytes_per_nano, exact, exact_bytes, exact_nanos};
use crate::units::{Bytes, Nanos, Rate};
use alloc::vec;
use num_traits::Zero;

impl Curve {
    /// 0 at all times.
    pub fn zero() -> Curve {
        Curve::affine(Exact::zero(), Exact::zero())
    }

    /// `size` from time 0 on.
    pub fn constant(size: Bytes) -> Curve {
        Curve::affine(exact_bytes(size), Exact::zero())
    }

    /// The capacity of a link: `C t`.
    pub fn line(rate: Rate) -> Curve {
        Curve::affine(Exact::zero(), bytes_per_nano(rate))
    }

    /// The arrival curve of a token bucket: `b + r t` (Cruz 1991).
    pub fn token_bucket(bucket: Bytes, rate: Rate) -> Curve {
        Curve::affine(exact_bytes(bucket), bytes_per_nano(rate))
    }

    /// The arrival curve of a TSpec: `min(M + p t, b + r t)` with packets up to `M` and peak rate
    /// `p` (Shenker & Wroclawski 1997, RFC 2215).
    ///
    /// That is the minimum for any parameters: with a peak rate below `r` the token bucket matters
    /// only at first, if at all.
    pub fn tspec(packet: Bytes, peak: Rate, bucket: Bytes, rate: Rate) -> Curve {
        Curve::token_bucket(packet, peak).minimum(&Curve::token_bucket(bucket, rate))
    }

    /// The service curve `R max(0, t - T)`: a rate after a latency (Le Boudec & Thiran 2001).
    pub fn rate_latency(rate: Rate, latency: Nanos) -> Curve {
        Curve::two_piece(Rate(0), latency, rate)
    }

    /// Slope `m1` up to `d`, then `m2`, from 0 at time 0: the service curves of H-FSC (Stoica,
    /// Zhang & Ng 1997). Either rate may be zero.
    pub fn two_piece(m1: Rate, d: Nanos, m2: Rate) -> Curve {
        if d == Nanos::ZERO {
            return Curve::line(m2);
        }
        let first = Curve::line(m1);
        let start = exact_nanos(d);
        let second = Piece { value: first.value(&start), start, slope: bytes_per_nano(m2) };
        Curve::canonical(first.pieces.into_iter().chain([second]))
    }

    /// The arrival curve of one `step`-sized packet every `period`: `step (floor(t / period) + 1)`
    /// up to `steps * period`, and from there on the smallest affine curve above that,
    /// `step (t / period + 1)`. It is an upper bound everywhere, so safe as an arrival curve; it is
    /// none as a service curve.
    ///
    /// # Panics
    /// If the period is zero.
    pub fn staircase(step: Bytes, period: Nanos, steps: usize) -> Curve {
        assert!(period != Nanos::ZERO, "a staircase with period zero is vertical");
        let (step, period) = (exact_bytes(step), exact_nanos(period));
        let stair = |index: usize, slope: Exact| {
            let index = exact(index as u64);
            Piece { start: &index * &period, value: &step * (index + exact(1)), slope }
        };
        let tail = stair(steps, &step / &period);
        Curve::canonical((0..steps).map(|index| stair(index, Exact::zero())).chain([tail]))
    }

    /// A line from time 0 on.
    pub(crate) fn affine(value: Exact, slope: Exact) -> Curve {
        Curve { pieces: vec![Piece { start: Exact::zero(), value, slope }] }
    }
}
