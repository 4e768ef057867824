//! The words for schedulers, as the command line takes and tables print them.

use std::fmt;

use laxity::sched::dwcs::{Precedence, Settings, Violation};

use crate::error::nearest;
use crate::model::{BestEffort, BestEffortOrder, Late, SchedulerSpec};

/// A word that names no scheduler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a scheduler{}: accepted are fifo, wfq, wf2q, drr, hfsc, edf, dwcs, edf/WAY \
         with WAY one of background, total-bandwidth, shifted-line, two-line, two-line-fast, exact, \
         dwcs/ORDER with ORDER one of loss-first, deadline-first, and tdp where the plan has it", self.hint())]
pub struct UnknownScheduler {
    /// The word.
    pub given: String,
}

impl UnknownScheduler {
    fn hint(&self) -> String {
        let plain = SchedulerSpec::PLAIN.iter().map(SchedulerSpec::name);
        let families = ["edf", "dwcs"].into_iter().chain(PRECEDENCES.map(dwcs_name));
        let known = plain.chain(families).chain(BestEffort::ALL.map(edf_name));
        nearest(&self.given, known)
            .map_or(String::new(), |near| format!(", did you mean `{near}`?"))
    }
}

impl SchedulerSpec {
    /// EDF as a plan gets it that says no more.
    pub const EDF: SchedulerSpec = SchedulerSpec::Edf {
        best_effort: BestEffort::Exact,
        order: BestEffortOrder::Wfq,
        late: Late::Send,
    };

    /// DWCS as a plan gets it that says no more.
    pub const DWCS: SchedulerSpec = SchedulerSpec::Dwcs(Settings {
        precedence: Precedence::LossFirst,
        violation: Violation::Reset,
        check_every: 1,
    });

    /// Every scheduler that has no options.
    pub const PLAIN: [SchedulerSpec; 5] = [
        SchedulerSpec::Fifo,
        SchedulerSpec::Wfq,
        SchedulerSpec::Wf2q,
        SchedulerSpec::Drr,
        SchedulerSpec::Hfsc,
    ];

    /// The scheduler of a name: `fifo`, `wfq`, `wf2q`, `drr`, `hfsc`; `edf` or `dwcs` (as in `base`
    /// if that is one); `edf/exact`, `edf/background` and so on, which keep the order of best effort
    /// that `base` has; `dwcs/loss-first` or `dwcs/deadline-first`, which keep its other settings;
    /// `tdp` if `base` is that, for its frames are the plan's.
    ///
    /// ```
    /// use laxity_plan::model::SchedulerSpec;
    ///
    /// let spec = SchedulerSpec::named("edf/two-line", SchedulerSpec::Fifo)?;
    /// assert_eq!(spec.name(), "edf/two-line");
    /// # Ok::<(), laxity_plan::UnknownScheduler>(())
    /// ```
    pub fn named(name: &str, base: SchedulerSpec) -> Result<SchedulerSpec, UnknownScheduler> {
        let of_base = |default: SchedulerSpec| match (base, default) {
            (SchedulerSpec::Edf { .. }, SchedulerSpec::Edf { .. })
            | (SchedulerSpec::Dwcs(_), SchedulerSpec::Dwcs(_)) => base,
            _ => default,
        };
        let (edf, dwcs) = (of_base(SchedulerSpec::EDF), of_base(SchedulerSpec::DWCS));
        let ways = BestEffort::ALL.into_iter().map(|way| edf.with_way(way));
        let orders = PRECEDENCES.into_iter().map(|precedence| dwcs.with_precedence(precedence));
        match name {
            "edf" => Ok(edf),
            "dwcs" => Ok(dwcs),
            "tdp" if matches!(base, SchedulerSpec::Tdp(_)) => Ok(base),
            _ => SchedulerSpec::PLAIN
                .into_iter()
                .chain(ways)
                .chain(orders)
                .find(|spec| spec.name() == name)
                .ok_or_else(|| UnknownScheduler { given: crate::error::shown(name) }),
        }
    }

