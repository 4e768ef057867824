//! Why packets of a run were delayed, and what would have changed that.

use std::cell::RefCell;
use std::path::Path;

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_answers::why::{
    ChangedDelays, DelaySink, Delays, DropObserver, Explainer, PacketDelay, Search,
    SelectedPackets, Selection, UnfinishedPacket,
};
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_plan::edit::{self, Draft, EditError};
use laxity_plan::model::Source;
use laxity_report::explanation::page;
use laxity_sim::Progress;
use laxity_sim::record::Observer;
use serde::{Serialize, Serializer};

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

    /// Changes that may help: without each other class that sends, with a link that is a quarter
    /// faster, and under each other discipline that admits the plan.
    pub fn proposals(plan: &Plan, source: PlanSource<'_>, class: Option<&str>) -> Vec<Change> {
        let others = plan.leaves().filter(|(_, other)| class != Some(&other.name));
        let without = others.filter_map(|(_, other)| Change::without(plan, &other.name).ok());
        let faster = format!("{}bit", plan.link.rate.0.saturating_mul(5) / 4);
        let faster = Change::with_value(plan, source, "link.rate", &faster);
        let faster = faster.ok().filter(|_| plan.network.is_none());
        let kinds = Kind::ALL.iter().filter(|kind| **kind != plan.scheduler.kind());
        let under = kinds.filter_map(|kind| {
            let change = Change::under(plan, kind.word()).ok()?;
            let proof = AnalysedPlan::new(&change.plan).proof()?;
            (proof.admitted() == Some(true)).then_some(change)
        });
        without.chain(faster).chain(under).collect()
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
    plan: &'a Plan,
    /// What delayed the packets that were asked for.
    pub delays: Delays,
    /// What became of them after each change, with its name.
    pub changes: Vec<(String, ChangedDelays)>,
}

impl WhyResult<'_> {
    /// Keeps the changes that help most: those after which all packets are sent, with the least sum
    /// of delays first, and only as far as it is less than before.
    pub fn keep_best(&mut self, most: usize) {
        let helps = |changed: &ChangedDelays| changed.totals[1] < changed.totals[0];
        let is_whole = |changed: &ChangedDelays| changed.dropped == 0 && changed.absent == 0;
        self.changes.retain(|(_, changed)| is_whole(changed) && helps(changed));
        self.changes.sort_by_key(|(_, changed)| changed.totals[1]);
        self.changes.truncate(most);
    }

    /// As text: each packet listed, the means of all, and what each change does.
    pub fn text(&self) -> String {
        laxity_report::why::text(self.plan, &self.delays, &self.changes)
    }
}

impl Serialize for WhyResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        laxity_report::why::DelaysJson::new(self.plan, &self.delays, &self.changes)
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
    packets: &Packets,
    changes: &[Change],
    progress: Progress<'_>,
) -> Result<WhyResult<'a>, Error> {
    answer(plan, traffic, packets, changes, None, progress)
}

/// The same, with the timeline of the run on a page of HTML.
///
/// # Errors
/// As [`why`].
pub fn why_on_page<'a>(
    plan: &'a Plan,
    traffic: &Traffic<'_>,
    packets: &Packets,
    changes: &[Change],
    progress: Progress<'_>,
) -> Result<(WhyResult<'a>, String), Error> {
    let mut explainer = explanation::whole_run(plan);
    let result = answer(plan, traffic, packets, changes, Some(&mut explainer), progress)?;
    let page = page(plan, &explainer.finish(), &result.delays);
    Ok((result, page))
}

/// Simulates the plan and its changes.
fn answer<'a>(
    plan: &'a Plan,
    traffic: &Traffic<'_>,
    packets: &Packets,
    changes: &[Change],
    explainer: Option<&mut Explainer>,
    progress: Progress<'_>,
) -> Result<WhyResult<'a>, Error> {
    let mut delays = Delays::new(selection(plan, packets)?, plan.classes.len());
    let selected = RefCell::new(SelectedPackets::default());
    let is_compared = !changes.is_empty();
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
    let sink = Sinks { each, explainer };
    simulate(plan, traffic, sink, &mut drops, progress)?;
    let selected = selected.into_inner();
    let changed = |change: &Change| {
        let search = RefCell::new(Search::new(&delays, &selected));
        let mut drops = DropObserver(|packet: &_, set_out, reason| {
            search.borrow_mut().dropped(packet, set_out, reason);
        });
        let each = |delay| search.borrow_mut().sent(delay);
        without(change, traffic, |plan, traffic| {
            simulate(plan, traffic, each, &mut drops, progress)
        })?;
        Ok((change.name.clone(), search.into_inner().finish()))
    };
    let changes = changes.iter().map(changed).collect::<Result<_, Error>>()?;
    Ok(WhyResult { plan, delays, changes })
}

/// Simulates a plan and passes the delay of every packet on.
fn simulate(
    plan: &Plan,
    traffic: &Traffic<'_>,
    sink: impl DelaySink,
    observer: &mut dyn Observer,
    progress: Progress<'_>,
) -> Result<(), Error> {
    let analysed = AnalysedPlan::new(plan);
    explanation::simulate(&analysed, traffic, sink, observer, progress)?;
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
    if plan.network.is_none() || without.is_empty() {
        return ask(plan, &Traffic { without, ..*traffic });
    }
    let mut plan = plan.clone();
    for source in &mut plan.sources {
        match source {
            _ if traffic.arrivals.is_some() => return Err(recorded(change)),
            Source::Recording(_) => return Err(recorded(change)),
            Source::Model(source) if without.contains(&source.class) => {
                source.stop = Some(Nanos::ZERO);
            }
            Source::Tcp(source) if without.contains(&source.class) => source.start = Nanos::LIMIT,
            Source::Model(_) | Source::Tcp(_) => {}
        }
    }
    ask(&plan, traffic)
}

fn recorded(change: &Change) -> Error {
    Error::question(format!(
        "{}: what recordings have of a class arrives in a network all the same",
        change.name
    ))
}

/// The class of a name, which has packets.
fn class_named(plan: &Plan, name: &str) -> Result<ClassId, Error> {
    let found = plan.leaves().find(|(_, class)| *class.name == *name);
    found.map(|(id, _)| id).ok_or_else(|| {
        let names: Vec<_> = plan.leaves().map(|(_, class)| format!("`{}`", class.name)).collect();
        Error::question(format!(
            "the plan has no class `{name}` that has packets: accepted are {}",
            names.join(", ")
        ))
    })
}

fn selection(plan: &Plan, packets: &Packets) -> Result<Selection, Error> {
    let Packets { class, number, slower_than, missed, most } = packets;
    if number.is_some() && plan.network.is_some() {
        return Err(Error::question(
            "packets have numbers on one link, and the plan is a network: ask for a class, or for \
             the slowest",
        ));
    }
    let class = class.as_ref().map(|name| class_named(plan, name)).transpose()?;
    let (number, slower_than, missed, most) = (*number, *slower_than, *missed, *most);
    Ok(Selection { class, number, slower_than, missed, most })
}
