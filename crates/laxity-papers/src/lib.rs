//! Experiments of papers, repeated: the paper's figure, ours, the tolerance, the verdict.
#![deny(missing_docs)]

mod claims;
mod drawing;
mod dwcs;
mod edf_choke;
mod experiment;
mod hfsc;
mod low_delay_best_effort;
mod tdp;
mod verdict;

use laxity_sim::error::SimError;

pub use experiment::{Repetition, Settings};
pub use verdict::Verdict;

/// A paper whose experiment can be repeated.
pub struct Paper {
    /// Its name on the command line and in `papers/`.
    pub name: &'static str,
    /// Its authors, title and year.
    pub citation: &'static str,
    repeat: fn(&Settings<'_>) -> Result<Repetition, SimError>,
}

/// All papers.
pub const PAPERS: [Paper; 5] = [
    Paper {
        name: "low-delay-best-effort",
        citation: "Chakraborty, Gries, Thiele: Supporting a Low Delay Best-Effort Class in the \
                   Presence of Real-Time Traffic (RTAS 2002)",
        repeat: low_delay_best_effort::repeat,
    },
    Paper {
        name: "edf-choke",
        citation: "Hei, Tsang: The Earliest Deadline First Scheduling with Active Buffer Management \
                   for Real-Time Traffic in the Internet (2001)",
        repeat: edf_choke::repeat,
    },
    Paper {
        name: "hfsc",
        citation: "Stoica, Zhang, Ng: A Hierarchical Fair Service Curve Algorithm for \
                   Link-Sharing, Real-Time, and Priority Services (SIGCOMM 1997, ToN 2000)",
        repeat: hfsc::repeat,
    },
    Paper {
        name: "dwcs",
        citation: "West, Schwan, Poellabauer: Scalable Scheduling Support for Loss and Delay \
                   Constrained Media Streams (RTAS 1999)",
        repeat: dwcs::repeat,
    },
    Paper {
        name: "tdp",
        citation: "Baldi, Marchetto, Galante, Risso, Scopigno, Stirano: Time Driven Priority Router \
                   Implementation and First Experiments (ICC 2006)",
        repeat: tdp::repeat,
    },
];

impl Paper {
    /// The paper of a name.
    pub fn named(name: &str) -> Option<&'static Paper> {
        PAPERS.iter().find(|paper| paper.name == name)
    }

    /// Repeats its experiment.
    ///
    /// # Errors
    /// If its plan cannot be simulated.
    pub fn repeat(&self, settings: &Settings<'_>) -> Result<Repetition, SimError> {
        let repetition = (self.repeat)(settings)?;
        Ok(Repetition { paper: self.name, citation: self.citation, ..repetition })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use laxity::units::Nanos;

    use super::*;

    #[test]
    fn the_low_delay_best_effort_experiment_holds_in_short_form() {
        let paper = Paper::named("low-delay-best-effort").unwrap();
        let duration = Some(Nanos(60_000_000_000));
        let settings = Settings { seeds: 3, duration, progress: &|_| () };
        let repetition = paper.repeat(&settings).unwrap();
        assert!(repetition.holds(), "{}", repetition.verdict_table());
        assert_eq!(repetition.verdicts.len(), 9 + 2 + 3 + 5);
        assert!(repetition.figures.iter().all(|(_, svg)| svg.starts_with("<svg")));
    }

    /// Repeats a paper's experiments with two seeds of half a minute, and counts the runs.
    fn in_short_form(name: &str) -> Repetition {
        let (announced, done) = (AtomicU64::new(0), AtomicU64::new(0));
        let progress = |runs| {
            announced.store(runs, Ordering::Relaxed);
            done.fetch_add(1, Ordering::Relaxed);
        };
        let duration = Some(Nanos(30_000_000_000));
        let settings = Settings { seeds: 2, duration, progress: &progress };
        let repetition = Paper::named(name).unwrap().repeat(&settings).unwrap();
        assert!(!repetition.figures.iter().any(|(_, svg)| svg.contains("no data")));
        assert_eq!(announced.into_inner(), done.into_inner());
        repetition
    }

    #[test]
    fn the_hfsc_experiments_hold_in_short_form() {
        let repetition = in_short_form("hfsc");
        assert!(repetition.holds(), "{}", repetition.verdict_table());
        assert_eq!(repetition.verdicts.len(), 6 + 8 + 4 + 8 + 15 + 2 + 6);
        assert_eq!(repetition.figures.len(), 7);
    }

    #[test]
    fn the_edf_choke_experiments_hold() {
        let repetition = in_short_form("edf-choke");
        assert!(repetition.holds(), "{}", repetition.verdict_table());
        assert_eq!(repetition.verdicts.len(), 6 + 3 + 6);
        assert_eq!((repetition.figures.len(), repetition.tables.len()), (3, 3));
        assert_eq!((repetition.seeds, repetition.duration_ns), (6, 200_000_000_000));
    }

    #[test]
    fn the_dwcs_experiments_hold_in_short_form() {
        let repetition = in_short_form("dwcs");
        // Times are judged where the release is tried, not without optimization.
        let (timed, counted): (Vec<_>, Vec<_>) =
            repetition.verdicts.iter().partition(|verdict| verdict.what.contains("(Fig. 5"));
        assert!(counted.iter().all(|verdict| verdict.holds), "{}", repetition.verdict_table());
        assert_eq!((timed.len(), counted.len()), (6, 2 + 8 + 7 + 2 + 2 + 1 + 3 + 1));
        assert_eq!(repetition.figures.len(), 9);
    }
}
