//! The curves of the definition: D, E, V and U.

use num_bigint::BigInt;
use num_traits::ToPrimitive;

use crate::curve::{Curve, Exact, exact};
use crate::service::ServiceCurve;
use crate::units::Bytes;

/// A nondecreasing curve that is known from some time on. Before that it counts as 0.
#[derive(Clone, Debug)]
pub(super) struct KnownCurve {
    from: u128,
    curve: Curve,
}

impl KnownCurve {
    /// `S(t - from) + amount` for `t >= from`.
    pub(super) fn new(service: ServiceCurve, from: u128, amount: u64) -> Self {
        let curve = service.curve().add(&Curve::constant(Bytes(amount)));
        KnownCurve { from, curve: curve.shift(&integer(from)) }
    }

    /// `min( previous(t), S(t - from) + amount )` for `t >= from` (Eqs. 7 and 12).
    pub(super) fn renewed(
        previous: Option<&KnownCurve>,
        service: ServiceCurve,
        from: u128,
        amount: u64,
    ) -> Self {
        let mut known = KnownCurve::new(service, from, amount);
        if let Some(previous) = previous {
            known.from = from.max(previous.from);
            known.curve = known.curve.minimum(&previous.curve);
        }
        known
    }

    /// E of this curve D (Eq. 11). As `S(0) = 0`,
    /// `D(t) + max( 0, max over t' > t of D(t') - D(t) - S(t' - t) )` is the maximum of
    /// `D(t') - S(t' - t)` over `t' >= t`: a min-plus deconvolution.
    pub(super) fn eligible(&self, service: ServiceCurve) -> Self {
        let from = integer(self.from);
        let ahead = self.curve.shift(&-&from).deconvolve(&service.curve());
        let ahead = ahead.expect("a minimum of copies of S does not outgrow S");
        KnownCurve { from: self.from, curve: ahead.shift(&from) }
    }

    /// The first time at which it reaches `amount`, rounded up.
    pub(super) fn inverse(&self, amount: u64) -> u128 {
        let time = self
            .curve
            .lower_pseudo_inverse(&exact(amount))
            .expect("no service curve is level in the long run");
        let rounded = time.ceil().to_integer().to_u128();
        rounded.expect("times are not beyond all bounds").max(self.from)
    }
}

fn integer(n: u128) -> Exact {
    Exact::from_integer(BigInt::from(n))
}
