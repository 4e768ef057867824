//! Why packets of a run were delayed, and what would have changed that.

mod ledger;
mod proposals;

use std::cell::RefCell;
use std::path::Path;

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_answers::why::service::ServiceRecorder;
use laxity_answers::why::{
    ChangedDelays, DelaySink, Delays, DropObserver, Explainer, Explanation, PacketDelay, Search,
    SelectedPackets, Selection, UnfinishedPacket,
};
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_plan::edit::{self, Draft, EditError};
use laxity_plan::model::Source;
use laxity_report::admission::curves::CurveFigure;
use laxity_report::explanation::page;
use laxity_report::html::NamedFigure;
use laxity_report::{causes, service};
use laxity_sim::Progress;
use laxity_sim::record::Observer;
use serde::{Serialize, Serializer};

pub use ledger::{Ledger, is_ledger};
pub use proposals::Proposals;

use crate::explanation;
use crate::run::AnalysedPlan;
use crate::{Error, Traffic};

/// Which packets are asked for: those that meet all of these.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    /// Of the class of this name.
    pub class: Option<String>,
    /// With this number in the order of arrival, from 0; on one link.
    pub number: Option<u64>,
    /// Delayed for longer than this.
    pub slower_than: Option<Nanos>,
    /// Late for their deadline.
    pub missed: bool,
    /// How many of them are listed, the slowest ones.
    pub most: usize,
}

/// What is asked of a plan.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// Which packets.
    pub packets: &'a Packets,
    /// What else is simulated with the same traffic.
    pub changes: &'a [Change],
    /// Which changes are proposed beside those, if any are.
    pub proposals: Option<Proposals<'a>>,
    /// Whether figures and a page are asked for: the run is recorded for a timeline.
    pub is_drawn: bool,
}

/// A change whose effect on the packets is asked for: the same arrivals are simulated again.
#[derive(Clone, Debug)]
pub struct Change {
    /// What it is called.
    pub name: String,
    /// The changed plan. Its classes are those of the plan.
    pub plan: Plan,
    /// Classes whose packets do not arrive.
    pub without: Vec<ClassId>,
}

/// The text of a plan, in which values are changed.
#[derive(Clone, Copy, Debug)]
pub struct PlanSource<'a> {
    /// The text.
    pub text: &'a str,
    /// What messages call it.
    pub name: &'a str,
    /// Where relative paths count from.
    pub folder: &'a Path,
    /// Disciplines whose keys classes may have beside those of its own.
    pub others: &'a [Kind],
    /// The discipline that the plan was put under, if it was.
    pub under: Option<&'a str>,
}

impl Change {
    /// The same arrivals without those of a class.
    ///
    /// # Errors
    /// If the plan has no such class.
    pub fn without(plan: &Plan, class: &str) -> Result<Change, Error> {
        let without = vec![class_named(plan, class)?];
        Ok(Change { name: format!("without {class}"), plan: plan.clone(), without })
    }

    /// Another value at a key of the plan. A value that is no TOML is taken for a text.
    ///
    /// # Errors
    /// If there is no such key, or the changed text is no plan or has other classes.
    pub fn with_value(
        plan: &Plan,
        source: PlanSource<'_>,
        key: &str,
        value: &str,
    ) -> Result<Change, Error> {
        let PlanSource { text, name, folder, others, under } = source;
        let change = format!("{key}={}", value.trim_matches('"'));
        let mut draft = Draft::parse(text, name)?;
        let path: edit::Path = key.parse()?;
        if let Err(error) = draft.set(&path, value) {
            match error {
                EditError::NoValue(_) => draft.set(&path, &format!("{value:?}"))?,
                error => return Err(error.into()),
            }
        }
        let called = format!("{name} with {change}");
        let mut changed = Plan::parse_for(&draft.text(), &called, folder, others)?;
        if let Some(scheduler) = under {
            changed = changed.under(scheduler)?;
        }
        let names = |plan: &Plan| plan.classes.iter().map(|class| class.name.clone()).collect();
        let (before, now): (Vec<String>, Vec<String>) = (names(plan), names(&changed));
        if before != now {
            return Err(Error::question(format!("{change}: the plan is to keep its classes")));
        }
        for (source, own) in changed.sources.iter_mut().zip(&plan.sources) {
            if let (Source::Recording(source), Source::Recording(own)) = (source, own) {
                source.sort = own.sort;
            }
        }
        Ok(Change { name: change, plan: changed, without: Vec::new() })
    }

