//! Were the promises kept?

use std::fmt;

use laxity::scheduler::DropReason;
use laxity_sim::summary::{ClassSummary, Summary};

use crate::quantity::{count, time};

/// What a class was promised and did not get. `Display` says it in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The class.
    pub class: String,
    /// The promise.
    pub promise: Promise,
    /// Whether the admission test had proved that it would be kept.
    pub proved: bool,
    /// Packets of the class that broke its arrival curve, which may be why.
    pub nonconforming: u64,
}

/// A promise that was broken, and by how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// Every broken promise of a run, in the plan's order; empty when all were kept.
pub fn broken_promises(summary: &Summary) -> Vec<Broken> {
    summary.classes.iter().flat_map(broken_by).collect()
}

/// Whether any class was promised anything.
pub fn promised_anything(summary: &Summary) -> bool {
    promised_a_delay(summary) || summary.classes.iter().any(|class| class.windows.is_some())
}

/// Whether any class was promised a delay.
pub(crate) fn promised_a_delay(summary: &Summary) -> bool {
    summary.classes.iter().any(|class| class.deadline_ns.or(class.bound_ns).is_some())
}

fn broken_by(class: &ClassSummary) -> impl Iterator<Item = Broken> {
    // A class that tolerates losses is promised its windows, not every deadline.
    let deadline_ns = class.deadline_ns.filter(|_| class.windows.is_none());
    let late = deadline_ns
        .filter(|_| class.deadline_misses > 0)
        .map(|deadline_ns| Promise::Deadline { deadline_ns, misses: class.deadline_misses });
    let beyond = exceeded_bound(class);
    let dropped = |reasons: &[DropReason]| {
        let counts = reasons.iter().filter_map(|reason| class.dropped.get(reason.name()));
        Some(counts.sum::<u64>()).filter(|&dropped| dropped > 0 && deadline_ns.is_some())
    };
    let full = dropped(&[DropReason::QueueFull]).map(|dropped| Promise::Room { dropped });
    let managed = dropped(&[DropReason::Red, DropReason::Choke, DropReason::CoDel])
        .map(|dropped| Promise::Management { dropped });
    let too_late = dropped(&[DropReason::Late]).map(|dropped| Promise::Late { dropped });
    let full = full.into_iter().chain(managed).chain(too_late);
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
        promise,
        proved: match promise {
            Promise::Bound { .. } | Promise::Consecutive { .. } => true,
            Promise::Windows { .. } => false,
            Promise::Deadline { .. }
            | Promise::Room { .. }
            | Promise::Management { .. }
            | Promise::Late { .. } => class.bound_ns.is_some_and(within_deadline),
        },
        nonconforming: class.nonconforming,
    };
    late.into_iter().chain(beyond).chain(full).chain(violated).map(broken)
}

/// A class without a deadline is owed its bound only as long as it keeps to its arrival curve.
fn exceeded_bound(class: &ClassSummary) -> Option<Promise> {
    let owed = class.deadline_ns.is_some() || class.nonconforming == 0;
    let (bound_ns, misses) = (class.bound_ns.filter(|_| owed)?, class.bound_misses);
    (misses > 0).then_some(Promise::Bound { bound_ns, misses })
}

/// Whether packets of a class were later than its bound or its deadline.
pub(crate) fn too_late(class: &ClassSummary) -> bool {
    class.bound_misses > 0 || class.deadline_misses > 0
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
        write!(f, "{}: {} {counted} {what}", self.class, count(number))?;
        match self.nonconforming {
            0 => Ok(()),
            1 => f.write_str(" (1 of its packets broke its arrival curve)"),
            n => write!(f, " ({} of its packets broke its arrival curve)", count(n)),
        }
    }
}

#[cfg(test)]
mod tests {
    use laxity_sim::summary::WindowSummary;

    use super::*;
    use crate::sample;

    #[test]
    fn misses_of_the_deadline_and_of_the_bound_are_broken_promises() {
        let (mut summary, _) = sample::run(1, 1);
        assert!(broken_promises(&summary).is_empty());
        let class = &mut summary.classes[0];
        class.deadline_misses = 2;
        (class.bound_ns, class.bound_misses) = (Some(1_000), 1);
        assert!(broken_promises(&summary).iter().all(|broken| broken.proved));
        let said: Vec<String> = broken_promises(&summary)
            .iter()
            .map(|b| b.to_string().replace('\u{a0}', " "))
            .collect();
        assert_eq!(said[0], "rt-0: 2 packets missed the deadline of 10 ms");
        assert_eq!(said[1], "rt-0: 1 packet exceeded the proved bound of 1 µs");
    }

    #[test]
    fn a_deadline_below_the_bound_was_not_proved() {
        let (mut summary, _) = sample::run(1, 1);
        let class = &mut summary.classes[0];
        class.deadline_misses = 2;
        class.bound_ns = class.deadline_ns.map(|deadline| deadline + 1);
        assert!(broken_promises(&summary).iter().all(|broken| !broken.proved));
    }

    #[test]
    fn a_class_that_tolerates_losses_is_owed_its_windows() {
        let (mut summary, _) = sample::run(1, 1);
        let class = &mut summary.classes[0];
        (class.deadline_misses, class.windows) = (2, Some(sample::windows(0)));
        class.dropped = [("queue-full", 2)].into();
        assert!(broken_promises(&summary).is_empty());
        summary.classes[0].windows = Some(sample::windows(3));
        let [broken] = &broken_promises(&summary)[..] else { panic!("sliding windows alone") };
        assert!(!broken.proved);
        assert_eq!(broken.to_string(), "rt-0: 3 windows of 19 lost more than tolerated");
        let violated = WindowSummary { consecutive_violations: 1, ..sample::windows(1) };
        summary.classes[0].windows = Some(violated.clone());
        let [broken, sliding] = &broken_promises(&summary)[..] else { panic!("both") };
        assert!(broken.proved && !sliding.proved);
        assert_eq!(broken.to_string(), "rt-0: 1 consecutive window of 1 lost more than was proved");
        assert_eq!(sliding.to_string(), "rt-0: 1 window of 19 lost more than tolerated");
        summary.classes[0].windows = Some(WindowSummary { proved: false, ..violated });
        assert_eq!(broken_promises(&summary), std::slice::from_ref(sliding));
        summary.classes[0].deadline_ns = None;
        summary.classes[0].bound_ns = None;
        assert!(promised_anything(&summary));
    }

    #[test]
    fn a_class_without_a_deadline_is_owed_its_bound_for_what_conforms() {
        let (mut summary, _) = sample::run(1, 1);
        let class = &mut summary.classes[1];
        (class.bound_ns, class.bound_misses) = (Some(1_000), 1);
        assert_eq!(broken_promises(&summary).len(), 1);
        summary.classes[1].nonconforming = 1;
        assert!(broken_promises(&summary).is_empty());
    }
}
