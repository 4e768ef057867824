//! Changes that may help packets: those that follow from what delayed them, each with its run.

use std::collections::BTreeMap;

use laxity::explain;
use laxity::packet::ClassId;
use laxity::units::{Nanos, Rate};
use laxity_answers::why::{Cause, Delays, Part};
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_plan::edit::Path;
use laxity_plan::model::Hop;

use super::{Change, PlanSource};
use crate::run::AnalysedPlan;

/// How many changes are tried, each with a run.
const MOST_RUNS: usize = 20;
/// How many classes are left out, each in a run of its own.
const MOST_CLASSES: usize = 6;
/// How often the range of a value is halved in a search for the least that is admitted: on one
/// link, and in a network, which takes longer to analyse.
const HALVINGS: [u32; 2] = [10, 4];

/// Changes that may help packets are tried: at most twenty, each with the same arrivals. Those that
/// help most stay.
///
/// Tried are a faster link, in a network the one that costs the packets most; for the class that is
/// delayed most a greater weight, the first level, or the shortest deadline that is admitted; if
/// the plan is refused, the slowest link with which it is not; every other discipline that admits
/// the plan; and the plan without each of the classes that are most in the way.
#[derive(Clone, Copy, Debug)]
pub struct Proposals<'a> {
    /// The text of the plan.
    pub source: PlanSource<'a>,
    /// How many stay.
    pub most: usize,
}

impl Proposals<'_> {
    /// What is tried for packets of a plan that were delayed so.
    pub(super) fn changes(&self, plan: &Plan, delays: &Delays) -> Vec<Change> {
        Candidates { plan, source: self.source, delays }.all()
    }
}

/// What may help the packets of a run.
struct Candidates<'a> {
    plan: &'a Plan,
    source: PlanSource<'a>,
    delays: &'a Delays,
}

