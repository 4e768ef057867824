//! Random hierarchies and what happens to them, printed so that a small one can be read.

use std::fmt;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::packet::ClassId;
use crate::sched::hfsc::{ClassSpec, Curves};
use crate::service::ServiceCurve;
use crate::units::{Bytes, Nanos, Rate};

/// A link, its classes, and what happens.
#[derive(Clone)]
pub(super) struct Case {
    pub rate: Rate,
    pub classes: Vec<ClassSpec>,
    /// In order of time.
    pub steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub at: Nanos,
    /// Whether it comes just after the link, if that is free at the same instant, has chosen.
    pub after_choice: bool,
    pub what: What,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// A packet arrives.
    Arrive {
        class: ClassId,
        length: u32,
    },
    /// A packet arrives in every class there was at first, at one instant.
    ArriveEverywhere {
        length: u32,
    },
    /// Another link than the one that is busy asks for a packet.
    Ask,
    Add(ClassSpec),
    Change(ClassId, Curves),
    Remove(ClassId),
}

/// The numbers that a case is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scale {
    /// A link as there are, shared in per mille by this many classes.
    Link { rate: Rate, share: u64 },
    /// Small multiples of a large unit, so that whatever can coincide does.
    Coincident,
    /// A byte a ns, packets of few bytes: rounding decides.
    Tiny,
    /// The lowest and highest rates, the longest delays and packets.
    Extreme { rate: Rate },
}

fn scales() -> impl Strategy<Value = Scale> {
    let rate = prop_oneof![
        Just(10_000_000u64),
        Just(1_000_000_000),
        Just(9_999_991),
        100_000..20_000_000_000u64,
    ];
    let share = prop_oneof![Just(1u64), 2..=30u64];
    prop_oneof![
        3 => (rate, share).prop_map(|(rate, share)| Scale::Link { rate: Rate(rate), share }),
        1 => Just(Scale::Coincident),
        1 => Just(Scale::Tiny),
        1 => prop::sample::select(&[1, 1_000, Rate::LIMIT.0][..])
            .prop_map(|rate| Scale::Extreme { rate: Rate(rate) }),
    ]
}

/// Links as there are, and scales on which a lot coincides.
pub(super) fn ordinary_scales() -> impl Strategy<Value = Scale> {
    scales().prop_filter("extremes", |scale| !matches!(scale, Scale::Extreme { .. }))
}

impl Scale {
    pub(super) fn rate(self) -> Rate {
        match self {
            Scale::Link { rate, .. } | Scale::Extreme { rate } => rate,
            Scale::Coincident => Rate(8_000_000),
            Scale::Tiny => Rate(8_000_000_000),
        }
    }

    /// About what a large packet takes.
    pub(super) fn unit(self) -> u64 {
        match self {
            Scale::Link { rate, .. } | Scale::Extreme { rate } => rate.time_for(Bytes(1500)).0,
            Scale::Coincident => 1_000_000,
            Scale::Tiny => 4,
        }
    }

    fn slopes(self) -> BoxedStrategy<u64> {
        let rate = self.rate().0;
        match self {
            Scale::Link { share, .. } => (1..=1000u64, 0..1000u64)
                .prop_map(move |(per_mille, odd)| rate / (1000 * share) * per_mille + odd + 1)
                .boxed(),
            Scale::Coincident => (1..=4u64).prop_map(move |quarters| rate / 4 * quarters).boxed(),
            Scale::Tiny => (1..=4u64, 1..=3u64).prop_map(move |(n, d)| rate * n / d / 2).boxed(),
            Scale::Extreme { .. } => prop_oneof![
                1 => Just(0u64),
                2 => 1..=10u64,
                2 => Just(rate),
                2 => 1..=Rate::LIMIT.0,
                1 => any::<u64>(),
            ]
            .boxed(),
        }
    }

    pub(super) fn curves(self) -> BoxedStrategy<ServiceCurve> {
        let delay = match self {
            Scale::Link { .. } => (0..20 * self.unit()).boxed(),
            Scale::Coincident => (0..6u64).prop_map(move |units| units * self.unit()).boxed(),
            Scale::Tiny => (0..8u64).boxed(),
            Scale::Extreme { .. } => {
                prop_oneof![0..1_000u64, 0..=Nanos::LIMIT.0, Just(Nanos::LIMIT.0)].boxed()
            }
        };
        let shape = (0..4u8, self.slopes(), self.slopes(), delay);
        let curve = shape.prop_map(|(shape, a, b, delay)| match shape {
            0 | 1 => ServiceCurve::two_piece(a.max(b), Nanos(delay), Rate(a.min(b))),
            2 => ServiceCurve::two_piece(0, Nanos(delay), Rate(a)),
            _ => Ok(ServiceCurve::linear(Rate(a))),
        });
        curve.prop_map(Result::unwrap).boxed()
    }

