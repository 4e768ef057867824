//! Answers as programs read them: their data, and beside it the sentences that people read.

use laxity_answers::link::{LinkProof, Trap};
use laxity_answers::network::{FramesProof, Limits, NetworkProof};
use laxity_answers::reason::{Reason, admitted};
use laxity_answers::seeds::{Estimate, Seeds};
use laxity_answers::verdict::{BrokenPromise, HeldTo, JudgedRun, Verdict};
use laxity_sim::summary::Summary;
use serde::{Serialize, Serializer};

use crate::words;

/// An answer in the form of `--json`.
#[derive(Clone, Copy, Debug)]
pub struct Json<'a, T>(pub &'a T);

/// A reason beside its sentence.
#[derive(Serialize)]
struct ReasonJson<'a> {
    #[serde(flatten)]
    reason: &'a Reason,
    sentence: String,
}

fn reasons(reasons: &[Reason]) -> Vec<ReasonJson<'_>> {
    let json =
        |reason| ReasonJson { reason, sentence: words::statement(std::slice::from_ref(reason)) };
    reasons.iter().map(json).collect()
}

/// The answer of an admission test. Without a test `admitted` and `statement` are null, and there
/// is no reason.
#[derive(Serialize)]
struct AnswerJson<'a> {
    admitted: Option<bool>,
    statement: Option<String>,
    reasons: Vec<ReasonJson<'a>>,
}

impl<'a> AnswerJson<'a> {
    fn new(admitted: Option<bool>, why: Option<&'a [Reason]>) -> Self {
        let statement = why.map(words::statement);
        AnswerJson { admitted, statement, reasons: reasons(why.unwrap_or_default()) }
    }
}

/// Serialises the reasons of an admission test as `admitted`, `statement` and `reasons`.
///
/// # Errors
/// Those of the serializer.
pub fn answer<S: Serializer>(why: &Option<Vec<Reason>>, serializer: S) -> Result<S::Ok, S::Error> {
    let why = why.as_deref();
    AnswerJson::new(why.and_then(admitted), why).serialize(serializer)
}

/// A proof with its answer in front.
#[derive(Serialize)]
struct ProofJson<'a, T> {
    #[serde(flatten)]
    answer: AnswerJson<'a>,
    #[serde(flatten)]
    proof: &'a T,
    #[serde(skip_serializing_if = "Option::is_none")]
    traps: Option<Vec<words::Remark>>,
}

impl<'a, T> ProofJson<'a, T> {
    fn new(proof: &'a T, admitted: Option<bool>, why: &'a [Reason]) -> Self {
        ProofJson { answer: AnswerJson::new(admitted, Some(why)), proof, traps: None }
    }
}

impl Serialize for Json<'_, LinkProof> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Json(proof) = self;
        let traps = proof.traps.as_ref().map(|traps| traps.iter().map(remark).collect());
        let json = ProofJson::new(*proof, proof.admitted(), &proof.reasons);
        ProofJson { traps, ..json }.serialize(serializer)
    }
}

fn remark(trap: &Trap) -> words::Remark {
    trap.into()
}

impl Serialize for Json<'_, NetworkProof> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Json(proof) = self;
        ProofJson::new(*proof, proof.admitted(), &proof.reasons).serialize(serializer)
    }
}

impl Serialize for Json<'_, FramesProof> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Json(proof) = self;
        ProofJson::new(*proof, proof.admitted(), &proof.reasons).serialize(serializer)
    }
}

impl Serialize for Json<'_, Limits> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct LimitsJson<'a> {
            #[serde(flatten)]
            limits: &'a Limits,
            /// What breaks with a percent more traffic.
            beyond: Vec<ReasonJson<'a>>,
        }
        let Json(limits) = *self;
        let beyond = limits.load.as_ref().map_or(Vec::new(), |load| reasons(&load.breaks));
        LimitsJson { limits, beyond }.serialize(serializer)
    }
}

impl Serialize for Json<'_, Verdict> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct VerdictJson<'a> {
            kept: bool,
            held_to: HeldTo,
            #[serde(flatten)]
            answer: AnswerJson<'a>,
            promised: bool,
            broken: &'a [BrokenPromise],
        }
        let Verdict { kept, held_to, admitted, reasons: why, promised, broken } = self.0;
        VerdictJson {
            kept: *kept,
            held_to: *held_to,
            answer: AnswerJson::new(*admitted, why.as_deref()),
            promised: *promised,
            broken,
        }
        .serialize(serializer)
    }
}

/// Results, and their verdict beside.
#[derive(Serialize)]
struct JudgedJson<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    verdict: Json<'a, Verdict>,
}

impl Serialize for Json<'_, JudgedRun> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        let Json(JudgedRun { summary, verdict }) = self;
        JudgedJson { summary, verdict: Json(verdict) }.serialize(serializer)
    }
}

impl<T> Serialize for Json<'_, Vec<T>>
where
    for<'a> Json<'a, T>: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Json))
    }
}

impl Serialize for Json<'_, Seeds> {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        #[derive(Serialize)]
        struct SeedsJson<'a> {
            scheduler: &'a str,
            seeds: &'a [u64],
            verdict: Json<'a, Verdict>,
            figures: &'a [Estimate],
            runs: Json<'a, Vec<JudgedRun>>,
        }
        let Seeds { scheduler, seeds, verdict, figures, runs, .. } = self.0;
        SeedsJson { scheduler, seeds, verdict: Json(verdict), figures, runs: Json(runs) }
            .serialize(serializer)
    }
}