    /// Another discipline.
    ///
    /// # Errors
    /// If there is none of this name, or it does not take the plan.
    pub fn under(plan: &Plan, scheduler: &str) -> Result<Change, Error> {
        let plan = plan.clone().under(scheduler)?;
        Ok(Change { name: scheduler.to_string(), plan, without: Vec::new() })
    }
}

/// Why packets were delayed; it serialises to the JSON of `laxity why --json`.
#[derive(Debug)]
pub struct WhyResult<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// What delayed the packets that were asked for.
    pub delays: Delays,
    /// What became of them after each change, with its name.
    pub changes: Vec<(String, ChangedDelays)>,
    /// How many changes were tried, if some are [proposed](Proposals).
    pub tried: Option<usize>,
    /// What is drawn.
    explanation: Option<Explanation>,
}

impl WhyResult<'_> {
    /// Keeps the changes that help most: those after which all packets are sent, with the least sum
    /// of delays first, and only as far as it is less than before.
    fn keep_best(&mut self, most: usize) {
        let helps = |changed: &ChangedDelays| changed.totals[1] < changed.totals[0];
        let is_whole = |changed: &ChangedDelays| changed.dropped == 0 && changed.absent == 0;
        self.changes.retain(|(_, changed)| is_whole(changed) && helps(changed));
        self.changes.sort_by_key(|(_, changed)| changed.totals[1]);
        self.changes.truncate(most);
    }

    /// As figures: the causes of each packet listed, under EDF the demand on the link, and under
    /// H-FSC service and virtual times.
    pub fn figures(&self) -> Vec<NamedFigure<'static>> {
        let curves = crate::curves(self.plan);
        let demand = curves.iter().filter(|figure| figure.name == "demand").map(CurveFigure::drawn);
        let services = self
            .explanation
            .iter()
            .flat_map(|explanation| service::figures(self.plan, &explanation.services));
        causes::figure(self.plan, &self.delays).into_iter().chain(demand).chain(services).collect()
    }

    /// As a page: the timeline of the run, which opens at the packets listed, the text and the
    /// figures, if the question [asked for it](Question::is_drawn).
    pub fn page(&self) -> Option<String> {
        let explanation = self.explanation.as_ref()?;
        Some(page(self.plan, explanation, &self.delays, &self.text(), &self.figures()))
    }

    /// As text: each packet listed, the means of all, and what each change does.
    pub fn text(&self) -> String {
        laxity_report::why::text(self.plan, &self.delays, &self.changes, self.tried)
    }
}

impl Serialize for WhyResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        laxity_report::why::DelaysJson::new(self.plan, &self.delays, &self.changes, self.tried)
            .serialize(serializer)
    }
}

/// Simulates a plan, and says of packets why they were delayed. Each change is simulated with the
/// same arrivals.
///
/// # Errors
/// As [`run`](crate::run()), if there is no such class, or the arrivals of a class that a change
/// leaves out are recorded by the plan.
pub fn why<'a>(
    plan: &'a Plan,
    traffic: &Traffic<'_>,
    question: Question<'_>,
    progress: Progress<'_>,
) -> Result<WhyResult<'a>, Error> {
    why_observed(plan, traffic, question, &mut (), progress)
}

