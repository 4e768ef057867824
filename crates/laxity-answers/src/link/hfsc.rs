//! H-FSC: its test, what its curves leave, what they do that their author may not expect, and what
//! classes could change.

use laxity::admit::hfsc::{
    Admission as HfscAdmission, Excess as CurveExcess, System, Trap as CurveTrap, TrapKind,
    largest_burst, largest_linear,
};
use laxity::curve::exact_nanos;
use laxity::packet::ClassId;
use laxity::sched::hfsc::Curves;
use laxity::units::{NANOBITS_PER_BYTE, Nanos, Rate};
use laxity_plan::Plan;
use num_traits::ToPrimitive;
use serde::Serialize;

use super::Tester;
use super::admission::{Admission, Test};
use super::class::{ClassProof, CurveProof};
use super::suggestions::most_demanding;
use crate::reason::{Excess, Finding, Reason, deadlines};

pub(super) const TESTER: Tester = Tester {
    test: |plan| Some(test(plan)),
    refuses_beyond_bounds: true,
    classes: |plan, classes| {
        let specs = plan.hfsc_classes();
        for class in classes {
            let Curves { real_time, link_share, upper_limit } = specs[class.id.index()].curves;
            class.real_time = real_time.map(CurveProof::from);
            class.link_share = link_share.map(CurveProof::from);
            class.upper_limit = upper_limit.map(CurveProof::from);
        }
    },
};

fn test(plan: &Plan) -> Admission {
    let test = plan.hfsc_system().test();
    let bounds = plan.for_this_plan(test.bounds.clone());
    let reasons = if test.admitted {
        let mut reasons = deadlines(plan, &bounds, None);
        reasons.push(Reason::whole(fit(plan, &test)));
        reasons
    } else {
        overbooked(plan, &test)
    };
    Admission { reasons, bounds, test: Test::Hfsc(test) }
}

fn fit(plan: &Plan, test: &HfscAdmission) -> Finding {
    if test.long_run == Rate(0) {
        return Finding::NoRealTimeCurve;
    }
    Finding::CurvesFit {
        long_run_bps: test.long_run.0,
        link_bps: plan.link.rate.0,
        fullest: test.binding.map(Into::into),
    }
}

/// By how much the curves sum to more than the link has, and then more than single classes have.
fn overbooked(plan: &Plan, test: &HfscAdmission) -> Vec<Reason> {
    let link = plan.link.rate;
    let outgrows = test.long_run > link;
    let excess = match test.binding {
        Some(interval) if !outgrows => Excess::Passing(interval.into()),
        _ => Excess::Lasting { asked_bps: test.long_run.0, given_bps: link.0 },
    };
    let mut reasons = vec![Reason::whole(Finding::CurvesOverbooked(excess))];
    reasons.extend(overbooked_classes(plan, outgrows).into_iter().map(|(class, excess)| {
        let name = &plan.classes[class.index()].name;
        Reason::class(name, Finding::CurvesOverbooked(excess.into()))
    }));
    reasons
}

/// The classes, as far down as they go, in which real-time curves sum to more than the class's
/// share: in the long run if the link is outgrown, otherwise in any interval.
fn overbooked_classes(plan: &Plan, in_the_long_run: bool) -> Vec<(ClassId, CurveExcess)> {
    let exceeded = |trap: CurveTrap| match trap {
        CurveTrap { class: Some(class), kind: TrapKind::RealTimeAboveShare { excess, .. } } => {
            let is_inside = !plan.classes[class.index()].is_leaf();
            let counts = !in_the_long_run || matches!(excess, CurveExcess::Lasting { .. });
            (is_inside && counts).then_some((class, excess))
        }
        _ => None,
    };
    let traps = plan.hfsc_system().traps();
    let mut exceeded: Vec<_> = traps.into_iter().filter_map(exceeded).collect();
    let mut has_one_below = vec![false; plan.classes.len()];
    for (class, _) in &exceeded {
        let mut above = plan.classes[class.index()].parent;
        while let Some(class) = above.filter(|class| !has_one_below[class.index()]) {
            has_one_below[class.index()] = true;
            above = plan.classes[class.index()].parent;
        }
    }
    exceeded.retain(|(class, _)| !has_one_below[class.index()]);
    exceeded
}

/// What the real-time curves leave.
#[derive(Clone, Debug, Serialize)]
pub struct Residual {
    /// The rate that is left in the long run, in bits per second.
    pub long_run_rate_bps: f64,
    /// The largest linear real-time curve that could be added, in bits per second; absent if none
    /// fits.
    pub largest_linear_bps: Option<u64>,
    /// The largest bursts that could be added, with 1 bit/s afterwards.
    pub largest_bursts: Vec<Burst>,
}

/// A burst that could be served within a time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Burst {
    /// The time in ns.
    pub delay_ns: u64,
    /// The burst in bytes.
    pub bytes: u64,
}

impl Residual {
    /// What a plan leaves, with bursts for the shortest and the longest first piece of its curves.
    pub fn new(plan: &Plan) -> Self {
        let system = plan.hfsc_system();
        let residual = system.residual();
        let burst = |delay: Nanos| {
            let bytes = largest_burst(&residual, delay, Rate(1)).unwrap_or_default();
            Burst { delay_ns: delay.0, bytes: bytes.0 }
        };
        let pieces = first_pieces(&system);
        let mut delays: Vec<_> = pieces.clone().min().into_iter().chain(pieces.max()).collect();
        delays.dedup();
        let long_run = residual.final_slope().to_f64().unwrap_or(0.0);
        Residual {
            long_run_rate_bps: long_run * NANOBITS_PER_BYTE as f64,
            largest_linear_bps: largest_linear(&residual).map(|rate| rate.0),
            largest_bursts: delays.into_iter().map(burst).collect(),
        }
    }
}

