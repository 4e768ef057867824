//! What the admission test of a discipline gives.

use laxity::admit::{self, Unbounded};
use laxity::units::Nanos;

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
