//! The words for schedulers, as the command line takes and tables print them.

use std::fmt;

use crate::error::{nearest, shown};
use crate::model::scheduler::Kind;
use crate::model::{Plan, SchedulerSpec};

/// A word that names no scheduler, or none that the plan can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownScheduler {
    /// No scheduler has this name.
    #[error("`{given}` is not a scheduler{}: accepted are {}", hint(given), accepted())]
    Word {
        /// The word.
        given: String,
    },
    /// Time-driven priority, whose frames are the plan's.
    #[error(
        "`tdp` sends in time frames, and the plan has none: write `kind = \"tdp\"` with `frame` and \
         `frames` in its [scheduler], in a network"
    )]
    NoFrames,
}

/// The nearest name to a word that is none.
fn hint(given: &str) -> String {
    let words = Kind::ALL.iter().map(|kind| kind.word());
    let names = Kind::ALL.iter().flat_map(|kind| kind.room().names).copied();
    nearest(given, words.chain(names))
        .map_or(String::new(), |near| format!(", did you mean `{near}`?"))
}

/// The names that are accepted, in words.
pub fn accepted() -> String {
    let has_default = |kind: &&Kind| kind.room().default.is_some();
    let (anywhere, of_plans): (Vec<&Kind>, Vec<&Kind>) = Kind::ALL.iter().partition(has_default);
    let words = anywhere.iter().map(|kind| kind.word().to_string());
    let variants = anywhere.iter().filter(|kind| !kind.room().variant.is_empty()).map(|kind| {
        let variants: Vec<_> =
            kind.room().names.iter().filter_map(|name| Some(name.split_once('/')?.1)).collect();
        let (word, variant) = (kind.word(), kind.room().variant);
        format!("{word}/{variant} with {variant} one of {}", variants.join(", "))
    });
    let all: Vec<_> = words.chain(variants).collect();
    let of_plans: Vec<_> = of_plans.iter().map(|kind| kind.word()).collect();
    format!("{}, and {} where the plan has it", all.join(", "), of_plans.join(", "))
}

impl Kind {
    /// The kind that a name is of: its word, or that with a variant.
    pub fn named(name: &str) -> Result<Kind, UnknownScheduler> {
        let is_named = |kind: &Kind| kind.word() == name || kind.room().names.contains(&name);
        let kind = Kind::ALL.iter().copied().find(is_named);
        kind.ok_or_else(|| UnknownScheduler::Word { given: shown(name) })
    }

    /// The kinds of these names, without those that are none: these are refused where a plan is
    /// [put under](crate::Plan::under) them.
    pub fn known(names: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<Kind> {
        names.into_iter().filter_map(|name| Kind::named(name.as_ref()).ok()).collect()
    }
}

impl SchedulerSpec {
    /// The names of all schedulers that any plan can have.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let anywhere = Kind::ALL.iter().map(|kind| kind.room()).filter(|of| of.default.is_some());
        anywhere.flat_map(|room| room.names.iter().copied())
    }

    /// Every scheduler that any plan can have, with its default settings.
    pub fn defaults() -> impl Iterator<Item = SchedulerSpec> {
        Kind::ALL.iter().filter_map(|kind| kind.room().default)
    }

    /// The scheduler of a name: a kind's word, such as `fifo`, `edf` or `dwcs` (as in `base` if
    /// that is one), or the word with a variant, such as `edf/exact` or `dwcs/loss-first`, which
    /// keeps the other settings that `base` has; `tdp` if `base` is that, for its frames are the
    /// plan's.
    ///
    /// ```
    /// use laxity_plan::model::SchedulerSpec;
    ///
    /// let spec = SchedulerSpec::named("edf/two-line", SchedulerSpec::Fifo)?;
    /// assert_eq!(spec.name(), "edf/two-line");
    /// # Ok::<(), laxity_plan::UnknownScheduler>(())
    /// ```
    pub fn named(name: &str, base: SchedulerSpec) -> Result<SchedulerSpec, UnknownScheduler> {
        let kind = Kind::named(name)?;
        let spec = if base.kind() == kind {
            base
        } else {
            kind.room().default.ok_or(UnknownScheduler::NoFrames)?
        };
        let variant = kind.room().names.iter().position(|of_variant| *of_variant == name);
        Ok(variant.map_or(spec, |variant| (kind.room().with_variant)(spec, variant)))
    }

