//! Shapers whose rate is found: what they did, and for how long bounds held.

use laxity::autorate::{Second, Settings};
use laxity_plan::Plan;
use laxity_sim::summary::{AutorateClass, AutorateSummary, Summary};
use maud::{Markup, html};

use crate::chart::{self, Axis, Chart, Dash, Figure, Mark, Style, Unit};
use crate::columns::{Column, Results};
use crate::figures::{CHART_BINS, NS};
use crate::html::named_figure::NamedFigure;
use crate::quantity::{count, percent, rate, shortened, time};

/// Longest name of a link in a sentence.
const NAME_LIMIT: usize = 24;

/// What is said of a proof of a link whose rate is found.
pub(crate) fn proved(plan: &Plan) -> Option<String> {
    Some(sentence("The rate", &plan.link.autorate.as_ref()?.settings))
}

/// The same of the links of a network.
pub(crate) fn proved_at(plan: &Plan) -> impl Iterator<Item = String> {
    let links = plan.network.iter().flat_map(|network| &network.links);
    links.filter_map(|link| {
        let settings = &link.autorate.as_ref()?.settings;
        Some(sentence(&format!("The rate of {}", shortened(&link.name, NAME_LIMIT)), settings))
    })
}

fn sentence(of: &str, settings: &Settings) -> String {
    format!(
        "{of} is found between {} and {}. The proof holds for the least, up to the last bit out; behind that the \
         controller lets packets wait for about {}.",
        rate(settings.from.0 as f64),
        rate(settings.to.0 as f64),
        time(settings.delay.0 as f64),
    )
}

/// The controllers of a run, and where they are if that is said.
fn all(summary: &Summary) -> impl Iterator<Item = (Option<String>, &AutorateSummary)> {
    summary.hops.iter().filter_map(|hop| {
        let at = summary.network.is_some().then(|| hop.output());
        Some((at, hop.autorate.as_ref()?))
    })
}

/// Sentences and a table for each controller, for a terminal; empty without any.
pub(crate) fn text(summary: &Summary) -> String {
    let one = |(at, found): (Option<String>, &AutorateSummary)| {
        let table = delays(found).text("behind the shaper");
        format!("\n\n{table}\n\n{}", sentences(at.as_deref(), found).join("\n"))
    };
    all(summary).map(one).collect()
}

/// The same for a page.
pub(crate) fn sections(summary: &Summary) -> Markup {
    html! {
        @for (at, found) in all(summary) {
            section {
                h2 { "A rate that is found" @if let Some(at) = &at { ": " (at) } }
                (delays(found).page("Until it left the link behind"))
                @for sentence in sentences(None, found) { p { (sentence) } }
            }
        }
    }
}

/// What it did, in sentences.
fn sentences(at: Option<&str>, found: &AutorateSummary) -> Vec<String> {
    let at = at.map_or(String::new(), |at| format!("{at}: "));
    let mut all = vec![format!(
        "{at}the rate was found by {} between {} and {}{}{}.",
        found.rule,
        rate(found.from_bps as f64),
        rate(found.to_bps as f64),
        found.mean_bps.map_or(String::new(), |mean| format!(", {} in the mean", rate(mean))),
        found.used.map_or(String::new(), |used| {
            format!("; {} of what the link behind could carry were used", percent(used))
        }),
    )];
    if let Some(queueing) = &found.queueing_ns {
        all.push(format!(
            "Probes waited for {} in the median, {} at p99 and {} at most.",
            time(queueing.p50 as f64),
            time(queueing.p99 as f64),
            time(queueing.max as f64)
        ));
    }
    let judged = found.seconds_kept + found.seconds_missed;
    if judged > 0 {
        all.push(format!(
            "Bounds for the least rate, and twice the delay that is allowed behind, held in {} of {} seconds.",
            count(found.seconds_kept),
            count(judged)
        ));
    }
    if found.lost > 0 {
        all.push(format!("{} packets found no room behind the shaper.", count(found.lost)));
    }
    all
}

fn delays(found: &AutorateSummary) -> Results<&AutorateClass> {
    let shown = vec![
        Column::time("mean", |class: &&AutorateClass| Some(class.delay_ns?.mean)),
        Column::time("p99", |class| Some(class.delay_ns?.p99 as f64)),
        Column::time("p99.9", |class| Some(class.delay_ns?.p99_9 as f64)),
        Column::time("max", |class| Some(class.delay_ns?.max as f64)),
    ];
    Results::new(shown, Vec::from_iter(&found.classes), |class| &class.name)
}

/// The figures of the controllers of a run.
pub(crate) fn drawings(summary: &Summary) -> Vec<NamedFigure<'static>> {
    let shown = all(summary).filter(|(_, found)| !found.seconds.is_empty());
    let drawn = shown.flat_map(|(at, found)| {
        let at = at.map_or(String::new(), |at| format!(", {at}"));
        [
            NamedFigure::new("rate-found", rates(&at, found), RATES),
            NamedFigure::new("queueing", queueing(&at, found), QUEUEING),
        ]
    });
    drawn.collect()
}

const RATES: &str = "What the link behind could carry, the rate of the shaper, and what was sent, in the mean of each interval.";
const QUEUEING: &str = "The longest that a probe waited in queues in each interval.";

