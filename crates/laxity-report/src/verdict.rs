//! Were the promises kept?

use std::fmt;

use laxity_sim::summary::{ClassSummary, Summary};

use crate::quantity::{count, time};

/// What a class was promised and did not get. `Display` says it in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The class.
    pub class: String,
    /// The promise.
    pub promise: Promise,
    /// Packets of the class that broke its arrival curve: when there are any, nothing was owed.
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
    /// A packet was delayed for longer than the admission test had proved possible.
    Bound {
        /// The bound in ns.
        bound_ns: u64,
        /// The largest delay in ns.
        max_ns: u64,
    },
}

/// Every broken promise of a run, in the plan's order; empty when all were kept.
pub fn broken_promises(summary: &Summary) -> Vec<Broken> {
    summary.classes.iter().flat_map(broken_by).collect()
}

/// Whether any class was promised anything.
pub fn promised_anything(summary: &Summary) -> bool {
    summary.classes.iter().any(|class| class.deadline_ns.or(class.bound_ns).is_some())
}

fn broken_by(class: &ClassSummary) -> impl Iterator<Item = Broken> {
    let late = class
        .deadline_ns
        .filter(|_| class.deadline_misses > 0)
        .map(|deadline_ns| Promise::Deadline { deadline_ns, misses: class.deadline_misses });
    let beyond = exceeded_bound(class);
    let broken = move |promise| Broken {
        class: class.name.clone(),
        promise,
        nonconforming: class.nonconforming,
    };
    late.into_iter().chain(beyond).map(broken)
}

fn exceeded_bound(class: &ClassSummary) -> Option<Promise> {
    let (bound_ns, max_ns) = (class.bound_ns?, class.delay_ns?.max);
    (max_ns > bound_ns).then_some(Promise::Bound { bound_ns, max_ns })
}

/// Whether a class's largest delay lies above its bound or its deadline.
pub(crate) fn too_late(class: &ClassSummary) -> bool {
    let limit = class.bound_ns.into_iter().chain(class.deadline_ns).min();
    class.delay_ns.zip(limit).is_some_and(|(delay, limit)| delay.max > limit)
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.promise {
            Promise::Deadline { deadline_ns, misses } => {
                let packets = if misses == 1 { "packet" } else { "packets" };
                let deadline = time(deadline_ns as f64);
                write!(
                    f,
                    "{}: {} {packets} missed the deadline of {deadline}",
                    self.class,
                    count(misses)
                )?;
            }
            Promise::Bound { bound_ns, max_ns } => {
                let (max, bound) = (time(max_ns as f64), time(bound_ns as f64));
                write!(f, "{}: a delay of {max} exceeds the proved bound of {bound}", self.class)?;
            }
        }
        match self.nonconforming {
            0 => Ok(()),
            1 => f.write_str(" (1 of its packets broke its arrival curve)"),
            n => write!(f, " ({} of its packets broke its arrival curve)", count(n)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_miss_and_a_delay_above_the_bound_are_broken_promises() {
        let (mut summary, _) = sample::run(1, 1);
        assert!(broken_promises(&summary).is_empty());
        let class = &mut summary.classes[0];
        class.deadline_misses = 2;
        class.bound_ns = Some(1_000);
        let said: Vec<String> = broken_promises(&summary)
            .iter()
            .map(|b| b.to_string().replace('\u{a0}', " "))
            .collect();
        assert_eq!(said[0], "rt-0: 2 packets missed the deadline of 10 ms");
        assert_eq!(said[1], "rt-0: a delay of 8 ms exceeds the proved bound of 1 µs");
    }
}