    pub(super) fn lengths(self) -> BoxedStrategy<u32> {
        match self {
            Scale::Link { .. } => prop_oneof![
                3 => Just(1500u32),
                2 => Just(64),
                10 => 1..=1500u32,
                1 => 1..=60_000u32,
            ]
            .boxed(),
            Scale::Coincident => (1..=3u32).prop_map(|grains| grains * 500).boxed(),
            Scale::Tiny => (1..=5u32).boxed(),
            // At 1 bit/s the longest take almost 18 years.
            Scale::Extreme { .. } => {
                prop_oneof![1..=1500u32, 1..=72_000_000u32, Just(72_000_000)].boxed()
            }
        }
    }

    /// Bursts at one instant, busy times and idle times.
    fn gaps(self) -> BoxedStrategy<u64> {
        match self {
            Scale::Link { .. } => prop_oneof![
                8 => Just(0),
                1 => 1..=2u64,
                6 => 0..=self.unit(),
                1 => 0..=30 * self.unit(),
            ]
            .boxed(),
            Scale::Coincident => (0..4u64).prop_map(move |units| units * self.unit()).boxed(),
            Scale::Tiny => prop_oneof![10 => 0..8u64, 1 => 0..200u64].boxed(),
            Scale::Extreme { .. } => {
                prop_oneof![0..10u64, 0..1_000_000u64, 0..=Nanos::LIMIT.0 / 100].boxed()
            }
        }
    }
}

/// The curves of a leaf of any kind.
pub(super) fn leaf_curves(scale: Scale) -> impl Strategy<Value = Curves> {
    let curve = || scale.curves();
    let limit = prop::option::weighted(0.3, curve());
    (0..5u8, curve(), curve(), limit).prop_map(|(kind, real_time, link_share, upper_limit)| {
        let (real_time, link_share) = match kind {
            0 => (Some(real_time), Some(real_time)),
            1 | 2 => (Some(real_time), Some(link_share)),
            3 => (Some(real_time), None),
            _ => (None, Some(link_share)),
        };
        Curves { real_time, link_share, upper_limit: upper_limit.filter(|_| link_share.is_some()) }
    })
}

/// The curves of a class that only shares, and without a limit.
pub(super) fn share_curves(scale: Scale) -> impl Strategy<Value = Curves> {
    let curves = |link_share| Curves { link_share: Some(link_share), ..Curves::default() };
    scale.curves().prop_map(curves)
}

/// The curves of a class that is only guaranteed something.
pub(super) fn guaranteed_curves(scale: Scale) -> impl Strategy<Value = Curves> {
    let curves = |real_time| Curves { real_time: Some(real_time), ..Curves::default() };
    scale.curves().prop_map(curves)
}

/// Trees of up to `most` classes on up to five levels, numbered in any order, with leaves as they
/// come and interior classes with link-sharing curves and perhaps limits.
pub(super) fn hierarchies(
    most: usize,
    leaf: impl Strategy<Value = Curves>,
    interior: impl Strategy<Value = Curves>,
) -> impl Strategy<Value = Vec<ClassSpec>> {
    let parent = prop::option::weighted(0.7, any::<u8>());
    vec((parent, leaf, interior, any::<u8>()), 1..=most).prop_map(|drawn| {
        let mut order: Vec<_> = (0..drawn.len()).collect();
        order.sort_by_key(|&place| drawn[place].3);
        let number = |place| ClassId(order.iter().position(|&at| at == place).unwrap() as u32);
        let mut parents: Vec<Option<usize>> = Vec::new();
        for (place, (parent, ..)) in drawn.iter().enumerate() {
            let parent = parent.filter(|_| place > 0).map(|parent| usize::from(parent) % place);
            let below = |&parent: &usize| {
                let up = |place: &usize| parents[*place];
                std::iter::successors(Some(parent), up).count() < 5
            };
            parents.push(parent.filter(below));
        }
        let spec = |&place: &usize| {
            let (_, leaf, interior, _) = drawn[place];
            let curves = if parents.contains(&Some(place)) { interior } else { leaf };
            ClassSpec { parent: parents[place].map(number), curves }
        };
        order.iter().map(spec).collect()
    })
}

/// Interior classes, some of them limited.
pub(super) fn interior_curves(scale: Scale) -> impl Strategy<Value = Curves> {
    let limit = prop::option::weighted(0.2, scale.curves());
    (scale.curves(), limit).prop_map(|(link_share, upper_limit)| Curves {
        link_share: Some(link_share),
        upper_limit,
        ..Curves::default()
    })
}