impl Candidates<'_> {
    /// All changes that are to be tried, those that cost a plan least first.
    fn all(&self) -> Vec<Change> {
        let admitted = AnalysedPlan::new(self.plan).proof().and_then(|proof| proof.admitted());
        let mut changes = Vec::new();
        let slowest = self.delayed_most();
        changes.extend(slowest.into_iter().flat_map(|class| self.for_class(class, admitted)));
        changes.extend(self.faster(admitted));
        changes.extend(self.without());
        changes.extend(self.under());
        changes.truncate(MOST_RUNS);
        changes
    }

    /// The class whose packets are delayed most in all.
    fn delayed_most(&self) -> Option<ClassId> {
        let delayed = (0..).map(ClassId).zip(&self.delays.classes);
        let delayed = delayed.filter(|(_, totals)| totals.packets > 0);
        delayed.max_by_key(|(_, totals)| totals.total()).map(|(class, _)| class)
    }

    /// Another weight, level or deadline of a class.
    fn for_class(&self, class: ClassId, admitted: Option<bool>) -> Vec<Change> {
        let spec = &self.plan.classes[class.index()];
        let takes = |key| self.plan.scheduler.room().takes_of_classes(key);
        let with = |key: &str, value: &str| {
            let key = Path::new(["class", &spec.name, key]);
            Change::with_value(self.plan, self.source, &key.to_string(), value).ok()
        };
        let weights = [2, 4].map(|times| u64::from(spec.weight.0).saturating_mul(times));
        let weights = weights.into_iter().filter(|_| takes("weight") && !self.plan.has_shares());
        let weights = weights.filter_map(|weight| with("weight", &weight.to_string()));
        let first = self.plan.classes.iter().filter_map(|class| class.level).min();
        let level = spec.level.zip(first).filter(|(own, first)| own > first && takes("level"));
        let level = level.and_then(|(_, first)| with("level", &first.to_string()));
        let deadline = spec.deadline.and_then(|deadline| {
            let shorter = |part: u64| with("deadline", &Nanos(part).to_string());
            self.least(deadline.0, shorter).filter(|_| admitted == Some(true))
        });
        let keeps = |change: &Change| admitted != Some(true) || is_admitted(change);
        weights.chain(level).chain(deadline).filter(keeps).collect()
    }

    /// A faster link; of a refused plan also the slowest one with which it is admitted.
    fn faster(&self, admitted: Option<bool>) -> Vec<Change> {
        let (key, Rate(rate)) = match &self.plan.network {
            None => (Path::new(["link", "rate"]), self.plan.link.rate),
            Some(network) => {
                let Some(hop) = self.slowest_hop() else { return Vec::new() };
                let link = network.link(hop);
                (Path::new(["network", &link.name, "rate"]), link.rate)
            }
        };
        let at = |rate: u64| {
            let (key, value) = (key.to_string(), Rate(rate).to_string());
            Change::with_value(self.plan, self.source, &key, &value).ok()
        };
        let is_refused = admitted == Some(false);
        let needed = is_refused.then(|| self.least(rate.saturating_mul(64), at)).flatten();
        let quarter = at(rate.saturating_mul(5) / 4);
        needed.into_iter().chain(quarter).collect()
    }

    /// The least value up to `most` whose change is admitted, as far as halving the range tells.
    fn least(&self, most: u64, at: impl Fn(u64) -> Option<Change>) -> Option<Change> {
        let mut best = None;
        let (mut below, mut above) = (0, most);
        for _ in 0..HALVINGS[usize::from(self.plan.network.is_some())] {
            let middle = below + (above - below) / 2;
            match at(middle).filter(is_admitted) {
                Some(change) => (best, above) = (Some(change), middle),
                None => below = middle,
            }
        }
        best
    }

    /// The hop at which the packets that are listed wait and are sent for longest.
    fn slowest_hop(&self) -> Option<Hop> {
        let mut costs: BTreeMap<Hop, u128> = BTreeMap::new();
        let is_of_link = |part: &&Part| {
            !matches!(
                part.cause,
                Cause::Propagation | Cause::Wire | Cause::Regulator | Cause::WireAndRegulator
            )
        };
        for hop in self.delays.slowest.iter().flat_map(|packet| &packet.hops) {
            let parts = hop.parts.iter().filter(is_of_link);
            *costs.entry(hop.hop?).or_default() +=
                parts.map(|part| u128::from(part.time.0)).sum::<u128>();
        }
        costs.into_iter().max_by_key(|(_, cost)| *cost).map(|(hop, _)| hop)
    }

    /// The plan without each of the classes that are most in the way of others.
    fn without(&self) -> Vec<Change> {
        let mut costs: BTreeMap<ClassId, u128> = BTreeMap::new();
        for (own, totals) in (0..).map(ClassId).zip(&self.delays.classes) {
            for ((_, cause), time) in &totals.parts {
                if let Cause::Wait(explain::Cause::OnLink(class) | explain::Cause::Before(class, _)) =
                    cause
                    && *class != own
                {
                    *costs.entry(*class).or_default() += time;
                }
            }
        }
        // A class without which none of the packets would be there is no help.
        let asked = self.delays.classes.iter().filter(|totals| totals.packets > 0).count();
        let is_alone =
            |class: &ClassId| asked == 1 && self.delays.classes[class.index()].packets > 0;
        let mut costs: Vec<_> = costs.into_iter().filter(|(class, _)| !is_alone(class)).collect();
        costs.sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
        let classes = costs.into_iter().take(MOST_CLASSES);
        let name = |class: ClassId| &self.plan.classes[class.index()].name;
        classes.filter_map(|(class, _)| Change::without(self.plan, name(class)).ok()).collect()
    }

    /// Each other discipline that admits the plan.
    fn under(&self) -> Vec<Change> {
        let kinds = Kind::ALL.iter().filter(|kind| **kind != self.plan.scheduler.kind());
        let under = kinds.filter_map(|kind| Change::under(self.plan, kind.word()).ok());
        under.filter(is_admitted).collect()
    }
}

fn is_admitted(change: &Change) -> bool {
    AnalysedPlan::new(&change.plan).proof().and_then(|proof| proof.admitted()) == Some(true)
}