    fn with_way(self, best_effort: BestEffort) -> SchedulerSpec {
        match self {
            SchedulerSpec::Edf { order, late, .. } => {
                SchedulerSpec::Edf { best_effort, order, late }
            }
            other => other,
        }
    }

    fn with_precedence(self, precedence: Precedence) -> SchedulerSpec {
        match self {
            SchedulerSpec::Dwcs(settings) => {
                SchedulerSpec::Dwcs(Settings { precedence, ..settings })
            }
            other => other,
        }
    }

    /// The name that [`named`](Self::named) reads back: that of the discipline, for EDF with its way
    /// with best effort, for DWCS with its precedence.
    pub fn name(&self) -> &'static str {
        match self {
            SchedulerSpec::Fifo => "fifo",
            SchedulerSpec::Wfq => "wfq",
            SchedulerSpec::Wf2q => "wf2q",
            SchedulerSpec::Drr => "drr",
            SchedulerSpec::Hfsc => "hfsc",
            SchedulerSpec::Edf { best_effort, .. } => edf_name(*best_effort),
            SchedulerSpec::Dwcs(settings) => dwcs_name(settings.precedence),
            SchedulerSpec::Tdp(_) => "tdp",
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

const PRECEDENCES: [Precedence; 2] = [Precedence::LossFirst, Precedence::DeadlineFirst];

fn dwcs_name(precedence: Precedence) -> &'static str {
    match precedence {
        Precedence::LossFirst => "dwcs/loss-first",
        Precedence::DeadlineFirst => "dwcs/deadline-first",
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
        let edf = BestEffort::ALL.map(|best_effort| SchedulerSpec::Edf {
            best_effort,
            order: BestEffortOrder::Fifo,
            late: Late::Drop,
        });
        let dwcs = PRECEDENCES.map(|precedence| SchedulerSpec::DWCS.with_precedence(precedence));
        for spec in edf.into_iter().chain(dwcs).chain(SchedulerSpec::PLAIN) {
            assert_eq!(SchedulerSpec::named(spec.name(), spec), Ok(spec));
            assert_eq!(spec.to_string(), spec.name());
        }
    }

    #[test]
    fn plain_edf_is_the_plans_own() {
        let base = SchedulerSpec::Edf {
            best_effort: BestEffort::TwoLine,
            order: BestEffortOrder::Fifo,
            late: Late::Drop,
        };
        assert_eq!(SchedulerSpec::named("edf", base), Ok(base));
        assert_eq!(SchedulerSpec::named("edf", SchedulerSpec::Wfq), Ok(SchedulerSpec::EDF));
    }

    #[test]
    fn plain_dwcs_is_the_plans_own() {
        let precedence = Precedence::DeadlineFirst;
        let settings = Settings { precedence, violation: Violation::Favour, check_every: 7 };
        let base = SchedulerSpec::Dwcs(settings);
        assert_eq!(SchedulerSpec::named("dwcs", base), Ok(base));
        let other = base.with_precedence(Precedence::LossFirst);
        assert_eq!(SchedulerSpec::named("dwcs/loss-first", base), Ok(other));
        assert_eq!(SchedulerSpec::named("dwcs", SchedulerSpec::EDF), Ok(SchedulerSpec::DWCS));
        assert_eq!(SchedulerSpec::named("edf", base), Ok(SchedulerSpec::EDF));
        assert_eq!(SchedulerSpec::DWCS, SchedulerSpec::Dwcs(Settings::default()));
    }

    #[test]
    fn an_unknown_word_gets_the_nearest() {
        let error = SchedulerSpec::named("edf/exct", SchedulerSpec::Fifo).unwrap_err();
        assert!(error.to_string().contains("did you mean `edf/exact`?"), "{error}");
        assert!(SchedulerSpec::named("edf/", SchedulerSpec::Fifo).is_err());
        assert!(SchedulerSpec::named("", SchedulerSpec::Fifo).is_err());
    }
}
