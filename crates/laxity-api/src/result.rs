//! Results of simulations, and how they are shown.

use laxity_answers::Proof;
use laxity_answers::verdict::Judged;
use laxity_plan::Plan;
use laxity_plan::tdp::Assigned;
use laxity_report::admission::{self, AdmissionView};
use laxity_report::html::Drawn;
use laxity_report::json::Json;
use laxity_report::run::{self, Report};
use laxity_report::{comparison, figures, network};
use laxity_sim::network::{Parallelism, Profile};
use laxity_sim::series::Series;
use laxity_sim::source::Remarks;
use laxity_sim::summary::Summary;
use serde::{Serialize, Serializer};

use crate::traffic;

/// What came of a run; it serialises to the JSON of `laxity run`.
pub struct RunResult<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The network, with its frames, if the plan is one.
    pub network: Option<Assigned<'a>>,
    /// What was measured, with the verdict.
    pub judged: Judged,
    /// What was proved before; absent without an admission test.
    pub proof: Option<Proof>,
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

    /// Where the time went, for people, if that was asked for.
    pub fn profile(&self) -> Option<String> {
        self.profile.as_ref().map(network::profile)
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

    /// The result as text for a terminal.
    pub fn text(&self) -> String {
        let mut text = run::text(&self.judged);
        for note in self.nonconforming().into_iter().chain(self.remarks()) {
            text += &format!("Note: {note}.\n");
        }
        text
    }

    /// The result as a page of HTML, with what was recorded over time.
    pub fn page(&self, series: &Series) -> String {
        run::html(&self.report(), series)
    }

    /// The figures of that page.
    pub fn figures(&self, series: &Series) -> Vec<Drawn<'_>> {
        run::drawings(&self.report(), series)
    }

    /// How the delays of each class are spread, as the figure of delays shows it.
    pub fn delays(&self, series: &Series) -> Vec<Delays> {
        delays(&self.judged.summary, series)
    }

    fn report(&self) -> Report<'_> {
        let (plan, proof) = (self.plan, self.proof.as_ref());
        Report {
            judged: &self.judged,
            admission: proof.map(|proof| AdmissionView::new(plan, proof)),
            curves: proof.and_then(|proof| match proof {
                Proof::Link(admission) => admission::figure(plan, admission),
                Proof::Network(_) | Proof::Frames(_) => None,
            }),
            network: self.network.as_ref(),
            remarks: self.nonconforming().into_iter().map(|note| note + ".").collect(),
        }
    }
}

impl Serialize for RunResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct RunJson<'a> {
            #[serde(flatten)]
            judged: Json<'a, Judged>,
            #[serde(skip_serializing_if = "Option::is_none")]
            profile: Option<&'a Profile>,
        }
        RunJson { judged: Json(&self.judged), profile: self.profile.as_ref() }.serialize(serializer)
    }
}

/// How the delays of a class are spread.
#[derive(Clone, Debug, PartialEq)]
pub struct Delays {
    /// The class.
    pub class: String,
    /// Delays in ns and the shares of packets that were delayed for longer, the corners of a curve
    /// that begins with all packets.
    pub longer: Vec<(u64, f64)>,
}

fn delays(summary: &Summary, series: &Series) -> Vec<Delays> {
    let classes = summary.classes().into_iter();
    let delays = classes.filter_map(|(place, class)| {
        let exceedance = &series.classes.get(place)?.exceedance;
        let longer = figures::exceedance_corners(exceedance).collect();
        Some(Delays { class: class.class.to_owned(), longer })
    });
    delays.collect()
}

/// What came of the same traffic under several schedulers; it serialises to the JSON of `laxity
/// compare`.
pub struct Comparison {
    /// What was measured under each, with its verdict.
    pub runs: Vec<Judged>,
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

    /// The comparison as text for a terminal.
    pub fn text(&self) -> String {
        comparison::text(&self.runs)
    }

    /// The comparison as a page of HTML, with what was recorded of each run over time.
    pub fn page(&self, series: &[Series]) -> String {
        comparison::html(&self.runs, series)
    }

    /// The delays of all runs in one figure, as SVG.
    pub fn figure(&self, series: &[Series]) -> String {
        comparison::figure(&self.runs, series).svg()
    }

    /// How the delays are spread under each, as that figure shows it.
    pub fn delays(&self, series: &[Series]) -> Vec<Vec<Delays>> {
        let runs = self.runs.iter().zip(series);
        runs.map(|(run, series)| delays(&run.summary, series)).collect()
    }
}

fn parallelism(how: &Parallelism) -> String {
    let Parallelism { parts, windows, lookahead, .. } = *how;
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
