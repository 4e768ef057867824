//! Proofs of one link as people read them: in general here, and in each discipline's own terms in a
//! file of its own.

mod cake;
mod column;
pub mod curves;
mod dwcs;
pub mod edf;
mod fair;
mod hfsc;
mod table;

use laxity_answers::Proof;
use laxity_answers::link::{Admission, BestEffort, Residual, Test, TinProof, Trap, Windows};
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;

use crate::network;
use crate::words;
use column::Column;
use curves::CurveFigure;

pub use table::{page, text};

/// What an admission test answers, for a report.
#[derive(Clone, Debug, Default)]
pub struct AdmissionView {
    /// Whether everything that is promised holds, if that is known.
    pub admitted: Option<bool>,
    /// Why, in a few sentences.
    pub statement: String,
    /// Further results, each a name and a value with its unit.
    pub details: Vec<(String, String)>,
    /// What the plan may not mean, each a sentence.
    pub remarks: Vec<String>,
}

impl AdmissionView {
    /// What is proved of a plan, with what is left.
    pub fn new(plan: &Plan, proof: &Proof) -> AdmissionView {
        let (details, remarks) = match proof {
            Proof::Link(admission) => match &admission.test {
                Test::Edf(_) => (edf::details(&BestEffort::new(plan)), Vec::new()),
                Test::Hfsc(_) => {
                    (hfsc::details(&Residual::new(plan)), words::remarks(&Trap::all(plan)))
                }
                Test::Dwcs(test) => (dwcs::details(&Windows::new(plan, test)), Vec::new()),
                Test::Bounds => (cake::details(&TinProof::all(plan)), Vec::new()),
            },
            Proof::Network(proof) => (Vec::new(), network::proof::remarks(proof)),
            Proof::Frames(proof) => (Vec::new(), network::frames::remarks(proof)),
        };
        let statement = words::statement(proof.reasons());
        AdmissionView { admitted: proof.admitted(), statement, details, remarks }
    }
}

/// The figures of the curves that an admission test compared, if its discipline has any.
pub fn figures(plan: &Plan, admission: &Admission) -> Vec<CurveFigure> {
    let [first, second] = match &admission.test {
        Test::Edf(test) => {
            [edf::demand(plan, test), edf::residual_capacity(plan, edf::usual_range(plan))]
        }
        Test::Hfsc(test) => [hfsc::promised_curves(plan, test), None],
        Test::Dwcs(_) | Test::Bounds => [None, None],
    };
    first.into_iter().chain(second).collect()
}

/// The columns that a discipline adds to the table of classes.
fn columns<'a>(kind: Kind) -> Vec<Column<'a>> {
    match kind {
        Kind::Fifo | Kind::FqCodel | Kind::DualPi2 | Kind::Tdp => Vec::new(),
        Kind::Cake => vec![cake::tin(), fair::rate()],
        Kind::Wfq | Kind::Wf2q | Kind::Qfq => vec![fair::rate()],
        Kind::Drr => vec![fair::rate(), fair::quantum()],
        Kind::Priority => vec![fair::level()],
        Kind::Hfsc => hfsc::columns(),
        Kind::Edf => edf::columns(),
        Kind::Dwcs => dwcs::columns(),
    }
}

/// What the columns of suggestions mean, where a plan is refused.
fn suggestions(kind: Kind) -> &'static str {
    match kind {
        Kind::Hfsc => hfsc::SUGGESTIONS,
        Kind::Edf => edf::SUGGESTIONS,
        Kind::Fifo
        | Kind::FqCodel
        | Kind::DualPi2
        | Kind::Cake
        | Kind::Tdp
        | Kind::Wfq
        | Kind::Wf2q
        | Kind::Drr
        | Kind::Qfq
        | Kind::Priority
        | Kind::Dwcs => "",
    }
}
