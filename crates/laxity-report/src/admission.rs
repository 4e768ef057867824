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
mod outcome;
mod priority;
mod room;
mod sentences;
mod table;
mod varying;

use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_plan::model::SchedulerSpec;

pub use answer::{Answer, BindingInterval, OverbookedClass};
pub use class::{ClassAnswer, CurveAnswer, StreamsAnswer};
use curves::CurveFigure;
pub use outcome::{Admission, AdmissionView, Test};
use room::{Room, Tested, UNTESTED};
pub use sentences::line;
pub(crate) use sentences::listed;
pub use table::text;

use crate::buffers;

/// The room of a plan's discipline.
fn room_of(plan: &Plan) -> &'static Room {
    if plan.is_beyond_proof() {
        return &varying::ROOM;
    }
    room_of_kind(plan.scheduler.kind())
}

fn room_of_kind(kind: Kind) -> &'static Room {
    match kind {
        Kind::Fifo | Kind::FqCodel | Kind::DualPi2 | Kind::Tdp => &UNTESTED,
        Kind::Wfq => &fair::WFQ,
        Kind::Wf2q => &fair::WF2Q,
        Kind::Drr => &fair::DRR,
        Kind::Qfq => &fair::QFQ,
        Kind::Priority => &priority::ROOM,
        Kind::Hfsc => &hfsc::ROOM,
        Kind::Edf => &edf::ROOM,
        Kind::Dwcs => &dwcs::ROOM,
    }
}

/// Whether a discipline's test may refuse a plan whose bounds are as promised.
pub(crate) fn may_refuse(scheduler: &SchedulerSpec) -> bool {
    room_of_kind(scheduler.kind()).tested == Tested::Beyond
}

/// Why a discipline's test refuses a plan whose bounds are as promised, if so; `None` if it has no test.
pub(crate) fn refusal(plan: &Plan) -> Option<Option<String>> {
    match room_of(plan).tested {
        Tested::Not => None,
        Tested::ByBounds => Some(None),
        Tested::Beyond => {
            let admission = Admission::by_the_test(plan)?;
            let fits = match &admission.test {
                Test::Edf(test) => test.admitted,
                Test::Hfsc(test) => test.admitted,
                Test::Wf2q(test) => test.overbooked.is_empty(),
                Test::Dwcs(_) | Test::Flat => true,
            };
            Some((!fits).then_some(admission.statement))
        }
    }
}

impl Admission {
    /// Asks the test of the plan's discipline, and whether queues hold what may wait; `None` if the discipline
    /// has no test.
    pub fn of(plan: &Plan) -> Option<Admission> {
        let mut admission = Admission::by_the_test(plan)?;
        let too_small = buffers::too_small(plan, &admission.bounds);
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
        (room_of(plan).test)(plan)
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
