//! Results of simulations.

use laxity_answers::Proof;
use laxity_answers::verdict::JudgedRun;
use laxity_answers::why::Explanation;
use laxity_plan::Plan;
use laxity_plan::tdp::NetworkAnalysis;
use laxity_report::json::Json;
use laxity_sim::network::{Parallelism, Profile};
use laxity_sim::source::Remarks;
use serde::{Serialize, Serializer};

use crate::traffic;

/// What came of a run; it serialises to the JSON of `laxity run`.
pub struct RunResult<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The network, with its frames, if the plan is one.
    pub network: Option<NetworkAnalysis<'a>>,
    /// What was measured, with the verdict.
    pub judged: JudgedRun,
    /// What was proved before; absent without an admission test.
    pub proof: Option<Proof>,
    /// Why packets waited, if that was recorded.
    pub explanation: Option<Explanation>,
    /// What recordings held besides packets.
    pub remarks: Remarks,
    /// How threads shared the work, if it was to be shared.
    pub parallelism: Option<Parallelism>,
    /// Where the time went, if that was asked for.
    pub profile: Option<Profile>,
}

impl RunResult<'_> {
    /// How threads shared the work, if it was to be shared.
    pub fn parallelism(&self) -> Option<String> {
        match self.network {
            None => self.parallelism.map(|_| "One thread: one link is no work for more.".into()),
            Some(_) => self.parallelism.as_ref().map(parallelism),
        }
    }

    /// What is worth knowing of recordings besides their packets.
    pub fn remarks(&self) -> Vec<String> {
        traffic::remarks(&self.remarks)
    }

    /// The packets that broke their class's contract, and what became of them. Of a network the
    /// tables say it.
    pub fn nonconforming(&self) -> Vec<String> {
        let link = self.judged.summary.link();
        link.map_or(Vec::new(), |link| traffic::nonconforming(self.plan, link))
    }
}

impl Serialize for RunResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct RunJson<'a> {
            #[serde(flatten)]
            judged: Json<'a, JudgedRun>,
            #[serde(skip_serializing_if = "Option::is_none")]
            profile: Option<&'a Profile>,
        }
        RunJson { judged: Json(&self.judged), profile: self.profile.as_ref() }.serialize(serializer)
    }
}

/// What came of the same traffic under several schedulers; it serialises to the JSON of `laxity
/// compare`.
pub struct Comparison {
    /// What was measured under each, with its verdict.
    pub runs: Vec<JudgedRun>,
}

impl Serialize for Comparison {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Json(&self.runs).serialize(serializer)
    }
}

impl<'a> FromIterator<RunResult<'a>> for Comparison {
    fn from_iter<I: IntoIterator<Item = RunResult<'a>>>(runs: I) -> Comparison {
        Comparison { runs: runs.into_iter().map(|run| run.judged).collect() }
    }
}

impl Comparison {
    /// Whether every promise was kept.
    pub fn kept(&self) -> bool {
        self.runs.iter().all(|run| run.verdict.kept)
    }
}

fn parallelism(how: &Parallelism) -> String {
    let Parallelism { parts, windows, lookahead, .. } = *how;
    if how.threads == 1 {
        return "One thread: the machine has one core for this process.".into();
    }
    if parts == 1 {
        return "One thread: no two parts of the network are far enough apart to be worth more."
            .into();
    }
    let apart = lookahead.map_or(String::new(), |lookahead| format!(" of {lookahead} or more"));
    format!(
        "{parts} threads met {windows} times, after windows{apart}: with a core for each and no waiting at \
         most {:.2} times as fast as one.",
        how.limit()
    )
}
