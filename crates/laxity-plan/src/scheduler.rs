//! The words for schedulers, as the command line takes and tables print them.

use std::fmt;

use crate::error::nearest;
use crate::model::{BestEffort, BestEffortOrder, SchedulerSpec};

/// A word that names no scheduler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a scheduler{}: accepted are fifo, wfq, wf2q, drr, hfsc, edf, and edf/WAY \
         with WAY one of background, total-bandwidth, shifted-line, two-line, two-line-fast, exact", self.hint())]
pub struct UnknownScheduler {
    /// The word.
    pub given: String,
}

impl UnknownScheduler {
    fn hint(&self) -> String {
        let plain = SchedulerSpec::PLAIN.iter().map(SchedulerSpec::name);
        let known = plain.chain(["edf"]).chain(BestEffort::ALL.map(edf_name));
        nearest(&self.given, known)
            .map_or(String::new(), |near| format!(", did you mean `{near}`?"))
    }
}

impl SchedulerSpec {
    /// EDF as a plan gets it that says no more.
    pub const EDF: SchedulerSpec =
        SchedulerSpec::Edf { best_effort: BestEffort::Exact, order: BestEffortOrder::Wfq };

    /// Every scheduler but EDF.
    pub const PLAIN: [SchedulerSpec; 5] = [
        SchedulerSpec::Fifo,
        SchedulerSpec::Wfq,
        SchedulerSpec::Wf2q,
        SchedulerSpec::Drr,
        SchedulerSpec::Hfsc,
    ];

    /// The scheduler of a name: `fifo`, `wfq`, `wf2q`, `drr`, `hfsc`, `edf` (as in `base` if that is
    /// EDF), or `edf/exact`, `edf/background` and so on, which keep the order of best effort that
    /// `base` has.
    ///
    /// ```
    /// use laxity_plan::model::SchedulerSpec;
    ///
    /// let spec = SchedulerSpec::named("edf/two-line", SchedulerSpec::Fifo)?;
    /// assert_eq!(spec.name(), "edf/two-line");
    /// # Ok::<(), laxity_plan::UnknownScheduler>(())
    /// ```
    pub fn named(name: &str, base: SchedulerSpec) -> Result<SchedulerSpec, UnknownScheduler> {
        let edf = match base {
            SchedulerSpec::Edf { .. } => base,
            _ => SchedulerSpec::EDF,
        };
        if let Some(plain) = SchedulerSpec::PLAIN.into_iter().find(|plain| plain.name() == name) {
            return Ok(plain);
        }
        match (name, edf) {
            ("edf", _) => Ok(edf),
            (_, SchedulerSpec::Edf { order, .. }) => BestEffort::ALL
                .into_iter()
                .find(|way| edf_name(*way) == name)
                .map(|best_effort| SchedulerSpec::Edf { best_effort, order })
                .ok_or_else(|| UnknownScheduler { given: crate::error::shown(name) }),
            _ => Err(UnknownScheduler { given: crate::error::shown(name) }),
        }
    }

    /// The name that [`named`](Self::named) reads back: that of the discipline, for EDF with its way
    /// with best effort.
    pub fn name(&self) -> &'static str {
        match self {
            SchedulerSpec::Fifo => "fifo",
            SchedulerSpec::Wfq => "wfq",
            SchedulerSpec::Wf2q => "wf2q",
            SchedulerSpec::Drr => "drr",
            SchedulerSpec::Hfsc => "hfsc",
            SchedulerSpec::Edf { best_effort, .. } => edf_name(*best_effort),
        }
    }
}

impl fmt::Display for SchedulerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl BestEffort {
    /// Every way, from the plainest to the best.
    pub const ALL: [BestEffort; 6] = [
        BestEffort::Background,
        BestEffort::TotalBandwidth,
        BestEffort::ShiftedLine,
        BestEffort::TwoLine,
        BestEffort::TwoLineFast,
        BestEffort::Exact,
    ];

    /// Its word in a plan.
    pub fn name(self) -> &'static str {
        &edf_name(self)["edf/".len()..]
    }
}

fn edf_name(way: BestEffort) -> &'static str {
    match way {
        BestEffort::Background => "edf/background",
        BestEffort::TotalBandwidth => "edf/total-bandwidth",
        BestEffort::ShiftedLine => "edf/shifted-line",
        BestEffort::TwoLine => "edf/two-line",
        BestEffort::TwoLineFast => "edf/two-line-fast",
        BestEffort::Exact => "edf/exact",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheduler_is_named_back() {
        let edf = BestEffort::ALL
            .map(|best_effort| SchedulerSpec::Edf { best_effort, order: BestEffortOrder::Fifo });
        for spec in edf.into_iter().chain(SchedulerSpec::PLAIN) {
            assert_eq!(SchedulerSpec::named(spec.name(), spec), Ok(spec));
            assert_eq!(spec.to_string(), spec.name());
        }
    }

    #[test]
    fn plain_edf_is_the_plans_own() {
        let base =
            SchedulerSpec::Edf { best_effort: BestEffort::TwoLine, order: BestEffortOrder::Fifo };
        assert_eq!(SchedulerSpec::named("edf", base), Ok(base));
        assert_eq!(SchedulerSpec::named("edf", SchedulerSpec::Wfq), Ok(SchedulerSpec::EDF));
    }

    #[test]
    fn an_unknown_word_gets_the_nearest() {
        let error = SchedulerSpec::named("edf/exct", SchedulerSpec::Fifo).unwrap_err();
        assert!(error.to_string().contains("did you mean `edf/exact`?"), "{error}");
        assert!(SchedulerSpec::named("edf/", SchedulerSpec::Fifo).is_err());
        assert!(SchedulerSpec::named("", SchedulerSpec::Fifo).is_err());
    }
}
