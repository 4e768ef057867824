//! Classes with their parameters.

use laxity::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

use super::handle::Handle;

/// A class that was added to a discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Its number.
    pub handle: Handle,
    /// The class or discipline that it is part of.
    pub parent: Handle,
    /// Its parameters.
    pub kind: ClassKind,
    /// The name of the class of the plan that it stands for; `None` for one that is the link
    /// itself, and for one that is read, since the kernel has no names.
    pub name: Option<String>,
}

/// Kinds of classes with their parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClassKind {
    /// A class of `hfsc`.
    Hfsc(HfscCurves),
    /// A class of `htb`.
    Htb(Htb),
    /// A class of `drr`.
    Drr {
        /// Bytes a turn.
        quantum: u32,
    },
    /// A class of `qfq`.
    Qfq {
        /// From 1 to 1024.
        weight: u32,
        /// The longest packet: from 512 to 65 536 bytes.
        lmax: u32,
    },
    /// What a discipline has without being told: a band of `prio`, or all of a queue.
    Own,
}

impl ClassKind {
    /// The kernel's name of the discipline (TCA_KIND).
    pub fn name(&self) -> &'static str {
        match self {
            ClassKind::Hfsc(_) => "hfsc",
            ClassKind::Htb(_) => "htb",
            ClassKind::Drr { .. } => "drr",
            ClassKind::Qfq { .. } => "qfq",
            ClassKind::Own => "",
        }
    }
}

/// A curve of `hfsc` (`tc_service_curve`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HfscCurve {
    /// The first slope.
    pub m1: Rate,
    /// How long the first slope lasts.
    pub d: Nanos,
    /// The second slope.
    pub m2: Rate,
    /// `umax` and `dmax`, if the curve is written so: the second slope is `rate` then.
    pub point: Option<(Bytes, Nanos)>,
}

impl HfscCurve {
    /// The curve with these slopes.
    pub const fn new(m1: Rate, d: Nanos, m2: Rate) -> HfscCurve {
        HfscCurve { m1, d, m2, point: None }
    }

    /// `umax SIZE dmax TIME rate RATE` (iproute2, tc/q_hfsc.c). `dmax` is not zero.
    pub fn from_point(umax: Bytes, dmax: Nanos, rate: Rate) -> HfscCurve {
        let bits = u128::from(umax.0) * u128::from(NANOBITS_PER_BYTE);
        let m1 = u64::try_from(bits.div_ceil(u128::from(dmax.0))).unwrap_or(u64::MAX);
        let point = Some((umax, dmax));
        if m1 > rate.0 {
            return HfscCurve { m1: Rate(m1), d: dmax, m2: rate, point };
        }
        let d =
            dmax.0 - u64::try_from(bits / u128::from(rate.0.max(1))).map_or(0, |d| d.min(dmax.0));
        HfscCurve { m1: Rate(0), d: Nanos(d), m2: rate, point }
    }

    /// The curve with the kernel's numbers: bytes a second, microseconds, bytes a second.
    pub fn from_kernel([m1, d, m2]: [u32; 3]) -> HfscCurve {
        let rate = |bytes: u32| Rate(u64::from(bytes) * 8);
        HfscCurve::new(rate(m1), Nanos(u64::from(d) * 1_000), rate(m2))
    }

    /// The numbers that the kernel is given, as `tc` rounds them.
    pub fn kernel(&self) -> [u32; 3] {
        let bytes = |rate: Rate| u32::try_from(rate.0 / 8).unwrap_or(u32::MAX);
        [bytes(self.m1), u32::try_from(self.d.0 / 1_000).unwrap_or(u32::MAX), bytes(self.m2)]
    }
}

/// The curves of a class of `hfsc`; at least one of the first two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HfscCurves {
    /// Real-time (TCA_HFSC_RSC).
    pub rsc: Option<HfscCurve>,
    /// Link-sharing (TCA_HFSC_FSC).
    pub fsc: Option<HfscCurve>,
    /// Upper limit (TCA_HFSC_USC).
    pub usc: Option<HfscCurve>,
}

impl HfscCurves {
    /// The curves with their words in `tc`: `sc` is two that are the same.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, HfscCurve)> {
        let HfscCurves { rsc, fsc, usc } = *self;
        let both = rsc.filter(|rsc| fsc == Some(*rsc));
        let all = match both {
            Some(_) => [("sc", both), ("ul", usc), ("", None)],
            None => [("rt", rsc), ("ls", fsc), ("ul", usc)],
        };
        all.into_iter().filter_map(|(name, curve)| Some((name, curve?)))
    }
}

/// A class of `htb` (`tc_htb_opt`). The kernel holds bursts in ticks: see
/// [`whole_ticks`](super::units::whole_ticks).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Htb {
    /// What it sends of its own.
    pub rate: Rate,
    /// The most that it sends.
    pub ceil: Rate,
    /// Bytes at `rate`; 0 if it is not said.
    pub burst: u32,
    /// Bytes at `ceil`; 0 if it is not said.
    pub cburst: u32,
    /// Bytes a turn; 0 if it follows from the rate.
    pub quantum: u32,
    /// From 0, which goes first, to 7.
    pub prio: u32,
}
