//! What comes of simulations, of one link and of networks, and how it is shown.

use laxity_answers::Proof;
use laxity_answers::verdict::{Judged, Verdict, named};
use laxity_plan::Plan;
use laxity_plan::tdp::Assigned;
use laxity_report::admission::{self, AdmissionView};
use laxity_report::html::{Drawn, ReportInput, compare_html, drawings, html};
use laxity_report::json::Json;
use laxity_report::visible::line;
use laxity_report::{classes, figures, gone, network, quantity, words};
use laxity_sim::network::{EndToEnd, NetworkSummary, Parallelism, Profile};
use laxity_sim::series::{ClassSeries, Series};
use laxity_sim::source::Remarks;
use laxity_sim::summary::Summary;
use serde::{Serialize, Serializer};

use crate::traffic;

/// What came of a run; it serialises to the JSON of `laxity run`.
pub enum Ran<'a> {
    /// Of one link.
    Link(Box<LinkRan<'a>>),
    /// Of a network.
    Network(Box<NetworkRan<'a>>),
}

/// What came of one link.
pub struct LinkRan<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// What was measured, with the verdict.
    pub judged: Judged<Summary>,
    /// What was proved before.
    pub proof: Option<Proof>,
    /// What a recording held besides packets.
    pub remarks: Remarks,
    /// How threads shared the work, if it was to be shared.
    pub parallelism: Option<Parallelism>,
    /// Where the time went, if that was asked for.
    pub profile: Option<Profile>,
}

/// What came of a network.
pub struct NetworkRan<'a> {
    /// The network, with its frames.
    pub on: Assigned<'a>,
    /// What was measured, with the verdict.
    pub judged: Judged<NetworkSummary>,
    /// What was proved before.
    pub proof: Proof,
    /// What recordings held besides packets.
    pub remarks: Remarks,
    /// How threads shared the work, if it was to be shared.
    pub parallelism: Option<Parallelism>,
    /// Where the time went, if that was asked for.
    pub profile: Option<Profile>,
}

/// What was measured, and where the time of measuring it went.
#[derive(Serialize)]
struct Profiled<'a, S: Serialize> {
    #[serde(flatten)]
    judged: Json<'a, Judged<S>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<&'a Profile>,
}

impl<'a, S: Serialize> Profiled<'a, S> {
    fn new(judged: &'a Judged<S>, profile: &'a Option<Profile>) -> Self {
        Profiled { judged: Json(judged), profile: profile.as_ref() }
    }
}