/// What the link could carry, what the shaper sent at and what was sent, over time.
fn rates(at: &str, found: &AutorateSummary) -> Figure<'static> {
    let line = |name: &str, subject, dash, value: fn(&Second, u64) -> f64| {
        let style = Style { dash, ..Style::new(subject) };
        let points = points(found, |seconds| {
            let sum: f64 = seconds.iter().map(|(second, could)| value(second, *could)).sum();
            sum / seconds.len() as f64
        });
        chart::Series::new(name, Mark::Line, style, points)
    };
    Chart {
        title: format!("The rate that was found{at}"),
        x: Axis::linear("Time", Unit::Time),
        y: Axis::linear("Rate", Unit::Rate),
        series: vec![
            line("the link behind", 0, Dash::Dotted, |_, could| could as f64 * 8.0),
            line("the shaper", 1, Dash::Solid, |second, _| second.mean.0 as f64),
            line("sent", 2, Dash::Solid, |second, _| second.carried as f64 * 8.0),
        ],
        markers: Vec::new(),
    }
    .into()
}

/// How long probes waited, over time.
fn queueing(at: &str, found: &AutorateSummary) -> Figure<'static> {
    let most = |seconds: &[(&Second, u64)]| {
        seconds.iter().map(|(second, _)| second.queueing.0 as f64 * NS).fold(0.0, f64::max)
    };
    let line = chart::Series::new("", Mark::Line, Style::new(0), points(found, most));
    Chart {
        title: format!("Delay behind the shaper{at}"),
        x: Axis::linear("Time", Unit::Time),
        y: Axis::linear("Delay", Unit::Time),
        series: vec![line],
        markers: Vec::new(),
    }
    .into()
}

/// A point for each interval of whole seconds, and no more than a chart can show.
fn points(found: &AutorateSummary, value: impl Fn(&[(&Second, u64)]) -> f64) -> Vec<(f64, f64)> {
    let seconds: Vec<_> = found.seconds.iter().zip(found.could.iter().copied()).collect();
    let width = seconds.len().div_ceil(CHART_BINS).max(1);
    let middle =
        |seconds: &[(&Second, u64)]| seconds[0].0.begins.0 as f64 * NS + seconds.len() as f64 / 2.0;
    seconds.chunks(width).map(|chunk| (middle(chunk), value(chunk))).collect()
}

/// Every second of every controller of a run, as CSV; `None` without any.
pub fn csv(summary: &Summary) -> Option<String> {
    let mut text =
        String::from("at,begins_ns,least_bps,mean_bps,sent_bps,could_bps,queueing_ns,holds\n");
    let head = text.len();
    for (at, found) in all(summary) {
        let at = at.unwrap_or_else(|| "link".to_owned()).replace(['"', ','], " ");
        for (second, could) in found.seconds.iter().zip(&found.could) {
            let holds = second.holds.map_or("", |holds| if holds { "true" } else { "false" });
            text += &format!(
                "{at},{},{},{},{},{},{},{holds}\n",
                second.begins.0,
                second.least.0,
                second.mean.0,
                second.carried * 8,
                could * 8,
                second.queueing.0
            );
        }
    }
    (text.len() > head).then_some(text)
}

#[cfg(test)]
mod tests {
    use laxity::autorate::{BoundsByRate, Seconds};
    use laxity::units::{Nanos, Rate};

    use super::*;
    use crate::testing::sample;

    /// Two seconds, of 4 and of 5 Mbit/s, before a link that could carry 6.
    fn summary() -> Summary {
        let bounds = BoundsByRate::new(Vec::new());
        let mut account = Seconds::new(bounds.into(), 1, Nanos(0), Rate(4_000_000), Nanos(0));
        let mut seconds = Vec::from_iter(account.next(Nanos(1_000_000_000)));
        account.set_rate(Nanos(1_000_000_000), Rate(5_000_000));
        account.queues(Nanos(7_000_000));
        seconds.extend(account.next(Nanos(2_000_000_000)));
        let (mut summary, _) = sample::run(1, 1);
        summary.hops[0].autorate = Some(AutorateSummary {
            rule: "delay",
            from_bps: 2_000_000,
            to_bps: 9_000_000,
            mean_bps: Some(4.5e6),
            used: Some(0.75),
            seconds_kept: 1,
            seconds_missed: 1,
            could: vec![750_000; 2],
            seconds,
            ..AutorateSummary::default()
        });
        summary
    }

    #[test]
    fn a_rate_that_was_found_is_said() {
        let text = text(&summary()).replace('\u{a0}', " ");
        for said in [
            "found by delay between 2 Mbit/s and 9 Mbit/s, 4.5 Mbit/s in the mean",
            "75 % of what the link behind could carry",
            "held in 1 of 2 seconds",
        ] {
            assert!(text.contains(said), "{text}");
        }
        let (plain, _) = sample::run(1, 1);
        assert_eq!((super::text(&plain).as_str(), csv(&plain)), ("", None));
    }

    #[test]
    fn every_second_is_a_row() {
        let csv = csv(&summary()).unwrap();
        let rows: Vec<&str> = csv.lines().skip(1).collect();
        assert_eq!(
            rows,
            [
                "link,0,4000000,4000000,0,6000000,0,",
                "link,1000000000,4000000,5000000,0,6000000,7000000,"
            ]
        );
    }

    #[test]
    fn the_rates_are_drawn() {
        let drawn = drawings(&summary());
        assert_eq!(
            drawn.iter().map(|one| one.name).collect::<Vec<_>>(),
            ["rate-found", "queueing"]
        );
        for words in ["the link behind", "the shaper", "sent"] {
            assert!(drawn[0].figure.svg().contains(words), "{words}");
        }
    }
}