/// What may happen to about `classes` classes; classes come, change and go with a frequency of
/// `changes` to 100.
fn whats(scale: Scale, classes: u32, changes: u32) -> impl Strategy<Value = What> {
    let class = move || (0..classes + 2).prop_map(ClassId);
    let added = (prop::option::weighted(0.7, class()), leaf_curves(scale))
        .prop_map(|(parent, curves)| What::Add(ClassSpec { parent, curves }));
    let any_curves = prop_oneof![4 => leaf_curves(scale), 2 => interior_curves(scale)];
    prop_oneof![
        100 => (0..classes, scale.lengths())
            .prop_map(|(class, length)| What::Arrive { class: ClassId(class), length }),
        2 => (class(), scale.lengths())
            .prop_map(|(class, length)| What::Arrive { class, length }),
        4 => scale.lengths().prop_map(|length| What::ArriveEverywhere { length }),
        4 => Just(What::Ask),
        changes => added,
        changes => (class(), any_curves).prop_map(|(class, curves)| What::Change(class, curves)),
        changes => class().prop_map(What::Remove),
    ]
}

/// Steps in order of time, from the beginning or much later.
fn steps(
    scale: Scale,
    what: impl Strategy<Value = What>,
    count: usize,
) -> impl Strategy<Value = Vec<Step>> {
    let start = prop_oneof![Just(0u64), Just(1), Just(10_000_000_000_000_000)];
    let step = (scale.gaps(), any::<bool>(), what);
    (start, vec(step, 1..=count)).prop_map(|(start, steps)| {
        let mut at = Nanos(start);
        let step = |(gap, after_choice, what)| {
            at += Nanos(gap);
            Step { at, after_choice, what }
        };
        steps.into_iter().map(step).collect()
    })
}

/// Hierarchies of up to `most` classes, with these leaves and interior classes, and up to `count`
/// packets or bursts.
pub(super) fn traffic<L: Strategy<Value = Curves>, I: Strategy<Value = Curves>>(
    most: usize,
    count: usize,
    leaf: fn(Scale) -> L,
    interior: fn(Scale) -> I,
) -> impl Strategy<Value = Case> {
    let of_hierarchy = move |scale: Scale, classes: Vec<ClassSpec>| {
        let class = (0..classes.len() as u32).prop_map(ClassId);
        let what = prop_oneof![
            20 => (class, scale.lengths())
                .prop_map(|(class, length)| What::Arrive { class, length }),
            1 => scale.lengths().prop_map(|length| What::ArriveEverywhere { length }),
        ];
        let case = move |steps| Case { rate: scale.rate(), classes: classes.clone(), steps };
        steps(scale, what, count).prop_map(case)
    };
    ordinary_scales().prop_flat_map(move |scale| {
        hierarchies(most, leaf(scale), interior(scale))
            .prop_flat_map(move |classes| of_hierarchy(scale, classes))
    })
}

/// Hierarchies of up to `most` classes and up to `count` things that happen to them.
pub(super) fn cases(most: usize, count: usize, changes: u32) -> impl Strategy<Value = Case> {
    scales().prop_flat_map(move |scale| {
        let hierarchy = hierarchies(most, leaf_curves(scale), interior_curves(scale));
        hierarchy.prop_flat_map(move |classes| {
            let what = whats(scale, classes.len() as u32, changes);
            let case = move |steps| Case { rate: scale.rate(), classes: classes.clone(), steps };
            steps(scale, what, count).prop_map(case)
        })
    })
}

impl Case {
    pub(super) fn is_leaf(&self, class: ClassId) -> bool {
        self.classes.iter().all(|other| other.parent != Some(class))
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "link {}", self.rate.0)?;
        for (number, class) in self.classes.iter().enumerate() {
            writeln!(f, "class {number}{}", CaseText(*class))?;
        }
        for Step { at, after_choice, what } in &self.steps {
            write!(f, "{}{} ", at.0, if *after_choice { "+" } else { "" })?;
            match what {
                What::Arrive { class, length } => writeln!(f, "{length} bytes in {}", class.0)?,
                What::ArriveEverywhere { length } => writeln!(f, "{length} bytes everywhere")?,
                What::Ask => writeln!(f, "ask")?,
                What::Add(spec) => writeln!(f, "add{}", CaseText(*spec))?,
                What::Change(class, curves) => {
                    writeln!(f, "change {}{}", class.0, CaseText(*curves))?
                }
                What::Remove(class) => writeln!(f, "remove {}", class.0)?,
            }
        }
        Ok(())
    }
}

struct CaseText<T>(T);

impl fmt::Display for CaseText<ClassSpec> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if let Some(parent) = self.0.parent {
            write!(f, " below {}", parent.0)?;
        }
        CaseText(self.0.curves).fmt(f)
    }
}

impl fmt::Display for CaseText<Curves> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Curves { real_time, link_share, upper_limit } = self.0;
        let named = [("real-time", real_time), ("share", link_share), ("limit", upper_limit)];
        for (name, curve) in named {
            match curve {
                Some(curve) if curve.d() == Nanos::ZERO => write!(f, " {name} {}", curve.m2().0)?,
                Some(curve) => {
                    write!(f, " {name} {}/{}/{}", curve.m1(), curve.d().0, curve.m2().0)?;
                }
                None => {}
            }
        }
        Ok(())
    }
}