impl Ran<'_> {
    /// How threads shared the work, if it was to be shared.
    pub fn parallelism(&self) -> Option<String> {
        match self {
            Ran::Link(ran) => {
                ran.parallelism.map(|_| "One thread: one link is no work for more.".into())
            }
            Ran::Network(ran) => ran.parallelism.as_ref().map(parallelism),
        }
    }

    /// Where the time went, for people, if that was asked for.
    pub fn profile(&self) -> Option<String> {
        let profile = match self {
            Ran::Link(ran) => ran.profile.as_ref(),
            Ran::Network(ran) => ran.profile.as_ref(),
        };
        profile.map(network::profile)
    }

    /// What came of the promises.
    pub fn verdict(&self) -> &Verdict {
        match self {
            Ran::Link(ran) => &ran.judged.verdict,
            Ran::Network(ran) => &ran.judged.verdict,
        }
    }

    /// What is worth telling about recordings besides their packets.
    pub fn remarks(&self) -> Vec<String> {
        match self {
            Ran::Link(ran) => traffic::remarks(&ran.remarks),
            Ran::Network(ran) => traffic::remarks(&ran.remarks),
        }
    }

    /// The packets that broke their class's contract, and what became of them; of a network the
    /// tables tell.
    pub fn nonconforming(&self) -> Vec<String> {
        match self {
            Ran::Link(ran) => traffic::nonconforming(ran.plan, &ran.judged.summary),
            Ran::Network(_) => Vec::new(),
        }
    }

    /// Why packets were dropped, a sentence a class.
    fn dropped(&self) -> Vec<String> {
        match self {
            Ran::Link(ran) => {
                let classes = ran.judged.summary.classes.iter();
                gone::sentences(classes.filter_map(|of| gone::dropped(&of.name, &of.dropped)))
            }
            Ran::Network(ran) => network::dropped(&ran.judged.summary),
        }
    }

    /// The same for people.
    pub fn text(&self) -> String {
        let mut text = match self {
            Ran::Link(ran) => link_text(&ran.judged),
            Ran::Network(ran) => network_text(&ran.judged),
        };
        for sentence in self.dropped() {
            text += &format!("{sentence}\n");
        }
        for note in self.nonconforming().into_iter().chain(self.remarks()) {
            text += &format!("Note: {note}.\n");
        }
        text
    }

    /// The same as a page of HTML, with what was recorded over time.
    pub fn page(&self, series: &Series) -> String {
        match self {
            Ran::Link(ran) => html(&ran.report(series)),
            Ran::Network(ran) => {
                let admission = AdmissionView::new(ran.on.plan, &ran.proof);
                network::html(&ran.on, &admission, &ran.judged, series)
            }
        }
    }

    /// The figures of that page.
    pub fn figures(&self, series: &Series) -> Vec<Drawn<'_>> {
        match self {
            Ran::Link(ran) => drawings(&ran.report(series)),
            Ran::Network(ran) => network::drawings(&ran.on, &ran.judged.summary, series),
        }
    }

    /// How the delays of each class are spread, as the figure of delays shows it.
    pub fn delays(&self, series: &Series) -> Vec<Delays> {
        match self {
            Ran::Link(ran) => delays(&ran.judged.summary, series),
            Ran::Network(ran) => network_delays(&ran.judged.summary, series),
        }
    }
}

impl LinkRan<'_> {
    fn report<'a>(&'a self, series: &'a Series) -> ReportInput<'a> {
        let (plan, proof) = (self.plan, self.proof.as_ref());
        ReportInput {
            judged: &self.judged,
            series,
            admission: proof.map(|proof| AdmissionView::new(plan, proof)),
            curves: proof.and_then(|proof| match proof {
                Proof::Link(admission) => admission::figure(plan, admission),
                Proof::Network(_) | Proof::Frames(_) => None,
            }),
            remarks: sentences(traffic::nonconforming(plan, &self.judged.summary)),
            packets: Vec::new(),
        }
    }
}

fn sentences(notes: Vec<String>) -> Vec<String> {
    notes.into_iter().map(|note| note + ".").collect()
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

impl Delays {
    fn of(class: &str, series: &ClassSeries) -> Delays {
        let longer = figures::exceedance_corners(&series.exceedance).collect();
        Delays { class: class.to_owned(), longer }
    }
}

fn delays(summary: &Summary, series: &Series) -> Vec<Delays> {
    let classes = summary.classes.iter().zip(&series.classes);
    classes.map(|(class, series)| Delays::of(&class.name, series)).collect()
}

fn network_delays(summary: &NetworkSummary, series: &Series) -> Vec<Delays> {
    let of = |class: &EndToEnd| Some(Delays::of(&class.name, series.classes.get(class.place)?));
    summary.classes.iter().filter_map(of).collect()
}

impl Serialize for Ran<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Ran::Link(ran) => Profiled::new(&ran.judged, &ran.profile).serialize(serializer),
            Ran::Network(ran) => Profiled::new(&ran.judged, &ran.profile).serialize(serializer),
        }
    }
}

fn link_text(Judged { summary, verdict }: &Judged<Summary>) -> String {
    let head = format!(
        "{}\n{} on {}, {}, seed {}, {} utilized\n\n",
        line(summary.title.as_deref().unwrap_or("Simulation")),
        summary.scheduler,
        quantity::rate(summary.link.rate_bps as f64),
        lasted(summary),
        summary.seed,
        quantity::percent(summary.link.utilization),
    );
    // The table is nearly all of the text, and may be long: it is not copied.
    let mut text = classes::text(summary);
    text.insert_str(0, &head);
    text + &format!("\n\n{}", verdict_text(verdict))
}

