//! What the admission test of any discipline says about a plan.

use laxity::admit::{Unbounded, dwcs, edf, fair, hfsc};
use laxity::units::{Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;

use crate::figures::CurveFigure;
use crate::html::AdmissionView;
use crate::quantity;

/// The answer of a discipline's admission test.
#[derive(Clone, Debug)]
pub struct Admission {
    /// Whether everything that is promised holds, deadlines included; `None` if that is not known.
    pub admitted: Option<bool>,
    /// Why, in a few sentences.
    pub statement: String,
    /// The delay bound of each class, by its number.
    pub bounds: Vec<Result<Nanos, Unbounded>>,
    /// The answer in the discipline's own terms.
    pub test: Test,
}

/// An answer in the terms of a discipline.
#[derive(Clone, Debug)]
pub enum Test {
    /// EDF's.
    Edf(edf::Admission),
    /// H-FSC's.
    Hfsc(hfsc::Admission),
    /// WF2Q+'s.
    Wf2q(fair::Guarantees),
    /// That of DWCS.
    Dwcs(dwcs::Admission),
    /// Fair queueing by weight on one level, or above schedulers that the classes hold: delay bounds
    /// alone.
    Flat,
}

impl Admission {
    /// Asks the test of a discipline; `None` if it has none.
    pub fn of(plan: &Plan, spec: SchedulerSpec) -> Option<Admission> {
        Some(match spec {
            SchedulerSpec::Fifo | SchedulerSpec::Tdp(_) => return None,
            SchedulerSpec::Edf { best_effort, .. } => {
                let test = plan.edf_admission(best_effort);
                Admission {
                    admitted: Some(test.admitted),
                    statement: crate::edf::statement(&test),
                    bounds: plan.edf_bounds(&test),
                    test: Test::Edf(test),
                }
            }
            SchedulerSpec::Hfsc => crate::hfsc::admission(plan),
            SchedulerSpec::Wf2q if plan.has_schedulers_below() => crate::fair::below(plan),
            SchedulerSpec::Wf2q => crate::fair::hierarchy(plan),
            SchedulerSpec::Dwcs(settings) => crate::dwcs::admission(plan, settings),
            SchedulerSpec::Wfq | SchedulerSpec::Drr => crate::fair::flat(plan, spec),
        })
    }

    /// The answer with what is left, for a report.
    pub fn view(&self, plan: &Plan) -> AdmissionView {
        let (details, remarks) = match &self.test {
            Test::Edf(_) => (crate::edf::BestEffortView::of(plan).details(), Vec::new()),
            Test::Hfsc(_) => crate::hfsc::details(plan),
            Test::Dwcs(test) => (crate::dwcs::WindowsView::of(plan, test).details(), Vec::new()),
            Test::Wf2q(_) | Test::Flat => (Vec::new(), Vec::new()),
        };
        let statement = self.statement.clone();
        AdmissionView { admitted: self.admitted, statement, details, remarks }
    }

    /// The curves that were compared, if the discipline has any.
    pub fn figure(&self, plan: &Plan) -> Option<CurveFigure> {
        match &self.test {
            Test::Edf(_) => crate::edf::residual_capacity(plan, crate::edf::usual_range(plan)),
            Test::Hfsc(_) => crate::hfsc::promised_curves(plan),
            Test::Dwcs(_) | Test::Wf2q(_) | Test::Flat => None,
        }
    }
}

/// Classes or places that a statement names; more are counted.
const MOST_NAMED: usize = 3;

/// Some parts of a sentence, and how many more there are.
pub(crate) fn listed(parts: &[String]) -> String {
    let (shown, more) = parts.split_at(parts.len().min(MOST_NAMED));
    match more.len() {
        0 => shown.join("; "),
        more => format!("{}; and {more} more", shown.join("; ")),
    }
}

/// Whether all deadlines are within the classes' bounds, and a sentence that says so; `None` if no
/// class has one.
pub(crate) fn deadlines(
    plan: &Plan,
    bounds: &[Result<Nanos, Unbounded>],
) -> Option<(bool, String)> {
    let time = |time: Nanos| quantity::time(time.0 as f64);
    let promised = || {
        let classes = plan.classes.iter().zip(bounds);
        classes.filter_map(|(class, bound)| Some((&class.name, class.deadline?, bound)))
    };
    promised().next()?;
    let late = promised().filter_map(|(name, deadline, bound)| match bound {
        Ok(bound) if *bound <= deadline => None,
        Ok(bound) => Some(format!(
            "{name} is to take no more than {}, but may take {}",
            time(deadline),
            time(*bound)
        )),
        Err(why) => Some(format!("{name} may take any time: {why}")),
    });
    Some(match &late.collect::<Vec<_>>()[..] {
        [] => (true, "Every deadline holds.".to_string()),
        late => (false, format!("Not every deadline holds: {}.", listed(late))),
    })
}

/// Two rates as people read them, in full where that would not tell them apart.
pub(crate) fn two_rates(a: Rate, b: Rate) -> (String, String) {
    let short = |rate: Rate| quantity::rate(rate.0 as f64);
    let long = |rate: Rate| format!("{}\u{a0}bit/s", quantity::count(rate.0));
    if a != b && short(a) == short(b) { (long(a), long(b)) } else { (short(a), short(b)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_that_differ_look_different() {
        let (asked, given) = two_rates(Rate(10_064_000), Rate(10_000_000));
        assert_eq!((asked.as_str(), given.as_str()), ("10.06\u{a0}Mbit/s", "10\u{a0}Mbit/s"));
        let (asked, given) = two_rates(Rate(10_000_001), Rate(10_000_000));
        assert_ne!(asked, given);
    }

    #[test]
    fn long_lists_are_cut_short() {
        let parts: Vec<_> = (0..5).map(|part| part.to_string()).collect();
        assert_eq!(listed(&parts), "0; 1; 2; and 2 more");
        assert_eq!(listed(&parts[..3]), "0; 1; 2");
    }
}