/// The same. The observer hears of every packet of the unchanged plan.
///
/// # Errors
/// As [`why`].
pub fn why_observed<'a>(
    plan: &'a Plan,
    traffic: &Traffic<'_>,
    question: Question<'_>,
    observer: &mut dyn Observer,
    progress: Progress<'_>,
) -> Result<WhyResult<'a>, Error> {
    compare(plan, traffic, question, progress, |sink, services, drops, progress| {
        simulate(plan, traffic, sink, &mut (observer, drops), services, progress)
    })
}

/// Says of packets that others have measured why they were delayed. `feed` passes them on.
///
/// # Errors
/// If there is no such class, or those of `feed`.
pub fn why_measured<'a, E: From<Error>>(
    plan: &'a Plan,
    packets: &Packets,
    feed: impl FnOnce(&mut dyn FnMut(PacketDelay)) -> Result<(), E>,
) -> Result<WhyResult<'a>, E> {
    let mut delays = Delays::new(selection(plan, packets, Nanos::ZERO)?, plan.classes.len());
    let mut explainer = explanation::whole_run(plan);
    feed(&mut |delay| {
        explainer.add(&delay);
        delays.add(delay);
    })?;
    let explanation = Some(explainer.finish(Vec::new()));
    Ok(WhyResult { plan, delays, changes: Vec::new(), tried: None, explanation })
}

/// Says of packets of a run, which is `first`, why they were delayed.
fn compare<'a>(
    plan: &'a Plan,
    traffic: &Traffic<'_>,
    Question { packets, changes, proposals, is_drawn }: Question<'_>,
    progress: Progress<'_>,
    first: impl FnOnce(
        &mut dyn DelaySink,
        Option<&ServiceRecorder<'_>>,
        &mut dyn Observer,
        Progress<'_>,
    ) -> Result<(), Error>,
) -> Result<WhyResult<'a>, Error> {
    let selection = selection(plan, packets, plan.run.warm_up)?;
    let mut delays = Delays::new(selection, plan.classes.len());
    let selected = RefCell::new(SelectedPackets::default());
    let is_compared = !changes.is_empty() || proposals.is_some();
    let each = |delay: PacketDelay| {
        if is_compared {
            selected.borrow_mut().note(&delay, delays.takes(&delay));
        }
        delays.add(delay);
    };
    let mut drops = DropObserver(|packet: &_, set_out, _| {
        if is_compared {
            selected.borrow_mut().note_dropped(packet, set_out);
        }
    });
    let services = ServiceRecorder::new(plan);
    let mut explainer = is_drawn.then(|| explanation::whole_run(plan));
    let mut sink = Sinks { each, explainer: explainer.as_mut() };
    first(&mut sink, is_drawn.then_some(&services), &mut drops, &mut *progress)?;
    let mut services = services.finish();
    let is_listed = |class| delays.slowest.iter().any(|delay| delay.packet.class == class);
    services.retain(|period| is_listed(period.class));
    let explanation = explainer.map(|explainer| explainer.finish(services));
    let selected = selected.into_inner();
    let proposed = proposals.map(|proposals| proposals.changes(plan, &delays));
    let all = changes.iter().chain(proposed.iter().flatten());
    let changed = |change| changed_run(change, traffic, &delays, &selected, &mut *progress);
    let changes = all.map(changed).collect::<Result<Vec<_>, Error>>()?;
    let tried = proposals.map(|_| changes.len());
    let mut result = WhyResult { plan, delays, changes, tried, explanation };
    if let Some(Proposals { most, .. }) = proposals {
        result.keep_best(most);
    }
    Ok(result)
}

/// Simulates a changed plan with the same arrivals, and says what became of the packets.
fn changed_run(
    change: &Change,
    traffic: &Traffic<'_>,
    delays: &Delays,
    selected: &SelectedPackets,
    progress: Progress<'_>,
) -> Result<(String, ChangedDelays), Error> {
    let search = RefCell::new(Search::new(delays, selected));
    let mut drops = DropObserver(|packet: &_, set_out, reason| {
        search.borrow_mut().dropped(packet, set_out, reason);
    });
    let each = |delay| search.borrow_mut().sent(delay);
    without(change, traffic, |plan, traffic| {
        simulate(plan, traffic, each, &mut drops, None, progress)
    })?;
    Ok((change.name.clone(), search.into_inner().finish()))
}