fn verdict_text(verdict: &Verdict) -> String {
    words::lines(verdict).map(|line| line + "\n").collect()
}

/// How long traffic arrived, and how long was measured if that is longer.
fn lasted(summary: &Summary) -> String {
    let traffic = quantity::time(summary.traffic_ns as f64);
    let measured = quantity::time(summary.duration_ns as f64);
    if traffic == measured {
        format!("{traffic} of traffic")
    } else {
        format!("{traffic} of traffic, measured for {measured}")
    }
}

fn network_text(Judged { summary, verdict }: &Judged<NetworkSummary>) -> String {
    format!(
        "{}\n{}, {} simulated, seed {}, {} hops taken\n\n{}\n\n{}",
        line(summary.title.as_deref().unwrap_or("Network")),
        summary.scheduler,
        quantity::time(summary.duration_ns as f64),
        summary.seed,
        quantity::count(summary.hop_departures),
        network::tables(summary),
        verdict_text(verdict),
    )
}

/// What came of the same traffic under several schedulers; it serialises to the JSON of `laxity
/// compare`.
pub enum Compared {
    /// Over one link.
    Link(Vec<Judged<Summary>>),
    /// Over a network.
    Network(Vec<Judged<NetworkSummary>>),
}

impl Serialize for Compared {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Compared::Link(runs) => Json(runs).serialize(serializer),
            Compared::Network(runs) => Json(runs).serialize(serializer),
        }
    }
}

impl<'a> FromIterator<Ran<'a>> for Compared {
    fn from_iter<I: IntoIterator<Item = Ran<'a>>>(runs: I) -> Compared {
        let (mut links, mut networks) = (Vec::new(), Vec::new());
        for run in runs {
            match run {
                Ran::Link(ran) => links.push(ran.judged),
                Ran::Network(ran) => networks.push(ran.judged),
            }
        }
        if networks.is_empty() { Compared::Link(links) } else { Compared::Network(networks) }
    }
}

impl Compared {
    /// Whether every promise was kept.
    pub fn kept(&self) -> bool {
        match self {
            Compared::Link(runs) => runs.iter().all(|run| run.verdict.kept),
            Compared::Network(runs) => runs.iter().all(|run| run.verdict.kept),
        }
    }

    /// The same for people.
    pub fn text(&self) -> String {
        let (table, lines) = match self {
            Compared::Link(runs) => {
                let summaries: Vec<_> = runs.iter().map(|run| &run.summary).collect();
                (classes::compared(&summaries).text(), words::compared(&named(runs)))
            }
            Compared::Network(runs) => {
                let summaries: Vec<_> = runs.iter().map(|run| &run.summary).collect();
                (network::compared(&summaries).text(), words::compared(&named(runs)))
            }
        };
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        format!("{table}\n\n{lines}")
    }

    /// The same as a page of HTML, with what was recorded of each over time.
    pub fn page(&self, series: &[Series]) -> String {
        match self {
            Compared::Link(runs) => compare_html(runs, series),
            Compared::Network(runs) => network::compare_html(runs, series),
        }
    }

    /// The delays of all in one figure, as SVG.
    pub fn figure(&self, series: &[Series]) -> String {
        let classes = match self {
            Compared::Link(runs) => {
                let views: Vec<_> = runs.iter().map(|run| &run.summary).zip(series).collect();
                figures::compared_classes(&views)
            }
            Compared::Network(runs) => {
                let views: Vec<_> = runs.iter().map(|run| &run.summary).zip(series).collect();
                network::compared_classes(&views)
            }
        };
        figures::exceedance_compared(&classes).svg()
    }

    /// How the delays are spread under each, as that figure shows it.
    pub fn delays(&self, series: &[Series]) -> Vec<Vec<Delays>> {
        match self {
            Compared::Link(runs) => {
                let runs = runs.iter().zip(series);
                runs.map(|(run, series)| delays(&run.summary, series)).collect()
            }
            Compared::Network(runs) => {
                let runs = runs.iter().zip(series);
                runs.map(|(run, series)| network_delays(&run.summary, series)).collect()
            }
        }
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
