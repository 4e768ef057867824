//! Curves of hfsc and rates of htb as the service curves of a plan.

use laxity::units::{Bytes, Nanos, Rate};

use crate::setup::{HfscCurve, HfscCurves};

/// A service curve as a plan writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Curve {
    /// One rate.
    Linear(Rate),
    /// A burst within a delay, and a rate.
    Burst { burst: Bytes, delay: Nanos, rate: Rate },
    /// Two slopes.
    Pieces { m1: u64, d: Nanos, m2: Rate },
}

/// The three curves that a class may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Curves {
    pub real_time: Option<Curve>,
    pub link_share: Option<Curve>,
    pub upper_limit: Option<Curve>,
}

impl Curves {
    /// The curves of a class of hfsc, and how those were simplified that a plan does not take.
    pub(crate) fn from_hfsc(curves: &HfscCurves) -> (Curves, Vec<String>) {
        let (mut all, mut bent) = (Curves::default(), Vec::new());
        for (name, curve) in curves.named() {
            let (curve, change) = Curve::from_hfsc(curve);
            bent.extend(change.map(|change| format!("{name}: {change}")));
            match name {
                "rt" => all.real_time = Some(curve),
                "ls" => all.link_share = Some(curve),
                "ul" => all.upper_limit = Some(curve),
                _ => (all.real_time, all.link_share) = (Some(curve), Some(curve)),
            }
        }
        (all, bent)
    }
}

impl Curve {
    /// The nearest curve that a plan takes, and how it was simplified if it was.
    fn from_hfsc(curve: HfscCurve) -> (Curve, Option<String>) {
        match curve.point {
            Some((burst, delay)) => (Curve::Burst { burst, delay, rate: curve.m2 }, None),
            None => two_piece(curve.m1.0, curve.d, curve.m2.0),
        }
    }

    /// The rate in the long run.
    pub(crate) fn rate(&self) -> Rate {
        match *self {
            Curve::Linear(rate) | Curve::Burst { rate, .. } | Curve::Pieces { m2: rate, .. } => {
                rate
            }
        }
    }

    /// The rate, if it is the same always.
    pub(crate) fn linear(&self) -> Option<Rate> {
        match self {
            Curve::Linear(rate) => Some(*rate),
            _ => None,
        }
    }

    /// The value of a key of a plan.
    pub(crate) fn toml(&self) -> String {
        match self {
            Curve::Linear(rate) => format!("\"{rate}\""),
            Curve::Burst { burst, delay, rate } => {
                format!("{{ burst = \"{}b\", delay = \"{delay}\", rate = \"{rate}\" }}", burst.0)
            }
            Curve::Pieces { m1, d, m2 } => {
                format!("{{ m1 = \"{}\", d = \"{d}\", m2 = \"{m2}\" }}", Rate(*m1))
            }
        }
    }
}

/// Two slopes as the nearest curve below them that a plan takes.
fn two_piece(m1: u64, d: Nanos, m2: u64) -> (Curve, Option<String>) {
    let Some(rate) = Some(Rate(m2)).filter(|rate| rate.0 > 0) else {
        let bent = "it ends flat, which no curve of a plan does: it goes on with 1 bit/s";
        let (curve, _) = two_piece(m1, d, 1);
        return (curve, Some(bent.into()));
    };
    if d == Nanos::ZERO || m1 == m2 {
        return (Curve::Linear(rate), None);
    }
    if m1 == 0 || m1 > m2 {
        return (Curve::Pieces { m1, d, m2: rate }, None);
    }
    // The second piece goes on down to zero: d (m2 - m1) / m2.
    let flat = (u128::from(d.0) * u128::from(m2 - m1)).div_ceil(u128::from(m2));
    let d = Nanos(u64::try_from(flat).unwrap_or(d.0));
    let bent = format!(
        "it starts with {}, slower than it goes on; a plan's convex curve starts flat, so it is {d} of \
         nothing, then the same {rate}",
        Rate(m1)
    );
    (Curve::Pieces { m1: 0, d, m2: rate }, Some(bent))
}