/// The lengths of the first pieces of the real-time curves.
pub fn first_pieces(system: &System) -> impl Iterator<Item = Nanos> + Clone {
    let curves = system.classes.iter().filter_map(|class| class.spec.curves.real_time);
    curves.map(|curve| curve.d()).filter(|d| *d > Nanos::ZERO)
}

/// A trap of service curves: something that they do and that their author may not expect.
#[derive(Clone, Debug)]
pub struct Trap {
    /// The class; `None` for the link.
    pub class: Option<String>,
    /// Whether the class is a leaf.
    pub is_leaf: bool,
    /// Another class that has to do with it: the leaf that alone exceeds the share of the class, or
    /// the class above whose limit comes first.
    pub other: Option<String>,
    /// What it is.
    pub kind: TrapKind,
    /// The rate of the link.
    pub link: Rate,
}

impl Trap {
    /// All traps of a plan under H-FSC: those that last before those that pass, by kind, in the
    /// order of the plan's classes.
    pub fn all(plan: &Plan) -> Vec<Trap> {
        let name = |class: ClassId| plan.classes[class.index()].name.clone();
        let traps = plan.hfsc_system().traps().into_iter();
        let mut traps: Vec<_> = traps
            .filter(|trap| !is_rounding(&trap.kind))
            .map(|CurveTrap { class, kind }| Trap {
                class: class.map(name),
                is_leaf: class.is_some_and(|class| plan.classes[class.index()].is_leaf()),
                other: match kind {
                    TrapKind::RealTimeAboveShare { alone, .. } => alone.map(name),
                    TrapKind::LimitAboveAncestor { ancestor } => Some(name(ancestor)),
                    _ => None,
                },
                kind,
                link: plan.link.rate,
            })
            .collect();
        traps.sort_by_key(|trap| (trap.is_passing(), trap.name()));
        traps
    }

    /// Whether it is only a matter of bursts. Bursts above a share are what concave curves are for;
    /// above an upper limit they are not.
    pub fn is_passing(&self) -> bool {
        let limit = matches!(self.kind, TrapKind::LimitBelowRealTime { .. });
        !limit && matches!(self.excess(), Some(Excess::Passing(_)))
    }

    /// By how much one curve exceeds another, where that is what it is about.
    pub fn excess(&self) -> Option<Excess> {
        match self.kind {
            TrapKind::RealTimeAboveShare { excess, .. }
            | TrapKind::SharesAboveParent { excess }
            | TrapKind::LimitBelowRealTime { excess } => Some(excess.into()),
            _ => None,
        }
    }

    /// Its word in JSON.
    pub fn name(&self) -> &'static str {
        match self.kind {
            TrapKind::RealTimeAboveShare { .. } => "real-time-above-share",
            TrapKind::SharesAboveParent { .. } => "shares-above-parent",
            TrapKind::LimitBelowRealTime { .. } => "limit-below-real-time",
            TrapKind::LimitBelowShare { .. } => "limit-below-share",
            TrapKind::LimitAboveAncestor { .. } => "limit-above-ancestor",
            TrapKind::LimitStartsLate { .. } => "limit-starts-late",
            TrapKind::NoShare => "no-share",
            TrapKind::Starved => "starved",
            TrapKind::BurstBelowPacket { .. } => "burst-below-packet",
            TrapKind::ArrivalAboveRealTime { .. } => "arrival-above-real-time",
            TrapKind::LimitsIdleLink { .. } => "limits-idle-link",
        }
    }
}

/// Whether it comes from rates that are rounded, to whole bits a second or to the kernel's units: a
/// packet is due at most a microsecond later, or each share gets at least 50 of 51 parts of what is
/// written.
fn is_rounding(kind: &TrapKind) -> bool {
    match kind {
        TrapKind::BurstBelowPacket { delay, due: Some(due), .. } => {
            due.saturating_sub(*delay) <= Nanos(1_000)
        }
        TrapKind::SharesAboveParent { excess: CurveExcess::Lasting { asked, given } } => {
            u128::from(asked.0) * 50 <= u128::from(given.0) * 51
        }
        _ => false,
    }
}

/// Seeks rates and bursts for the leaves with the largest real-time curves where they are tightest.
pub(super) fn suggest(plan: &Plan, test: &HfscAdmission, classes: &mut [ClassProof]) {
    let system = plan.hfsc_system();
    let at = test.binding.map_or(Nanos(1), |interval| interval.length);
    let asked = classes.iter().enumerate().filter_map(|(place, class)| {
        Some((place, class.real_time?.curve.curve().value(&exact_nanos(at))))
    });
    for place in most_demanding(asked.collect()) {
        let class = &mut classes[place];
        let number = class.id.index();
        class.suggestions_sought = true;
        class.highest_rate_bps = system.highest_admitted_rate(number).map(|rate| rate.0);
        class.largest_burst_bytes = system.largest_admitted_burst(number).map(|burst| burst.0);
    }
}
