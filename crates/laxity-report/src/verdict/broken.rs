//! Promises that were broken, and by how much.

use std::fmt;

use laxity::scheduler::DropReason;
use laxity_sim::summary::{ClassSummary, Summary};
use serde::Serialize;

use crate::quantity::{count, time};

/// What a class was promised and did not get. `Display` says it in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Broken {
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

/// Whether any class was promised a delay.
pub(crate) fn promised_a_delay(summary: &Summary) -> bool {
    summary.classes.iter().any(|class| class.deadline_ns.or(class.bound_ns).is_some())
}

/// What a class is owed where it waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owed {
    /// Its deadline.
    pub deadline: bool,
    /// The bound that is proved: of a class that is promised no delay, only as long as it keeps to its
    /// arrival curve.
    pub bound: bool,
    /// That none of its packets is dropped.
    pub room: bool,
    /// Whether that is proved even if no bound is proved where it waits.
    pub lossless: bool,
    /// Packets that broke its arrival curve.
    pub nonconforming: u64,
}

/// What a class was owed and did not get.
pub(crate) fn broken_by(class: &ClassSummary, owed: Owed) -> impl Iterator<Item = Broken> {
    let late = class
        .deadline_ns
        .filter(|_| owed.deadline && class.deadline_misses > 0)
        .map(|deadline_ns| Promise::Deadline { deadline_ns, misses: class.deadline_misses });
    let beyond = class
        .bound_ns
        .filter(|_| owed.bound && class.bound_misses > 0)
        .map(|bound_ns| Promise::Bound { bound_ns, misses: class.bound_misses });
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
    let broken = move |promise| Broken {
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
    late.into_iter().chain(beyond).chain(full).chain(violated).map(broken)
}

/// Whether packets of a class were later than its bound or its deadline.
pub(crate) fn too_late(class: &ClassSummary) -> bool {
    class.bound_misses > 0 || class.deadline_misses > 0
}

impl Promise {
    /// The same over two runs, if it is the same promise.
    fn together(self, other: Promise) -> Option<Promise> {
        use Promise::{Bound, Consecutive, Deadline, Frame, Late, Management, Room, Windows};
        Some(match (self, other) {
            (Deadline { deadline_ns, misses: a }, Deadline { misses: b, .. }) => {
                Deadline { deadline_ns, misses: a + b }
            }
            (Bound { bound_ns, misses: a }, Bound { misses: b, .. }) => {
                Bound { bound_ns, misses: a + b }
            }
            (Windows { violations: a, windows: n }, Windows { violations: b, windows: m }) => {
                Windows { violations: a + b, windows: n + m }
            }
            (
                Consecutive { violations: a, windows: n },
                Consecutive { violations: b, windows: m },
            ) => Consecutive { violations: a + b, windows: n + m },
            (Room { dropped: a }, Room { dropped: b }) => Room { dropped: a + b },
            (Management { dropped: a }, Management { dropped: b }) => Management { dropped: a + b },
            (Late { dropped: a }, Late { dropped: b }) => Late { dropped: a + b },
            (Frame { dropped: a }, Frame { dropped: b }) => Frame { dropped: a + b },
            _ => return None,
        })
    }
}

impl Broken {
    /// What was broken under any of several seeds, counted over all.
    pub(crate) fn over_seeds(runs: impl Iterator<Item = (u64, Vec<Broken>)>) -> Vec<Broken> {
        let mut all: Vec<Broken> = Vec::new();
        for (seed, one) in
            runs.flat_map(|(seed, broken)| broken.into_iter().map(move |one| (seed, one)))
        {
            let same = all.iter_mut().find_map(|known| {
                let is_same =
                    (&known.class, &known.at, known.proved) == (&one.class, &one.at, one.proved);
                let promise = known.promise.together(one.promise).filter(|_| is_same)?;
                Some((known, promise))
            });
            match same {
                Some((known, promise)) => {
                    known.promise = promise;
                    known.nonconforming += one.nonconforming;
                    known.seeds.push(seed);
                }
                None => all.push(Broken { seeds: vec![seed], ..one }),
            }
        }
        all
    }

    /// The same with a word before that says whether it had been proved.
    pub fn line(&self) -> String {
        format!("{}: {self}", if self.proved { "BROKEN" } else { "LATE" })
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, what) = match self.promise {
            Promise::Deadline { deadline_ns, misses } => {
                (misses, format!("missed the deadline of {}", time(deadline_ns as f64)))
            }
            Promise::Bound { bound_ns, misses } => {
                (misses, format!("exceeded the proved bound of {}", time(bound_ns as f64)))
            }
            Promise::Room { dropped } => (dropped, "found the queue full".to_string()),
            Promise::Management { dropped } => {
                (dropped, "were dropped to keep the queue short".to_string())
            }
            Promise::Late { dropped } => (dropped, "were dropped for being late".to_string()),
            Promise::Frame { dropped } => (dropped, "had no frame and were dropped".to_string()),
            Promise::Windows { violations, windows } => {
                (violations, format!("of {} lost more than tolerated", count(windows)))
            }
            Promise::Consecutive { violations, windows } => {
                (violations, format!("of {} lost more than was proved", count(windows)))
            }
        };
        let counted = match (self.promise, number) {
            (Promise::Windows { .. }, 1) => "window",
            (Promise::Windows { .. }, _) => "windows",
            (Promise::Consecutive { .. }, 1) => "consecutive window",
            (Promise::Consecutive { .. }, _) => "consecutive windows",
            (_, 1) => "packet",
            _ => "packets",
        };
        let at = self.at.as_ref().map_or(String::new(), |at| format!(" at {at}"));
        write!(f, "{}{at}: {} {counted} {what}", self.class, count(number))?;
        match self.nonconforming {
            0 => {}
            1 => f.write_str(" (1 of its packets broke its arrival curve)")?,
            n => write!(f, " ({} of its packets broke its arrival curve)", count(n))?,
        }
        match &self.seeds[..] {
            [] => Ok(()),
            [one] => write!(f, ", with seed {one}"),
            more => write!(f, ", with {} seeds", more.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use laxity_sim::summary::WindowSummary;

    use super::*;
    use crate::sample;
    use crate::verdict::Measured;

    fn broken_by_all(summary: &Summary) -> Vec<Broken> {
        summary.broken(&sample::plan())
    }

    #[test]
    fn misses_of_the_deadline_and_of_the_bound_are_broken_promises() {
        let (mut summary, _) = sample::run(1, 1);
        assert!(broken_by_all(&summary).is_empty());
        let class = &mut summary.classes[0];
        class.deadline_misses = 2;
        (class.bound_ns, class.bound_misses) = (Some(1_000), 1);
        assert!(broken_by_all(&summary).iter().all(|broken| broken.proved));
        let said: Vec<String> =
            broken_by_all(&summary).iter().map(|b| b.to_string().replace('\u{a0}', " ")).collect();
        assert_eq!(said[0], "rt-0: 2 packets missed the deadline of 10 ms");
        assert_eq!(said[1], "rt-0: 1 packet exceeded the proved bound of 1 µs");
    }

    #[test]
    fn a_deadline_below_the_bound_was_not_proved() {
        let (mut summary, _) = sample::run(1, 1);
        let class = &mut summary.classes[0];
        class.deadline_misses = 2;
        class.bound_ns = class.deadline_ns.map(|deadline| deadline + 1);
        assert!(broken_by_all(&summary).iter().all(|broken| !broken.proved));
    }

    #[test]
    fn a_class_that_tolerates_losses_is_owed_its_windows() {
        let (mut summary, _) = sample::run(1, 1);
        let class = &mut summary.classes[0];
        (class.deadline_misses, class.windows) = (2, Some(sample::windows(0)));
        class.dropped = [("queue-full", 2)].into();
        assert!(broken_by_all(&summary).is_empty());
        summary.classes[0].windows = Some(sample::windows(3));
        let [broken] = &broken_by_all(&summary)[..] else { panic!("sliding windows alone") };
        assert!(!broken.proved);
        assert_eq!(broken.to_string(), "rt-0: 3 windows of 19 lost more than tolerated");
        let violated = WindowSummary { consecutive_violations: 1, ..*sample::windows(1) };
        summary.classes[0].windows = Some(Box::new(violated.clone()));
        let [broken, sliding] = &broken_by_all(&summary)[..] else { panic!("both") };
        assert!(broken.proved && !sliding.proved);
        assert_eq!(broken.to_string(), "rt-0: 1 consecutive window of 1 lost more than was proved");
        assert_eq!(sliding.to_string(), "rt-0: 1 window of 19 lost more than tolerated");
        summary.classes[0].windows = Some(Box::new(WindowSummary { proved: false, ..violated }));
        assert_eq!(broken_by_all(&summary), std::slice::from_ref(sliding));
        summary.classes[0].deadline_ns = None;
        summary.classes[0].bound_ns = None;
        assert!(summary.promised(&sample::plan()));
    }

    #[test]
    fn a_class_without_a_deadline_is_owed_its_bound_for_what_conforms() {
        let (mut summary, _) = sample::run(1, 1);
        let class = &mut summary.classes[1];
        (class.bound_ns, class.bound_misses) = (Some(1_000), 1);
        assert_eq!(broken_by_all(&summary).len(), 1);
        summary.classes[1].nonconforming = 1;
        assert!(broken_by_all(&summary).is_empty());
    }
}