/// Simulates a plan and passes the delay of every packet that is sent to `each`, as soon as it is
/// at its end.
///
/// # Errors
/// As [`run`](crate::run()).
pub fn each_delay(
    plan: &Plan,
    traffic: &Traffic<'_>,
    each: impl FnMut(PacketDelay),
    progress: Progress<'_>,
) -> Result<(), Error> {
    simulate(plan, traffic, each, &mut (), None, progress)
}

/// The same, with an observer of the run, and a recorder of the service of classes if there is one.
fn simulate(
    plan: &Plan,
    traffic: &Traffic<'_>,
    sink: impl DelaySink,
    observer: &mut dyn Observer,
    services: Option<&ServiceRecorder<'_>>,
    progress: Progress<'_>,
) -> Result<(), Error> {
    let analysed = AnalysedPlan::new(plan);
    explanation::simulate(&analysed, traffic, sink, observer, services, progress)?;
    Ok(())
}

/// The receivers of delays: one always, and one for a page.
struct Sinks<'a, F> {
    each: F,
    explainer: Option<&'a mut Explainer>,
}

impl<F: FnMut(PacketDelay)> DelaySink for Sinks<'_, F> {
    fn sent(&mut self, packet: PacketDelay) {
        if let Some(explainer) = &mut self.explainer {
            explainer.add(&packet);
        }
        (self.each)(packet);
    }

    fn unfinished(&mut self, packet: UnfinishedPacket) {
        if let Some(explainer) = &mut self.explainer {
            explainer.add_unfinished(&packet);
        }
    }
}

/// Simulates a changed plan with its traffic, less the classes that it leaves out. All other
/// arrivals stay as they are.
fn without<T>(
    change: &Change,
    traffic: &Traffic<'_>,
    ask: impl FnOnce(&Plan, &Traffic<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let Change { plan, without, .. } = change;
    let traffic = Traffic { without, ..*traffic };
    if plan.network.is_none() || without.is_empty() || traffic.arrivals.is_some() {
        return ask(plan, &traffic);
    }
    let mut plan = plan.clone();
    for source in &mut plan.sources {
        match source {
            Source::Model(source) if without.contains(&source.class) => {
                source.stop = Some(Nanos::ZERO);
            }
            Source::Tcp(source) if without.contains(&source.class) => source.start = Nanos::LIMIT,
            Source::Model(_) | Source::Tcp(_) | Source::Recording(_) => {}
        }
    }
    ask(&plan, &traffic)
}

/// The class of a name, which has packets.
pub(crate) fn class_named(plan: &Plan, name: &str) -> Result<ClassId, Error> {
    let found = plan.leaves().find(|(_, class)| *class.name == *name);
    found.map(|(id, _)| id).ok_or_else(|| {
        let names: Vec<_> = plan.leaves().map(|(_, class)| format!("`{}`", class.name)).collect();
        Error::question(format!(
            "the plan has no class `{name}` that has packets: accepted are {}",
            names.join(", ")
        ))
    })
}

fn selection(plan: &Plan, packets: &Packets, measured_from: Nanos) -> Result<Selection, Error> {
    let Packets { class, number, slower_than, missed, most } = packets;
    if number.is_some() && plan.network.is_some() {
        return Err(Error::question(
            "packets have numbers on one link, and the plan is a network: ask for a class, or for \
             the slowest",
        ));
    }
    let class = class.as_ref().map(|name| class_named(plan, name)).transpose()?;
    let (number, slower_than, missed, most) = (*number, *slower_than, *missed, *most);
    Ok(Selection { class, number, measured_from, slower_than, missed, most })
}
