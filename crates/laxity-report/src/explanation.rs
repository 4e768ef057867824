//! Why the packets of a run waited, on pages.

use laxity_answers::why::{Delays, Explanation};
use laxity_plan::Plan;
use maud::{Markup, html};

use crate::html::{NamedFigure, named_figure, styled_page};
use crate::{flame, timeline};

/// Why the packets of a run waited, with the plan that has the names.
#[derive(Clone, Copy, Debug)]
pub struct ExplanationView<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The explanation of its run.
    pub explanation: &'a Explanation,
}

impl ExplanationView<'_> {
    /// What delays consist of, and the timeline, which opens at the first packet that is `listed`.
    pub(crate) fn sections(&self, listed: &[u64]) -> Markup {
        html! {
            (flame::section(self.plan, &self.explanation.totals))
            (timeline::section(self.plan, &self.explanation.timeline, listed))
        }
    }
}

/// The rules of a style sheet for the sections.
pub(crate) fn style() -> String {
    format!("{}{}{}", crate::chart::subjects(), flame::STYLE, timeline::STYLE)
}

/// The page of `laxity why`: the timeline of the run, which opens at the slowest of the packets
/// that were asked for, what is said of them in words and figures, and what delays consist of.
pub fn page(
    plan: &Plan,
    explanation: &Explanation,
    delays: &Delays,
    text: &str,
    figures: &[NamedFigure<'_>],
) -> String {
    let listed = explanation.timeline.numbers(&delays.slowest);
    let title = plan.title.as_deref().unwrap_or("Why packets waited");
    let content = html! {
        (timeline::section(plan, &explanation.timeline, &listed))
        section {
            h2 { "The slowest packets that were asked for" }
            div.wide { pre { (text) } }
        }
        (named_figure::section(figures))
        (flame::section(plan, &explanation.totals))
    };
    styled_page(title, &style(), &content)
}
