//! Results of simulations as text, figures and pages.

use laxity_answers::Proof;
use laxity_report::admission::{self, AdmissionView};
use laxity_report::explanation::ExplanationView;
use laxity_report::html::NamedFigure;
use laxity_report::run::{self, Report};
use laxity_report::{comparison, figures, network};
use laxity_sim::series::Series;
use laxity_sim::summary::Summary;

use crate::{Comparison, RunResult};

impl RunResult<'_> {
    /// Where the time went, for people, if that was asked for.
    pub fn profile(&self) -> Option<String> {
        self.profile.as_ref().map(network::profile)
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
    pub fn figures(&self, series: &Series) -> Vec<NamedFigure<'_>> {
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
            curves: proof.map_or_else(Vec::new, |proof| match proof {
                Proof::Link(admission) => admission::figures(plan, admission),
                Proof::Network(_) | Proof::Frames(_) => Vec::new(),
            }),
            network: self.network.as_ref(),
            explanation: self
                .explanation
                .as_ref()
                .map(|explanation| ExplanationView { plan, explanation }),
            remarks: self.nonconforming().into_iter().map(|note| note + ".").collect(),
        }
    }
}

impl Comparison {
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
