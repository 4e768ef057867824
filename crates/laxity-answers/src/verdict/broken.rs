//! Promises that were broken, and by how much.

use laxity::scheduler::DropReason;
use laxity_sim::summary::{ClassSummary, Measures};
use serde::Serialize;

/// What a class was promised and did not get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BrokenPromise {
    /// The class.
    pub class: String,
    /// The output at which the promise was made, `from → to`; absent for one link, and from end to
    /// end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The promise.
    #[serde(flatten)]
    pub promise: Promise,
    /// Whether the admission test had proved that it would be kept.
    pub proved: bool,
    /// Packets of the class that broke its arrival curve, which may be why.
    pub nonconforming: u64,
    /// The seeds under which it was broken, where there were several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<u64>,
}

/// A promise that was broken, and by how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "promise", rename_all = "kebab-case")]
pub enum Promise {
    /// Packets left after their deadline.
    Deadline {
        /// The deadline in ns after arrival.
        deadline_ns: u64,
        /// How many packets missed it.
        misses: u64,
    },
    /// Packets were delayed for longer than the admission test had proved possible.
    Bound {
        /// The bound in ns.
        bound_ns: u64,
        /// How many packets exceeded it.
        misses: u64,
    },
    /// More packets of a sliding window were late or lost than the class's streams tolerate.
    Windows {
        /// In how many windows.
        violations: u64,
        /// Of how many.
        windows: u64,
    },
    /// More packets of a consecutive window were, which the admission test had proved impossible.
    Consecutive {
        /// In how many windows.
        violations: u64,
        /// Of how many.
        windows: u64,
    },
    /// Packets of a class that is promised a delay found its queue full.
    Room {
        /// How many.
        dropped: u64,
    },
    /// Packets of such a class were dropped by its queue's management.
    Management {
        /// How many.
        dropped: u64,
    },
    /// Packets of such a class were dropped when their deadline was over.
    Late {
        /// How many.
        dropped: u64,
    },
    /// Packets of such a class were dropped that had no frame, or missed it.
    Frame {
        /// How many.
        dropped: u64,
    },
}

/// What a class is owed where it waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Obligation {
    /// Its deadline.
    pub deadline: bool,
    /// The bound that is proved: of a class that is promised no delay, only as long as it keeps to
    /// its arrival curve.
    pub bound: bool,
    /// That none of its packets is dropped.
    pub room: bool,
    /// Whether that is proved even if no bound is proved where it waits.
    pub lossless: bool,
    /// Packets that broke its arrival curve.
    pub nonconforming: u64,
}

/// The delays that a class is owed and did not get: its deadline, and then its proved bound.
pub(crate) fn late(
    class: Measures<'_>,
    is_owed_deadline: bool,
    is_owed_bound: bool,
) -> impl Iterator<Item = Promise> + use<> {
    let missed = class.deadline_ns.filter(|_| is_owed_deadline && class.missed > 0);
    let missed = missed.map(|deadline_ns| Promise::Deadline { deadline_ns, misses: class.missed });
    let beyond = class.bound_ns.filter(|_| is_owed_bound && class.beyond_bound > 0);
    let beyond = beyond.map(|bound_ns| Promise::Bound { bound_ns, misses: class.beyond_bound });
    missed.into_iter().chain(beyond)
}

/// What a class was owed and did not get.
pub(crate) fn broken_by(
    class: &ClassSummary,
    owed: Obligation,
) -> impl Iterator<Item = BrokenPromise> {
    let dropped = |reasons: &[DropReason]| {
        let counts = reasons.iter().filter_map(|reason| class.dropped.get(reason.name()));
        Some(counts.sum::<u64>()).filter(|&dropped| dropped > 0 && owed.room)
    };
    let full = dropped(&[DropReason::QueueFull]).map(|dropped| Promise::Room { dropped });
    let managed = [
        DropReason::Red,
        DropReason::Choke,
        DropReason::CoDel,
        DropReason::Pie,
        DropReason::DualPi2,
        DropReason::Cobalt,
    ];
    let managed = dropped(&managed).map(|dropped| Promise::Management { dropped });
    let too_late = dropped(&[DropReason::Late]).map(|dropped| Promise::Late { dropped });
    let unframed = dropped(&[DropReason::Frame]).map(|dropped| Promise::Frame { dropped });
    let full = full.into_iter().chain(managed).chain(too_late).chain(unframed);
    let sliding = class.windows.iter().filter(|windows| windows.violations > 0);
    let sliding = sliding.map(|of| (of.violations, of.windows));
    let consecutive =
        class.windows.iter().filter(|windows| windows.proved && windows.consecutive_violations > 0);
    let consecutive = consecutive.map(|of| (of.consecutive_violations, of.consecutive_windows));
    let violated = consecutive
        .map(|(violations, windows)| Promise::Consecutive { violations, windows })
        .chain(sliding.map(|(violations, windows)| Promise::Windows { violations, windows }));
    let within_deadline = |bound| class.deadline_ns.is_none_or(|deadline| bound <= deadline);
    let broken = move |promise| BrokenPromise {
        class: class.name.clone(),
        at: None,
        promise,
        proved: match promise {
            Promise::Bound { .. } | Promise::Consecutive { .. } => true,
            Promise::Windows { .. } => false,
            Promise::Deadline { .. } => class.bound_ns.is_some_and(within_deadline),
            Promise::Room { .. }
            | Promise::Management { .. }
            | Promise::Late { .. }
            | Promise::Frame { .. } => owed.lossless || class.bound_ns.is_some_and(within_deadline),
        },
        nonconforming: owed.nonconforming,
        seeds: Vec::new(),
    };
    late(class.into(), owed.deadline, owed.bound).chain(full).chain(violated).map(broken)
}

impl Promise {
    /// Counts another promise together with this one if they are the same; says whether they are.
    fn add(&mut self, other: Promise) -> bool {
        use Promise::{Bound, Consecutive, Deadline, Frame, Late, Management, Room, Windows};
        match (self, other) {
            (Deadline { misses: sum, .. }, Deadline { misses: more, .. })
            | (Bound { misses: sum, .. }, Bound { misses: more, .. })
            | (Room { dropped: sum }, Room { dropped: more })
            | (Management { dropped: sum }, Management { dropped: more })
            | (Late { dropped: sum }, Late { dropped: more })
            | (Frame { dropped: sum }, Frame { dropped: more }) => *sum += more,
            (Windows { violations, windows }, Windows { violations: more, windows: all })
            | (
                Consecutive { violations, windows },
                Consecutive { violations: more, windows: all },
            ) => {
                *violations += more;
                *windows += all;
            }
            _ => return false,
        }
        true
    }
}

impl BrokenPromise {
    /// What was broken under any of several seeds, counted over all.
    pub(crate) fn over_seeds(
        runs: impl Iterator<Item = (u64, Vec<BrokenPromise>)>,
    ) -> Vec<BrokenPromise> {
        let mut all: Vec<BrokenPromise> = Vec::new();
        for (seed, one) in
            runs.flat_map(|(seed, broken)| broken.into_iter().map(move |one| (seed, one)))
        {
            let same = all.iter_mut().find_map(|known| {
                let is_same =
                    (&known.class, &known.at, known.proved) == (&one.class, &one.at, one.proved);
                (is_same && known.promise.add(one.promise)).then_some(known)
            });
            match same {
                Some(known) => {
                    known.nonconforming += one.nonconforming;
                    known.seeds.push(seed);
                }
                None => all.push(BrokenPromise { seeds: vec![seed], ..one }),
            }
        }
        all
    }
}
