//! What the admission test of any discipline says about a plan: in general here, in each discipline's own
//! terms in a room of its own.

mod answer;
mod cells;
mod class;
pub mod curves;
pub mod dwcs;
pub mod edf;
mod fair;
pub mod hfsc;
mod mends;
mod priority;
mod table;

use laxity::admit::{self, Unbounded};
use laxity::units::{Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;

pub use answer::{Answer, BindingInterval, OverbookedClass};
use cells::Column;
pub use class::{ClassAnswer, CurveAnswer, StreamsAnswer};
use curves::CurveFigure;
pub use table::text;

use crate::quantity;
use crate::rooms;

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
    Edf(admit::edf::Admission),
    /// H-FSC's.
    Hfsc(admit::hfsc::Admission),
    /// WF2Q+'s.
    Wf2q(admit::fair::Guarantees),
    /// That of DWCS.
    Dwcs(admit::dwcs::Admission),
    /// Fair queueing by weight on one level, or above schedulers that the classes hold: delay bounds
    /// alone.
    Flat,
}

/// The admission test's answer.
#[derive(Clone, Debug, Default)]
pub struct AdmissionView {
    /// Whether everything that is promised holds, if that is known.
    pub admitted: Option<bool>,
    /// Its reason in a sentence.
    pub statement: String,
    /// Further results, each a name and a value with its unit.
    pub details: Vec<(String, String)>,
    /// What the plan may not mean, each a sentence.
    pub remarks: Vec<String>,
}

/// What there is to say of plans under one discipline.
struct Room {
    /// Asks its admission test; `None` if it has none.
    test: fn(&Plan) -> Option<Admission>,
    /// Adds what it gives to classes.
    classes: fn(&Plan, &mut [ClassAnswer]),
    /// The columns that it adds to the table.
    columns: fn(&Answer) -> Vec<Column>,
    /// What the columns of mends mean, where a plan is refused.
    mends: &'static str,
}

/// Of a discipline that has no admission test for plans on one link.
const UNTESTED: Room =
    Room { test: |_| None, classes: |_, _| {}, columns: |_| Vec::new(), mends: "" };

/// The room of a plan's discipline.
fn room(plan: &Plan) -> &'static Room {
    match plan.scheduler.kind() {
        Kind::Fifo | Kind::FqCodel | Kind::Tdp => &UNTESTED,
        Kind::Wfq => &fair::WFQ,
        Kind::Wf2q => &fair::WF2Q,
        Kind::Drr => &fair::DRR,
        Kind::Priority => &priority::ROOM,
        Kind::Hfsc => &hfsc::ROOM,
        Kind::Edf => &edf::ROOM,
        Kind::Dwcs => &dwcs::ROOM,
    }
}

impl Test {
    /// Puts the test's own terms into the answer, and what classes could change.
    fn complete(&self, plan: &Plan, answer: &mut Answer) {
        match self {
            Test::Edf(test) => {
                answer.binding = test.binding.map(BindingInterval::from);
                answer.best_effort = Some(edf::BestEffortView::of(plan));
                edf::seek_mends(plan, test, &mut answer.classes);
            }
            Test::Hfsc(test) => {
                answer.binding = test.binding.map(BindingInterval::from);
                answer.long_run_bps = Some(test.long_run.0);
                answer.places = Some(hfsc::places(plan, test));
                answer.left = Some(hfsc::LeftView::of(plan));
                answer.traps = Some(hfsc::Remark::all(plan));
                hfsc::seek_mends(plan, test, &mut answer.classes);
            }
            Test::Wf2q(test) => {
                let overbooked = test.overbooked.iter();
                answer.overbooked =
                    Some(overbooked.map(|place| OverbookedClass::of(plan, place)).collect());
            }
            Test::Dwcs(test) => answer.windows = Some(dwcs::WindowsView::of(plan, test)),
            Test::Flat => {}
        }
    }
}

impl Admission {
    /// Asks the test of the plan's discipline, and whether queues hold what may wait; `None` if the discipline
    /// has no test.
    pub fn of(plan: &Plan) -> Option<Admission> {
        let mut admission = Admission::by_the_test(plan)?;
        let too_small = rooms::too_small(plan, &admission.bounds);
        if !too_small.is_empty() {
            admission.admitted = Some(false);
            let small: Vec<_> = too_small.iter().map(ToString::to_string).collect();
            admission.statement +=
                &format!(" Not every queue holds what may wait: {}.", listed(&small));
        }
        Some(admission)
    }

    /// The answer of the discipline's test alone.
    pub(crate) fn by_the_test(plan: &Plan) -> Option<Admission> {
        (room(plan).test)(plan)
    }

    /// The answer with what is left, for a report.
    pub fn view(&self, plan: &Plan) -> AdmissionView {
        let (details, remarks) = match &self.test {
            Test::Edf(_) => (edf::BestEffortView::of(plan).details(), Vec::new()),
            Test::Hfsc(_) => hfsc::details(plan),
            Test::Dwcs(test) => (dwcs::WindowsView::of(plan, test).details(), Vec::new()),
            Test::Wf2q(_) | Test::Flat => (Vec::new(), Vec::new()),
        };
        let statement = self.statement.clone();
        AdmissionView { admitted: self.admitted, statement, details, remarks }
    }

    /// The curves that were compared, if the discipline has any.
    pub fn figure(&self, plan: &Plan) -> Option<CurveFigure> {
        match &self.test {
            Test::Edf(_) => edf::residual_capacity(plan, edf::usual_range(plan)),
            Test::Hfsc(_) => hfsc::promised_curves(plan),
            Test::Dwcs(_) | Test::Wf2q(_) | Test::Flat => None,
        }
    }
}

/// What an admission test answers, as everything prints it.
pub fn line(admitted: Option<bool>, statement: &str) -> String {
    let word = match admitted {
        Some(true) => "Admitted. ",
        Some(false) => "NOT ADMITTED. ",
        None => "",
    };
    format!("{word}{statement}")
}

/// Parts of a sentence, all of them: who mends a plan needs to know every one.
pub(crate) fn listed(parts: &[String]) -> String {
    parts.join("; ")
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
}