    /// The name that [`named`](Self::named) reads back: that of the discipline, for EDF with its
    /// scheme for best effort, for DWCS with its precedence.
    pub fn name(&self) -> &'static str {
        self.room().names[self.discipline().variant()]
    }
}

impl Plan {
    /// The plan under the scheduler of a name, instead of its own.
    ///
    /// # Errors
    /// If no scheduler that the plan can have is called so.
    pub fn under(self, name: &str) -> Result<Plan, UnknownScheduler> {
        let scheduler = SchedulerSpec::named(name, self.scheduler)?;
        Ok(Plan { scheduler, ..self })
    }
}

impl fmt::Display for SchedulerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use laxity::sched::dwcs::{DwcsSettings, Precedence, Violation};

    use super::*;
    use crate::model::{BestEffort, BestEffortOrder, EdfSpec, Late};

    const EDF: EdfSpec = EdfSpec {
        best_effort: BestEffort::TwoLine,
        order: BestEffortOrder::Fifo,
        late: Late::Drop,
    };

    /// Every name, and the scheduler of that name with what a base has besides.
    #[test]
    fn every_scheduler_is_named_back() {
        for kind in Kind::ALL {
            let Some(plain) = kind.room().default else { continue };
            assert_eq!(SchedulerSpec::named(kind.word(), SchedulerSpec::Fifo), Ok(plain));
            for name in kind.room().names {
                let spec = SchedulerSpec::named(name, SchedulerSpec::Fifo).unwrap();
                assert_eq!((spec.name(), spec.kind()), (*name, *kind));
                assert_eq!(SchedulerSpec::named(name, spec), Ok(spec));
                assert_eq!(spec.to_string(), *name);
            }
        }
    }

    #[test]
    fn plain_edf_is_the_plans_own() {
        let base = SchedulerSpec::Edf(EDF);
        assert_eq!(SchedulerSpec::named("edf", base), Ok(base));
        assert_eq!(SchedulerSpec::named("edf", SchedulerSpec::Wfq), Ok(SchedulerSpec::EDF));
        let exact = EdfSpec { best_effort: BestEffort::Exact, ..EDF };
        assert_eq!(SchedulerSpec::named("edf/exact", base), Ok(SchedulerSpec::Edf(exact)));
        for (best_effort, name) in BestEffort::ALL.into_iter().zip(Kind::Edf.room().names) {
            assert_eq!(SchedulerSpec::Edf(EdfSpec { best_effort, ..EDF }).name(), *name);
        }
    }

    #[test]
    fn plain_dwcs_is_the_plans_own() {
        let precedence = Precedence::DeadlineFirst;
        let settings = DwcsSettings { precedence, violation: Violation::Favour, check_every: 7 };
        let base = SchedulerSpec::Dwcs(settings);
        assert_eq!(SchedulerSpec::named("dwcs", base), Ok(base));
        let other =
            SchedulerSpec::Dwcs(DwcsSettings { precedence: Precedence::LossFirst, ..settings });
        assert_eq!(SchedulerSpec::named("dwcs/loss-first", base), Ok(other));
        assert_eq!(SchedulerSpec::named("dwcs", SchedulerSpec::EDF), Ok(SchedulerSpec::DWCS));
        assert_eq!(SchedulerSpec::named("edf", base), Ok(SchedulerSpec::EDF));
        assert_eq!(SchedulerSpec::DWCS, SchedulerSpec::Dwcs(DwcsSettings::default()));
    }

    #[test]
    fn frames_are_the_plans() {
        for base in SchedulerSpec::defaults() {
            let error = SchedulerSpec::named("tdp", base).unwrap_err();
            assert_eq!(error, UnknownScheduler::NoFrames);
            assert!(error.to_string().contains("`frame` and `frames`"), "{error}");
        }
    }

    #[test]
    fn an_unknown_word_gets_the_nearest() {
        let error = SchedulerSpec::named("edf/exct", SchedulerSpec::Fifo).unwrap_err();
        assert!(error.to_string().contains("did you mean `edf/exact`?"), "{error}");
        assert!(SchedulerSpec::named("edf/", SchedulerSpec::Fifo).is_err());
        assert!(SchedulerSpec::named("", SchedulerSpec::Fifo).is_err());
    }
}
